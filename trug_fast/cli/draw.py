"""``trug-fast sample`` and ``plot``: draws from a stored model, and figures of it.

Tested in tests/cli/test_draw.py.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import datasets, plots
from trug_fast._common import files
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load
from trug_fast.models.trbm import TRBM, BernoulliTRBM, TruGTRBM

from . import data
from .flags import refuse

NUMBERS = (".npz", ".npy", ".csv")
LETTERS = ".fasta"
Shape = tuple[int, int]


def sample(arguments: argparse.Namespace) -> None:
    """Draw and write."""
    model = load(arguments.model, TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM)
    video = isinstance(model, TRBM)
    refuse(arguments, ["binarize" if video else "length"], f"has no effect on {model}")
    if arguments.start is None:
        reading = ("key", "drop", "skip_missing", "binarize", "length")
        refuse(arguments, reading, "has no effect without --start")
    arguments.data, size, arguments.size = arguments.start, arguments.size, None
    target, shape = _target(arguments, model, size)
    count, start, arguments.seed = arguments.n or 64, None, arguments.seed or 0
    how = {"rng": arguments.seed}
    how |= {} if arguments.n_gibbs is None else {"n_gibbs": arguments.n_gibbs}
    if arguments.start is not None:
        found = data.of_model(arguments, "trbm" if video else "rbm", model)
        rows = found.train if found.test is None else found.test
        start = rows[-1] if video else rows[np.arange(count) % len(rows)]
    if video:
        draws = model.generate(count, prefix=start, return_mean=True, **how)
    else:  # means make smoother images; real numbers must vary as data do
        smooth = shape is not None or model.visible == "bernoulli"
        draws = model.sample(count, start=start, return_mean=smooth, **how)
    draws = draws if model.scaling is None else model.scaling.undo(draws)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == LETTERS:
        datasets.save_fasta(target, draws, model.letters)
    elif shape is None:
        _write(target, "frames" if video else "samples", draws, model.columns)
    elif target.suffix == ".gif":
        plots.save_video(draws, shape, target)
    elif video:
        plots.strips({"generated": draws}, shape).savefig(target)
    else:
        plots.save(plots.images(draws, shape), target)
    what = "frames" if video else "rows" if shape is None else "images"
    print(f"{count} {what} written to {target}")


def _target(arguments: argparse.Namespace, model: Any, size: Any) -> tuple[Path, Shape | None]:
    """Return the file to write, and the shape of its images.

    By default it is beside the model: letters, a picture if it has images, else numbers.
    """
    if arguments.out is None:
        beside = Path(f"{arguments.model.removesuffix('.npz')}-samples")
        if model.letters is not None:
            return beside.with_suffix(LETTERS), None
        try:
            return beside.with_suffix(".png"), _image_shape(model, size)
        except ValueError:
            return beside.with_suffix(".npz"), None
    more = (".gif",) if isinstance(model, TRBM) else () if model.letters is None else (LETTERS,)
    target, known = Path(arguments.out), (".png", *NUMBERS, *more)
    if target.suffix not in known:
        raise ValueError(f"--out must end in {' or '.join(known)}, got {arguments.out}")
    return target, _image_shape(model, size) if target.suffix in (".png", ".gif") else None


def _image_shape(model: Any, size: Any) -> Shape:
    """Return the shape of a model's images, square ones if --size does not say it."""
    if model.visible in ("categorical", "mixed"):
        raise ValueError(f"{model.visible} units make no images: write a .npz or .csv file instead")
    side = math.isqrt(model.n_visible)
    height, width = size if isinstance(size, tuple) else (size or side,) * 2
    if height * width != model.n_visible:
        raise ValueError(
            f"{model.n_visible} columns make no images of {height}x{width}; give their size by "
            "--size HEIGHT,WIDTH, or write a .npz or .csv file instead"
        )
    return height, width


def _write(target: Path, name: str, draws: Any, columns: Any) -> None:
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


def plot(arguments: argparse.Namespace) -> None:
    """Draw a figure."""
    figure, (*given, out) = arguments.figure, arguments.files
    if len(given) != (figure != "family"):
        places = "OUT.png" if figure == "family" else "FILE.npz OUT.png"
        raise ValueError(f"plot {figure} takes {places}, got {' '.join(arguments.files)}")
    with files.naming(out):
        if figure == "family":
            plots.family().savefig(out)
        elif figure == "units":
            plots.save(plots.nonlinearities(load(given[0])), out)
        else:
            plots.training(files.read(given[0], "history")).savefig(out)
    print(f"written to {out}")
