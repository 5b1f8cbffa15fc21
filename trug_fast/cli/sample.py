"""``trug-fast sample MODEL``: draws from a stored model, as images or as numbers.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import plots
from trug_fast._common.frames import Names
from trug_fast.datasets.fasta import save_fasta
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load_model
from trug_fast.models.trbm import TRBM, BernoulliTRBM, TruGTRBM
from trug_fast.training.choices import described

from . import options, own_data
from .choices import add_choice

NUMBERS = (".npz", ".npy", ".csv")
SEQUENCES = ".fasta"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("sample", help="draw images, rows or a video from a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    parser.add_argument("-n", type=int, default=64, help="number of rows or frames (default 64)")
    sweeps = described(TruGRBM.sample)["n_gibbs"]
    of_frames = described(TRBM.generate)["n_gibbs"].default
    add_choice(parser, sweeps, own={"images": sweeps.default, "each frame": of_frames})
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="a .png, .npz, .npy or .csv file; of videos a .gif too, of sequences of letters a "
        ".fasta (default samples.png, or .npz where there are no images, .fasta where there are "
        "letters, beside the model)",
    )
    parser.add_argument(
        "--start",
        choices=("noise", "data"),
        default="noise",
        help="where chains start; of a temporal model, data is the last sequence of --data, which "
        "it goes on from (default noise)",
    )
    options.add_data(parser, "length")
    parser.set_defaults(data=None)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Draw and write."""
    model = load_model(arguments.model, TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM)
    if arguments.start != "data" and arguments.data is not None:
        raise ValueError("--data has no effect without --start data")
    video = isinstance(model, TRBM)
    more = (".gif",) if video else () if model.letters is None else (SEQUENCES,)
    target = _target(arguments, model, (".png", *NUMBERS, *more))
    numbers = target.suffix in (*NUMBERS, SEQUENCES)
    shape = None if numbers else options.image_shape(arguments, model)
    n_gibbs = {} if arguments.n_gibbs is None else {"n_gibbs": arguments.n_gibbs}
    if video:
        draws = _frames(arguments, model, n_gibbs)
    else:  # means make smoother images; real numbers must vary as data do
        smooth = shape is not None or model.visible == "bernoulli"
        draws = _rows(arguments, model, return_mean=smooth, **n_gibbs)
    if model.scaling is not None:
        draws = model.scaling.undo(draws)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == SEQUENCES:
        save_fasta(target, draws, model.letters)
    elif shape is None:
        _write(target, "frames" if video else "samples", draws, model.columns)
    elif target.suffix == ".gif":
        plots.save_video(draws, shape, target)
    elif video:
        plots.strips({"generated": draws}, shape).savefig(target)
    else:
        plots.save(plots.images(draws, shape), target)
    what = "frames" if video else "rows" if shape is None else "images"
    print(f"{arguments.n} {what} written to {target}")


def _target(arguments: argparse.Namespace, model: Any, suffixes: tuple[str, ...]) -> Path:
    """Return the file to write: by default one beside the model, a picture if it has images."""
    if arguments.out is None and model.letters is not None:
        return Path(arguments.model).with_name("samples.fasta")
    if arguments.out is None:
        try:
            options.image_shape(arguments, model)
        except ValueError:
            return Path(arguments.model).with_name("samples.npz")
        return Path(arguments.model).with_name("samples.png")
    target = Path(arguments.out)
    if target.suffix not in suffixes:
        raise ValueError(f"--out must end in {' or '.join(suffixes)}, got {arguments.out}")
    return target


def _write(target: Path, name: str, draws: Any, columns: Names) -> None:
    """Write numbers in the format that the name of the file ends in; a table with its columns."""
    if target.suffix == ".npz":
        np.savez_compressed(target, **{name: draws})
    elif target.suffix == ".npy":
        np.save(target, draws)
    else:
        with target.open("w", encoding="utf-8", newline="") as stream:
            if columns is not None:
                csv.writer(stream, lineterminator="\n").writerow(columns)
            np.savetxt(stream, draws, delimiter=",", fmt="%.9g")


def _rows(arguments: argparse.Namespace, model: Any, **how: Any) -> Any:
    start = None
    if arguments.start == "data":
        arguments.data = arguments.data or options.DATA[0]
        rows = options.rows_for(arguments, model).test
        start = rows[np.arange(arguments.n) % len(rows)]
    return model.sample(arguments.n, rng=arguments.seed, start=start, **how)


def _frames(arguments: argparse.Namespace, model: TRBM, n_gibbs: dict[str, int]) -> Any:
    """Draw frames, each the mean over the later half of its sweeps."""
    prefix = None
    if arguments.start == "data":
        prefix = own_data.sequences_for(arguments, model)[-1]
    return model.generate(
        arguments.n, prefix=prefix, return_mean=True, rng=arguments.seed, **n_gibbs
    )
