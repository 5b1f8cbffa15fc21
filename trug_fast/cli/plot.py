"""``trug-fast plot``: figures of stored models and of the units themselves."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from trug_fast._common.checks import FloatArray
    from trug_fast.datasets import MotionData
    from trug_fast.models.trbm import TRBM


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("plot", help="draw a figure")
    figures = parser.add_subparsers(required=True, metavar="FIGURE")
    family = figures.add_parser("family", help="units of four intervals")
    family.add_argument("out", metavar="OUT.png")
    family.set_defaults(run=draw_family)
    units = figures.add_parser("units", help="a model's nonlinearities")
    units.add_argument("model", metavar="MODEL")
    units.add_argument("out", metavar="OUT.png")
    units.set_defaults(run=draw_units)
    history = figures.add_parser("history", help="a training's scores and truncation points")
    history.add_argument("history", metavar="HISTORY", help="such as model-history.npz")
    history.add_argument("out", metavar="OUT.png")
    history.set_defaults(run=draw_history)
    weights = figures.add_parser("weights", help="a temporal model's dictionaries, W1 and W2")
    weights.add_argument("model", metavar="MODEL")
    weights.add_argument("out", metavar="OUT.png")
    weights.set_defaults(run=draw_weights)
    video = figures.add_parser("video", help="bouncing balls, and how a temporal model goes on")
    video.add_argument("model", metavar="MODEL")
    video.add_argument("out", metavar="OUT.png")
    video.add_argument("--seen", type=int, default=10, help="frames it goes on from (default 10)")
    video.add_argument("--frames", type=int, default=20, help="frames after them (default 20)")
    video.add_argument("--gibbs", type=int, default=50, help="sweeps of each frame (default 50)")
    video.set_defaults(run=draw_video)
    for each in (family, units, history, weights, video, _add_motion(figures)):
        options.add_common(each)


def _add_motion(figures: Any) -> argparse.ArgumentParser:
    motion: argparse.ArgumentParser = figures.add_parser(
        "motion", help="motion capture, and how a temporal model goes on, as stick figures"
    )
    motion.add_argument("model", metavar="MODEL")
    motion.add_argument("out", metavar="OUT.png", help="a .gif is an animation")
    motion.add_argument("--data-dir", help="where the motion lies (or set TRUG_FAST_DATA)")
    motion.add_argument("--trial", default="35_29", help="default 35_29, a walk; 35_18 is a run")
    motion.add_argument("--seen", type=int, default=20, help="frames it goes on from (default 20)")
    motion.add_argument("--frames", type=int, default=40, help="frames after them (default 40)")
    motion.add_argument(
        "--every",
        type=int,
        default=4,
        help="frames from one figure to the next in a picture (default 4)",
    )
    motion.add_argument("--gibbs", type=int, default=50, help="sweeps of each frame (default 50)")
    motion.set_defaults(run=draw_motion)
    return motion


def draw_family(arguments: argparse.Namespace) -> None:
    """Draw the nonlinearities that fixed intervals give."""
    from trug_fast import plots

    plots.family().savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_units(arguments: argparse.Namespace) -> None:
    """Draw what a model's units have become."""
    from trug_fast import plots

    model = options.load_temporal(arguments.model) or options.load_model(arguments.model)
    plots.save(plots.nonlinearities(model), arguments.out)
    print(f"written to {arguments.out}")


def draw_history(arguments: argparse.Namespace) -> None:
    """Draw how a training went."""
    from trug_fast import plots
    from trug_fast._common import files

    record = files.read(arguments.history, "history")
    plots.training(record).savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_weights(arguments: argparse.Namespace) -> None:
    """Draw what a temporal model's units see of a frame, and of the one before."""
    from trug_fast import plots

    model = _temporal(arguments)
    side = options.square_side(model)
    plots.dictionaries(model, (side, side)).savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_video(arguments: argparse.Namespace) -> None:
    """Draw a new video of bouncing balls, forecasts of it, and how a model goes on."""
    from trug_fast import datasets, plots

    model = _temporal(arguments)
    side, frames = options.square_side(model), arguments.seen + arguments.frames
    balls = datasets.bouncing_balls(1, frames, size=side, rng=arguments.seed)[0]
    plots.continuation(
        model,
        balls,
        (side, side),
        n_seen=arguments.seen,
        n_gibbs=arguments.gibbs,
        rng=arguments.seed,
    ).savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_motion(arguments: argparse.Namespace) -> None:
    """Draw a recorded motion, forecasts of it, and how a model goes on."""
    from trug_fast import datasets, plots
    from trug_fast.datasets import joint_positions

    model = _temporal(arguments)
    motion = datasets.load_cmu_motion(arguments.data_dir)
    skeleton = datasets.load_cmu_skeleton(arguments.data_dir)
    if model.n_visible != len(motion.channel_names) or model.visible != "gaussian":
        raise ValueError(
            f"{arguments.model} has {model.n_visible} {model.visible} visible "
            f"units, the motion has {len(motion.channel_names)} real channels"
        )
    seen, frames = arguments.seen, arguments.frames
    trial = _trial(motion, arguments.trial, seen + frames)
    rows = {
        "data": trial,
        "predicted from the frames before": model.predict(trial, rng=arguments.seed),
        f"continued from {seen} frames": model.generate(
            frames,
            prefix=trial[:seen],
            n_gibbs=arguments.gibbs,
            return_mean=True,
            rng=arguments.seed,
        ),
    }
    bodies = {
        name: joint_positions(skeleton, motion.restore(row[-frames:]), motion.channel_names)
        for name, row in rows.items()
    }
    if arguments.out.lower().endswith(".gif"):
        plots.save_motion(bodies, skeleton.pairs, arguments.out, sides=skeleton.sides)
    else:
        plots.stick_figures(
            bodies, skeleton.pairs, every=arguments.every, sides=skeleton.sides
        ).savefig(arguments.out)
    print(f"written to {arguments.out}")


def _trial(motion: MotionData, name: str, frames: int) -> FloatArray:
    """Return the first frames of a trial."""
    names = motion.train_names + motion.test_names
    if name not in names:
        raise ValueError(f"--trial must be one of {', '.join(sorted(names))}, got {name}")
    trial = (motion.train + motion.test)[names.index(name)]
    if len(trial) < frames:
        raise ValueError(
            f"--seen and --frames must be {len(trial)} at most together, as trial "
            f"{name} is long, got {frames}"
        )
    return trial[:frames]


def _temporal(arguments: argparse.Namespace) -> TRBM:
    model = options.load_temporal(arguments.model)
    if model is None:
        raise ValueError(f"{arguments.model} holds no temporal model")
    return model
