"""Positions of joints from recorded and from preprocessed channels."""

import numpy as np
import pytest

from reproduction import datasets
from reproduction.datasets.positions import RECORDED_ROOT, RELATIVE_ROOT, joint_positions
from reproduction.datasets.skeleton import Bone, Skeleton, euler
from tests.support.data import DATA as REAL

needs_real_files = pytest.mark.skipif(
    not (REAL / "cmu_mocap" / "35.asf").is_file(), reason="the original files are not at hand"
)

# A leg of two bones below the root, the nose before it.
LEG = Skeleton(
    [
        Bone("thigh", "root", np.array([0.0, -3.0, 0.0]), np.eye(3), "xz"),
        Bone("nose", "root", np.array([0.0, 0.0, 1.0]), np.eye(3), ""),
        Bone("shin", "thigh", np.array([0.0, -2.0, 0.0]), np.eye(3), "x"),
    ]
)
RECORDED = [*(f"root.{name}" for name in RECORDED_ROOT), "thigh.rx", "thigh.rz", "shin.rx"]
RELATIVE = [
    *(f"root.{name}" for name in RELATIVE_ROOT),
    *("thigh.ex", "thigh.ey", "thigh.ez", "shin.ex"),
]
QUARTER = np.pi / 2


def test_recorded_channels_by_hand():
    # The thigh forwards by a quarter, the shin back down, the body turned from z to x.
    frame = [[10, 5, 0, 0, 90, 0, -90, 0, 90]]
    expected = [[10, 5, 0], [13, 5, 0], [11, 5, 0], [13, 3, 0]]
    np.testing.assert_allclose(joint_positions(LEG, frame, RECORDED)[0], expected, atol=1e-14)
    order = np.random.default_rng(0).permutation(len(RECORDED))
    shuffled = joint_positions(LEG, np.array(frame)[:, order], [RECORDED[k] for k in order])
    np.testing.assert_allclose(shuffled[0], expected, atol=1e-14)


def test_relative_channels_by_hand():
    # Upright, the thigh forwards (the maps are of inverse rotations).  One step ahead and one to
    # the left, a quarter turn from z to x (left then is -z), and one step ahead from there.
    frames = np.array(
        [
            [QUARTER, QUARTER, -QUARTER, 1, -1, 5, QUARTER, 0, 0, -QUARTER],
            [QUARTER, QUARTER, 0, 0, -1, 6, QUARTER, 0, 0, -QUARTER],
            [QUARTER, QUARTER, 9, 9, 9, 5, QUARTER, 0, 0, -QUARTER],  # its steps lead nowhere
        ]
    )
    found = joint_positions(LEG, frames, RELATIVE)
    root = [[0, 5, 0], [1, 6, 1], [2, 5, 1]]
    forward = np.array([[0, 0, 1], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(found[:, 0], root, atol=1e-14)
    np.testing.assert_allclose(found[:, 1], root + 3 * forward, atol=1e-14)
    np.testing.assert_allclose(found[:, 2], root + forward, atol=1e-14)
    np.testing.assert_allclose(found[:, 3], root + 3 * forward - [0, 2, 0], atol=1e-14)


def test_tilts_by_hand():
    # Leaning forwards by 30 degrees; to the left by 30; both as far as can be.
    lean = np.radians([[60, 90], [90, 60], [10, 60]])
    frames = np.hstack([lean, np.zeros((3, 8))])
    found = joint_positions(LEG, frames, RELATIVE)
    third, half = np.sqrt(0.75), 0.5
    np.testing.assert_allclose(found[0, 1], [0, -3 * third, -3 * half], atol=1e-14)
    np.testing.assert_allclose(found[0, 2], [0, -half, third], atol=1e-14)
    np.testing.assert_allclose(found[1, 1], [-3 * half, -3 * third, 0], atol=1e-14)
    np.testing.assert_allclose(found[1, 2], [0, 0, 1], atol=1e-14)
    np.testing.assert_allclose(found[2, 2], [-half, -third, 0], atol=1e-12)


def test_bones_keep_their_lengths_whatever_a_forecast_says():
    frames = np.random.default_rng(0).normal(0, 3, (50, len(RELATIVE)))
    frames[0, :2] = 0.0  # the hips' axis points straight down
    found = joint_positions(LEG, frames, RELATIVE)
    ends, starts = found[:, LEG.pairs[:, 1]], found[:, LEG.pairs[:, 0]]
    lengths = np.linalg.norm(ends - starts, axis=-1)
    np.testing.assert_allclose(lengths, np.broadcast_to([3, 1, 2], (50, 3)), rtol=1e-9)


def test_bad_input():
    frame = np.zeros((1, 9))
    for names, message in (
        (RECORDED[:-1], "frames must have 8 columns, got 9"),
        ([*RECORDED[:-1], "shin.ry"], "channel shin.rx is missing"),
        (["root.TW", *RECORDED[1:]], "channel root.TX is missing"),
        ([RECORDED[1], *RECORDED[1:]], "one is there twice"),
    ):
        with pytest.raises(ValueError, match=message):
            joint_positions(LEG, frame, names)
    with pytest.raises(ValueError, match=r"channel tail\.rx belongs to no bone"):
        joint_positions(LEG, np.zeros((1, 10)), [*RECORDED, "tail.rx"])
    with pytest.raises(ValueError, match="finite"):
        joint_positions(LEG, frame * np.nan, RECORDED)


@needs_real_files
def test_preprocessed_channels_give_the_recorded_positions_back():
    recorded = datasets.load_cmu_motion(REAL, raw=True)
    relative = datasets.load_cmu_motion(REAL)
    skeleton = datasets.load_cmu_skeleton(REAL)
    for a, b in zip(recorded.train + recorded.test, relative.train + relative.test, strict=True):
        angles = recorded.restore(a)
        expected = joint_positions(skeleton, angles, recorded.channel_names)
        found = joint_positions(skeleton, relative.restore(b), relative.channel_names)
        height = np.ptp(expected[0, :, 1])
        assert 26 < height < 32
        hips = euler(angles[0, 3:6], "xyz", degrees=True)[:, 0]
        turn = euler([np.arctan2(hips[2], hips[0])], "y", degrees=False)
        expected = (expected - expected[0, 0] * [1, 0, 1]) @ turn.T
        np.testing.assert_allclose(found, expected, atol=1e-10 * height)


@needs_real_files
def test_a_walk_is_upright():
    # Axes of the bones in a wrong order, inverse or left out lift the hands above 16.5.
    motion, skeleton = datasets.load_cmu_motion(REAL), datasets.load_cmu_skeleton(REAL)
    walk = joint_positions(skeleton, motion.restore(motion.test[1]), motion.channel_names)
    heights = dict(zip(skeleton.joints, walk[..., 1].T, strict=True))
    assert heights["head"].min() > 28.5
    assert max(heights["lhand"].max(), heights["rhand"].max()) < 16.2
    lowest = np.minimum(heights["lfoot"], heights["rfoot"])
    assert 0.4 < lowest.min() and lowest.max() < 1.4


def test_a_folder_without_a_skeleton(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"35\.asf.*subject 35"):
        datasets.load_cmu_skeleton(tmp_path)
