"""``trug-fast plot``: figures of stored models and of the units themselves.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from trug_fast import datasets, plots
from trug_fast._common import checks, files
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load_model
from trug_fast.models.trbm import TRBM, BernoulliTRBM, TruGTRBM
from trug_fast.training.choices import described

from . import options, own_data
from .choices import add_choice

TEMPORAL = (TruGTRBM, BernoulliTRBM)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("plot", help="draw a figure")
    figures = parser.add_subparsers(required=True, metavar="FIGURE")

    def figure(
        name: str, words: str, run: Callable[[argparse.Namespace], None], *of: str
    ) -> argparse.ArgumentParser:
        own: argparse.ArgumentParser = figures.add_parser(name, help=words)
        for each in of:
            own.add_argument(each.lower(), metavar=each)
        own.add_argument("out", metavar="OUT.png")
        own.set_defaults(run=run)
        options.add_common(own)
        return own

    figure("family", "units of four intervals", draw_family)
    figure("units", "a model's nonlinearities", draw_units, "MODEL")
    figure("history", "a training's scores and truncation points", draw_history, "HISTORY")
    weights = figure("weights", "a model's weights as images", draw_weights, "MODEL")
    weights.add_argument("--size", metavar="N|HxW", help="of its images, if they are no squares")
    words = "bouncing balls or a video of your own, and how a temporal model goes on"
    video = figure("video", words, draw_video, "MODEL")
    own_data.add_reading(video, (), None, "size", "length")
    _add_continuation(video, n_frames=20)


def _add_continuation(parser: argparse.ArgumentParser, **own: int) -> None:
    found = described(continuation)
    for name in ("n_seen", "n_gibbs"):
        add_choice(parser, found[name], own=own.get(name))
        parser.set_defaults(**{name: own.get(name, found[name].default)})
    parser.add_argument(
        "--n-frames",
        type=int,
        metavar="N",
        default=own["n_frames"],
        help=f"frames after them (default {own['n_frames']})",
    )


def draw_family(arguments: argparse.Namespace) -> None:
    """Draw the nonlinearities that fixed intervals give."""
    plots.family().savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_units(arguments: argparse.Namespace) -> None:
    """Draw what a model's units have become."""
    model = load_model(arguments.model)
    plots.save(plots.nonlinearities(model), arguments.out)
    print(f"written to {arguments.out}")


def draw_history(arguments: argparse.Namespace) -> None:
    """Draw how a training went."""
    plots.training(files.read(arguments.history, "history")).savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_weights(arguments: argparse.Namespace) -> None:
    """Draw what a model's strongest units see, of a temporal one of the frame before too."""
    model = load_model(arguments.model, TruGRBM, BernoulliRBM, *TEMPORAL)
    plots.weights(model, options.image_shape(arguments, model)).savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_video(arguments: argparse.Namespace) -> None:
    """Draw a new video of bouncing balls, forecasts of it, and how a model goes on."""
    model = load_model(arguments.model, *TEMPORAL)
    shape, frames = options.image_shape(arguments, model), arguments.n_seen + arguments.n_frames
    video = _video(arguments, model, shape, frames)
    continuation(
        model,
        video,
        shape,
        n_seen=arguments.n_seen,
        n_gibbs=arguments.n_gibbs,
        rng=arguments.seed,
    ).savefig(arguments.out)
    print(f"written to {arguments.out}")


def continuation(
    model: TRBM,
    video: ArrayLike,
    image_shape: tuple[int, int],
    *,
    n_seen: int = 10,
    n_gibbs: int = 50,
    rng: RngLike = None,
) -> Any:
    """Draw a video, its one-step forecasts, and how a model goes on from its first frames.

    Parameters
    ----------
    n_seen : int
        Frames that the model goes on from; those after them are drawn.
    n_gibbs : int
        Sweeps for each frame.
    """
    frames = checks.matrix("video", model.by_name("video", video), model.n_visible)
    seen = checks.count("n_seen", n_seen)
    if seen >= len(frames):
        raise ValueError(f"n_seen must be below the number of frames, {len(frames)}, got {seen}")
    more = model.generate(
        len(frames) - seen, prefix=frames[:seen], n_gibbs=n_gibbs, return_mean=True, rng=rng
    )
    rows = {
        "data": frames[seen:],
        "predicted from the frames before": model.predict(frames, rng=rng)[seen:],
        f"continued from {seen} frames": more,
    }
    return plots.strips(rows, image_shape)


def _video(
    arguments: argparse.Namespace, model: TRBM, shape: tuple[int, int], frames: int
) -> FloatArray:
    """Return the first frames of the last sequence in a file of one's own, or balls."""
    if arguments.data is None:
        for name in ("key", "drop", "length"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"--{name} needs --data")
        if shape[0] != shape[1]:
            raise ValueError("frames are no squares, as bouncing balls are; name a file by --data")
        balls: FloatArray = datasets.bouncing_balls(1, frames, size=shape[0], rng=arguments.seed)[0]
        return balls
    found: FloatArray = own_data.sequences_for(arguments, model)[-1]
    if len(found) < frames:
        raise ValueError(
            f"--n-seen and --n-frames must be {len(found)} at most together, as the last sequence "
            f"of {arguments.data} is long, got {frames}"
        )
    return found[:frames]
