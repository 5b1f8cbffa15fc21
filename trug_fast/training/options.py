"""Choices of a training that go together, as values; words stand for them with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from trug_fast._common import checks

from .rates import Rate, checked_rate, without_functions

Value = TypeVar("Value")

SCORES = ("auto", "pseudo", "reconstruction", "ais", "prediction", "rmse", "log_likelihood")


def settle(value: object, **fields: Any) -> None:
    """Give fields of a frozen value their checked contents."""
    for name, content in fields.items():
        object.__setattr__(value, name, content)


def chosen(name: str, value: object, words: Mapping[str, Value]) -> Value:
    """Return one of the values for which words stand, or another of their kinds."""
    if isinstance(value, str):
        return words[checks.choice(name, value, tuple(words))]
    for kind in {type(each) for each in words.values()} - {type(None), str}:
        if isinstance(value, kind):
            return value
    kinds = [type(each).__name__ for each in words.values() if not isinstance(each, str | None)]
    raise TypeError(
        f"{name} must be one of {', '.join(map(repr, words))}, or made by "
        f"{' or '.join(dict.fromkeys(kinds))}, got {value!r}"
    )


# Optimizers.

PENALTIES = ("weight_decay", "l1", "l1_squared")  # fields of all optimizers


class ByField(tuple[tuple[str, Any], ...]):
    """Rates of the matrices of a model by the names of its fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(dict(self))


Penalty = Rate | Mapping[str, Rate]


def _checked_penalty(name: str, value: Any) -> Any:
    """Return a rate, or rates by the names of matrices, as far as they can be checked."""
    if isinstance(value, ByField):
        return value
    if not isinstance(value, Mapping):
        return checked_rate(name, value)
    for field in value:
        if not isinstance(field, str):
            raise TypeError(f"{name} must name matrices by words, got {field!r}")
    return ByField((field, checked_rate(f"{name} of {field}", one)) for field, one in value.items())


class _Rule:
    """What all optimizers share."""

    truncation_rate: Rate | None
    average: float | None

    def __post_init__(self) -> None:
        settle(self, **{name: _checked_penalty(name, getattr(self, name)) for name in PENALTIES})
        if self.average is not None:
            settle(self, average=checks.number("average", self.average, least=0.0, most=1.0))
        if hasattr(self, "momentum"):
            settle(self, momentum=checks.number("momentum", self.momentum, least=0.0, below=1.0))
        if self.truncation_rate is not None:
            settle(self, truncation_rate=checked_rate("truncation_rate", self.truncation_rate))

    def __repr__(self) -> str:
        """Return the fields, the rate of truncation points only if it is given."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        if self.truncation_rate is None:
            del named["truncation_rate"]
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in named.items())})"


@dataclass(frozen=True, repr=False)
class SGD(_Rule):
    """Steps along the gradient.

    Parameters
    ----------
    momentum : float
        Of the velocity, in [0, 1).
    weight_decay : float, (start, end), callable, array or mapping
        Factor of the L2 penalty on the weights, half the sum of their squares: a rate as
        ``learning_rate`` is one.  It has none where it is 0.  A mapping has rates by the names of
        matrices, such as ``{"hidden_to_hidden": 0.01}`` of a temporal model: others have no
        penalty, which all have else.  The regression takes a number.
    l1 : as weight_decay
        Factor of the L1 penalty, the sum of the sizes of the weights.  It makes weights exactly
        zero; take that from a pair that rises, such as ``(1e-4, 1e-2)``: a large one at the start
        keeps all weights at zero.  It, and those that follow, are no part of the gradient that
        the optimizer remembers: every tenth update weights are taken towards zero by as much as
        ten steps along the penalty's gradient would take them, to zero at most
        (mathematics 2.14); in a run of fewer than ten updates, after its last one, by as much as
        all of them would.  All mean the same of each optimizer.  Not in the regression.
    l1_squared : as weight_decay
        Factor of the penalty on the squared L1 norm of the weights of each hidden unit, over twice
        the number of visible columns; of other matrices, of each unit that they act on.  It makes
        hidden units sparse, and evens out their norms.  Not in the regression.
    average : float, optional
        Share of the updates so far over which the parameters of the model that is returned and
        scored are averaged, latest ones most; 0 takes those of the last update, 1 the mean over
        all.  By default 0.1 for the RBM and 0.05 for the temporal one; the regression has none.
    truncation_rate : float, (start, end), callable or array, optional
        The rate of truncation points that are learned, as ``learning_rate`` is that of all else;
        each training says its default.  They move as the log of the interval's width, so that
        lower < upper holds by construction.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.SGD(momentum=0.5).weight_decay
    0.0
    >>> tf.training.Adam(l1={"hidden_to_hidden": (1e-4, 1e-2)}).l1
    {'hidden_to_hidden': (0.0001, 0.01)}
    """

    name: ClassVar[str] = "sgd"
    momentum: float = 0.0
    weight_decay: Penalty = 0.0
    l1: Penalty = 0.0
    l1_squared: Penalty = 0.0
    average: float | None = None
    truncation_rate: Rate | None = None


@dataclass(frozen=True, repr=False)
class RMSprop(_Rule):
    """Steps along the gradient over the root of its mean square.

    Parameters
    ----------
    weight_decay, l1, l1_squared, average, truncation_rate
        As of :class:`SGD`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.RMSprop(average=0.0).average
    0.0
    """

    name: ClassVar[str] = "rmsprop"
    weight_decay: Penalty = 0.0
    l1: Penalty = 0.0
    l1_squared: Penalty = 0.0
    average: float | None = None
    truncation_rate: Rate | None = None


@dataclass(frozen=True, repr=False)
class Adam(_Rule):
    """Steps along the gradient's running mean over the root of its mean square.

    Parameters
    ----------
    momentum : float
        Of the mean, in [0, 1).
    weight_decay, l1, l1_squared, average, truncation_rate
        As of :class:`SGD`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.Adam(weight_decay=1e-4).momentum
    0.9
    """

    name: ClassVar[str] = "adam"
    momentum: float = 0.9
    weight_decay: Penalty = 0.0
    l1: Penalty = 0.0
    l1_squared: Penalty = 0.0
    average: float | None = None
    truncation_rate: Rate | None = None


Optimizer = SGD | RMSprop | Adam
OPTIMIZERS: dict[str, Optimizer] = {"sgd": SGD(), "rmsprop": RMSprop(), "adam": Adam()}


def as_optimizer(value: Optimizer | str) -> Optimizer:
    """Return an optimizer from one or from its word."""
    return chosen("optimizer", value, OPTIMIZERS)


def identity_of(optimizer: Optimizer) -> str:
    """Return what makes it the same optimizer; the rate of truncation points is a run's own."""
    return repr(without_functions(replace(optimizer, truncation_rate=None)))


# Scores, and where training starts.


@dataclass(frozen=True)
class Monitor:
    """What is scored while training goes on, and what chooses the model.

    Parameters
    ----------
    score : str or callable
        Of the RBM "pseudo", "reconstruction", "ais" or, with :class:`TrajectoryTempering`,
        "log_likelihood"; of the temporal one "prediction"; of the regression "rmse" or
        "log_likelihood".  "auto" is the usual one.  Of both RBMs also a function of a model and
        rows (up to 1,000; or a list of up to 20 sequences), which returns a number, higher for
        better models.  A checkpoint knows it by its name alone.
    every : int
        Epochs between scores; those between hold NaN in the history.
    patience : int, optional
        End after so many validation scores in a row without a new best one, and return the model
        of the best.  A number as large as the run's only keeps the best.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.Monitor("ais", every=10)
    Monitor(score='ais', every=10, patience=None)
    >>> fewest = tf.training.Monitor(lambda model, X: -model.free_energy(X).std(), patience=3)
    """

    score: str | Callable[[Any, Any], float] = "auto"
    every: int = 1
    patience: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.score):
            checks.choice("score", self.score, SCORES)
        settle(self, every=checks.count("every", self.every))
        if self.patience is not None:
            settle(self, patience=checks.count("patience", self.patience))

    def __repr__(self) -> str:
        """Return the fields, a function by its name: where it lies differs from run to run."""
        score = repr(self.score)
        if callable(self.score):
            named = self.score if hasattr(self.score, "__qualname__") else type(self.score)
            score = f"{named.__module__}.{named.__qualname__}"
        return f"Monitor(score={score}, every={self.every}, patience={self.patience})"


def as_monitor(value: Monitor | str | None, scores: tuple[str, ...]) -> Monitor | None:
    """Return a Monitor of one of these scores, of which the first is the usual one, or None."""
    if value is None:
        return None
    if isinstance(value, str):
        value = Monitor(checks.choice("monitor", value, ("auto", *scores)))
    checks.kind("monitor", value, Monitor)
    if callable(value.score):
        return value
    score = checks.choice("score", value.score, ("auto", *scores))
    return Monitor(scores[0] if score == "auto" else score, value.every, value.patience)


@dataclass(frozen=True)
class RandomWeights:
    """Training starts at random weights.

    Parameters
    ----------
    scale : float, optional
        Their standard deviation (the paper prints 0.1).  By default such that the input of a unit
        has 0.2 of its natural spread: 0.2 / (s * sqrt(V)), s the standard deviation of the unit
        without input, V the sum of the variances of the columns of the data.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.RandomWeights(0.01)
    RandomWeights(scale=0.01)
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            settle(self, scale=checks.number("scale", self.scale, least=0.0))


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
        if self.order is not None:
            settle(self, order=checks.count("order", self.order))
        settle(self, scale=checks.number("scale", self.scale, least=0.0))
        if self.ridge is not None:
            settle(self, ridge=checks.number("ridge", self.ridge, least=0.0))
