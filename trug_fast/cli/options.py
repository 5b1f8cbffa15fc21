"""Options that several commands share, and what they stand for.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
import math
from typing import Any, Literal

import numpy as np

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast._common.checkpoints import Checkpoint
from trug_fast.datasets import ImageData
from trug_fast.evaluation.partition import LogPartition, log_partition
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.trbm import TRBM
from trug_fast.training.choices import described

from .choices import add_choice, add_choices

DATA = ("digits", "mnist", "binarized-mnist", "caltech")
GREY = ("digits", "mnist")
# The least that options of whole numbers may be, whichever command has them.
LEAST = {
    "ais_n_chains": 2,
    "ais_n_temperatures": 1,
    "batch_size": 1,
    "epochs": 1,
    "every": 1,
    "n": 1,
    "n_chains": 1,
    "n_frames": 1,
    "n_gibbs": 1,
    "n_hidden": 1,
    "n_seen": 1,
    "n_temperatures": 1,
    "seed": 0,
    "split": 0,
    "test_videos": 1,
    "videos": 1,
}
AIS = ("n_chains", "n_temperatures", "path")


def check(arguments: argparse.Namespace) -> None:
    """Refuse numbers that are too small and names that are empty, by the names of their options."""
    for name, value in vars(arguments).items():
        option = f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}"
        if isinstance(value, str) and value == "":
            raise ValueError(f"{option} must not be empty, got ''")
        if name in LEAST and isinstance(value, int):
            checks.count(option, value, LEAST[name])


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes that draws."""
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    add_running(parser)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes."""
    parser.add_argument("--threads", type=int, default=None, help="threads (default all cores)")
    parser.add_argument("--quiet", action="store_true", help="no bars, no notices")


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add which images."""
    parser.add_argument(
        "--data", choices=DATA, default="digits", help="images (default digits, which are shipped)"
    )
    parser.add_argument(
        "--data-dir", help="where the files of the other sets lie (or set TRUG_FAST_DATA)"
    )
    parser.add_argument(
        "--binarize",
        choices=("threshold", "sample", "epoch"),
        default="threshold",
        help="how grey images become binary: by threshold (default), drawn once, or for training "
        "anew for each epoch",
    )


def add_annealing(parser: argparse.ArgumentParser, **own: Any) -> None:
    """Add how log Z is estimated by ``evaluate``."""
    names = (*AIS, "direction", "schedule", "weights_on")
    add_choices(parser, log_partition, names, own)


def add_short_annealing(parser: argparse.ArgumentParser, **own: Any) -> None:
    """Add how log Z is estimated after a training, whose chains have the plain names."""
    found = described(log_partition)
    for name in AIS:
        add_choice(parser, found[name], own=own.get(name), name=f"ais_{name}")


def add_checkpoint(parser: argparse.ArgumentParser, beside: str = "") -> None:
    """Add where the state of a run is kept."""
    parser.add_argument(
        "--checkpoint", metavar="FILE", help=f"keep the state of the run here, for --resume{beside}"
    )
    add_choice(parser, described(Checkpoint)["every"], name="checkpoint_every")
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in --checkpoint, if there is one"
    )


def checkpoint_of(arguments: argparse.Namespace, ending: str = "") -> Checkpoint | None:
    """Return where a run keeps its state; other runs of a command have endings of their own.

    Raises
    ------
    ValueError
        If there is a file of another run, or an option has no effect.
    """
    if arguments.checkpoint is None:
        for name, given in (
            ("--resume", arguments.resume),
            ("--checkpoint-every", arguments.checkpoint_every is not None),
        ):
            if given:
                raise ValueError(f"{name} needs --checkpoint")
        return None
    path = checks.file_path("--checkpoint", arguments.checkpoint)
    path = path.with_name(f"{path.stem}{ending}{path.suffix}")
    if path.exists() and not arguments.resume:
        raise ValueError(f"{path} exists; continue its run with --resume, or name another file")
    every = {} if arguments.checkpoint_every is None else {"every": arguments.checkpoint_every}
    return Checkpoint(path, resume="auto", **every)


def load_data(arguments: argparse.Namespace) -> ImageData:
    """Return the images that the options name; grey ones binarized once for testing."""
    method: Literal["threshold", "sample"]
    method = "threshold" if arguments.binarize == "threshold" else "sample"
    if arguments.data == "digits":
        return datasets.load_digits(binarize=method, rng=arguments.seed)
    if arguments.data == "mnist":
        return datasets.load_mnist(arguments.data_dir, binarize=method, rng=arguments.seed)
    if arguments.data == "binarized-mnist":
        return datasets.load_binarized_mnist(arguments.data_dir).merge_valid()
    return datasets.load_caltech101_silhouettes(arguments.data_dir).merge_valid()


def training_images(arguments: argparse.Namespace, data: ImageData, soft: bool) -> Any:
    """Return what to train on: binary images, grey ones, or such that are drawn each epoch."""
    if arguments.binarize != "epoch" and not soft:
        return data.train
    if arguments.data not in GREY:
        given = "--soft" if soft else "--binarize epoch"
        raise ValueError(f"{given} is for grey images, --data {' or '.join(GREY)}")
    if soft and arguments.binarize == "epoch":
        raise ValueError("--binarize epoch has no effect with --soft")
    if arguments.data == "digits":
        grey = datasets.load_digits()
    else:
        grey = datasets.load_mnist(arguments.data_dir)
    return grey.train if soft else datasets.resampler(grey.train, arguments.seed)


def require_pixels(
    arguments: argparse.Namespace, model: TruGRBM | BernoulliRBM, data: ImageData
) -> None:
    """Refuse images of another size than those the model is of."""
    pixels = data.train.shape[1]
    if model.n_visible != pixels:
        raise ValueError(
            f"{arguments.model} has {model.n_visible} visible units, --data {arguments.data} has "
            f"images of {pixels} pixels; name by --data what the model was trained on"
        )


def square_side(model: TRBM | TruGRBM | BernoulliRBM) -> int:
    """Return the side of a model's images; refuse what is no square."""
    side = math.isqrt(model.n_visible)
    if side * side != model.n_visible:
        raise ValueError(
            f"{model.n_visible} pixels make no square image; write a .npz file instead"
        )
    return side


def anneal(
    arguments: argparse.Namespace,
    model: TruGRBM | BernoulliRBM,
    base: np.ndarray[Any, Any],
    **choices: Any,
) -> LogPartition:
    """Estimate log Z."""
    return log_partition(
        model, base=base, rng=arguments.seed, progress=progress(arguments), **choices
    )


def progress(arguments: argparse.Namespace) -> bool | None:
    """Return whether to show bars: never if quiet, else where a person is looking."""
    return False if arguments.quiet else None
