"""``trug-fast sample MODEL``: draws from a stored machine, as an image or as numbers."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from . import options


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("sample", help="draw images from a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    parser.add_argument("-n", type=int, default=64, help="number of images (default 64)")
    parser.add_argument("--gibbs", type=int, default=1000, help="sweeps of each chain")
    parser.add_argument("--out", default="samples.png", help="a .png or .npz file")
    parser.add_argument("--start", choices=("noise", "data"), default="noise")
    options.add_data(parser)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Draw and write."""
    import numpy as np

    target = Path(arguments.out)
    if target.suffix not in (".png", ".npz"):
        raise ValueError(f"--out must end in .png or .npz, got {arguments.out}")
    model = options.load_model(arguments.model)
    start = None
    if arguments.start == "data":
        rows = options.load_data(arguments).test
        start = rows[np.arange(arguments.n) % len(rows)]
    draws = model.sample(
        arguments.n, n_gibbs=arguments.gibbs, rng=arguments.seed, start=start, return_mean=True
    )
    if target.suffix == ".npz":
        np.savez_compressed(target, samples=draws)
    else:
        from .. import plots

        side = math.isqrt(model.n_visible)
        if side * side != model.n_visible:
            raise ValueError(
                f"{model.n_visible} pixels make no square image; write a .npz file instead"
            )
        plots.save(plots.images(draws, (side, side)), target)
    print(f"{arguments.n} images after {arguments.gibbs} sweeps written to {target}")
