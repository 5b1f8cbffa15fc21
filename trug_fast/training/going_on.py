"""Going on from a model: what a training takes from it, and what must agree with it.

Tested in tests/training/test_going_on.py and tests/training/rbm/test_settings.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, frames
from trug_fast.models.rbm import RBM, TruGRBM
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.trbm import TruGTRBM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.models.two_layers import TwoLayers
from trug_fast.models.visible_kinds import (
    CATEGORICAL,
    MIXED,
    TRUNCATED,
    CategoricalUnits,
    Runs,
    interval_of,
    run_of,
)

from .unit_parameters import Shape
from .units import (
    WORDS,
    GaussianUnits,
    HiddenLike,
    MixedUnits,
    SimpleUnits,
    TruGUnits,
    TruncatedUnits,
    VisibleLike,
    VisibleUnits,
    as_hidden,
    as_visible,
)


def columns_of(start: object, data: object) -> frames.Names:
    """Return what the columns of data are called: as in the model, if it knows, or in the data."""
    known: frames.Names = getattr(start, "columns", None)
    return frames.names_of(data) if known is None else known


class UnitKinds(NamedTuple):
    """How many hidden units there are, and of which kinds both layers are."""

    n_hidden: int
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: VisibleUnits


def units_from(
    start: object,
    n_hidden: int | None,
    hidden: HiddenLike | None,
    visible: VisibleLike | None,
    usual: int | None = None,
) -> UnitKinds:
    """Return the units that are asked for; what is left open is as in the model, if there is one.

    Raises
    ------
    TypeError, ValueError
        If a number or a word is wrong, or ``n_hidden`` is left open and nothing says it.
    """
    given = start if isinstance(start, TwoLayers) else None
    if n_hidden is None:
        n_hidden = usual if given is None else given.n_hidden
    if n_hidden is None:
        raise TypeError("n_hidden must be given where start is not a model that has it")
    if hidden is None:
        hidden = "trug" if given is None or hasattr(given, "lower") else "bernoulli"
    if visible is None:
        visible = "bernoulli" if given is None else kinds_of(given)
    return UnitKinds(checks.count("n_hidden", n_hidden), as_hidden(hidden), as_visible(visible))


def kinds_of(model: TwoLayers) -> VisibleLike:
    """Return the kinds of a model's visible units, as a training takes them."""
    if not isinstance(model, RBM) or model.visible in ("bernoulli", "gaussian", "spin"):
        return model.visible  # type: ignore[return-value]
    parts: list[SimpleUnits] = []
    for run in model.runs:
        unit = WORDS[run.kind]
        if run.kind == CATEGORICAL:
            unit = CategoricalUnits(run.states)
        elif run.kind == TRUNCATED:
            unit = TruncatedUnits((run.lower, run.upper))
        parts += [unit] * run.sites
    return parts if model.visible == MIXED else parts[0]


def checked_truncation(
    truncation: TruncationLike | None, hidden: TruGUnits | None, start: object, best: Truncation
) -> Truncation:
    """Return the truncation; by default points are learned, but for a model's at infinity."""
    if truncation is not None and hidden is None:
        raise ValueError("truncation is for hidden='trug'; Bernoulli units have none")
    if truncation is None and isinstance(start, TruGRBM | TruGTRBM | TruGTGGM):
        if np.isinf(start.upper - start.lower).any():
            return Truncation(float(start.lower[0]), float(start.upper[0]))
    return as_truncation(best if truncation is None else truncation)


def require_ends(start: Any, truncation: Truncation) -> None:
    """Refuse to go on from a model whose truncation points cannot be kept or learned so.

    Raises
    ------
    ValueError
        Naming the points of both.
    """
    for name in ("lower", "upper"):
        values, asked = getattr(start, name), getattr(truncation, name)
        low, high = values.min(), values.max()
        if truncation.learn is None and not _are(values, asked):
            raise ValueError(
                f"truncation keeps {name}={asked}, but start has units with {low:g} to {high:g}: "
                "give the same ends, or learn them"
            )
        if truncation.learn is not None and np.isinf(values).any():
            raise ValueError(f"truncation learns finite ends, but start has {name}={values[0]:g}")
        if truncation.learn == "shared" and low != high:
            raise ValueError(
                "truncation learns one pair of ends for all units, but start has units with "
                f"{name}={low:g} to {high:g}"
            )


def shape_of(model: Any, truncation: Truncation, units: TruGUnits) -> Shape:
    """Return the hidden units of a model, to be learned as these say.

    Raises
    ------
    ValueError
        If the model's units cannot be learned so, or are not those that are asked for.
    """
    precision, lower, upper = (
        getattr(model, name).astype(np.float64) for name in ("precision", "lower", "upper")
    )
    if units.precision != TruGUnits.precision:
        _require_precision("hidden", units.precision, precision)
    require_ends(model, truncation)
    return Shape(precision, lower, upper, truncation, units.learn_precision)


def require_agreement(start: TwoLayers, n_visible: int, units: UnitKinds) -> None:
    """Refuse to go on from a model of other sizes or units.

    Raises
    ------
    ValueError
        Naming what differs.
    """
    bernoulli = units.hidden is None
    if isinstance(start, RBM) and start.visible == units.visible.kind:
        _require_kinds(start.runs, units.visible)
    for what, wanted, found in (
        ("kind of visible units", units.visible.kind, start.visible),
        ("visible units", n_visible, start.n_columns),
        ("hidden units", units.n_hidden, start.n_hidden),
        ("kind of hidden units", _kind(bernoulli), _kind(not hasattr(start, "lower"))),
    ):
        if wanted != found:
            raise ValueError(f"start must agree in the {what}: {wanted} asked for, {found} in it")
    given = getattr(units.visible, "precision", None)
    if isinstance(units.visible, GaussianUnits | TruncatedUnits) and given is not None:
        _require_precision("visible", given, np.asarray(start.visible_precision))


def _require_kinds(runs: Runs, visible: VisibleUnits) -> None:
    """Refuse to go on from units of other numbers of states, or in another order."""
    states = runs[0].states
    if isinstance(visible, CategoricalUnits) and visible.n_states != states:
        raise ValueError(
            f"start must agree in the number of states: {visible.n_states} asked for, {states} in "
            "it"
        )
    if isinstance(visible, TruncatedUnits) and run_of(visible, runs[0].sites) != runs[0]:
        raise ValueError(
            f"start must agree in the interval: {interval_of(run_of(visible, 1))} asked for, "
            f"{interval_of(runs[0])} in it"
        )
    if not isinstance(visible, MixedUnits):
        return
    if visible.runs != runs:
        raise ValueError(
            f"start must agree in the kinds of visible units: {visible.runs} asked for, {runs} in "
            "it"
        )
    if any(
        isinstance(part, GaussianUnits | TruncatedUnits) and part.precision
        for part in visible.parts
    ):
        raise ValueError("visible: precision has no effect beside a model as start, which has it")


def _kind(bernoulli: bool) -> str:
    return "bernoulli" if bernoulli else "trug"


@np.errstate(over="ignore")
def _are(values: NDArray[Any], wanted: float) -> bool:
    """Tell whether all are this number, as far as float32 can: models may be in that."""
    return bool((values.astype(np.float32) == np.float32(wanted)).all())


def _require_precision(name: str, wanted: float, found: NDArray[Any]) -> None:
    """Refuse a precision that is asked for where training goes on with others."""
    if not _are(found, wanted):
        raise ValueError(
            f"{name} has precision={wanted}, but start has units of precision "
            f"{found.min():g} to {found.max():g}, with which training goes on"
        )
