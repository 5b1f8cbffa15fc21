"""How parameters lie: by sites and states where all units are categorical, else by columns.

Tested in tests/models/test_visible_kinds.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks

from .mixed_units import usual_runs
from .visible_kinds import (
    CATEGORICAL,
    WORDS,
    CategoricalUnits,
    Interval,
    Run,
    Runs,
    SpinUnits,
    kind_of,
    n_columns,
    of_each,
    real_columns,
    run_of,
)

VisibleKind = str | SpinUnits | CategoricalUnits | Interval | Sequence[Any] | None


class Layout(NamedTuple):
    """The kinds of visible units, and parameters by columns."""

    runs: Runs
    weights: ArrayLike
    visible_bias: ArrayLike
    visible_precision: ArrayLike | None


def laid_out(
    visible: VisibleKind,
    weights: ArrayLike,
    visible_bias: ArrayLike,
    visible_precision: ArrayLike | None,
) -> Layout:
    """Return the runs that a model's ``visible`` stands for, and its parameters by columns.

    Raises
    ------
    TypeError, ValueError
        If these do not fit together.
    """
    array = checks.numbers("weights", weights)
    if visible is None:
        if array.ndim == 3:
            raise ValueError(
                "weights of shape (n_visible, n_states, n_hidden) need visible='categorical'"
            )
        given = None if visible_precision is None else np.ones(1)
        runs = usual_runs(len(array) if array.ndim else 0, given)
        return Layout(runs, weights, visible_bias, visible_precision)
    runs = _runs(visible, array.shape)
    if kind_of(runs) == CATEGORICAL:
        sites, states = runs[0].sites, runs[0].states
        if array.shape[:2] != (sites, states) or array.ndim != 3:
            raise ValueError(
                f"weights must have shape ({sites}, {states}, n_hidden) with categorical visible "
                f"units of {states} states, got {array.shape}"
            )
        weights, bias = (
            array.reshape(sites * states, -1),
            checks.numbers("visible_bias", visible_bias),
        )
        if bias.ndim and bias.shape != (sites, states):
            raise ValueError(
                f"visible_bias must be a number or have shape {(sites, states)}, got {bias.shape}"
            )
        visible_bias = bias.reshape(-1) if bias.ndim else bias
    elif array.ndim != 2 or len(array) != n_columns(runs):
        raise ValueError(
            f"weights must have shape ({n_columns(runs)}, n_hidden): a row for each visible unit, "
            f"of a categorical one for each of its states; got {array.shape}"
        )
    return Layout(runs, weights, visible_bias, _precision(runs, visible_precision))


def _runs(visible: Any, shape: tuple[int, ...]) -> Runs:
    """Return the runs of units of a model with weights of this shape."""
    if isinstance(visible, tuple) and all(isinstance(each, Run) for each in visible):
        return visible
    for each in visible if isinstance(visible, list | tuple) else [visible]:
        for name in ("precision", "learn_precision", "missing"):
            if getattr(each, name, None) not in (None, False):
                raise ValueError(
                    f"visible: {name} has no effect in a model, got {each!r}; visible_precision is "
                    "what it takes"
                )
    kind = getattr(visible, "kind", visible)
    if not isinstance(kind, str):
        if not isinstance(visible, Sequence):
            raise TypeError(
                f"visible must be one of {', '.join(map(repr, WORDS))}, made by SpinUnits, "
                "CategoricalUnits or TruncatedUnits, or a sequence of a kind for each column, got "
                f"{visible!r}"
            )
        return of_each("visible", visible)
    checks.choice("visible", kind, WORDS)
    if not shape:
        raise ValueError("weights must be a matrix (rows, columns), got shape ()")
    if kind != CATEGORICAL:
        return (run_of(visible, shape[0]),)
    if len(shape) != 3 or 0 in shape or shape[1] < 2:
        raise ValueError(
            "weights must have shape (n_visible, n_states, n_hidden) with visible='categorical', "
            f"n_states 2 or more, got {shape}"
        )
    states = getattr(visible, "n_states", None) or shape[1]
    return (Run(kind, shape[0], states),)


def _precision(runs: Runs, given: ArrayLike | None) -> ArrayLike | None:
    """Return the precisions of real columns, 1 in others; None if there is none."""
    real = real_columns(runs)
    if not real.any():
        if given is not None:
            raise ValueError(
                "visible_precision is for Gaussian and truncated visible units, these are "
                f"{kind_of(runs)}"
            )
        return None
    if given is None:
        raise ValueError("visible_precision must be given for Gaussian and truncated visible units")
    array = checks.numbers("visible_precision", given)
    if array.ndim == 0:
        return np.where(real, array, np.ones_like(array))
    if array.shape == real.shape and (array[~real] != 1).any():
        column = int(np.argmax((array != 1) & ~real))
        raise ValueError(
            "visible_precision must be 1 where visible units are not Gaussian or truncated, got "
            f"{array[column]} in column {column}"
        )
    return array


def shaped(runs: Runs, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters by columns as a model of these runs has them."""
    found = dict(parameters)
    if kind_of(runs) == CATEGORICAL:
        sites, states = runs[0].sites, runs[0].states
        found["weights"] = np.asarray(found["weights"]).reshape(sites, states, -1)
        found["visible_bias"] = np.asarray(found["visible_bias"]).reshape(sites, states)
    if not real_columns(runs).any():
        found.pop("visible_precision", None)
    return found
