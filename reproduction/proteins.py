"""Families of proteins: held-out log-likelihood, and what samples share with the data."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import Checkpoint
from trug_fast.datasets.alignments import as_alphabet
from trug_fast.evaluation.bridges import LogPartition
from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.evaluation.moments import compare_correlations, nearest_distances, site_frequencies
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.rbm.train import train_rbm
from trug_fast.training.units import CategoricalUnits
from trug_fast.training.weighing import mean_of, variance_of_mean

from . import families, lattice, table1
from .choices import GROUPS
from .families import SplitFamily, WeighedRows
from .protocol import Cell, Options
from .results import Line
from .runner import Session, Table
from .trainings import fitted, options_of, trained, upper_points

STARTS = ("data", "uniform")
VISIBLE = next(group for group in GROUPS[train_rbm] if group.argument == "visible")
SECTIONS = {
    "family": families.OPTIONS,
    "train": tuple(
        name for name in options_of(train_rbm) if name not in (VISIBLE.argument, *VISIBLE.flat())
    ),
    "annealing": table1.SECTIONS["annealing"],
    "sampling": ("n", "n_gibbs", "start", "native"),
}


def compute(cell: Cell, folder: Path, session: Session) -> Line:
    """Train a model, going on from its checkpoint, and compare it with the held-out sequences.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the state of the training is saved.
    """
    data = load(cell, session)
    session.say(f"{cell.name}: training on {len(data.train.X)} sequences")
    fit = trained(train_rbm, data.train.X, cell, session, folder, **_more(data))
    session.say(f"{cell.name}: estimating log Z")
    begun = time.perf_counter()
    checkpoint = Checkpoint(folder / table1.ANNEALING, resume="auto")
    options = cell.options["annealing"]
    estimate = table1.anneal(fit.model, data.train.X, session, options, checkpoint=checkpoint)
    annealed = time.perf_counter()
    figures = _figures(fit.model, estimate, data, cell, session)
    session.say(f"{cell.name}: test {figures['test']:.3f} a site")
    (folder / table1.ANNEALING).unlink(missing_ok=True)
    return figures | {
        "epochs": len(fit.history["epoch"]),
        "training_seconds": round(float(fit.history["seconds"][-1]), 3),
        "annealing_seconds": round(annealed - begun, 3),
        "sampling_seconds": round(time.perf_counter() - annealed, 3),
    }


def rehearse(cell: Cell, session: Session) -> None:
    """Do all of it with twenty sequences, one epoch, two temperatures and one sweep."""
    brief, annealing = table1.shortened(cell)
    sampling = {"n": 20, "n_gibbs": 1, "start": _sampling(cell)[2]}
    whole = load(cell, session)
    few = whole._replace(train=_some(whole.train), test=_some(whole.test))
    _native(cell, whole)
    quiet = replace(session, progress=False)
    tiny = replace(brief, options=brief.options | {"sampling": sampling})
    fit = fitted(train_rbm, few.train.X, tiny, quiet, **_more(few))
    estimate = table1.anneal(fit.model, few.train.X, quiet, annealing)
    _figures(fit.model, estimate, few, tiny, quiet)


def load(cell: Cell, session: Session) -> SplitFamily:
    """Return the sequences of a cell."""
    if "file" not in cell.options["family"]:
        raise ValueError("family.file is missing")
    return _load(json.dumps(cell.options["family"], sort_keys=True), session.data_dir)


@lru_cache(maxsize=3)  # the families of the shipped protocol
def _load(options: str, directory: str | None) -> SplitFamily:
    return families.load(directory, **json.loads(options))


def _more(data: SplitFamily) -> dict[str, Any]:
    """Return the arguments of the training that are not in the configuration."""
    return {
        "sample_weight": data.train.weights,
        "visible": CategoricalUnits(n_states=data.n_states),
    }


def _some(part: WeighedRows) -> WeighedRows:
    """Return up to twenty sequences, from first to last."""
    rows = np.unique(np.linspace(0, len(part.X) - 1, 20).astype(int))
    return WeighedRows(part.X[rows], part.weights[rows])


def _sampling(cell: Cell) -> tuple[int, int, str]:
    """Return the number of samples, their sweeps, and where chains start."""
    options: Options = {"n": 5000, "n_gibbs": 1000, "start": "data"} | cell.options["sampling"]
    checks.choice("sampling.start", options["start"], STARTS)
    sweeps = checks.count("sampling.n_gibbs", options["n_gibbs"])
    return checks.count("sampling.n", options["n"], least=2), sweeps, options["start"]


def _figures(
    model: TruGRBM | BernoulliRBM,
    estimate: LogPartition,
    data: SplitFamily,
    cell: Cell,
    session: Session,
) -> Line:
    count, sweeps, start = _sampling(cell)
    known = _drawn(data.train, count, session.seed)  # what a model could know at best
    samples = model.sample(
        count,
        n_gibbs=sweeps,
        start=known if start == "data" else None,
        rng=session.seed,
    )
    sites = data.train.X.shape[1]
    scores = {
        name: log_likelihood(model, part.X, estimate) / sites
        for name, part in (("test", data.test), ("train", data.train))
    }
    return {
        "test": float(mean_of(scores["test"], data.test.weights)),
        "test_error": variance_of_mean(scores["test"], data.test.weights) ** 0.5,
        "train": float(mean_of(scores["train"], data.train.weights)),
        "sites_alone": _sites_alone(data),
        "std_error": estimate.std_error / sites,
        "log_z": estimate.log_z,
        "directions": table1.bounds(estimate),
        "warnings": list(estimate.warnings),
        "agreement": _agreement(data, samples, session.seed),
        "best_agreement": _agreement(data, known, session.seed),
        "nearest": float(nearest_distances(samples, data.train.X).mean()),
        "nearest_test": float(
            mean_of(nearest_distances(data.test.X, data.train.X), data.test.weights)
        ),
        "sequences": [len(data.train.X), len(data.test.X)],
        "effective": [float(part.weights.sum()) for part in (data.train, data.test)],
    } | (upper_points(model) | _folding(cell, data, samples, session.seed))


def _drawn(part: WeighedRows, count: int, seed: int) -> NDArray[np.uint8]:
    """Draw sequences by their weights."""
    shares = part.weights / part.weights.sum()
    return part.X[np.random.default_rng([seed, 1]).choice(len(shares), count, p=shares)]


def _agreement(data: SplitFamily, samples: NDArray[Any], seed: int) -> dict[str, float]:
    """Return how well samples show the correlations of the held-out sequences."""
    found = compare_correlations(
        data.test.X, samples, data.n_states, sample_weight=data.test.weights, rng=seed
    )
    return {name: float(value) for name, value in found._asdict().items()}


def _frequencies(data: SplitFamily) -> NDArray[np.float64]:
    """Return how often training sequences have each letter at each site."""
    total = data.train.weights.sum()
    return site_frequencies(
        data.train.X, data.n_states, sample_weight=data.train.weights, pseudocount=1 / (1 + total)
    )


def _sites_alone(data: SplitFamily) -> float:
    """Return the held-out log-probability a site by the training's frequencies at each site."""
    X = data.test.X
    scores = np.log(_frequencies(data)[np.arange(X.shape[1]), X]).mean(axis=1)
    return float(mean_of(scores, data.test.weights))


def _native(cell: Cell, data: SplitFamily) -> NDArray[np.bool_] | None:
    """Return the structure that sequences of a cell should fold into, if it names one."""
    walk = cell.options["sampling"].get("native")
    if walk is None:
        return None
    native = lattice.structure_of(walk)
    letters = as_alphabet(cell.options["family"].get("letters", "protein")).name
    if letters != "protein" or data.train.X.shape[1] != lattice.LENGTH:
        raise ValueError(
            f"sampling.native is for proteins of {lattice.LENGTH} sites, got {letters!r} of "
            f"{data.train.X.shape[1]} sites"
        )
    return native


def _folding(cell: Cell, data: SplitFamily, samples: NDArray[Any], seed: int) -> Line:
    """Return how probably samples, held-out sequences and sites alone fold as they should."""
    native = _native(cell, data)
    if native is None:
        return {}
    ends = _frequencies(data).cumsum(axis=1)[:, :-1]
    alone = (np.random.default_rng([seed, 2]).random((len(samples), len(ends), 1)) > ends).sum(-1)
    parts = {"samples": (samples, None), "test": data.test, "sites_alone": (alone, None)}
    found: Line = {}
    for name, (X, weights) in parts.items():
        log_p = lattice.log_folding(X, native)
        for what, values in (("p", np.exp(log_p)), ("log_p", log_p)):
            found[f"{name}_{what}"] = float(mean_of(values, weights))
            found[f"{name}_{what}_error"] = variance_of_mean(values, weights) ** 0.5
    return {"folding": found}


def _row(line: Line) -> list[str]:
    own, best, folding = line["agreement"], line["best_agreement"], line.get("folding")
    return [
        str(line["data"]),
        str(line["label"]) + (" (!)" if line.get("warnings") else ""),
        f"{line['test']:.3f}",
        f"{line['std_error']:.3f}",
        f"{line['train']:.3f}",
        f"{line['sites_alone']:.3f}",
        f"{own['slope']:.2f}",
        f"{best['slope']:.2f}",
        f"{own['pearson']:.3f}",
        f"{best['pearson']:.3f}",
        f"{line['nearest']:.1f}",
        f"{line['nearest_test']:.1f}",
        *(f"{folding[part]:.3f}" if folding else "" for part in ("samples_p", "test_p")),
        str(line["epochs"]),
        f"{line['training_seconds'] / 60:.1f}",
    ]


HEADER = (
    "data",
    "units",
    "test",
    "error",
    "training",
    "sites alone",
    "slope",
    "at best",
    "Pearson",
    "at best",
    "nearest",
    "of test",
    "folding",
    "of test",
    "epochs",
    "minutes",
)
NOTE = """\
test, training: mean log-probability of held-out and of training sequences in nats a site; error:
standard error of log Z a site; sites alone: as test, by the frequencies at each site. slope,
Pearson: of the connected correlations of samples over those of held-out sequences; at best: of as
many draws of training sequences in place of samples, which is what the noise of so few sequences
leaves to a perfect model. nearest: mean number of sites in which samples differ from the nearest
training sequence; of test: held-out sequences do. folding: mean probability with which samples of
lattice proteins fold into the native structure; of test: held-out sequences do. (!): the
chains speak against the estimate."""

TABLE = Table(
    "proteins",
    "log-likelihood and correlations of families of proteins",
    SECTIONS,
    rehearse,
    compute,
    HEADER,
    _row,
    NOTE,
)
