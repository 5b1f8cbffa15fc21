"""``python -m reproduction.pictures``: docs/balls.png and motion.png, of the temporal models.

Tested in tests/reproduction/test_pictures.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from trug_fast import datasets, plots
from trug_fast.models.stored import load_model
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM

SEED = 7  # of the balls that are drawn


def balls(model: Any) -> Any:
    """Draw a new video, its forecasts, and how the model goes on from ten frames."""
    side = round(model.n_visible**0.5)
    video = datasets.bouncing_balls(1, 40, size=side, rng=SEED)[0]
    return plots.continuation(model, video, (side, side), n_seen=10, n_gibbs=100, rng=SEED)


def motion(model: Any, directory: str | None, trial: str, seen: int, frames: int, out: str) -> Any:
    """Draw a recorded motion, its forecasts, and how the model goes on, as stick figures."""
    data = datasets.load_cmu_motion(directory)
    skeleton = datasets.load_cmu_skeleton(directory)
    names = data.train_names + data.test_names
    recorded = (data.train + data.test)[names.index(trial)][: seen + frames]
    how = {"n_gibbs": 50, "return_mean": True, "rng": 0}
    rows = {
        "data": recorded,
        "predicted from the frames before": model.predict(recorded, rng=0),
        f"continued from {seen} frames": model.generate(frames, prefix=recorded[:seen], **how),
    }
    bodies = {
        name: datasets.joint_positions(skeleton, data.restore(row[-frames:]), data.channel_names)
        for name, row in rows.items()
    }
    if out.lower().endswith(".gif"):
        return plots.save_motion(bodies, skeleton.pairs, out, sides=skeleton.sides)
    return plots.stick_figures(bodies, skeleton.pairs, sides=skeleton.sides)


def main(argv: Sequence[str] | None = None) -> None:
    """Draw one of them."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.pictures")
    parser.add_argument("picture", choices=("balls", "motion"))
    parser.add_argument("model", help="a file that a cell has trained")
    parser.add_argument("out", help="a .png; of motion also a .gif, which moves")
    parser.add_argument("--data-dir", help="where the motion lies (or set TRUG_FAST_DATA)")
    parser.add_argument("--trial", default="35_29", help="default 35_29, a walk; 35_18 is a run")
    parser.add_argument("--n-seen", type=int, default=20)
    parser.add_argument("--n-frames", type=int, default=40)
    given = parser.parse_args(argv)
    model = load_model(given.model, TruGTRBM, BernoulliTRBM)
    if given.picture == "balls":
        figure = balls(model)
    else:
        where = given.data_dir, given.trial, given.n_seen, given.n_frames
        figure = motion(model, *where, given.out)
    if figure is not None:
        figure.savefig(given.out)


if __name__ == "__main__":
    main()
