"""Table 4: test errors of regressions on the UCI sets, with five kinds of truncation.

And of ensembles of them.  Tested in tests/reproduction/test_table4.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common import checks
from trug_fast._common.workers import result, submit
from trug_fast.datasets import RegressionData, RegressionSplit
from trug_fast.evaluation.regression import regression_scores
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.tggm.ensemble import train_ensemble
from trug_fast.training.tggm.train import TGGMFit, train_tggm

from . import results, table4_peers, table4_views
from .choices import arguments_of, choices
from .datasets import load_uci
from .protocol import Cell
from .results import Line
from .runner import Session, Table

TRIALS = "trials.jsonl"  # in a cell's folder: a line for each split that is done
SECTIONS = {
    "trials": (
        *("first", "splits", "workers", "model", "n_models", "perceptron_rate"),
        *("paper_error", "dropout"),  # for comparison only
    ),
    "train": choices(train_tggm),
}
MODELS = ("tggm", *table4_peers.PEERS)
LEVELS = {"coverage_50": 0.5, "coverage": 0.9, "coverage_95": 0.95}  # of ensembles' intervals
PAIRED = ("rmse", "log_likelihood", "crps")  # kept split by split, for differences
TESTED = (
    *("rmse", "log_likelihood", "crps", *LEVELS),
    *("rmse_gain", "log_likelihood_gain", "crps_gain"),
)


def compute(cell: Cell, folder: Path, session: Session) -> Line:
    """Train on every split that has no result in the folder, and sum up.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the trials under way are done and written.
    """
    key = results.plain({"options": cell.options, "seed": session.seed})
    done = [line for line in results.read(folder / TRIALS) if line["key"] == key]
    splits = _splits(cell, session)
    open_splits = sorted(set(splits) - {line["split"] for line in done})
    session.say(f"{cell.name}: {len(open_splits)} of {len(splits)} splits")
    workers = checks.count("trials.workers", cell.options["trials"].get("workers", 1))
    with ThreadPoolExecutor(workers, initializer=_one_thread) as executor:
        try:
            for line in run_trials(cell, open_splits, session, folder, executor):
                line |= {"key": key}
                results.append(folder / TRIALS, line)
                done.append(line)
        except KeyboardInterrupt:
            executor.shutdown(cancel_futures=True)
            raise KeyboardInterrupt("; the same command continues") from None
    return summary(done, _load(cell.name.split("/")[0], session.data_dir))


def run_trials(
    cell: Cell, splits: Sequence[int], session: Session, folder: Path, executor: Executor
) -> Iterator[Line]:
    """Yield the figures of each split as they come, from any executor."""
    name = cell.name.split("/")[0]
    futures = [
        submit(executor, trial, name, cell.options, split, session.seed, session.data_dir, folder)
        for split in splits
    ]
    for future in as_completed(futures):
        yield result(future)


def trial(
    name: str,
    options: dict[str, dict[str, Any]],
    index: int,
    seed: int,
    directory: str | None,
    folder: Path | None,
    rows: int | None = None,
) -> Line:
    """Train on one split (or some rows of it) and return the figures of its test rows."""
    split = _load(name, directory).split(index)
    X, y = split.X_train[:rows], split.y_train[:rows]
    n_models = checks.count("trials.n_models", options["trials"].get("n_models", 1))
    begun = time.thread_time()  # others' work on the computer does not count
    kind = options["trials"].get("model", "tggm")
    if kind != "tggm":
        test = split.X_test, split.y_test
        found = table4_peers.scores(kind, (X, y), test, options, LEVELS, seed + index)
        return {"split": index, "seconds": time.thread_time() - begun} | found
    settings: Any = arguments_of(train_tggm, options["train"])
    settings |= {"rng": 1000 * seed + index, "progress": False}
    model: TruGTGGM | TGGMEnsemble
    own: Line = {}
    if n_models > 1:
        several = train_ensemble(X, y, n_models, **settings)
        model, fits = several.model, several.fits
        if several.held_back_log_likelihood is not None:
            own["held_back_log_likelihood"] = several.held_back_log_likelihood
            own["held_back_rmse_together"] = several.held_back_rmse
    else:
        fit = train_tggm(X, y, **settings)
        model, fits = fit.model, (fit,)
    mean, std = model.predict(split.X_test, return_std=True)
    if folder is not None:
        model.save(folder / f"model-{index}.npz")
    seconds = time.thread_time() - begun
    alone = {"split": index, "seconds": seconds} | table4_peers.prediction_scores(
        split.y_test, mean, std
    )
    mixed = _ensemble_scores(model, fits, split) if isinstance(model, TGGMEnsemble) else {}
    return alone | mixed | own | _learned(fits, seconds, y)


def _ensemble_scores(model: TGGMEnsemble, fits: Sequence[TGGMFit], split: RegressionSplit) -> Line:
    """Return the scores of the mixture, those of one of its models on average, and differences."""
    X, y = split.X_test, split.y_test
    found = regression_scores(model, X, y, levels=LEVELS.values())
    scores = {"rmse": found.rmse, "log_likelihood": found.log_likelihood, "crps": found.crps}
    each = [regression_scores(fit.model, X, y, levels=0.9) for fit in fits]
    alone = {name: float(np.mean([getattr(one, name) for one in each])) for name in scores}
    return {
        **scores,
        **{name: found.coverage[level] for name, level in LEVELS.items()},
        **{f"one_{name}": value for name, value in alone.items()},
        "one_coverage": float(np.mean([one.coverage[0.9] for one in each])),
        **{f"{name}_gain": scores[name] - alone[name] for name in scores},
    }


def _learned(fits: Sequence[TGGMFit], seconds: float, y: Any) -> Line:
    """Return what models have learned, as means over them, and what an epoch took."""
    epochs = sum(len(fit.history["epoch"]) + fit.best_epoch for fit in fits)  # both runs
    each = []
    for fit in fits:
        model, deviation = fit.model, math.sqrt(fit.model.hidden_variance)  # the units' own scale
        width = (model.upper - model.lower) / deviation
        each.append(
            {
                "lower": model.lower.mean(),
                "upper": model.upper.mean(),
                "width": np.median(width),
                "narrowest": width.min(),
                "widest": width.max(),
                "held_back_rmse": fit.history["validation_rmse"].min() * y.std(),
                "best_epoch": fit.best_epoch,
            }
        )
    means = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
    return means | {"epoch_seconds": seconds / epochs}


def summary(lines: Sequence[Line], data: RegressionData) -> Line:
    """Return means over splits; of what is tested also the deviation and the standard error."""
    names = [name for name in lines[0] if name not in ("split", "key")]
    values = {name: np.array([float(line[name]) for line in lines]) for name in names}
    result: Line = {name: float(each.mean()) for name, each in values.items()}
    for name in [name for name in TESTED if name in values]:
        deviation = float(values[name].std(ddof=1)) if len(lines) > 1 else 0.0
        result[f"{name}_deviation"] = deviation
        result[f"{name}_error"] = deviation / math.sqrt(len(lines))
    in_order = sorted(lines, key=lambda line: int(line["split"]))
    kept = [name for name in PAIRED if name in values]
    return result | {
        **{f"{name}_by_split": [line[name] for line in in_order] for name in kept},
        "splits": len(lines),
        "target_deviation": float(data.y.std()),
    }


def rehearse(cell: Cell, session: Session) -> None:
    """Do one split with forty rows and one epoch."""
    splits = _splits(cell, session)
    own = cell.options["trials"]
    model = checks.choice("trials.model", own.get("model", "tggm"), MODELS)
    if model not in ("tggm", "perceptron") and "n_models" in own:
        raise ValueError(f"trials.n_models has no effect on trials.model = {model!r}")
    name = cell.name.split("/")[0]
    checks.count("train.epochs", cell.options["train"].get("epochs", 1))
    options = cell.options | {"train": cell.options["train"] | {"epochs": 1}}
    trial(name, options, splits[0], session.seed, session.data_dir, None, rows=40)


def _splits(cell: Cell, session: Session) -> range:
    data = _load(cell.name.split("/")[0], session.data_dir)
    first = checks.count("trials.first", cell.options["trials"].get("first", 0), least=0)
    splits = checks.count("trials.splits", cell.options["trials"].get("splits", 10))
    if first + splits > data.n_splits:
        most = data.n_splits - first
        raise ValueError(f"trials.splits must be at most {most}, got {splits}")
    return range(first, first + splits)


@lru_cache(maxsize=2)  # the cells of one set follow each other
def _load(name: str, directory: str | None) -> RegressionData:
    return load_uci(name, directory)


def _one_thread() -> None:
    import numba

    numba.set_num_threads(1)  # of this worker


def _row(line: Line) -> list[str]:
    error = line["options"]["trials"].get("paper_error")
    paper = "" if line["paper"] is None else f"{line['paper']:.3f}"
    met = None not in (error, line["paper"]) and line["rmse"] <= line["paper"] + error
    ends = [f"{float(line[name]):.2f}" if name in line else "" for name in ("lower", "upper")]
    epoch = f"{1000 * line['epoch_seconds']:.1f}" if "epoch_seconds" in line else ""
    return [
        line["data"],
        line["label"],
        paper,
        f"{line['rmse']:.4f}",
        f"{line['rmse_deviation']:.4f}",
        "yes" if met else "",
        f"{line['log_likelihood']:.3f}" if "log_likelihood" in line else "",
        f"{100 * line['coverage']:.0f} %",
        *ends,
        epoch,
        f"{line['seconds']:.1f}",
        str(line["splits"]),
    ]


HEADER = (
    *("data", "units", "paper", "RMSE", "dev.", "met", "log-lik.", "90 %", "lower", "upper"),
    *("ms/epoch", "s", "splits"),
)
NOTE = (
    "RMSE: of the test rows, in units of the target, mean and deviation over splits. met: at most\n"
    "the paper's figure and its standard error. log-lik.: mean log-density, nats, of a\n"
    "normal; of an ensemble the mixture's.\n"
    "90 %: test rows inside the nominal interval. s: seconds of processor time a trial."
)

TABLE = Table(
    "table4",
    "test errors of regressions on nine UCI sets",
    SECTIONS,
    rehearse,
    compute,
    HEADER,
    _row,
    NOTE,
    table4_views.views,
)
