"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from trug_fast.datasets import ImageData
    from trug_fast.evaluation.partition import LogPartition
    from trug_fast.models.rbm import BernoulliRBM, TruGRBM
    from trug_fast.models.trbm import TRBM

DATA = ("digits", "mnist", "binarized-mnist", "caltech")
# The least that options of whole numbers may be, whichever command has them.
LEAST = {
    "batch_size": 1,
    "betas": 2,
    "chains": 2,
    "epochs": 1,
    "every": 1,
    "frames": 1,
    "gibbs": 1,
    "hidden": 1,
    "n": 1,
    "seed": 0,
    "seen": 1,
    "split": 0,
    "temperatures": 1,
    "test_videos": 1,
    "videos": 1,
}


def check(arguments: argparse.Namespace) -> None:
    """Refuse numbers that are too small and names that are empty, by the names of their options."""
    from trug_fast._common import checks

    for name, value in vars(arguments).items():
        option = f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}"
        if value == "":
            raise ValueError(f"{option} must not be empty, got ''")
        if name in LEAST and isinstance(value, int):
            checks.count(option, value, LEAST[name])


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes."""
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    parser.add_argument("--threads", type=int, default=None, help="threads (default all cores)")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")


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
        help="how grey images become binary: by threshold, drawn once, or anew for each epoch",
    )


def add_annealing(parser: argparse.ArgumentParser, temperatures: int) -> None:
    """Add how log Z is estimated."""
    parser.add_argument("--chains", type=int, default=100, help="annealing chains (default 100)")
    parser.add_argument(
        "--temperatures",
        type=int,
        default=temperatures,
        help=f"annealing steps (default {temperatures})",
    )
    parser.add_argument("--path", choices=("auto", "quad", "quad2", "paper"), default="auto")


def add_checkpoint(parser: argparse.ArgumentParser, baseline: str = "") -> None:
    """Add where the state of a training is kept, and of a baseline if there is one."""
    beside = f" (the {baseline}'s beside it)" if baseline else ""
    parser.add_argument(
        "--checkpoint", metavar="FILE", help=f"keep the state of the run here, for --resume{beside}"
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in --checkpoint, if there is one"
    )


def checkpoint_of(arguments: argparse.Namespace, kind: str) -> Path | None:
    """Return the file that keeps the training of one kind of units."""
    if arguments.checkpoint is None:
        return None
    from trug_fast._common import checks

    path = checks.file_path("--checkpoint", arguments.checkpoint)
    return path if kind == arguments.unit else path.with_name(f"{path.stem}-baseline{path.suffix}")


def check_checkpoints(arguments: argparse.Namespace, kinds: list[str]) -> None:
    """Refuse to overwrite other runs' checkpoints, before anything is computed."""
    for kind in kinds:
        check_checkpoint(arguments, checkpoint_of(arguments, kind))


def check_checkpoint(arguments: argparse.Namespace, path: Path | None) -> None:
    """Refuse to overwrite another run's checkpoint."""
    if arguments.resume and path is None:
        raise ValueError("--resume needs --checkpoint")
    if path is not None and path.exists() and not arguments.resume:
        raise ValueError(f"{path} exists; continue its run with --resume, or name another file")


def load_data(arguments: argparse.Namespace) -> ImageData:
    """Return the images that the options name; grey ones binarized once for testing."""
    from trug_fast import datasets

    method: Literal["threshold", "sample"]
    method = "threshold" if arguments.binarize == "threshold" else "sample"
    if arguments.data == "digits":
        return datasets.load_digits(binarize=method, rng=arguments.seed)
    if arguments.data == "mnist":
        return datasets.load_mnist(arguments.data_dir, binarize=method, rng=arguments.seed)
    if arguments.data == "binarized-mnist":
        return datasets.load_binarized_mnist(arguments.data_dir).merge_valid()
    return datasets.load_caltech101_silhouettes(arguments.data_dir).merge_valid()


def training_images(arguments: argparse.Namespace, data: ImageData) -> Any:
    """Return what to train on: binary images, or grey ones that are drawn anew each epoch."""
    from trug_fast import datasets

    if arguments.binarize != "epoch" or arguments.data not in ("digits", "mnist"):
        return data.train
    grey = (
        datasets.load_digits()
        if arguments.data == "digits"
        else datasets.load_mnist(arguments.data_dir)
    )
    return datasets.resampler(grey.train, arguments.seed)


def load_model(path: str) -> TruGRBM | BernoulliRBM:
    """Return the model in a file, of whichever kind."""
    from trug_fast._common import files
    from trug_fast.models.rbm import BernoulliRBM, TruGRBM

    kinds: dict[str, type[TruGRBM] | type[BernoulliRBM]]
    kinds = {"TruGRBM": TruGRBM, "BernoulliRBM": BernoulliRBM}
    kind = files.read_kind(path)
    if kind not in kinds:
        raise ValueError(f"{path} holds a {kind}, expected a TruGRBM or BernoulliRBM")
    return kinds[kind].load(path)


def load_temporal(path: str) -> TRBM | None:
    """Return the temporal model in a file; None if it holds another kind."""
    from trug_fast._common import files
    from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM

    kind = files.read_kind(path)
    kinds: dict[str, type[TruGTRBM] | type[BernoulliTRBM]]
    kinds = {"TruGTRBM": TruGTRBM, "BernoulliTRBM": BernoulliTRBM}
    return kinds[kind].load(path) if kind in kinds else None


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
    arguments: argparse.Namespace, model: TruGRBM | BernoulliRBM, data: ImageData, **more: Any
) -> LogPartition:
    """Estimate log Z as the options, and what is given beside them, say."""
    from trug_fast.evaluation.partition import log_partition

    return log_partition(
        model,
        n_chains=arguments.chains,
        n_temperatures=arguments.temperatures,
        path=arguments.path,
        base=data.train,
        rng=arguments.seed,
        progress=progress(arguments),
        **more,
    )


def progress(arguments: argparse.Namespace) -> bool | None:
    """Return whether to show bars: never if quiet, else where a person is looking."""
    return False if arguments.quiet else None


def refuse_foreign(folder: Path, program: str) -> None:
    """Refuse a folder with files that no earlier run of this program has written."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        mark = json.loads((folder / "result.json").read_text("utf-8")).get("program")
    except (OSError, ValueError, AttributeError, RecursionError):
        mark = None
    if mark != program:
        raise ValueError(f"{folder} holds other files; choose another folder with --out")
