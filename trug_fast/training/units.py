"""Kinds of hidden and visible units, as values that a training takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.models.truncation import TruncationLike, as_truncation
from trug_fast.models.visible_kinds import (
    MIXED,
    REAL,
    CategoricalUnits,
    Runs,
    SpinUnits,
    of_each,
    states_each,
)

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


def _settle_given_precision(units: Any) -> None:
    """Check the precision of visible units, if it is given, and how they learn it."""
    if units.precision is not None:
        precision = checks.number("precision", units.precision)
        checks.positive("precision", np.array([precision]))
        settle(units, precision=precision)
    _settle_precision(units)


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

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.BernoulliUnits(soft=True)
    BernoulliUnits(soft=True, missing=None)
    """

    kind: ClassVar[str] = "bernoulli"
    soft: bool = False
    missing: Missing = None

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, soft=checks.flag("soft", self.soft))
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
        Learn a of each unit, between 1e-4 and 1e4.  Not with :class:`TrajectoryTempering`.
    precision_rate : float, (start, end), callable or array, optional
        Rate at which log a moves; the default is the training's, in the RBM 0.05 at the start and
        a 20th of it at the end (RMSprop and Adam: 0.002).
    missing : "draw" or int, optional
        Take NaN for missing values, as of :class:`BernoulliUnits`.

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

    def __post_init__(self) -> None:
        """Check the fields."""
        _settle_missing(self)
        _settle_given_precision(self)


@dataclass(frozen=True)
class TruncatedUnits:
    """Visible units of real numbers in an interval: truncated Gaussians.

    For data with ends of their own, which are kept as they are: nonnegative numbers on [0, inf),
    grey levels on [0, 1].  Given the hidden units, a visible one is normal with its precision, cut
    to its interval (mathematics 2.11).

    Parameters
    ----------
    truncation : Truncation, str or (lower, upper)
        Where units begin and end: "sigmoid" [0, 1], "relu" [0, inf), "tanh" [-1, 1], or a pair.
        The ends are those of the data, and are not learned.
    precision : float, optional
        a of all units before truncation, 1 by default, which is for numbers of about the size of 1.
    learn_precision, precision_rate, missing
        As of :class:`GaussianUnits`.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> X = np.random.default_rng(0).exponential(size=(200, 3))
    >>> fit = tf.train_rbm(X, 2, visible=tf.TruncatedUnits("relu"), epochs=1, rng=0)
    >>> bool(fit.model.sample(100, rng=0).min() >= 0)
    True
    >>> tf.TruncatedUnits((0, 255)).upper
    255.0
    """

    kind: ClassVar[Literal["truncated"]] = "truncated"
    truncation: TruncationLike = "sigmoid"
    precision: float | None = None
    learn_precision: bool = False
    precision_rate: Rate | None = None
    missing: Missing = None

    def __post_init__(self) -> None:
        """Check the fields."""
        ends = as_truncation(self.truncation)
        if ends.learn is not None:
            raise ValueError(
                f"truncation of visible units is not learned, their ends are the data's: got {ends}"
            )
        if math.isinf(ends.lower) and math.isinf(ends.upper):
            raise ValueError("truncation must have an end; units without any are GaussianUnits()")
        low, high = float(ends.lower), float(ends.upper)
        with np.errstate(over="ignore"):
            single = np.float32(low), np.float32(high)
        if not single[0] < single[1] or np.isinf(single).sum() > np.isinf((low, high)).sum():
            raise ValueError(
                f"truncation must have ends that float32 can hold and tell apart, got {low}, {high}"
            )
        settle(self, truncation=(low, high))
        _settle_missing(self)
        _settle_given_precision(self)

    @property
    def lower(self) -> float:
        """Where units begin."""
        return as_truncation(self.truncation).lower

    @property
    def upper(self) -> float:
        """Where units end."""
        return as_truncation(self.truncation).upper


SimpleUnits = BernoulliUnits | GaussianUnits | SpinUnits | CategoricalUnits | TruncatedUnits
WORDS: dict[str, SimpleUnits] = {
    "bernoulli": BernoulliUnits(),
    "gaussian": GaussianUnits(),
    "spin": SpinUnits(),
    "categorical": CategoricalUnits(),
    "truncated": TruncatedUnits(),
    "relu": TruncatedUnits("relu"),
}


@dataclass(frozen=True)
class MixedUnits:
    """Visible units of which each has a kind of its own, all with their numbers of states.

    Attributes
    ----------
    parts : tuple
        What was said of each.
    """

    kind: ClassVar[str] = MIXED
    missing: ClassVar[None] = None
    parts: tuple[SimpleUnits, ...]

    @cached_property
    def runs(self) -> Runs:
        """The kinds of units."""
        return of_each("visible", self.parts)

    @property
    def zero_sum(self) -> bool:
        """Whether the gauge of categorical units is kept."""
        own = [each.zero_sum for each in self.parts if isinstance(each, CategoricalUnits)]
        return bool(own) and all(own)

    @property
    def precision(self) -> NDArray[np.float64]:
        """The precisions of real columns, 0 of others."""
        each = [getattr(part, "precision", 0.0) for part in self.parts]
        return np.repeat([1.0 if a is None else a for a in each], states_each(self.runs))

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Which columns learn their precision."""
        each = [bool(getattr(part, "learn_precision", False)) for part in self.parts]
        return np.repeat(each, states_each(self.runs))


HiddenLike = TruGUnits | Literal["trug", "bernoulli"]
VisibleUnits = SimpleUnits | MixedUnits
Words = Literal["bernoulli", "gaussian", "spin", "categorical", "truncated", "relu"]
VisibleLike = SimpleUnits | Words | Sequence[SimpleUnits | Words]


def are_real(visible: VisibleUnits) -> bool:
    """Tell whether visible units, or some of them, take real numbers."""
    parts = visible.parts if isinstance(visible, MixedUnits) else (visible,)
    return any(part.kind in REAL for part in parts)


def as_hidden(value: HiddenLike) -> TruGUnits | None:
    """Return the choices for TruG units, None for Bernoulli ones, which have none."""
    words: dict[str, TruGUnits | None] = {"trug": TruGUnits(), "bernoulli": None}
    return chosen("hidden", value, words)


def plain(call: str, visible: VisibleUnits) -> BernoulliUnits | GaussianUnits:
    """Return units of the kinds that every training knows; refuse others."""
    if not isinstance(visible, BernoulliUnits | GaussianUnits):
        raise ValueError(
            f"visible: {call} takes 'bernoulli' or 'gaussian', got {visible!r}; other kinds are "
            "for train_rbm"
        )
    return visible


def as_visible(value: Any) -> VisibleUnits:
    """Return the choices for visible units, or for each of them."""
    if isinstance(value, MixedUnits):
        return value
    if not isinstance(value, list | tuple):
        return chosen("visible", value, WORDS)
    parts = tuple(chosen(f"visible of column {i}", each, WORDS) for i, each in enumerate(value))
    for column, part in enumerate(parts):
        usual = {"zero_sum", "n_states", "precision", "learn_precision", "truncation"}
        for name, given in vars(part).items():
            if name not in usual and given != getattr(WORDS[part.kind], name):
                raise ValueError(
                    f"visible: {name} has no effect where each column has a kind of its own, got "
                    f"{part} for column {column}"
                )
    if not parts:
        raise ValueError("visible must have a kind for each column, got none")
    if len({part.zero_sum for part in parts if isinstance(part, CategoricalUnits)}) > 1:
        raise ValueError("visible: zero_sum must be the same of all categorical columns")
    return MixedUnits(parts)
