"""Table 4: test errors of regressions on the UCI sets, with five kinds of truncation."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast.datasets import RegressionData
from trug_fast.evaluation.regression import prediction_scores
from trug_fast.training.choices import arguments_of, choices
from trug_fast.training.tggm.train import train_tggm

from . import results, table4_views
from .protocol import Cell
from .results import Line
from .runner import Session, Table

TRIALS = "trials.jsonl"  # in a cell's folder: a line for each split that is done
SECTIONS = {
    "trials": (
        *("first", "splits", "workers", "model", "perceptron_rate"),
        *("paper_error", "dropout"),  # for comparison only
    ),
    "train": tuple(choices(train_tggm)),
}
MODELS = ("tggm", "perceptron")
TESTED = ("rmse", "log_likelihood", "coverage")


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
        executor.submit(trial, name, cell.options, split, session.seed, session.data_dir, folder)
        for split in splits
    ]
    for future in as_completed(futures):
        yield future.result()


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
    begun = time.thread_time()  # others' work on the computer does not count
    more: Line = {}
    if options["trials"].get("model", "tggm") == "perceptron":
        mean, std = _perceptron(X, y, split.X_test, options, seed + index)
    else:
        settings = arguments_of(train_tggm, options["train"])
        fit = train_tggm(X, y, **settings, rng=1000 * seed + index, progress=False)
        mean, std = fit.model.predict(split.X_test, return_std=True)
        if folder is not None:
            fit.model.save(folder / f"model-{index}.npz")
        seconds = time.thread_time() - begun
        epochs = len(fit.history["epoch"]) + fit.best_epoch  # before and after the choice
        deviation = math.sqrt(fit.model.hidden_variance)  # the units' own scale
        width = (fit.model.upper - fit.model.lower) / deviation
        more = {
            "lower": float(fit.model.lower.mean()),
            "upper": float(fit.model.upper.mean()),
            "width": float(np.median(width)),
            "narrowest": float(width.min()),
            "widest": float(width.max()),
            "held_back_rmse": float(fit.history["validation_rmse"].min() * y.std()),
            "best_epoch": fit.best_epoch,
            "epoch_seconds": seconds / epochs,
        }
    seconds = time.thread_time() - begun
    return {"split": index, "seconds": seconds} | prediction_scores(split.y_test, mean, std) | more


def summary(lines: Sequence[Line], data: RegressionData) -> Line:
    """Return means over splits; of what is tested also the deviation and the standard error."""
    names = [name for name in lines[0] if name not in ("split", "key")]
    values = {name: np.array([float(line[name]) for line in lines]) for name in names}
    result: Line = {name: float(each.mean()) for name, each in values.items()}
    for name in TESTED:
        deviation = float(values[name].std(ddof=1)) if len(lines) > 1 else 0.0
        result[f"{name}_deviation"] = deviation
        result[f"{name}_error"] = deviation / math.sqrt(len(lines))
    by_split = sorted((line["split"], line["rmse"]) for line in lines)
    return result | {
        "rmse_by_split": [rmse for _, rmse in by_split],
        "splits": len(lines),
        "target_deviation": float(data.y.std()),
    }


def rehearse(cell: Cell, session: Session) -> None:
    """Do one split with forty rows and one epoch."""
    splits = _splits(cell, session)
    checks.choice("trials.model", cell.options["trials"].get("model", "tggm"), MODELS)
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
    return datasets.load_uci(name, directory)


def _one_thread() -> None:
    import numba

    numba.set_num_threads(1)  # of this worker


def _perceptron(X: Any, y: Any, X_test: Any, options: dict[str, Any], seed: int) -> tuple[Any, Any]:
    """Return means and deviations predicted by scikit-learn's MLPRegressor (ReLU, Adam).

    It stops, as the regressions here do, where a tenth of the rows held back says; their error is
    the deviation.
    """
    from sklearn.neural_network import MLPRegressor

    train, epochs = options["train"], options["train"].get("epochs", 300)
    centre, scale, spread = X.mean(axis=0), X.std(axis=0), y.std()
    scale = np.where(scale > 0, scale, 1.0)
    network = MLPRegressor(
        hidden_layer_sizes=(train.get("n_hidden", 50),),
        batch_size=min(train.get("batch_size", 50), len(X)),
        max_iter=epochs,
        early_stopping=True,
        n_iter_no_change=epochs,
        learning_rate_init=options["trials"].get("perceptron_rate", 0.001),
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that all epochs were used
        network.fit((X - centre) / scale, (y - y.mean()) / spread)
    mean = network.predict((X_test - centre) / scale) * spread + y.mean()
    held_back = max(network.validation_scores_)  # R2
    return mean, np.full(len(mean), spread * math.sqrt(max(1.0 - held_back, 1e-6)))


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
        f"{line['log_likelihood']:.3f}",
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
    "the paper's figure and its standard error. log-lik.: mean log-density of a normal, nats.\n"
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
