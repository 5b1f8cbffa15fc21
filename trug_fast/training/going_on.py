"""Going on from a model: what a training takes from it, and what must agree with it.

Tested in tests/training/test_going_on.py and tests/training/rbm/test_settings.py.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, frames
from trug_fast.models.rbm import TruGRBM
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.trbm import TruGTRBM
from trug_fast.models.two_layers import TwoLayers
from trug_fast.units.kinds import interval_of, kind_named
from trug_fast.units.layer import MIXED
from trug_fast.units.truncation import Truncation, TruncationLike, as_truncation

from .unit_parameters import Shape
from .units import (
    HiddenLike,
    MixedUnits,
    TruGUnits,
    Visible,
    VisibleLike,
    as_hidden,
    as_visible,
    choice_of,
)


def columns_of(start: object, data: object) -> frames.Names:
    """Return what the columns of data are called: as in the model, if it knows, or in the data."""
    known: frames.Names = getattr(start, "columns", None)
    return frames.names_of(data) if known is None else known


class UnitKinds(NamedTuple):
    """How many hidden units there are, and of which kinds both layers are."""

    n_hidden: int
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: Visible


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
        hidden = "trug" if given is None else hidden_word(given)
    if visible is None:
        visible = "bernoulli" if given is None else kinds_of(given)
    return UnitKinds(checks.count("n_hidden", n_hidden), as_hidden(hidden), as_visible(visible))


def kinds_of(model: TwoLayers) -> VisibleLike:
    """Return the kinds of a model's visible units, as a training takes them."""
    parts = [choice_of(run) for run in model.runs for _ in range(run.sites)]
    return parts if model.visible == MIXED else parts[0]


def hidden_word(model: TwoLayers) -> Literal["trug", "bernoulli"]:
    """Return the word for a model's hidden units."""
    return "trug" if model.hidden_kind.cut else "bernoulli"


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
    if start.visible == units.visible.kind:
        _require_kinds(start, units.visible)
    for what, wanted, found in (
        ("kind of visible units", units.visible.kind, start.visible),
        ("visible units", n_visible, start.n_columns),
        ("hidden units", units.n_hidden, start.n_hidden),
        ("kind of hidden units", "trug" if units.hidden else "bernoulli", hidden_word(start)),
    ):
        if wanted != found:
            raise ValueError(f"start must agree in the {what}: {wanted} asked for, {found} in it")
    if units.visible.precision is not None:
        given = units.visible.precision
        _require_precision("visible", given, np.asarray(start.visible_precision))


def _require_kinds(start: TwoLayers, visible: Visible) -> None:
    """Refuse to go on from units of other numbers of states, or in another order."""
    runs, own = start.runs, visible.runs(start.n_visible)
    if isinstance(visible, MixedUnits):
        if own != runs:
            raise ValueError(
                f"start must agree in the kinds of visible units: {own} asked for, {runs} in it"
            )
        if any(part.precision for part in visible.parts):
            raise ValueError(
                "visible: precision has no effect beside a model as start, which has it"
            )
    elif kind_named(runs[0].kind).counted and own[0].states != runs[0].states:
        raise ValueError(
            f"start must agree in the number of states: {own[0].states} asked for, "
            f"{runs[0].states} in it"
        )
    elif own[0][3:] != runs[0][3:]:
        raise ValueError(
            f"start must agree in the interval: {interval_of(own[0])} asked for, "
            f"{interval_of(runs[0])} in it"
        )


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
