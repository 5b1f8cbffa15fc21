"""``trug-fast predict MODEL --data FILE``: what a regression makes of new rows.

Tested in tests/cli/test_own_data.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast.evaluation.regression import Z_90
from trug_fast.models.stored import load_model
from trug_fast.models.tggm import TruGTGGM

from . import options, own_data


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("predict", help="predictions of a regression, with intervals")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that `train tggm` wrote")
    own_data.add_reading(parser, (), None, "target", "skip_missing")
    parser.add_argument(
        "--out", metavar="FILE.csv", help="default NAME-predictions.csv, beside the model"
    )
    options.add_running(parser)


def run(arguments: argparse.Namespace) -> None:
    """Predict and write."""
    model = load_model(arguments.model, TruGTGGM)
    X, y = rows_for(arguments, model)
    name = f"{own_data.stem(arguments.data)}-predictions.csv"
    target = Path(arguments.out or Path(arguments.model).with_name(name))
    if target.suffix != ".csv":
        raise ValueError(f"--out must end in .csv, got {target}")
    mean, std = model.predict(X, return_std=True)
    if mean.ndim > 1:
        raise ValueError(f"{arguments.model} has {mean.shape[1]} outputs; predict is for one")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_predictions(target, mean, std, y)
    print(f"{len(X)} predictions written to {target}")


def rows_for(arguments: argparse.Namespace, model: TruGTGGM) -> tuple[Any, Any]:
    """Return inputs, and targets if --target names them; refuse others than the model is of."""
    own_data.is_own(arguments, ())
    data = own_data.read(arguments, arguments.data)
    if arguments.target is None:
        X, y, names = data.rows(), None, data.columns
    else:
        X, y = data.regression(arguments.target)
        names = own_data.inputs_of(data, arguments.target)
    X = own_data.arranged(arguments.data, X, names, model.columns)
    if X.shape[1] != model.n_inputs:
        hint = "" if arguments.target else "; name the column of the target by --target"
        raise ValueError(
            f"{arguments.model} takes {model.n_inputs} inputs, {arguments.data} has "
            f"{X.shape[1]}{hint}, and columns to leave out by --drop"
        )
    return X, y


def write_predictions(path: Path, mean: Any, std: Any, y: Any = None) -> None:
    """Write means, standard deviations and 90 % intervals as a table, and targets if known."""
    columns = {"mean": mean, "std": std, "lower": mean - Z_90 * std, "upper": mean + Z_90 * std}
    if y is not None:
        columns = {"observed": y} | columns
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", fmt="%.9g", header=",".join(columns), comments="")
