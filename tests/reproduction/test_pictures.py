"""The pictures of temporal models are drawn."""

from types import SimpleNamespace

import numpy as np
import pytest

import trug_fast as tf
from reproduction import pictures


def test_both_pictures(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    walks = [rng.normal(size=(9, 4)) for _ in range(3)]
    how = {"epochs": 1, "progress": False, "rng": 0}
    video = tf.datasets.bouncing_balls(3, 5, size=6, rng=0)
    tf.train_trbm(video, 3, **how).model.save(tmp_path / "balls.npz")
    tf.train_trbm(walks, 3, visible="gaussian", **how).model.save(tmp_path / "motion.npz")
    data = {"train": walks[:2], "test": walks[2:], "channel_names": ["a"], "restore": lambda x: x}
    data |= {"train_names": ["x", "y"], "test_names": ["35_29"]}
    monkeypatch.setattr(
        pictures.datasets, "load_cmu_motion", lambda _: SimpleNamespace(**data), raising=False
    )
    body = SimpleNamespace(pairs=[[0, 1]], sides=[-1])
    monkeypatch.setattr(pictures.datasets, "load_cmu_skeleton", lambda _: body, raising=False)
    monkeypatch.setattr(
        pictures.datasets,
        "joint_positions",
        lambda _, poses, names: np.stack([poses[:, :3], poses[:, 1:]], axis=1),
        raising=False,
    )
    for name in ("balls.png", "motion.png", "motion.gif"):
        words = [name[:-4], str(tmp_path / f"{name[:-4]}.npz"), str(tmp_path / name)]
        pictures.main([*words, "--n-seen=3", "--n-frames=4"])
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"GIF8")
