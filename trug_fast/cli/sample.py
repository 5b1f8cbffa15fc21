"""``trug-fast sample MODEL``: draws from a stored model, as images or as numbers.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import plots
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load_model
from trug_fast.models.trbm import TRBM, BernoulliTRBM, TruGTRBM
from trug_fast.training.choices import described

from . import options
from .choices import add_choice


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("sample", help="draw images, or a video, from a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    parser.add_argument("-n", type=int, default=64, help="number of images or frames (default 64)")
    sweeps = described(TruGRBM.sample)["n_gibbs"]
    of_frames = described(TRBM.generate)["n_gibbs"].default
    add_choice(parser, sweeps, own={"images": sweeps.default, "each frame": of_frames})
    parser.add_argument(
        "--out", default="samples.png", help="a .png or .npz file; of videos a .gif too"
    )
    parser.add_argument("--start", choices=("noise", "data"), default="noise")
    options.add_data(parser)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Draw and write."""
    model = load_model(arguments.model, TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM)
    video, target = isinstance(model, TRBM), Path(arguments.out)
    suffixes = (".png", ".npz", ".gif") if video else (".png", ".npz")
    if target.suffix not in suffixes:
        raise ValueError(f"--out must end in {' or '.join(suffixes)}, got {arguments.out}")
    n_gibbs = {} if arguments.n_gibbs is None else {"n_gibbs": arguments.n_gibbs}
    if video:
        _sample_video(arguments, model, target, n_gibbs)
    else:
        _sample_images(arguments, model, target, n_gibbs)


def _sample_images(
    arguments: argparse.Namespace, model: Any, target: Path, n_gibbs: dict[str, int]
) -> None:
    start = None
    if arguments.start == "data":
        data = options.load_data(arguments)
        options.require_pixels(arguments, model, data)
        rows = data.test
        start = rows[np.arange(arguments.n) % len(rows)]
    draws = model.sample(arguments.n, rng=arguments.seed, start=start, return_mean=True, **n_gibbs)
    if target.suffix == ".npz":
        np.savez_compressed(target, samples=draws)
    else:
        side = options.square_side(model)
        plots.save(plots.images(draws, (side, side)), target)
    print(f"{arguments.n} images written to {target}")


def _sample_video(
    arguments: argparse.Namespace, model: TRBM, target: Path, n_gibbs: dict[str, int]
) -> None:
    """Draw a video, each frame the mean over the later half of its sweeps."""
    frames = model.generate(arguments.n, return_mean=True, rng=arguments.seed, **n_gibbs)
    if target.suffix == ".npz":
        np.savez_compressed(target, frames=frames)
    else:
        side = options.square_side(model)
        if target.suffix == ".gif":
            plots.save_video(frames, (side, side), target)
        else:
            plots.strips({"generated": frames}, (side, side)).savefig(target)
    print(f"{arguments.n} frames written to {target}")
