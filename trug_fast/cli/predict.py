"""``trug-fast predict MODEL --data FILE``: what a regression makes of new rows.

Tested in tests/cli/test_own_data.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common import checks
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.stored import load_model
from trug_fast.models.tggm import TruGTGGM

from . import options, own_data

Regression = TruGTGGM | TGGMEnsemble
LEVEL = 0.9


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("predict", help="predictions of a regression, with intervals")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that `train tggm` wrote")
    own_data.add_reading(parser, (), None, "target", "skip_missing")
    parser.add_argument(
        "--out", metavar="FILE.csv", help="default NAME-predictions.csv, beside the model"
    )
    add_level(parser, "of the intervals that are written")
    parser.add_argument(
        "--quantiles",
        metavar="Q,Q,...",
        help="shares above 0 and below 1, such as 0.1,0.5,0.9: a column each",
    )
    options.add_running(parser)


def run(arguments: argparse.Namespace) -> None:
    """Predict and write."""
    model = load_model(arguments.model, TruGTGGM, TGGMEnsemble)
    shares = _shares(arguments.quantiles)
    level = level_of(arguments)
    X, y = rows_for(arguments, model)
    name = f"{own_data.stem(arguments.data)}-predictions.csv"
    target = Path(arguments.out or Path(arguments.model).with_name(name))
    if target.suffix != ".csv":
        raise ValueError(f"--out must end in .csv, got {target}")
    if model.n_outputs > 1:
        raise ValueError(f"{arguments.model} has {model.n_outputs} outputs; predict is for one")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_predictions(target, model, X, y, level=level, quantiles=shares)
    print(f"{len(X)} predictions written to {target}")


def rows_for(arguments: argparse.Namespace, model: Regression) -> tuple[Any, Any]:
    """Return inputs, and targets if --target names them; refuse others than the model is of."""
    own_data.is_own(arguments, ())
    target, needed = arguments.target, model.columns
    if target is not None and needed is not None:
        target = own_data.named_target(arguments.data, target)
        needed += (target,)
    data = own_data.read(arguments, arguments.data, needed)
    if target is None:
        X, y, names = data.rows(), None, data.columns
    else:
        X, y = data.regression(target)
        names = own_data.inputs_of(data, target)
    X = own_data.arranged(arguments.data, X, names, model.columns)
    if X.shape[1] != model.n_inputs:
        hint = "" if arguments.target else "; name the column of the target by --target"
        raise ValueError(
            f"{arguments.model} takes {model.n_inputs} inputs, {arguments.data} has "
            f"{X.shape[1]}{hint}, and columns to leave out by --drop"
        )
    return X, y


def add_level(parser: argparse.ArgumentParser, of: str) -> None:
    """Add the level of intervals."""
    parser.add_argument("--level", type=float, help=f"{of}, above 0 and below 1 (default {LEVEL})")


def level_of(arguments: argparse.Namespace) -> float:
    """Return the level of intervals."""
    if arguments.level is None:
        return LEVEL
    return checks.above_zero("--level", arguments.level, below=1.0)


def _shares(text: str | None) -> list[float]:
    """Return the shares that quantiles are asked for."""
    try:
        shares = [] if text is None else [float(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"--quantiles must be numbers such as 0.1,0.5,0.9, got {text!r}") from None
    for share in shares:
        if shares.count(share) > 1:
            raise ValueError(f"--quantiles must have each share once, got {share} twice or more")
    return [checks.above_zero("--quantiles", share, below=1.0) for share in shares]


def write_predictions(
    path: Path,
    model: Regression,
    X: Any,
    y: Any = None,
    *,
    level: float = LEVEL,
    quantiles: Sequence[float] = (),
) -> None:
    """Write means, standard deviations, intervals and quantiles as a table; targets if known."""
    mean, std = model.predict(X, return_std=True)
    lower, upper = model.predict_interval(X, level)
    columns = {"mean": mean, "std": std, "lower": lower, "upper": upper}
    if quantiles:
        found = model.predict_quantiles(X, quantiles)
        columns |= {f"q{q}": each for q, each in zip(quantiles, found, strict=True)}
    if y is not None:
        columns = {"observed": y} | columns
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", fmt="%.9g", header=",".join(columns), comments="")
