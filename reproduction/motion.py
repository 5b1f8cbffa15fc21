"""``python -m reproduction motion``: how a temporal model goes on with a motion, as stick figures.

Tested in tests/reproduction/test_stick_figures.py.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.models.stored import load
from trug_fast.models.trbm import TRBM, BernoulliTRBM, TruGTRBM

from .datasets import MotionData, joint_positions, load_cmu_motion, load_cmu_skeleton
from .stick_figures import save_motion, stick_figures

# Frames to begin with, a step, and a good second more; sweeps of each; frames between figures.
NUMBERS = {"n_seen": 20, "n_frames": 40, "n_gibbs": 50, "every": 4}


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser; return its own."""
    words = "a recorded motion and how a model of table3 goes on with it"
    parser: argparse.ArgumentParser = commands.add_parser("motion", help=words)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("out", metavar="OUT.png", help="a .gif is an animation")
    parser.add_argument("--data-dir", help="where the motion lies (or set TRUG_FAST_DATA)")
    parser.add_argument("--trial", default="35_29", help="default 35_29, a walk; 35_18 is a run")
    for name, number in NUMBERS.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=number, help=f"default {number}")
    parser.set_defaults(run=draw_motion)
    return parser


def draw_motion(arguments: argparse.Namespace) -> None:
    """Draw a recorded motion, forecasts of it, and how a model goes on."""
    for name in NUMBERS:
        checks.count(f"--{name.replace('_', '-')}", getattr(arguments, name))
    model = load(arguments.model, TruGTRBM, BernoulliTRBM)
    motion = load_cmu_motion(arguments.data_dir)
    skeleton = load_cmu_skeleton(arguments.data_dir)
    _require_channels(arguments, model, motion)
    seen, frames = arguments.n_seen, arguments.n_frames
    trial = _trial(motion, arguments.trial, seen + frames)
    rows = {
        "data": trial,
        "predicted from the frames before": model.predict(trial, rng=arguments.seed),
        f"continued from {seen} frames": model.generate(
            frames,
            prefix=trial[:seen],
            n_gibbs=arguments.n_gibbs,
            return_mean=True,
            rng=arguments.seed,
        ),
    }
    bodies = {
        name: joint_positions(skeleton, motion.restore(row[-frames:]), motion.channel_names)
        for name, row in rows.items()
    }
    if arguments.out.lower().endswith(".gif"):
        save_motion(bodies, skeleton.pairs, arguments.out, sides=skeleton.sides)
    else:
        figure = stick_figures(bodies, skeleton.pairs, sides=skeleton.sides, every=arguments.every)
        figure.savefig(arguments.out)
    print(f"written to {arguments.out}")


def _require_channels(arguments: argparse.Namespace, model: TRBM, motion: MotionData) -> None:
    channels = len(motion.channel_names)
    if model.n_visible != channels or model.visible != "gaussian":
        raise ValueError(
            f"{arguments.model} has {model.n_visible} {model.visible} visible units, the "
            f"motion has {channels} real channels"
        )


def _trial(motion: MotionData, name: str, frames: int) -> NDArray[np.float64]:
    """Return the first frames of a trial."""
    names = motion.train_names + motion.test_names
    if name not in names:
        raise ValueError(f"--trial must be one of {', '.join(sorted(names))}, got {name}")
    trial = (motion.train + motion.test)[names.index(name)]
    if len(trial) < frames:
        raise ValueError(
            f"--n-seen and --n-frames must be {len(trial)} at most together, as trial "
            f"{name} is long, got {frames}"
        )
    return trial[:frames]
