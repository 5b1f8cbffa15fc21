"""Table 1: test log-probability of RBMs with five kinds of truncation, and of the ordinary one."""

from __future__ import annotations

import inspect
import json
import time
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from trug_fast._common import checks
from trug_fast._common.checkpoints import Checkpoint
from trug_fast.evaluation.bridges import LogPartition, PartitionWarning, log_partition
from trug_fast.evaluation.bridges.bridge import BLOCK
from trug_fast.evaluation.bridges.ladder import Ladder
from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.rbm.train import train_rbm

from . import images, lower_bound
from .protocol import Cell, Options
from .results import Line
from .runner import Session, Table, workers
from .trainings import fitted, options_of, trained, upper_points

ANNEALING = "annealing.npz"  # the state of an annealing that was stopped
PARTS = ("test", "train", "validation")
OURS = ("model", "base", "start", "executor", "checkpoint", "progress", "rng")

SECTIONS = {
    "images": images.OPTIONS,
    "train": options_of(train_rbm),
    "annealing": tuple(n for n in inspect.signature(log_partition).parameters if n not in OURS),
    "bound": lower_bound.OPTIONS,
}


def compute(cell: Cell, folder: Path, session: Session) -> Line:
    """Train a model, going on from its checkpoint, and estimate its log-probabilities.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the state of the training is saved.
    """
    data = load(cell, session)
    session.say(f"{cell.name}: training on {len(data.fixed)} images")
    more = data.options(cell.options["train"].get("epochs", 30))
    fit = trained(train_rbm, data.train, cell, session, folder, validation=data.valid, **more)
    session.say(f"{cell.name}: estimating log Z")
    begun = time.perf_counter()
    checkpoint = Checkpoint(folder / ANNEALING, resume="auto")
    options = cell.options["annealing"]
    estimate = anneal(fit.model, data.fixed, session, options, checkpoint=checkpoint)
    figures = _figures(fit.model, estimate, data)
    if fit.ladder is not None:
        figures["ladder"] = _by_ladder(fit.ladder, fit.model, session)
    some = cell.options["bound"]
    figures |= lower_bound.lower_bound(fit.model, estimate.log_z, data, some, session)
    parts = ", ".join(f"{name} {figures[name]:.2f}" for name in PARTS if name in figures)
    session.say(f"{cell.name}: {parts}, error {estimate.std_error:.2f}")
    for reason in estimate.warnings:
        session.say(f"{cell.name}: {reason}")
    (folder / ANNEALING).unlink(missing_ok=True)
    return figures | {
        "epochs": len(fit.history["epoch"]),
        "training_seconds": round(float(fit.history["seconds"][-1]), 3),
        "annealing_seconds": round(time.perf_counter() - begun, 3),
    }


def rehearse(cell: Cell, session: Session) -> None:
    """Do all of it with two images, one epoch and two temperatures."""
    brief, annealing = shortened(cell)
    bound = lower_bound.checked(cell.options["bound"])
    whole = load(cell, session, alone=True)
    valid = None if whole.valid is None else whole.valid[:2]
    few = images.Images(whole.fixed[:2], whole.fixed[:2], whole.test[:2], valid, whole.shape)
    quiet = replace(session, progress=False)
    fit = fitted(train_rbm, few.train, brief, quiet, validation=few.valid)
    estimate = anneal(fit.model, few.fixed, quiet, annealing)
    _figures(fit.model, estimate, few)
    if bound:
        least = {"n_images": 2, "n_chains": 1, "n_temperatures": 2}
        lower_bound.lower_bound(fit.model, estimate.log_z, few, least, quiet)


def shortened(cell: Cell) -> tuple[Cell, Options]:
    """Return a cell with one epoch, and options of annealing at two temperatures, once checked."""
    train, annealing = cell.options["train"], cell.options["annealing"]
    if "n_hidden" not in train:
        raise ValueError("train.n_hidden is missing")
    checks.count("train.epochs", train.get("epochs", 1))
    checks.count("annealing.n_chains", annealing.get("n_chains", 2), least=2)
    checks.count("annealing.n_temperatures", annealing.get("n_temperatures", 1))
    # A few rows need no annealing to be scored.
    short = {"epochs": 1} | ({"score": "pseudo"} if train.get("score") == "ais" else {})
    brief = replace(cell, options=cell.options | {"train": train | short})
    return brief, annealing | {"n_chains": 2, "n_temperatures": 2}


def load(cell: Cell, session: Session, *, alone: bool = False) -> images.Images:
    """Return the images of a cell, or only those that no warped copies stand in for."""
    options = json.dumps(cell.options["images"], sort_keys=True)
    without = alone and "warp_copies" in cell.options["images"]  # else both are the same
    return _load(options, session.data_dir, session.seed, without)


@lru_cache(maxsize=1)  # the cells of one set follow each other
def _load(options: str, directory: str | None, seed: int, alone: bool) -> images.Images:
    return images.load(**json.loads(options), directory=directory, seed=seed, alone=alone)


def anneal(
    model: TruGRBM | BernoulliRBM,
    base: Any,
    session: Session,
    options: Options,
    checkpoint: Checkpoint | None = None,
) -> LogPartition:
    """Estimate log Z; what speaks against the estimate is in its ``warnings`` only."""
    chains = options.get("n_chains", BLOCK)
    with warnings.catch_warnings(), workers(session, chains > BLOCK) as executor:
        warnings.simplefilter("ignore", PartitionWarning)
        return log_partition(
            model,
            base=base,
            executor=executor,
            checkpoint=checkpoint,
            rng=session.seed,
            progress=session.progress,
            **options,
        )


def bounds(estimate: LogPartition) -> dict[str, dict[str, float]]:
    """Return the estimates of single directions, by their names."""
    sides = [estimate.forward, estimate.reverse] if estimate.direction == "both" else [estimate]
    return {
        side.direction: {
            "log_z": side.log_z,
            "std_error": side.std_error,
            "effective_chains": side.ess,
        }
        for side in sides
        if side is not None
    }


def _figures(model: TruGRBM | BernoulliRBM, estimate: LogPartition, data: images.Images) -> Line:
    log_z = estimate.log_z
    rows = zip(PARTS, (data.test, data.fixed, data.valid), strict=True)
    figures: Line = {
        part: float(log_likelihood(model, images_, estimate).mean())
        for part, images_ in rows
        if images_ is not None
    }
    figures |= {
        "log_z": log_z,
        "std_error": estimate.std_error,
        "path": estimate.path,
        "directions": bounds(estimate),
        "warnings": list(estimate.warnings),
    }
    return figures | upper_points(model)


def _by_ladder(ladder: Ladder, model: TruGRBM | BernoulliRBM, session: Session) -> Line:
    """Return log Z by the models of a training by trajectory tempering."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitionWarning)
        found = ladder.log_partition(model, rng=session.seed)
    figures = {"rungs": len(ladder), "log_z": found.log_z, "std_error": found.std_error}
    return figures | {"warnings": list(found.warnings)}


def test_score(line: Line, direction: str) -> float | None:
    """Return the test log-probability by annealing in one direction, if it was done."""
    side = line.get("directions", {}).get(direction)
    return None if side is None else float(line["test"] + line["log_z"] - side["log_z"])


def test_bound(line: Line) -> float | None:
    """Return what the test log-probability is at least by RAISE, if that was done."""
    bound = line.get("bound")
    return None if bound is None else float(line["test"] + bound["difference"])


def _row(line: Line) -> list[str]:
    sides = (test_score(line, "reverse"), line["test"], test_score(line, "forward"))
    numbers = (test_bound(line), *sides)
    least, low, test, high = ("" if number is None else f"{number:.2f}" for number in numbers)
    return [
        str(line["data"]),
        str(line["label"]) + (" (!)" if line.get("warnings") else ""),
        "" if line["paper"] is None else f"{line['paper']:.1f}",
        least,
        low,
        test,
        high,
        f"{line['std_error']:.2f}",
        f"{line['train']:.2f}",
        str(line["epochs"]),
        f"{line['training_seconds'] / 60:.1f}",
        f"{line['annealing_seconds'] / 60:.1f}",
    ]


HEADER = (
    "data",
    "units",
    "paper",
    "bound",
    "reverse",
    "test",
    "forward",
    "error",
    "training",
    "epochs",
    "minutes",
    "annealing",
)
NOTE = """\
Mean log-probability of images in nats: of test images by all chains, and by those of each
direction alone; reverse is low on average, forward high. bound: that of all chains, less what
annealing from the side of some test images, or the mean-field bound on log Z, falls short of it.
error: standard error of log Z. training: as test, of training images. minutes: of training, and of
annealing with bound.
(!): the chains speak against the estimate, see "warnings" in the results."""

TABLE = Table(
    "table1",
    "test log-probability of RBMs on MNIST and CalTech 101 Silhouettes",
    SECTIONS,
    rehearse,
    compute,
    HEADER,
    _row,
    NOTE,
)
