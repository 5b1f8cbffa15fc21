"""Choices that only the training of the temporal RBM has, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from trug_fast._common import checks
from trug_fast.training.options import settle
from trug_fast.training.rates import Decay, Rate, checked_rate
from trug_fast.training.samplers import Sweeps, as_sweeps

SWEEPS = 6  # that make a frame the model's own, at most


@dataclass(frozen=True)
class SequenceCD:
    """Contrastive divergence for each frame of a sequence, given those before it.

    Parameters
    ----------
    n_gibbs : int, (start, end), callable or array
        Gibbs sweeps for each update; a pair rises over the run, an array has those of each epoch, a
        callable gives them by the share of the run done then.  Few are enough while weights are
        small: three all the way end with forecasts that get worse.
    begin : {"both", "data", "past"}
        Where the chains of each frame start: at its data, at the frame before it, as forecasts do,
        or one half of the frames each.
    gradient : {"full", "paper", "paper-draws"}
        Go back through the filter in time, or hold its past fixed as the paper does
        (mathematics 4.2), the hidden units of the past being their means or draws.
    centred : bool
        Use the centred gradient (mathematics 2.5), also for connections from the past.
    own_frames : float, (start, end), callable or array
        How much of the past is the model's own: the probability that a frame is replaced, in what
        later frames know of the past, by what a few sweeps of the model make of it, the last
        conditional means of the visible units.  What is to be learned stays the given frames.  A
        model trained so has learned to come back from its own errors of shape.
    own_sweeps : int, optional
        Sweeps that make a frame the model's own at most, 6 if not said otherwise; each update
        draws a number from 1 on.  Only with ``own_frames``.
    past_noise : float, (start, end), callable or array
        Noise on the frames of the past, anew each time: the share of pixels that a coin replaces,
        or the standard deviation of what is added to Gaussian units.  Here, too, what is to be
        learned stays the given frames; a ``corruption`` of visible units is on these as well.
    past_bridges : float, (start, end), callable or array
        The share of frames of the past in which dark gaps between lit parts are filled, by discs of
        1.5 to 4.5 pixels (a morphological closing), anew each time.  For Bernoulli visible units
        whose frames are square pictures, row by row.  A model trained so keeps apart what touches.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.SequenceCD(begin="data").n_gibbs
    (3, 25)
    >>> tf.SequenceCD(own_frames=(0.1, 0.9), own_sweeps=3).own_frames
    (0.1, 0.9)
    """

    n_gibbs: Sweeps = (3, 25)
    begin: Literal["both", "data", "past"] = "both"
    gradient: Literal["full", "paper", "paper-draws"] = "full"
    centred: bool = True
    own_frames: Rate = 0.0
    own_sweeps: int | None = None
    past_noise: Rate = 0.0
    past_bridges: Rate = 0.0

    def __post_init__(self) -> None:
        """Check the fields."""
        checks.choice("begin", self.begin, ("both", "data", "past"))
        checks.choice("gradient", self.gradient, ("full", "paper", "paper-draws"))
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))
        settle(self, own_frames=_shares("own_frames", self.own_frames))
        settle(self, past_noise=checked_rate("past_noise", self.past_noise))
        settle(self, past_bridges=_shares("past_bridges", self.past_bridges))
        if used(self.own_frames):
            sweeps = SWEEPS if self.own_sweeps is None else self.own_sweeps
            settle(self, own_sweeps=checks.count("own_sweeps", sweeps))
        elif self.own_sweeps is not None:
            raise ValueError("own_sweeps has no effect without own_frames")


def used(value: Rate) -> bool:
    """Tell whether a rate is ever above 0, as far as it can be told."""
    if isinstance(value, Decay):
        return max(value.start, value.end) > 0
    return callable(value) or bool(np.any(np.not_equal(value, 0.0)))


def _shares(name: str, value: Any) -> Any:
    """Return a rate whose values are shares, as far as it can be checked by itself."""
    found = checked_rate(name, value)
    ends = (found.start, found.end) if isinstance(found, Decay) else found
    if not callable(ends):
        for each in ends if isinstance(ends, tuple) else (ends,):
            checks.number(name, each, least=0.0, most=1.0)
    return found


@dataclass(frozen=True)
class LinearStart:
    """Training starts at a linear forecast, beside random weights.

    Parameters
    ----------
    order : int, optional
        The linear forecast is from so many frames: ``n_lags`` at most and, where that is more than
        one, by default.  With one lag it is 1, or, for Gaussian visible units alone and their
        default without ``hidden_ridge``, 2, which spends up to three quarters of the hidden units
        on holding the frame before.
    scale : float
        Standard deviation of the random weights; with ``hidden_ridge`` there are none.
    ridge : float, optional
        Penalty on the squared coefficients of the linear forecast; by default 1 with one lag, and
        10 with several, where it is on those of differences (mathematics 4.5).
    hidden_ridge : float, optional
        If given, hidden units add what is not linear to the forecast: they look at the frames of
        the past in random directions, and how their means move the forecast comes from the same
        regression, with this penalty on the squares of their coefficients (of half their range
        each).  For Gaussian visible units alone.  Here, and for ``ridge`` beside it, columns count
        by their deviations, whatever their units.  The more hidden units and the fewer frames, the
        higher: a `TrainingWarning` comes where training frames are forecast worse than without,
        other frames may be so unsaid.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.LinearStart(order=1)
    LinearStart(order=1, scale=0.01, ridge=None, hidden_ridge=None)
    """

    order: int | None = None
    scale: float = 0.01
    ridge: float | None = None
    hidden_ridge: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.order is not None:
            settle(self, order=checks.count("order", self.order))
        settle(self, scale=checks.number("scale", self.scale, least=0.0))
        if self.ridge is not None:
            settle(self, ridge=checks.number("ridge", self.ridge, least=0.0))
        if self.hidden_ridge is not None:
            settle(self, hidden_ridge=checks.number("hidden_ridge", self.hidden_ridge, least=0.0))
