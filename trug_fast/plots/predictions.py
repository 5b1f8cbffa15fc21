"""Figures of predictions: of a regression beside what was observed, of a forecast as fans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from .canvas import BLUE, GREY, ORANGE, axes_for, finish, new_figure, require, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 4  # channels that are drawn where none are named
PAST = 3  # times as many frames as are forecast are drawn of those before, at most
ROWS = 300  # of a regression, that are drawn
Z_90 = 1.6448536269514722  # half width of a normal's 90 % interval


def predictions(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw predictions over what was observed, with 90 % intervals.

    Parameters
    ----------
    y, mean : array_like, shape (rows,)
        What was observed, and what was predicted.  Of more than 300 rows, evenly spaced ones are
        drawn.
    std : array_like, shape (rows,), optional
        Standard deviations of the predictions; without them no intervals are drawn.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError, ValueError
        If these are not vectors of one length.
    """
    seen = _vector("y", y, None)
    found = _vector("mean", mean, seen.size)
    reach = None if std is None else Z_90 * _vector("std", std, seen.size)
    ax = axes_for(ax, 4.2, 3.2)
    rows = np.unique(np.linspace(0, seen.size - 1, ROWS).round().astype(int))
    ends = [min(seen.min(), found.min()), max(seen.max(), found.max())]
    ax.plot(ends, ends, color=GREY, lw=1.2, ls="--")
    words = f"{seen.size} rows"
    if reach is not None:
        spread: dict[str, Any] = {"fmt": "none", "ecolor": BLUE, "alpha": 0.35, "lw": 1.0}
        ax.errorbar(seen[rows], found[rows], yerr=reach[rows], **spread)
        inside = np.mean(np.abs(seen - found) <= reach)
        words += f", {100 * inside:.0f} % in their 90 % interval"
    ax.plot(seen[rows], found[rows], "o", color=BLUE, ms=3)
    return finish(ax, words, "observed", "predicted")


def fan(
    ahead: Any,
    channel: int = 0,
    ax: Axes | None = None,
    *,
    levels: Sequence[float] = (0.5, 0.9),
    actual: ArrayLike | None = None,
    color: str = BLUE,
) -> Axes:
    """Draw the forecast of one visible unit: its mean, and bands that hold shares of the draws.

    Parameters
    ----------
    ahead : Forecast
        Of one sequence.
    channel : int
        Which visible unit.
    ax : matplotlib Axes, optional
    levels : sequence of float
        Shares of the draws between the ends of each band, above 0 and below 1.
    actual : array_like, shape (frames, n_visible), optional
        What came, drawn beside it.
    color : str

    Returns
    -------
    matplotlib Axes
        Frame 0 is the last that was seen.

    Raises
    ------
    TypeError, ValueError
        If the forecast is of several sequences, there is no such channel, or a level is no share.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> draws = np.random.default_rng(0).normal(size=(100, 5, 2)).cumsum(axis=1)
    >>> ax = tf.plots.fan(tf.models.Forecast(draws), 1)  # doctest: +SKIP
    """
    _of_one(ahead)
    column = _checked_channel(ahead, channel)
    shares = sorted(
        (checks.above_zero("levels", level, below=1.0) for level in levels), reverse=True
    )
    came = None if actual is None else checks.matrix("actual", actual, ahead.draws.shape[2])
    ax = axes_for(ax, 5.2, 3.0)
    frames = np.arange(1, ahead.draws.shape[1] + 1)
    past = ahead.prefix
    if past is not None:
        seen = np.asarray(past)[-PAST * frames.size :, column]
        ax.plot(np.arange(1 - len(seen), 1), seen, "-", color=GREY, lw=1.2, label="seen")
    for number, share in enumerate(shares):
        low, high = ahead.quantiles([(1 - share) / 2, (1 + share) / 2])[:, :, column]
        depth = 0.15 + 0.25 * number / max(1, len(shares) - 1)
        label = f"{100 * share:g} % of the draws"
        ax.fill_between(frames, low, high, color=color, alpha=depth, lw=0, label=label)
    ax.plot(frames, ahead.mean[:, column], "-", color=color, lw=1.6, label="mean")
    if came is not None:
        ax.plot(
            np.arange(1, len(came) + 1), came[:, column], "--", color=ORANGE, lw=1.2, label="came"
        )
    return finish(ax, "", "frames ahead", f"unit {column}")


def forecast(
    ahead: Any,
    channels: int | Sequence[int] | None = None,
    *,
    levels: Sequence[float] = (0.5, 0.9),
    actual: ArrayLike | None = None,
) -> Figure:
    """Draw the forecast of one visible unit or several, each as a :func:`fan` in its own panel.

    Parameters
    ----------
    ahead : Forecast
        Of one sequence.
    channels : int or sequence of int, optional
        Which visible units; by default the first four.
    levels, actual
        As of :func:`fan`.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    TypeError, ValueError
        As of :func:`fan`.
    """
    _of_one(ahead)
    if channels is None:
        channels = range(min(PANELS, ahead.draws.shape[2]))
    each = [channels] if isinstance(channels, int | np.integer) else list(channels)
    if not each:
        raise ValueError("channels must name visible units, got none")
    for channel in each:
        _checked_channel(ahead, channel)
    figure = new_figure(7.0, 0.6 + 2.0 * len(each))
    axes: Any = figure.subplots(len(each), 1, squeeze=False, sharex=True)[:, 0]
    for ax, channel in zip(axes, each, strict=True):
        fan(ahead, channel, ax, levels=levels, actual=actual)
        ax.label_outer()
    set_title(axes[0], f"{ahead.draws.shape[0]} continuations")
    axes[0].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _of_one(ahead: Any) -> None:
    require("ahead", ahead, "draws", "quantiles")
    if ahead.draws.ndim != 3:
        raise ValueError(
            f"ahead must be of one sequence, got {len(ahead.draws)}; take one of them: ahead[0]"
        )


def _checked_channel(ahead: Any, channel: object) -> int:
    found, n_visible = checks.count("channels", channel, least=0), ahead.draws.shape[2]
    if found >= n_visible:
        raise ValueError(f"channels must be below {n_visible}, the visible units, got {found}")
    return found


def _vector(name: str, value: ArrayLike, length: int | None) -> NDArray[np.float64]:
    array = checks.numbers(name, value).astype(np.float64)
    if array.ndim != 1 or array.size == 0 or length not in (None, array.size):
        wanted = "a vector" if length is None else f"a vector of {length} entries, as y is"
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    return array
