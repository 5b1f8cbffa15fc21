"""Kinds of hidden and visible units, as values that a training takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from trug_fast._common import checks

from .options import chosen, settle
from .rates import Rate, checked_rate

SWEEPS = 5  # of Gibbs sampling, that draw missing values; see docs/conditionals.md
Missing = Literal["draw"] | int | None


def _settle_missing(units: Any) -> None:
    """Check how missing values are drawn: "draw" stands for a number of sweeps."""
    value = units.missing
    if isinstance(value, str):
        checks.choice("missing", value, ("draw",))
        settle(units, missing=SWEEPS)
    elif value is not None:
        settle(units, missing=checks.count("missing", value))


def _settle_precision(units: Any) -> None:
    """Check how units learn their precision."""
    learns = checks.flag("learn_precision", units.learn_precision)
    settle(units, learn_precision=learns)
    rate = units.precision_rate
    if rate is None:
        return
    if not learns:
        raise ValueError("precision_rate has no effect without learn_precision=True")
    settle(units, precision_rate=checked_rate("precision_rate", rate))


@dataclass(frozen=True)
class TruGUnits:
    """Truncated Gaussian hidden units; where they are cut is ``truncation``'s.

    Parameters
    ----------
    precision : float
        d of every unit: only ``sqrt(d) * (upper - lower)`` matters (mathematics 2.4), so it is
        fixed by default.
    learn_precision : bool
        Learn d of each unit, between finite ends as any real number: d far below 0 is a binary
        unit (mathematics 1.4), so this nests the ordinary RBM.
    precision_rate : float, (start, end), callable or array, optional
        Rate at which ``d * (upper - lower)**2`` moves, with the width at the start, or log d where
        an end is infinite.  The default is the training's.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.TruGUnits(learn_precision=True).precision
    1.0
    """

    precision: float = 1.0
    learn_precision: bool = False
    precision_rate: Rate | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, precision=checks.number("precision", self.precision))
        _settle_precision(self)


@dataclass(frozen=True)
class BernoulliUnits:
    """Visible units of 0 and 1.

    Parameters
    ----------
    soft : bool
        Accept values between 0 and 1, used as probabilities.
    missing : "draw" or int, optional
        Take NaN for values that are missing at random, and learn the likelihood of what is there
        (in the RBM alone): before each update what is missing in its batch is drawn given the rest,
        by so many Gibbs sweeps from the columns' means; "draw" stands for 5.  By default NaN is an
        error.
    corruption : float
        Share of pixels that a coin replaces (in the temporal RBM alone).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.BernoulliUnits(soft=True)
    BernoulliUnits(soft=True, missing=None, corruption=0.0)
    """

    kind: ClassVar[str] = "bernoulli"
    soft: bool = False
    missing: Missing = None
    corruption: float = 0.0

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, soft=checks.flag("soft", self.soft))
        settle(self, corruption=checks.number("corruption", self.corruption, least=0.0, most=1.0))
        _settle_missing(self)


@dataclass(frozen=True)
class GaussianUnits:
    """Real-valued visible units, for data that should be standardised.

    Parameters
    ----------
    precision : float, optional
        a of all units, given the hidden ones: 1 over the variance that those leave unexplained.
        By default 1 in the RBM; in the temporal one, 1 over the mean square residual of a linear
        forecast.
    learn_precision : bool
        Learn a of each unit (in the temporal RBM alone).
    precision_rate : float, (start, end), callable or array, optional
        Rate at which log a moves; the default is the training's.
    missing : "draw" or int, optional
        Take NaN for missing values, as of :class:`BernoulliUnits`.
    corruption : float
        Standard deviation of the noise that is added (in the temporal RBM alone).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.GaussianUnits(precision=4.0).precision
    4.0
    """

    kind: ClassVar[str] = "gaussian"
    precision: float | None = None
    learn_precision: bool = False
    precision_rate: Rate | None = None
    missing: Missing = None
    corruption: float = 0.0

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, corruption=checks.number("corruption", self.corruption, least=0.0))
        _settle_missing(self)
        if self.precision is not None:
            precision = checks.number("precision", self.precision)
            checks.positive("precision", np.array([precision]))
            settle(self, precision=precision)
        _settle_precision(self)


HiddenLike = TruGUnits | Literal["trug", "bernoulli"]
VisibleLike = BernoulliUnits | GaussianUnits | Literal["bernoulli", "gaussian"]


def as_hidden(value: HiddenLike) -> TruGUnits | None:
    """Return the choices for TruG units, None for Bernoulli ones, which have none."""
    words: dict[str, TruGUnits | None] = {"trug": TruGUnits(), "bernoulli": None}
    return chosen("hidden", value, words)


def as_visible(value: VisibleLike) -> BernoulliUnits | GaussianUnits:
    """Return the choices for visible units."""
    words: dict[str, BernoulliUnits | GaussianUnits] = {
        "bernoulli": BernoulliUnits(),
        "gaussian": GaussianUnits(),
    }
    return chosen("visible", value, words)
