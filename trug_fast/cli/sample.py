"""``trug-fast sample MODEL``: draws from a stored model, as images or as numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from trug_fast.models.trbm import TRBM


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("sample", help="draw images, or a video, from a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    parser.add_argument("-n", type=int, default=64, help="number of images or frames (default 64)")
    parser.add_argument(
        "--gibbs", type=int, help="sweeps of each chain (default 1000; of each frame 50)"
    )
    parser.add_argument(
        "--out", default="samples.png", help="a .png or .npz file; of videos a .gif too"
    )
    parser.add_argument("--start", choices=("noise", "data"), default="noise")
    options.add_data(parser)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Draw and write."""
    import numpy as np

    target, video = Path(arguments.out), options.load_temporal(arguments.model)
    suffixes = (".png", ".npz") if video is None else (".png", ".npz", ".gif")
    if target.suffix not in suffixes:
        raise ValueError(f"--out must end in {' or '.join(suffixes)}, got {arguments.out}")
    if video is not None:
        _sample_video(arguments, video, target)
        return
    model = options.load_model(arguments.model)
    sweeps = 1000 if arguments.gibbs is None else arguments.gibbs
    start = None
    if arguments.start == "data":
        data = options.load_data(arguments)
        options.require_pixels(arguments, model, data)
        rows = data.test
        start = rows[np.arange(arguments.n) % len(rows)]
    draws = model.sample(
        arguments.n, n_gibbs=sweeps, rng=arguments.seed, start=start, return_mean=True
    )
    if target.suffix == ".npz":
        np.savez_compressed(target, samples=draws)
    else:
        from trug_fast import plots

        side = options.square_side(model)
        plots.save(plots.images(draws, (side, side)), target)
    print(f"{arguments.n} images after {sweeps} sweeps written to {target}")


def _sample_video(arguments: argparse.Namespace, model: TRBM, target: Path) -> None:
    """Draw a video, each frame the mean over the later half of its sweeps."""
    import numpy as np

    sweeps = 50 if arguments.gibbs is None else arguments.gibbs
    frames = model.generate(arguments.n, n_gibbs=sweeps, return_mean=True, rng=arguments.seed)
    if target.suffix == ".npz":
        np.savez_compressed(target, frames=frames)
    else:
        from trug_fast import plots

        side = options.square_side(model)
        if target.suffix == ".gif":
            plots.save_video(frames, (side, side), target)
        else:
            plots.strips({"generated": frames}, (side, side)).savefig(target)
    print(f"{arguments.n} frames, {sweeps} sweeps each, written to {target}")
