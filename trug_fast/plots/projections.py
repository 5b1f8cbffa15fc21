"""Figures of many rows at once: what drives a unit, where rows lie, what goes together in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.row_weights import as_weights
from trug_fast.datasets.letters import states
from trug_fast.evaluation.correlations import fitted_line
from trug_fast.models.rbm import BernoulliRBM, TruGRBM

from .canvas import BLUE, GREY, ORANGE, axes_for, set_title, tidy
from .units import unit_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 3000  # points that are drawn one by one
BINS = 60

Floats = NDArray[np.float64]


def unit_inputs(
    model: TruGRBM | BernoulliRBM,
    X: ArrayLike,
    unit: int,
    ax: Axes | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> Axes:
    """Draw what drives a hidden unit: its mean over its net input, and the net inputs of data.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    X : array_like, shape (rows, n_visible)
        Data, or samples.
    unit : int
        Which hidden unit, from 0.
    ax : matplotlib Axes, optional
    sample_weight : array_like, shape (rows,), optional
        What each row counts for in the histogram.

    Returns
    -------
    matplotlib Axes
        Points are rows (of more than 3000 evenly spaced ones); grey bars the share of rows.

    Raises
    ------
    TypeError, ValueError
        If X does not hold what the visible units are, or there is no such unit.
    """
    checks.kind("model", model, TruGRBM, BernoulliRBM)
    index = checks.count("unit", unit, least=0)
    if index >= model.n_hidden:
        raise ValueError(f"unit must be less than n_hidden={model.n_hidden}, got {unit}")
    rows = model.checked_rows("X", X)
    weights = np.asarray(model.weights, np.float64)[..., index : index + 1]
    net = _projected(rows, weights)[:, 0]
    net += float(model.hidden_bias[index])
    share = as_weights(sample_weight, len(rows))
    share = np.full(len(net), 1.0) if share is None else share / share.max()
    ax = axes_for(ax, 4.2, 3.2)
    behind: Any = ax.twinx()
    behind.hist(net, BINS, weights=share / share.sum(), color=GREY, alpha=0.35)
    behind.set(yticks=[], ylim=(0, 1.6 * behind.get_ylim()[1]))
    behind.spines[:].set_visible(False)
    low, high = float(net.min()), float(net.max())
    margin = 0.08 * (high - low) or 1.0
    grid = np.linspace(low - margin, high + margin, 401)
    some = net[_evenly(len(net))]
    ax.plot(grid, _mean(model, index, grid), color=BLUE, lw=2)
    ax.plot(some, _mean(model, index, some), "o", color=ORANGE, ms=2.5, alpha=0.15, mew=0)
    ax.set(xlabel="net input", ylabel=f"mean of hidden unit {index}", xlim=(grid[0], grid[-1]))
    ax.set_zorder(behind.get_zorder() + 1)
    ax.patch.set_visible(False)
    tidy(ax)
    return ax


def projection(
    data: ArrayLike,
    samples: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    axes: ArrayLike | None = None,
    n_states: int | None = None,
) -> Axes:
    """Draw where data lie on two axes, and samples of a model over them.

    Parameters
    ----------
    data : array_like, shape (rows, columns)
    samples : array_like, shape (n, columns), optional
    ax : matplotlib Axes, optional
    axes : array_like, shape (columns, 2) or (columns, n_states, 2), optional
        What the rows are projected on, such as the weights of two hidden units,
        ``model.weights[..., [3, 5]]``; by default the first two principal axes of the data.
    n_states : int, optional
        Rows are whole numbers less than this, such as letters, each of which stands for zeros and a
        one; needed for letters unless ``axes`` has three axes.

    Returns
    -------
    matplotlib Axes
        Of more than 3000 rows evenly spaced ones are drawn.

    Raises
    ------
    TypeError, ValueError
        If the shapes do not agree, or rows do not hold such numbers.
    """
    onto = None if axes is None else checks.numbers("axes", axes).astype(np.float64)
    if onto is not None and (onto.ndim not in (2, 3) or onto.shape[-1] != 2):
        raise ValueError(f"axes must have shape (columns, 2) or (columns, states, 2), got "
                         f"{onto.shape}")  # fmt: skip
    own = onto.shape[1] if onto is not None and onto.ndim == 3 else None
    if n_states is not None and onto is not None:
        raise ValueError("n_states has no effect with axes: those of letters have shape "
                         "(columns, states, 2)")  # fmt: skip
    count = own if n_states is None else checks.count("n_states", n_states)
    rows = _rows("data", data, count, None if onto is None else len(onto))
    names = ("input of the first unit", "input of the second unit")
    if onto is None:
        onto, shares = _principal(rows, count)
        names = tuple(f"{w} principal axis ({100 * s:.0f} %)" for w, s in zip(
            ("first", "second"), shares, strict=True))  # type: ignore[assignment]  # fmt: skip
    ax = axes_for(ax, 4.2, 3.6)
    layers = [("data", rows, GREY, 5.0)]
    if samples is not None:
        layers.append(("samples", _rows("samples", samples, count, rows.shape[1]), BLUE, 3.0))
    for name, part, colour, size in layers:
        x, y = _projected(part[_evenly(len(part))], onto).T
        ax.plot(x, y, "o", color=colour, ms=size, alpha=0.5, mew=0, label=name)
    ax.set(xlabel=names[0], ylabel=names[1])
    if samples is not None:
        ax.legend(frameon=False, fontsize="small", markerscale=1.5)
    tidy(ax)
    return ax


def correlations(data: ArrayLike, samples: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the correlations of samples over those of data, with slope and Pearson's coefficient.

    Parameters
    ----------
    data, samples : array_like, of one shape
        Such as :func:`pair_correlations` gives for both.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Of more than 3000 numbers it shows how many lie where; dashed where both are equal.

    Raises
    ------
    TypeError, ValueError
        If they are no finite numbers of one shape, two or more that vary.
    """
    x, y = (checks.numbers(n, v).astype(np.float64) for n, v in
            (("data", data), ("samples", samples)))  # fmt: skip
    if x.shape != y.shape or x.size < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError(
            f"data and samples must be finite numbers of one shape, two or more, got shapes "
            f"{x.shape} and {y.shape}"
        )
    x, y = x.ravel(), y.ravel()
    slope, pearson = fitted_line(x, y)
    if not np.isfinite([slope, pearson]).all():
        raise ValueError("data and samples must vary, got the same number throughout")
    ax = axes_for(ax, 4.0, 3.6)
    ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
    ends += np.ptp(ends) * np.array([-0.04, 0.04])
    if x.size > MOST:
        ax.hexbin(x, y, gridsize=BINS, bins="log", mincnt=1, cmap="Blues", linewidths=0,
                  extent=(*ends, *ends), vmin=0.05)  # fmt: skip
    else:
        ax.plot(x, y, "o", color=BLUE, ms=3, alpha=0.5, mew=0)
    ax.plot(ends, ends, color=GREY, lw=1.0, ls="--")
    line = y.mean() + slope * (np.array([x.min(), x.max()]) - x.mean())
    ax.plot([x.min(), x.max()], line, color=ORANGE, lw=1.4)
    ax.set(xlabel="correlations of data", ylabel="of samples", xlim=ends, ylim=ends, aspect="equal")
    set_title(ax, f"slope {slope:.2f}, Pearson {pearson:.2f}")
    tidy(ax)
    return ax


def _mean(model: TruGRBM | BernoulliRBM, unit: int, net: Floats) -> Floats:
    """Return the mean of a hidden unit at its net inputs."""
    if not isinstance(model, TruGRBM):
        return np.asarray(np.exp(-np.logaddexp(0.0, -net)))
    own = (float(end[unit]) for end in (model.precision, model.lower, model.upper))
    return unit_mean(net, *own)[:, 0]


def _rows(name: str, value: ArrayLike, n_states: int | None, columns: int | None) -> NDArray[Any]:
    """Return rows of numbers, or of states."""
    matrix = checks.matrix(name, value, columns)
    return matrix if n_states is None else states(name, matrix, n_states)


def _projected(rows: NDArray[Any], axes: Floats) -> Floats:
    """Return rows on axes, (rows, axes); states choose the entries of axes with one for each."""
    if axes.ndim == 2:
        return np.asarray(rows.astype(np.float64) @ axes)
    total = np.zeros((len(rows), axes.shape[-1]))
    for site, own in enumerate(axes):
        total += own[rows[:, site].astype(np.intp)]
    return total


def _principal(rows: NDArray[Any], n_states: int | None) -> tuple[Floats, Floats]:
    """Return the first two principal axes of data, and their shares of the variance."""
    wide: NDArray[Any] = rows.astype(np.float64)
    if n_states is not None:
        wide = np.eye(n_states, dtype=np.float32)[rows.astype(np.intp)].reshape(len(rows), -1)
    if wide.shape[1] < 2:
        raise ValueError(f"data must have two columns or more, got {wide.shape[1]}")
    mean = wide.mean(axis=0, dtype=np.float64)
    second = (wide.T @ wide).astype(np.float64) / len(wide) - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(second)
    onto = vectors[:, [-1, -2]]
    shape = (2,) if n_states is None else (n_states, 2)
    total = max(float(values.sum()), np.finfo(float).tiny)
    return onto.reshape(-1, *shape), np.maximum(values[[-1, -2]], 0) / total


def _evenly(count: int) -> NDArray[np.int64]:
    """Return evenly spaced rows, no more than can be told apart."""
    return np.unique(np.linspace(0, count - 1, MOST).round().astype(np.int64))
