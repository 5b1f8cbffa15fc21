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
from trug_fast.units.kinds import Run, Runs, kind_named
from trug_fast.units.layer import MIXED, Layer, checked_states_number, run_of, runs_of_each
from trug_fast.units.truncation import TruncationLike, as_truncation

from .options import chosen, settle
from .rates import Rate, checked_rate

SWEEPS = 5  # of Gibbs sampling, that draw missing values; see docs/conditionals.md
Missing = Literal["draw"] | int | None


class Visible:
    """What may be said of visible units; as here where it is not."""

    kind: ClassVar[str]
    soft: bool = False
    n_states: int | None = None
    zero_sum: bool = False
    precision: Any = None
    learn_precision: bool = False
    precision_rate: Rate | None = None
    missing: Missing = None

    @property
    def real(self) -> bool:
        """Whether units, or some of them, take real numbers."""
        return kind_named(self.kind).real

    @property
    def enumerable(self) -> bool:
        """Whether all units have a number of states, and so a pseudo-likelihood."""
        return kind_named(self.kind).enumerable

    def runs(self, sites: int) -> Runs:
        """Return the kinds of so many units."""
        return (run_of(self, sites),)

    def precisions(self, columns: int) -> NDArray[np.float64]:
        """Return the precisions of columns at the start, 0 of those without."""
        return np.full(columns, (self.precision or 1.0) if self.real else 0.0)

    def learned(self, columns: int) -> NDArray[np.bool_]:
        """Return which columns learn their precision."""
        return np.full(columns, self.learn_precision)

    def _settle_missing(self) -> None:
        """Check how missing values are drawn: "draw" stands for a number of sweeps."""
        value = self.missing
        if isinstance(value, str):
            checks.choice("missing", value, ("draw",))
            settle(self, missing=SWEEPS)
        elif value is not None:
            settle(self, missing=checks.count("missing", value))

    def _settle_given_precision(self) -> None:
        """Check the precision, if it is given, and how units learn it."""
        if self.precision is not None:
            precision = checks.number("precision", self.precision)
            checks.positive("precision", np.array([precision]))
            settle(self, precision=precision)
        _settle_precision(self)


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
class BernoulliUnits(Visible):
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
        self._settle_missing()


@dataclass(frozen=True)
class SpinUnits(Visible):
    """Visible units of -1 and 1.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM([[1.0], [-1.0]], 0.0, 0.0, visible="spin")
    >>> model.free_energy([[1, -1]]).round(4)
    array([-2.1269])
    """

    kind: ClassVar[str] = "spin"


@dataclass(frozen=True)
class CategoricalUnits(Visible):
    """Visible units of several states, 0 to ``n_states - 1``: Potts units.

    Parameters
    ----------
    n_states : int, optional
        Of each unit, 2 or more.  By default, in training, the largest in X plus one, if X has
        states of 0.
    zero_sum : bool
        Keep weights and biases of each unit at a sum of zero over its states while training: adding
        a constant would change nothing (mathematics 2.12), but penalties and pictures would see it.
        Not beside ``l1`` and ``l1_squared``, which choose the constants that give most zeros.
        Of models no choice: :meth:`TruGRBM.zero_sum`.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> X = np.random.default_rng(0).integers(0, 3, (200, 4))
    >>> fit = tf.train_rbm(X, 2, visible=tf.CategoricalUnits(n_states=3), epochs=1, rng=0)
    >>> fit.model.weights.shape
    (4, 3, 2)
    """

    kind: ClassVar[str] = "categorical"
    n_states: int | None = None
    zero_sum: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.n_states is not None:
            settle(self, n_states=checked_states_number(self.n_states))
        settle(self, zero_sum=checks.flag("zero_sum", self.zero_sum))


@dataclass(frozen=True)
class GaussianUnits(Visible):
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
        self._settle_missing()
        self._settle_given_precision()


@dataclass(frozen=True)
class TruncatedUnits(Visible):
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

    kind: ClassVar[str] = "truncated"
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
        self._settle_missing()
        self._settle_given_precision()

    @property
    def lower(self) -> float:
        """Where units begin."""
        return as_truncation(self.truncation).lower

    @property
    def upper(self) -> float:
        """Where units end."""
        return as_truncation(self.truncation).upper


WORDS: dict[str, Visible] = {
    "bernoulli": BernoulliUnits(),
    "gaussian": GaussianUnits(),
    "spin": SpinUnits(),
    "categorical": CategoricalUnits(),
    "truncated": TruncatedUnits(),
    "relu": TruncatedUnits("relu"),
}


@dataclass(frozen=True)
class MixedUnits(Visible):
    """Visible units of which each has a kind of its own, all with their numbers of states.

    Attributes
    ----------
    parts : tuple
        What was said of each.
    """

    kind: ClassVar[str] = MIXED
    parts: tuple[Visible, ...]

    @cached_property
    def _runs(self) -> Runs:
        return runs_of_each("visible", self.parts)

    def runs(self, sites: int) -> Runs:
        """Return the kinds of units."""
        return self._runs

    @property
    def real(self) -> bool:
        """Whether some units take real numbers."""
        return any(part.real for part in self.parts)

    @property
    def enumerable(self) -> bool:
        """Whether all units have a number of states."""
        return all(part.enumerable for part in self.parts)

    @property
    def zero_sum(self) -> bool:  # type: ignore[override]
        """Whether the gauge of categorical units is kept."""
        own = [each.zero_sum for each in self.parts if kind_named(each.kind).counted]
        return bool(own) and all(own)

    def precisions(self, columns: int) -> NDArray[np.float64]:
        """Return the precisions of columns at the start, 0 of those without."""
        each = np.concatenate([part.precisions(1) for part in self.parts])
        return np.repeat(each, Layer(self._runs).columns_each)

    def learned(self, columns: int) -> NDArray[np.bool_]:
        """Return which columns learn their precision."""
        each = np.concatenate([part.learned(1) for part in self.parts])
        return np.repeat(each, Layer(self._runs).columns_each)


def choice_of(run: Run) -> Visible:
    """Return what a training takes for units such as those of a run."""
    kind = kind_named(run.kind)
    if kind.counted:
        return CategoricalUnits(run.states)
    return TruncatedUnits((run.lower, run.upper)) if kind.cut else WORDS[run.kind]


HiddenLike = TruGUnits | Literal["trug", "bernoulli"]
Words = Literal["bernoulli", "gaussian", "spin", "categorical", "truncated", "relu"]
VisibleLike = Visible | Words | Sequence[Visible | Words]


def as_hidden(value: HiddenLike) -> TruGUnits | None:
    """Return the choices for TruG units, None for Bernoulli ones, which have none."""
    words: dict[str, TruGUnits | None] = {"trug": TruGUnits(), "bernoulli": None}
    return chosen("hidden", value, words)


def plain(call: str, visible: Visible) -> BernoulliUnits | GaussianUnits:
    """Return units of the kinds that every training knows; refuse others."""
    if not isinstance(visible, BernoulliUnits | GaussianUnits):
        raise ValueError(
            f"visible: {call} takes 'bernoulli' or 'gaussian', got {visible!r}; other kinds are "
            "for train_rbm"
        )
    return visible


def as_visible(value: Any) -> Visible:
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
    if len({part.zero_sum for part in parts if kind_named(part.kind).counted}) > 1:
        raise ValueError("visible: zero_sum must be the same of all categorical columns")
    return MixedUnits(parts)
