"""Figures of forecasts: fans of quantiles that open with the number of frames ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.models.continuations import Forecast

from .canvas import BLUE, GREY, ORANGE, axes_for, new_figure, set_title, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 4  # channels that are drawn where none are named
PAST = 3  # times as many frames as are forecast are drawn of those before, at most


def fan(
    ahead: Forecast,
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
    >>> ax = tf.plots.fan(tf.Forecast(draws), 1)  # doctest: +SKIP
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
    ax.set(xlabel="frames ahead", ylabel=f"unit {column}")
    tidy(ax)
    return ax


def forecast(
    ahead: Forecast,
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


def _of_one(ahead: Forecast) -> None:
    checks.kind("ahead", ahead, Forecast)
    if ahead.draws.ndim != 3:
        raise ValueError(
            f"ahead must be of one sequence, got {len(ahead.draws)}; take one of them: ahead[0]"
        )


def _checked_channel(ahead: Forecast, channel: object) -> int:
    found, n_visible = checks.count("channels", channel, least=0), ahead.draws.shape[2]
    if found >= n_visible:
        raise ValueError(f"channels must be below {n_visible}, the visible units, got {found}")
    return found
