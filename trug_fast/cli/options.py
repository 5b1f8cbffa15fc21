"""Options that several commands share, and what they stand for.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast._common.checkpoints import Checkpoint
from trug_fast._common.frames import Names
from trug_fast.datasets import ImageData
from trug_fast.datasets.fasta import is_fasta
from trug_fast.datasets.letters import names_of
from trug_fast.evaluation.partition import LogPartition, log_partition
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.trbm import TRBM
from trug_fast.training.choices import described

from . import own_data
from .choices import add_choice, add_choices
from .own_data import ScalingOrFit
from .own_rows import VisibleRows, visible_rows

DATA = ("digits", "mnist", "binarized-mnist")
GREY = ("digits", "mnist")
# The least that options of whole numbers may be, whichever command has them.
LEAST = {
    "ais_n_chains": 2,
    "ais_n_temperatures": 1,
    "batch_size": 1,
    "epochs": 1,
    "length": 2,
    "every": 1,
    "n": 1,
    "n_chains": 1,
    "n_frames": 1,
    "n_gibbs": 1,
    "n_hidden": 1,
    "n_seeds": 1,
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


def add_data(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add which images or rows; ``more`` names options of files that other models have."""
    own_data.add_reading(parser, DATA, "digits", "size", "skip_missing", "alphabet", *more)
    own_data.add_splitting(parser, "rows drawn at random, by --seed")
    parser.add_argument(
        "--data-dir", help="where the files of the named sets lie (or set TRUG_FAST_DATA)"
    )
    parser.add_argument(
        "--binarize",
        choices=("threshold", "sample"),
        help="how grey images become binary: by threshold (default of the named sets), or drawn",
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


def load_data(
    arguments: argparse.Namespace,
    visible: str = "bernoulli",
    soft: bool = False,
    scaling: ScalingOrFit = None,
    columns: Names = None,
) -> VisibleRows:
    """Return the rows that the options name, for an RBM of these visible units."""
    if own_data.is_own(arguments, DATA):
        return visible_rows(arguments, visible, soft, scaling, columns)
    if visible in ("truncated", "relu") and arguments.data in GREY:
        return grey_images(arguments, soft)
    if visible not in ("bernoulli", "gaussian"):
        raise ValueError(f"{visible} visible units need data of one's own, --data FILE")
    method: Literal["threshold", "sample"]
    method = "threshold" if arguments.binarize in (None, "threshold") else "sample"
    if arguments.data == "digits":
        data = datasets.load_digits(binarize=method, rng=arguments.seed)
    elif arguments.data == "mnist":
        data = datasets.load_mnist(arguments.data_dir, binarize=method, rng=arguments.seed)
    else:
        data = datasets.load_binarized_mnist(arguments.data_dir).merge_valid()
    given = training_images(arguments, data, soft)
    return VisibleRows(data.name, data.train, data.test, given, data.image_shape)


def grey_images(arguments: argparse.Namespace, soft: bool) -> VisibleRows:
    """Return grey images as they are, for truncated units."""
    for name, given in (("--soft", soft), ("--binarize", arguments.binarize is not None)):
        if given:
            raise ValueError(f"{name} has no effect on truncated units, which take grey levels")
    if arguments.data == "digits":
        data = datasets.load_digits()
    else:
        data = datasets.load_mnist(arguments.data_dir)
    return VisibleRows(data.name, data.train, data.test, data.train, data.image_shape)


def training_images(arguments: argparse.Namespace, data: ImageData, soft: bool) -> Any:
    """Return what to train on: binary images, or grey ones."""
    if arguments.data not in GREY and (soft or arguments.binarize is not None):
        given = "--soft" if soft else f"--binarize {arguments.binarize}"
        raise ValueError(f"{given} is for grey images, --data {' or '.join(GREY)}")
    if soft and arguments.binarize is not None:
        raise ValueError(f"--binarize {arguments.binarize} has no effect with --soft")
    if not soft:
        return data.train
    if arguments.data == "digits":
        grey = datasets.load_digits()
    else:
        grey = datasets.load_mnist(arguments.data_dir)
    return grey.train


def rows_for(arguments: argparse.Namespace, model: TruGRBM | BernoulliRBM) -> VisibleRows:
    """Return the rows that the options name, for a model; refuse others than it is of."""
    if model.letters is not None and is_fasta(Path(arguments.data)):
        if arguments.alphabet not in (None, *names_of(model.letters)):
            raise ValueError(
                f"--alphabet {arguments.alphabet} are not the letters that {arguments.model} has "
                f"been trained on, {model.letters}"
            )
        arguments.alphabet = model.letters
    data = load_data(arguments, model.visible, scaling=model.scaling, columns=model.columns)
    require_columns(arguments, model.n_visible, data.train.shape[1], data.image_shape is not None)
    return data


def require_columns(
    arguments: argparse.Namespace, wanted: int, columns: int, images: bool = False
) -> None:
    """Refuse rows of another size than those a model is of."""
    if wanted != columns:
        of = f"images of {columns} pixels" if images else f"{columns} columns"
        raise ValueError(
            f"{arguments.model} has {wanted} visible units, --data {arguments.data} has {of}; name "
            "by --data what the model was trained on"
        )


def image_shape(
    arguments: argparse.Namespace, model: TRBM | TruGRBM | BernoulliRBM
) -> tuple[int, int]:
    """Return the shape of a model's images, square ones if --size does not say it.

    Raises
    ------
    ValueError
        If the model has not as many visible units.
    """
    size = getattr(arguments, "size", None)
    if model.visible in ("categorical", "mixed"):
        raise ValueError(f"{model.visible} units make no images: write a .npz or .csv file instead")
    if size is not None:
        found = own_data.size_of(size)
        shape = (found, found) if isinstance(found, int) else found
        if math.prod(shape) != model.n_visible:
            raise ValueError(f"--size {size} does not fit a model of {model.n_visible} pixels")
        return shape
    side = math.isqrt(model.n_visible)
    if side * side != model.n_visible:
        raise ValueError(
            f"{model.n_visible} pixels make no square image; give its size by --size HxW, or write "
            "a .npz or .csv file instead"
        )
    return side, side


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
