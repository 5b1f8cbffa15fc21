"""The pictures of temporal models are drawn."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import pictures
from tests.support.skeletons import SMALL

pytest.importorskip("matplotlib")


@pytest.fixture
def folder(tmp_path):
    """Make files like those of the data base, of a smaller body."""
    root = ("tilt_fwd", "tilt_hip", "d_yaw", "v_hip", "v_fwd", "height")
    maps = ("larm.ex", "larm.ey", "larm.ez", "lhand.ey", "rarm.ez")
    names = [*(f"root.{name}" for name in root), *maps]
    frames = np.random.default_rng(0).normal(0, 0.1, (36, len(names)))
    frames += [np.pi / 2, np.pi / 2, 0, 0, -1, 5, *np.zeros(5)]
    np.savez(
        tmp_path / "cmu35_walk_run_30fps.npz",
        taylor62=frames,
        taylor62_names=names,
        seq_lengths=[12, 12, 12],
        seq_trials=["35_01", "35_18", "35_29"],
        n_train_sequences=1,
    )
    (tmp_path / "35.asf").write_text(SMALL)
    return tmp_path


def save_model(path, n_visible, **options):
    weights = np.random.default_rng(0).normal(0, 0.1, (n_visible, 2))
    square = np.eye(n_visible)
    tf.BernoulliTRBM(weights, weights.T, square, np.eye(2), 0, 0, 0, 0, **options).save(path)
    return str(path)


def test_both_pictures(folder):
    balls = save_model(folder / "balls.npz", 36)
    motion = save_model(folder / "motion.npz", 11, visible_precision=4.0)
    pictures.main(["balls", balls, str(folder / "balls.png")])
    for name in ("walk.png", "walk.gif"):
        words = ["motion", motion, str(folder / name), f"--data-dir={folder}"]
        pictures.main([*words, "--n-seen=5", "--n-frames=7"])
    for name in ("balls.png", "walk.png", "walk.gif"):
        assert (folder / name).read_bytes()[:4] in (b"\x89PNG", b"GIF8")
    with pytest.raises(ValueError, match="9"):
        small = save_model(folder / "small.npz", 9, visible_precision=4.0)
        pictures.main(["motion", small, str(folder / "x.png"), f"--data-dir={folder}"])
