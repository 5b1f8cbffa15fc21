"""What an RBM is trained on, checked, as columns that kernels see.

Tested in tests/training/rbm/test_train.py, test_weights.py and test_kinds.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, frames
from trug_fast._common.mapping import blocks, mapped
from trug_fast.models.rbm import RBM
from trug_fast.training import diagnosis
from trug_fast.training.chunks import Check, Chunks, RowSource, as_rows
from trug_fast.training.gathering import column_means, weighted_means
from trug_fast.training.going_on import columns_of
from trug_fast.training.transform import Call, Transform
from trug_fast.training.units import MixedUnits, Visible
from trug_fast.training.weighing import Weights, as_weights, normalised
from trug_fast.units.kinds import kind_named
from trug_fast.units.layer import MIXED, Layer, checked_states_number

from .settings import RBMSettings

Data = NDArray[Any] | RowSource


class GivenData(NamedTuple):
    """Data as they are given, checked, without rows of weight 0 where they can be left out."""

    weights: Weights | None
    data: Data  # the training data as a matrix of columns
    held_out: Data | None
    visible: Visible  # with the numbers of states
    columns: frames.Names


def checked_data(
    X: ArrayLike | Chunks,
    sample_weight: ArrayLike | None,
    validation: ArrayLike | Chunks | None,
    visible: Visible,
    start: object = None,
) -> GivenData:
    """Return all data, checked."""
    missing = visible.missing is not None
    names = columns_of(start, X)
    X, validation = (
        frames.arranged(name, rows, names) for name, rows in (("X", X), ("validation", validation))
    )
    visible, units = _known(X, visible, start)
    check = check_of(units, soft=visible.soft, missing=missing)
    data = as_rows("X", X, check)
    weights = as_weights(sample_weight, data.shape[0])
    if weights is not None:
        weights, data = _without_zeros(X, weights, data, check)
    held_out = None
    if validation is not None:
        held_out = as_rows("validation", validation, check, _width(data, units))
    if missing:
        require_missing(data, held_out)
    return GivenData(weights, data, held_out, visible, names)


def check_of(units: Layer, *, soft: bool, missing: bool) -> Check:
    """Return what checks rows of such units, each of which needs a value, and gives columns."""

    def check(name: str, value: Any, columns: int | None = None) -> NDArray[Any]:
        rows = units.checked(name, value, columns, soft=soft, missing=missing)
        for start, part in blocks(rows) if missing else ():
            empty = np.isnan(part).all(axis=1)
            if empty.any():
                row = start + int(np.argmax(empty))
                raise ValueError(f"{name} must have a value in each row, got none in row {row}")
        return units.columns(rows)

    return check


def require_missing(X: Data, validation: Data | None) -> None:
    """Refuse to draw what is missing if nothing is, or a column of X has no value."""
    if not any(_some_missing(data) for data in (X, validation) if data is not None):
        raise ValueError("visible: missing has no effect, neither X nor validation has NaN")
    if not isinstance(X, RowSource):  # which has looked
        column_means("X", X)


def _some_missing(data: Data) -> bool:
    if isinstance(data, RowSource):
        return data.missing
    return any(np.isnan(part).any() for _, part in blocks(data))


def _width(data: Data, units: Layer) -> int:
    """Return how many columns data have, which need not be those of kernels."""
    return data.shape[1] if units.are("plain") else units.n_sites


def _known(X: Any, visible: Visible, start: object) -> tuple[Visible, Layer]:
    """Return the kinds of units with numbers of states, and what checks data for them."""
    if visible.kind != MIXED and kind_named(visible.kind).plain:
        return visible, Layer(visible.runs(1))
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must be a matrix (rows, columns), got shape {tuple(shape)}")
    sites = int(shape[1])
    if isinstance(visible, MixedUnits):
        if len(visible.parts) != sites:
            raise ValueError(
                f"visible must have a kind for each of the {sites} columns of X, got "
                f"{len(visible.parts)}"
            )
        visible = _alike(_counted(X, visible))
    if visible.kind != MIXED and kind_named(visible.kind).counted:
        if visible.n_states is None and isinstance(start, RBM) and start.n_states:
            visible = replace(cast(Any, visible), n_states=start.n_states)
        if visible.n_states is None:
            least, most = _extremes(X)
            visible = replace(cast(Any, visible), n_states=states_from(least.min(), most.max()))
        checked_states_number(visible.n_states)
    return visible, Layer(visible.runs(sites))


def _alike(visible: MixedUnits) -> Visible:
    return visible.parts[0] if len(set(visible.parts)) == 1 else visible


def _counted(X: Any, visible: MixedUnits) -> MixedUnits:
    """Return kinds of units of which all categorical ones know their number of states."""
    open_ = [
        column
        for column, part in enumerate(visible.parts)
        if kind_named(part.kind).counted and part.n_states is None
    ]
    if not open_:
        return visible
    extremes, parts = _extremes(X, open_), list(visible.parts)
    for column, least, most in zip(open_, *extremes, strict=True):
        states = states_from(least, most, f" in column {column}")
        parts[column] = replace(cast(Any, parts[column]), n_states=states)
    return MixedUnits(tuple(parts))


def _extremes(X: Any, columns: list[int] | None = None) -> tuple[Any, Any]:
    """Return the least and the largest number in each column of data, or in some."""
    if isinstance(X, Chunks) or hasattr(X, "tocsr"):
        raise ValueError(
            "visible must say n_states for data that are sparse or come in chunks: "
            "CategoricalUnits(n_states=...)"
        )
    array = checks.matrix("X", X)
    rows = array if columns is None else array[:, columns]
    ends = [(part.min(axis=0), part.max(axis=0)) for _, part in blocks(rows)]
    least, most = zip(*ends, strict=True)
    return np.min(least, axis=0), np.max(most, axis=0)


def states_from(least: float, most: float, where: str = "") -> int:
    """Return the number of states of data with these numbers; refuse to guess it without a 0."""
    states = checked_states_number(max(2, int(most) + 1))
    if least >= 1:
        raise ValueError(
            f"X has no state 0{where}, the least is {least:g}; states count from 0: take 1 off "
            "if yours count from 1, or say how many there are: CategoricalUnits(n_states="
            f"{states})"
        )
    return states


def _without_zeros(
    X: Any, weights: Weights, data: Data, check: Check
) -> tuple[Weights | None, Data]:
    """Leave out rows of weight 0, where the data are in memory; make the weights 1 on average."""
    kept = weights > 0
    if not kept.all() and hasattr(X, "tocsr"):
        data, weights = as_rows("X", X.tocsr()[kept], check), weights[kept]
    elif not kept.all() and isinstance(data, np.ndarray) and mapped(data) is None:
        data, weights = data[kept], weights[kept]
    if (weights == weights[0]).all():
        return None, data
    if not diagnosis.spread(weights).any():
        raise ValueError(
            "sample_weight is 0 for all of the rows that are scored, up to 1,000 of the data: "
            "leave rows of weight 0 out"
        )
    return normalised(weights), data


def transformed(
    transform: Transform,
    rows: NDArray[Any],
    shares: Sequence[float],
    call: Call,
    settings: RBMSettings,
    units: Layer,
) -> None:
    """Change the rows of updates as the caller's function says, in place.

    shares : of the run, at each of the updates, which have as many rows each
    call : of the first of them
    """
    own = settings.visible
    check = check_of(units, soft=own.soft, missing=own.missing is not None)
    for k, (batch, share) in enumerate(zip(np.split(rows, len(shares)), shares, strict=True)):
        given = units.states(batch.copy()).astype(batch.dtype, copy=False)
        this = call._replace(update=call.update + k, share=share)
        batch[:] = transform.rows(given, this, check)


def means_of(data: Data, weights: Weights | None) -> NDArray[np.float64]:
    """Return the mean of each column."""
    if weights is not None:
        parts = data.each() if isinstance(data, RowSource) else [data]
        return weighted_means("X", parts, weights)
    return data.means if isinstance(data, RowSource) else column_means("X", data)
