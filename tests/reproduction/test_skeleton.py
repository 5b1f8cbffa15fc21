"""Skeletons: what ASF files say, and where joints are."""

import numpy as np
import pytest

from reproduction.datasets import Skeleton, euler, read_asf
from tests.support.skeletons import SMALL


@pytest.fixture
def asf(tmp_path):
    def write(text=SMALL):
        (tmp_path / "small.asf").write_text(text)
        return tmp_path / "small.asf"

    return write


def test_file(asf):
    skeleton = read_asf(asf())
    assert skeleton.joints == ["root", "spine", "larm", "rarm", "lhand"]
    assert skeleton.pairs.tolist() == [[0, 1], [1, 2], [1, 3], [2, 4]]
    assert skeleton.sides.tolist() == [0, 1, -1, 0]  # no rhand mirrors the hand
    assert [bone.dof for bone in skeleton.bones] == ["", "xz", "z", "y"]
    assert skeleton.degrees and skeleton.root_dof == "xyz"
    np.testing.assert_array_equal(skeleton.bones[1].offset, [3, 0, 0])
    windows = read_asf(asf(SMALL.replace("\n", "\r\n")))
    assert windows.joints == skeleton.joints


def test_units_and_order_of_angles(asf):
    radians = SMALL.replace("angle deg", "angle rad").replace("0 0 90 XYZ", "0 0 1.5707963 XYZ")
    turned = radians.replace("TX TY TZ RX RY RZ", "TX TY TZ RZ RY RX")
    found, expected = read_asf(asf(turned)), read_asf(asf())
    assert not found.degrees and found.root_dof == "zyx"
    np.testing.assert_allclose(found.bones[1].axes, expected.bones[1].axes, atol=1e-7)


def test_positions_by_hand(asf):
    skeleton = read_asf(asf())
    at_rest = skeleton.pose([[1, 5, 0]], np.eye(3)[None], {})
    expected = [[1, 5, 0], [1, 7, 0], [4, 7, 0], [-2, 7, 0], [5, 7, 0]]
    np.testing.assert_allclose(at_rest[0], expected, atol=1e-14)
    # The left arm's x axis is the world's y axis: a quarter about it takes x to -z.  The hand then
    # turns about y by another quarter, so from -z to -x.
    quarter = {
        "larm": euler([[90.0, 0.0]], "xz", degrees=True),
        "lhand": euler([[90.0]], "y", degrees=True),
        "rarm": euler([[90.0]], "z", degrees=True),
    }
    bent = skeleton.pose([[1, 5, 0]], np.eye(3)[None], quarter)
    expected = [[1, 5, 0], [1, 7, 0], [1, 7, -3], [1, 4, 0], [0, 7, -3]]
    np.testing.assert_allclose(bent[0], expected, atol=1e-14)
    # The whole body a quarter about the vertical: x to -z, z to x.
    turned = skeleton.pose([[1, 5, 0]], euler([[90.0]], "y", degrees=True), quarter)
    expected = [[1, 5, 0], [1, 7, 0], [-2, 7, 0], [1, 4, 0], [-2, 7, 1]]
    np.testing.assert_allclose(turned[0], expected, atol=1e-14)


def test_first_angle_is_applied_first():
    z = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(euler([90, 90], "xz", degrees=True) @ z, [1, 0, 0], atol=1e-14)
    np.testing.assert_allclose(euler([90, 90], "zx", degrees=True) @ z, [0, -1, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":hierarchy", ":tree", "it has no part :hierarchy"),
        ("angle deg", "angle grad", "angle must be deg or rad, got grad"),
        ("order TX TY TZ RX RY RZ", "order TX TY RX RY RZ", "the root's order must hold"),
        ("position 0 0 0", "position 0 1 0", "a root with a position other than 0"),
        ("orientation 0 0 0", "", "orientation must be 3 finite numbers, got none"),
        ("length 3", "length three", "bone larm: length must be 1 finite numbers, got three"),
        ("direction 0 1 0", "direction 0 1", "bone spine: direction must be 3 finite"),
        ("direction 0 1 0", "direction 0 nan 0", "bone spine: direction must be 3 finite"),
        ("0 0 90 XYZ", "0 0 90 XYX", "bone larm: the order of axis must be"),
        ("dof rx rz", "dof rx tz", "bone larm: dof must hold rx, ry and rz at most once"),
        ("name rarm", "name larm", "two bones have the same name"),
        ("name rarm", "", "a bone has no name"),
        ("larm lhand", "larm lhand foot", "bone foot of the hierarchy has no data"),
        ("larm lhand", "larm lhand larm", "bone larm hangs on two others"),
        ("larm lhand", "", "bone lhand hangs on nothing"),
        ("larm lhand", "lhand lhand", "bone lhand hangs on nothing"),
        ("  end\n:hierarchy", ":hierarchy", 'the last "begin" has no "end"'),
        ("  begin\n     id 2", "     id 2", 'each "begin" needs an "end"'),
    ],
)
def test_damaged_files(asf, old, new, message):
    assert SMALL.count(old) >= 1
    with pytest.raises(ValueError, match=message) as error:
        read_asf(asf(SMALL.replace(old, new, 1)))
    assert "small.asf is damaged or no ASF skeleton" in str(error.value)


def test_other_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_asf(tmp_path / "none.asf")
    (tmp_path / "picture.asf").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ValueError, match="damaged or no ASF skeleton"):
        read_asf(tmp_path / "picture.asf")


def test_a_skeleton_without_bones_is_a_point():
    assert Skeleton([]).pose([[1, 2, 3]], np.eye(3)[None], {}).tolist() == [[[1, 2, 3]]]
