"""What Tables 2 and 3 share: training on sequences, and errors of one-step forecasts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.evaluation.forecasts import (
    forecast_errors,
    forecast_horizon_errors,
    horizon_errors,
    prediction_error,
)
from trug_fast.models.trbm import Method
from trug_fast.training.trbm.train import TRBMFit, train_trbm

from . import generating, past, random_units, recurrent, results, sequences
from .protocol import Cell
from .results import Line
from .runner import Session
from .trainings import fitted, options_of, trained, upper_points

METHODS: tuple[Method, ...] = ("gibbs", "mean_field", "last")
RULES = ("copy last", "mean frame", "gru", *(f"linear, order {order}" for order in range(1, 6)))
AHEAD = ("n_frames", "n_samples", "n_gibbs")  # of forecasts of several frames
HIDDEN_RIDGE = "start_hidden_ridge"  # penalty of units that are part of the start
START = ("start_scale", "start_order", "start_ridge", HIDDEN_RIDGE)
SHOWN = (1, 2, 3, 5, 10, 20, 30)  # frames ahead, in print
SECTIONS = {
    "sequences": sequences.OPTIONS,
    "train": (*options_of(train_trbm), *past.OPTIONS, HIDDEN_RIDGE),
    "forecast": ("rule", "ridge", "gru", "paper_running", *AHEAD),
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
        return _simple(cell, data, session.seed)
    session.say(f"{cell.name}: training on {len(data.train)} sequences")
    own, more = _with_units(cell, data, session.seed)
    fit = trained(train_trbm, data.train, own, session, folder, validation=data.valid, **more)
    figures = _figures(fit, data, cell, session.seed)
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
        if checks.choice("forecast.rule", cell.options["forecast"]["rule"], RULES) == "gru":
            recurrent.checked(cell.options["forecast"].get("gru", {}))
        elif "gru" in cell.options["forecast"]:
            raise ValueError("forecast.gru has no effect without forecast.rule = 'gru'")
        return
    checks.count("train.epochs", cell.options["train"].get("epochs", 1))
    seen = 2 + cell.options["train"].get("n_lags", 1)
    short = [x[:seen] for x in whole.train[:2]]
    test = {name: [x[0][:seen]] for name, x in whole.test.items()}
    if cell.options.get("generate"):
        test = {name: x[:2, : max(seen, 4)] for name, x in whole.test.items()}
    cell = _in_brief(cell)
    few = sequences.ForecastData(short, None if whole.valid is None else short, test, whole.real)
    quiet = replace(session, progress=False)
    brief = replace(cell, options=cell.options | {"train": cell.options["train"] | {"epochs": 1}})
    own, more = _with_units(brief, few, session.seed)
    fit = fitted(train_trbm, short, own, quiet, validation=few.valid, **more)
    _figures(fit, few, own, session.seed)


def _in_brief(cell: Cell) -> Cell:
    """Return a cell with least forecasts and videos to generate."""
    options = dict(cell.options)
    if "n_frames" in (forecast := options["forecast"]):
        checks.count("forecast.n_frames", forecast["n_frames"])
        options["forecast"] = forecast | {"n_frames": 1}
    if generate := options.get("generate"):
        generating.checked(generate)
        options["generate"] = generate | generating.BRIEF
    return replace(cell, options=options)


def load(cell: Cell, session: Session) -> sequences.ForecastData:
    """Return the sequences of a cell."""
    options = json.dumps(cell.options["sequences"], sort_keys=True)
    return _load(options, session.data_dir, session.seed)


@lru_cache(maxsize=1)  # the cells of a table share them
def _load(options: str, directory: str | None, seed: int) -> sequences.ForecastData:
    return sequences.load(seed, directory, **json.loads(options))


def _with_units(cell: Cell, data: sequences.ForecastData, seed: int) -> tuple[Cell, dict[str, Any]]:
    """Return a cell whose visible units are those of the data, and what else training takes."""
    train = {"visible": "gaussian" if data.real else "bernoulli"} | cell.options["train"]
    transform = past.transform_of(train, data.real)
    train = {name: value for name, value in train.items() if name not in past.OPTIONS}
    more: dict[str, Any] = {} if transform is None else {"transform": transform}
    if HIDDEN_RIDGE in train:
        more["start"] = random_units.start_of(train, HIDDEN_RIDGE, data.train, seed)
        # Which it has; its precisions are learned.
        train = {k: v for k, v in train.items() if k not in (*START, "visible_precision")}
    return replace(cell, options=cell.options | {"train": train}), more


def lacks(cell: Cell) -> str | None:
    """Say what a cell needs that is not installed."""
    if cell.options["forecast"].get("rule") != "gru":
        return None
    try:
        recurrent.libraries()
    except ImportError as error:
        return str(error)
    return None


def _simple(cell: Cell, data: sequences.ForecastData, seed: int) -> Line:
    options = cell.options["forecast"]
    rule, n_frames = str(options["rule"]), options.get("n_frames")
    if rule == "gru":
        found = recurrent.fitted(data.train, data.valid or [], seed=seed, **options.get("gru", {}))
        pairs = {name: _by_network(found, test, n_frames) for name, test in data.test.items()}
    else:
        orders = (int(rule[-1]),) if rule.startswith("linear") else ()
        fitting = {"orders": orders, "ridge": options.get("ridge", 1.0)}
        pairs = {
            name: _by_rule(rule, data.train, test, n_frames, fitting)
            for name, test in data.test.items()
        }
    errors = {name: {"rule": float(one.mean())} for name, (one, _) in pairs.items()}
    ahead = {name: {"rule": _rounded(k)} for name, (_, k) in pairs.items() if k is not None}
    return {"errors": errors} | ({"ahead": ahead} if ahead else {})


Errors = tuple[NDArray[np.float64], NDArray[np.float64] | None]  # of one frame ahead, of several


def _by_network(found: recurrent.Recurrent, test: Any, n_frames: int | None) -> Errors:
    return found.error(test), None if n_frames is None else found.horizon_errors(test, n_frames)


def _by_rule(
    rule: str, train: Any, test: Any, n_frames: int | None, fitting: dict[str, Any]
) -> Errors:
    one = forecast_errors(train, test, **fitting)[rule]
    if n_frames is None:
        return one, None
    return one, forecast_horizon_errors(train, test, n_frames, **fitting)[rule]


def _figures(fit: TRBMFit, data: sequences.ForecastData, cell: Cell, seed: int) -> Line:
    errors = {
        name: {
            method: float(prediction_error(fit.model, test, method=method, rng=seed).mean())
            for method in METHODS
        }
        for name, test in data.test.items()
    }
    figures: Line = {"errors": errors} | _ahead(fit, data, cell, seed) | upper_points(fit.model)
    if generate := cell.options.get("generate"):
        figures |= generating.judge(fit.model, data.test["test"], generate, seed)
    return figures


def _ahead(fit: TRBMFit, data: sequences.ForecastData, cell: Cell, seed: int) -> Line:
    """Return errors of forecasts of several frames ahead, if they are asked for."""
    options = {name: cell.options["forecast"].get(name) for name in AHEAD}
    given: Any = {name: value for name, value in options.items() if value is not None}
    if "n_frames" not in given:
        return {}
    n_frames, result = given.pop("n_frames"), {}
    for name, test in data.test.items():
        found = horizon_errors(fit.model, test, n_frames, **given, rng=seed)
        result[name] = {"model": _rounded(found.model), "spread": _rounded(found.spread)}
    return {"ahead": result}


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 5) for value in values]


def ahead_views(lines: Sequence[Line]) -> str:
    """Return errors of forecasts of several frames ahead as tables, means over seeds."""
    found: dict[str, dict[tuple[str, str], list[Any]]] = {}
    for line in lines:
        options = json.dumps(line["options"], sort_keys=True)
        for name, own in line.get("ahead", {}).items():
            errors = own.get("model", own.get("rule"))
            key = line["label"], line["cell"] + options
            found.setdefault(name, {}).setdefault(key, []).append(errors)
    parts = []
    for name, cells in found.items():
        longest = min(len(each[0]) for each in cells.values())
        shown = [k for k in SHOWN if k <= longest]
        rows = []
        for (label, _), each in cells.items():
            mean = np.mean(each, axis=0)
            rows.append([label, *(f"{mean[k - 1]:.3f}" for k in shown), str(len(each))])
        header = (f"{name}, frames ahead", *map(str, shown), "seeds")
        parts.append(results.markdown(header, rows))
    if not parts:
        return ""
    return "\n\n".join(["Root mean square errors of a channel so many frames ahead:", *parts])


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
