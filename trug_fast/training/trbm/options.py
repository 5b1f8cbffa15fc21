"""Choices that only the training of the temporal RBM has, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trug_fast._common import checks
from trug_fast.training.options import settle
from trug_fast.training.samplers import Sweeps, as_sweeps


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

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.SequenceCD(begin="data").n_gibbs
    (3, 25)
    """

    n_gibbs: Sweeps = (3, 25)
    begin: Literal["both", "data", "past"] = "both"
    gradient: Literal["full", "paper", "paper-draws"] = "full"
    centred: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        checks.choice("begin", self.begin, ("both", "data", "past"))
        checks.choice("gradient", self.gradient, ("full", "paper", "paper-draws"))
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))


@dataclass(frozen=True)
class LinearStart:
    """Training starts at a linear forecast, beside random weights.

    Parameters
    ----------
    order : int, optional
        The linear forecast is from so many frames: ``n_lags`` at most and, where that is more than
        one, by default.  With one lag it is 1, or, for Gaussian visible units alone and their
        default, 2, which spends up to three quarters of the hidden units on holding the frame
        before.
    scale : float
        Standard deviation of the random weights.
    ridge : float, optional
        Penalty on the squared coefficients of the linear forecast; by default 1 with one lag, and
        10 with several, where it is on those of differences (mathematics 4.5).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.LinearStart(order=1)
    LinearStart(order=1, scale=0.01, ridge=None)
    """

    order: int | None = None
    scale: float = 0.01
    ridge: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.order is not None:
            settle(self, order=checks.count("order", self.order))
        settle(self, scale=checks.number("scale", self.scale, least=0.0))
        if self.ridge is not None:
            settle(self, ridge=checks.number("ridge", self.ridge, least=0.0))
