"""The images of Table 1."""

from dataclasses import replace

import numpy as np
import pytest

from reproduction import images
from tests.support.data import DATA as REAL


@pytest.mark.parametrize("hold_out", [False, True])
def test_digits(hold_out):
    held = 287 if hold_out else 0
    kinds = {
        kind: images.load("digits", kind, hold_out, directory=None, seed=3)
        for kind in ("fixed", "epoch")
    }
    for kind, data in kinds.items():
        assert data.train.shape == data.fixed.shape == (1437 - held, 64)
        assert (data.valid is None) == (not hold_out)
        assert data.valid is None or data.valid.shape == (held, 64)
        assert (kind == "fixed") == (data.train is data.fixed)
        assert set(np.unique(data.fixed)) == {0, 1}
    np.testing.assert_array_equal(kinds["fixed"].test, kinds["epoch"].test)
    more, rng = kinds["epoch"].options(3), np.random.default_rng(0)
    assert kinds["fixed"].options(3) == {} and more["visible"].soft
    drawn, other = (more["transform"](kinds["epoch"].train.copy(), rng, 0.0) for _ in range(2))
    assert drawn.dtype == bool and not np.array_equal(drawn, other)
    assert abs(drawn.mean() - kinds["epoch"].train.mean()) < 0.005  # three deviations
    other = images.load("digits", "epoch", hold_out, directory=None, seed=4)
    assert not np.array_equal(kinds["epoch"].fixed, other.fixed)


def test_mirrored_and_shifted_images_are_trained_on_alone():
    plain = images.load("digits", directory=None, seed=0)
    data = images.load("digits", mirror=True, directory=None, seed=0)
    np.testing.assert_array_equal(data.fixed, plain.fixed)
    np.testing.assert_array_equal(data.test, plain.test)
    np.testing.assert_array_equal(data.train[:1437], plain.train)
    pictures = data.train.reshape(2, 1437, 8, 8)
    np.testing.assert_array_equal(pictures[1], pictures[0][:, :, ::-1])
    moved = images.load("digits", mirror=True, shift=True, directory=None, seed=0)
    pictures = moved.train.reshape(2 + 8, 1437, 8, 8)
    np.testing.assert_array_equal(pictures[:2].reshape(-1, 64), data.train)
    np.testing.assert_array_equal(pictures[2][:, 1:], pictures[0][:, :-1])  # down
    np.testing.assert_array_equal(pictures[2][:, 0], pictures[0][:, 0])
    np.testing.assert_array_equal(pictures[8][:, :, :-1], pictures[1][:, :, 1:])  # to the left
    with pytest.raises(ValueError, match="mirror has no effect beside binarize = 'epoch'"):
        images.load("digits", "epoch", mirror=True, directory=None, seed=0)
    with pytest.raises(TypeError, match="images.mirror must be true or false, got 1"):
        images.load("digits", mirror=1, directory=None, seed=0)


def test_warped_copies_stand_in_for_grey_images():
    warps = {"warp_copies": 2, "warp_share": 0.5, "warp_epochs": 3}
    plain = images.load("digits", "epoch", directory=None, seed=3)
    data = images.load("digits", "epoch", **warps, directory=None, seed=3)
    np.testing.assert_array_equal(data.fixed, plain.fixed)
    redrawn = data.options(4)["transform"]
    assert redrawn.copies.shape == (2, 1437, 64) and redrawn.until == 0.75
    whole = replace(redrawn, copies=np.full_like(redrawn.copies, images.BYTE))  # white
    found = whole(data.train[:400].copy(), np.random.default_rng(0), 0.5)
    assert abs(found.all(axis=1).mean() - 0.5) < 5 * 0.5 / 20  # five deviations
    ink = [
        each.options(4)["transform"](data.train.copy(), np.random.default_rng(1), share).mean()
        for each in (plain, data)
        for share in (0.7, 0.75)
    ]
    assert ink[1] == ink[3] and ink[0] != ink[2] and abs(ink[2] / ink[0] - 1) < 0.1
    first = replace(redrawn, share=1.0, copies=redrawn.copies[:1])  # each image has its own copy
    found = first(data.train[::-1].copy(), np.random.default_rng(0), 0.0)[::-1]
    warped = redrawn.copies[0] / images.BYTE
    np.testing.assert_array_equal(found[warped == 1], True)
    np.testing.assert_array_equal(found[warped == 0], False)
    quick = images.load("digits", "epoch", **warps, directory=None, seed=3, alone=True)
    assert quick.options(4)["transform"].until == 0
    for given, words in (
        ({"warp_copies": 2}, "warp_copies needs warp_share and warp_epochs"),
        ({"warp_share": 0.5}, "no effect without warp_copies"),
        ({"warp_copies": 2, "warp_share": 2.0, "warp_epochs": 3}, "images.warp_share must be"),
    ):
        with pytest.raises(ValueError, match=words):
            images.load("digits", "epoch", **given, directory=None, seed=3)
    with pytest.raises(ValueError, match="need binarize = 'epoch'"):
        images.load("digits", **warps, directory=None, seed=3)


@pytest.mark.skipif(not REAL.is_dir(), reason="the large data sets are not here")
@pytest.mark.parametrize(
    ("kind", "binarize", "hold_out", "rows", "held", "tests"),
    [
        ("mnist", "epoch", False, 60_000, None, 10_000),
        ("mnist", "epoch", True, 50_000, 10_000, 10_000),
        ("mnist", "fixed", False, 60_000, None, 10_000),
        ("mnist", "fixed", True, 50_000, 10_000, 10_000),
        ("caltech", "fixed", False, 6364, None, 2307),
        ("caltech", "fixed", True, 4100, 2264, 2307),
    ],
)
def test_the_papers_images(kind, binarize, hold_out, rows, held, tests):
    data = images.load(kind, binarize, hold_out, directory=str(REAL), seed=0)
    assert data.train.shape == (rows, 784) and data.test.shape == (tests, 784)
    assert (data.valid is None) == (held is None)
    assert held is None or data.valid.shape == (held, 784)
    assert data.shape == (28, 28)


def test_what_grey_images_would_save_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "load_binarized_mnist", lambda directory: None)
    with pytest.raises(FileNotFoundError, match=r"images.binarize = 'fixed' needs none of them"):
        images.load("mnist", "epoch", directory=str(tmp_path), seed=0)
