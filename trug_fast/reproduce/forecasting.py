"""What Tables 2 and 3 share: training on sequences, and errors of one-step forecasts."""

from __future__ import annotations

import inspect
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common import checks, files
from trug_fast.evaluation.forecasts import forecast_errors
from trug_fast.evaluation.prediction import prediction_error
from trug_fast.models.prediction import Method
from trug_fast.models.truncation import Truncation
from trug_fast.training.trbm.train import TemporalFit, train_trbm

from . import sequences
from .protocol import Cell, Options
from .results import Line
from .runner import Session
from .training_log import TrainingLog

CHECKPOINT, MODEL, HISTORY = "checkpoint.npz", "model.npz", "history.npz"
METHODS: tuple[Method, ...] = ("gibbs", "mean_field", "last")
RULES = ("copy last", "mean frame", "linear, order 1", "linear, order 2")
OURS = ("sequences", "validation", "callbacks", "checkpoint", "resume", "progress", "rng")
SPREAD = (0, 25, 50, 75, 100)  # percentiles of the upper points: from least to greatest
SECTIONS = {
    "sequences": sequences.OPTIONS,
    "train": tuple(name for name in inspect.signature(train_trbm).parameters if name not in OURS),
    "forecast": ("rule", "ridge", "paper_running"),
}


def compute(cell: Cell, folder: Path, session: Session) -> Line:
    """Train a model, going on from its checkpoint, and forecast; or forecast by a simple rule.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the state of the training is saved.
    """
    data = load(cell, session)
    if "rule" in cell.options["forecast"]:
        return {"errors": _simple(cell, data)}
    session.say(f"{cell.name}: training on {len(data.train)} sequences")
    state = {"checkpoint": folder / CHECKPOINT, "resume": "auto"}
    fit = _train(cell, session, data, callbacks=(TrainingLog(session),), **state)
    fit.model.save(folder / MODEL)
    files.write(folder / HISTORY, "history", fit.history)
    if fit.interrupted:
        raise KeyboardInterrupt(
            f"; the same command continues; {folder / MODEL} is as far as it got"
        )
    figures = _figures(fit, data, session.seed)
    seconds = float(fit.history["seconds"][-1])
    frames = len(fit.history["epoch"]) * sum(len(x) for x in data.train)
    return figures | {
        "epochs": len(fit.history["epoch"]),
        "training_seconds": round(seconds, 1),
        "frames_per_second": round(frames / seconds, 1),
    }


def rehearse(cell: Cell, session: Session) -> None:
    """Do all of it with two short sequences and one epoch."""
    whole = load(cell, session)
    if "rule" in cell.options["forecast"]:
        checks.choice("forecast.rule", cell.options["forecast"]["rule"], RULES)
        return
    checks.count("train.epochs", cell.options["train"].get("epochs", 1))
    short = [x[:3] for x in whole.train[:2]]
    test = {name: [x[0][:3]] for name, x in whole.test.items()}
    few = sequences.ForecastData(short, None if whole.valid is None else short, test, whole.real)
    quiet = Session(session.out, session.seed, session.data_dir, progress=False)
    _figures(_train(cell, quiet, few, epochs=1), few, session.seed)


def load(cell: Cell, session: Session) -> sequences.ForecastData:
    """Return the sequences of a cell."""
    options = json.dumps(cell.options["sequences"], sort_keys=True)
    return _load(options, session.data_dir, session.seed)


@lru_cache(maxsize=1)  # the cells of a table share them
def _load(options: str, directory: str | None, seed: int) -> sequences.ForecastData:
    return sequences.load(seed, directory, **json.loads(options))


def _train(cell: Cell, session: Session, data: sequences.ForecastData, **more: Any) -> TemporalFit:
    options: Options = dict(cell.options["train"])
    for name, value in options.items():
        if isinstance(value, list):
            options[name] = tuple(value)
        elif name == "truncation" and isinstance(value, dict):
            options[name] = Truncation(**value)
    settings = options | {"progress": session.progress, "rng": session.seed} | more
    settings["visible"] = "real" if data.real else "binary"
    return train_trbm(data.train, validation=data.valid, **settings)


def _simple(cell: Cell, data: sequences.ForecastData) -> dict[str, dict[str, float]]:
    options = cell.options["forecast"]
    rule, ridge = str(options["rule"]), options.get("ridge", 1.0)
    orders = (int(rule[-1]),) if rule.startswith("linear") else ()
    result = {}
    for name, test in data.test.items():
        errors = forecast_errors(data.train, test, orders=orders, ridge=ridge)
        result[name] = {"rule": float(errors[rule].mean())}
    return result


def _figures(fit: TemporalFit, data: sequences.ForecastData, seed: int) -> Line:
    errors = {
        name: {
            method: float(prediction_error(fit.model, test, method=method, rng=seed).mean())
            for method in METHODS
        }
        for name, test in data.test.items()
    }
    figures: Line = {"errors": errors}
    if hasattr(fit.model, "upper"):
        spread = np.percentile(fit.model.upper, SPREAD, method="nearest")
        figures["upper"] = [round(float(value), 4) for value in spread]
    return figures


def error(line: Line, name: str, method: str = "gibbs") -> str:
    """Return an error in words; that of a simple rule stands where "gibbs" does."""
    found = line["errors"].get(name, {})
    value = found.get(method, found.get("rule") if method == "gibbs" else None)
    return "" if value is None else f"{value:.2f}"


def effort(line: Line) -> list[str]:
    """Return epochs and minutes in words."""
    if "epochs" not in line:
        return ["", ""]
    return [str(line["epochs"]), f"{line['training_seconds'] / 60:.1f}"]


NOTE = """\
Squared error of one-step forecasts, summed over a frame, mean over frames from the second on and
over sequences. error: forecasts by the mean of 100 Gibbs sweeps from the frame before. mean field:
by ten mean-field sweeps. last: the literature's rule, the last of 50 sweeps from noise."""
