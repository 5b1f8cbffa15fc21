"""Choices of a training that go together, as values; words stand for them with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from .rates import over_epochs, pair_or_each, rate

Value = TypeVar("Value")
Sweeps = int | tuple[int, int] | Callable[[float], int] | NDArray[Any]

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


def as_sweeps(value: Any) -> Sweeps:
    """Return a number of Gibbs sweeps, a pair (start, end), or one for each epoch, as ints."""
    return pair_or_each("n_gibbs", value, checks.count)  # type: ignore[no-any-return]


def for_epochs(value: Value, epochs: int) -> Value:
    """Return a sampler, or units, whose sweeps and rates have a value for each epoch.

    Raises
    ------
    TypeError, ValueError
        Naming what has not, or is out of bounds in one.
    """
    found = {
        name: over_epochs(name, getattr(value, name), epochs, check)
        for name, check in (("n_gibbs", checks.count), ("precision_rate", rate))
        if hasattr(value, name)
    }
    return replace(value, **found) if found else value  # type: ignore[type-var]


# Samplers: where the model's side of the gradient comes from.


@dataclass(frozen=True)
class CD:
    """Contrastive divergence: chains that begin at the batch for every update.

    Parameters
    ----------
    n_gibbs : int, (start, end), callable or array
        Gibbs sweeps for each update; a pair rises geometrically over the run, in whole numbers; an
        array has those of each epoch, a callable gives them by the share of the run done then.
    centred : bool
        Use the centred gradient (mathematics 2.5): learns faster, and makes [-1, 1] as good as
        [0, 2].

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.CD(n_gibbs=(1, 10))
    CD(n_gibbs=(1, 10), centred=True)
    """

    n_gibbs: Sweeps = 1
    centred: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))


@dataclass(frozen=True)
class PCD:
    """Persistent contrastive divergence: chains that go on from update to update.

    Parameters
    ----------
    n_gibbs : int, (start, end), callable or array
        Gibbs sweeps for each update; a pair rises geometrically over the run, in whole numbers; an
        array has those of each epoch, a callable gives them by the share of the run done then.
    n_chains : int, optional
        By default 100, or as many as a batch has rows if that is more.
    centred : bool
        Use the centred gradient (mathematics 2.5).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.PCD(n_chains=500)
    PCD(n_gibbs=1, n_chains=500, centred=True)
    """

    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    centred: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))
        if self.n_chains is not None:
            settle(self, n_chains=checks.count("n_chains", self.n_chains))


@dataclass(frozen=True)
class ParallelTempering:
    """Persistent chains that exchange their states with replicas at higher temperatures.

    Mixes between modes, at the cost of a chain for each temperature.

    Parameters
    ----------
    betas : int or array_like
        Inverse temperatures: so many from 0 to 1, or a list that rises to 1.
    n_gibbs : int, (start, end), callable or array
        Sweeps for each update, each with an exchange.
    n_chains : int, optional
        At each temperature; by default 100, or as many as a batch has rows if that is more.
    centred : bool
        Use the centred gradient (mathematics 2.5).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.ParallelTempering(betas=[0.0, 0.5, 1.0]).betas
    (0.0, 0.5, 1.0)
    """

    betas: int | ArrayLike = 10
    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    centred: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))
        if self.n_chains is not None:
            settle(self, n_chains=checks.count("n_chains", self.n_chains))
        if isinstance(self.betas, int | np.integer):
            settle(self, betas=checks.count("betas", self.betas, least=2))
            return
        array = checks.numbers("betas", self.betas).astype(np.float64)
        ordered = array.ndim == 1 and array.size > 1 and (np.diff(array) > 0).all()
        if not (ordered and array[0] >= 0 and array[-1] == 1):
            raise ValueError(f"betas must rise from 0 or above to 1, got {self.betas!r}")
        settle(self, betas=tuple(array.tolist()))

    @property
    def ladder(self) -> tuple[float, ...]:
        """The inverse temperatures, from the lowest to 1."""
        if isinstance(self.betas, int):
            return tuple(np.linspace(0.0, 1.0, self.betas).tolist())
        return self.betas  # type: ignore[return-value]


@dataclass(frozen=True)
class TrajectoryTempering:
    """Persistent chains that exchange their states with earlier models of the same run.

    Once the model has moved away from the last of them, it becomes one itself: a rung of a ladder
    that begins at a model without weights, whose log Z is exact.  Mixes between modes, and keeps
    log Z of the run with its error (docs/training.md).

    Parameters
    ----------
    n_gibbs : int, (start, end), callable or array
        Sweeps for each update, followed by an exchange.
    n_chains : int, optional
        By default 100, or as many as a batch has rows if that is more.  On every rung there are as
        many.
    reservoir : int
        Draws of the last rung for each chain to exchange with.
    freeze : float
        The acceptance of exchanges below which the model becomes a rung, above 0 and below 1.
    centred : bool
        Use the centred gradient (mathematics 2.5).

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.TrajectoryTempering(n_chains=200)
    TrajectoryTempering(n_gibbs=1, n_chains=200, reservoir=10, freeze=0.3, centred=True)
    """

    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    reservoir: int = 10
    freeze: float = 0.3
    centred: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))
        if self.n_chains is not None:
            settle(self, n_chains=checks.count("n_chains", self.n_chains, least=10))
        settle(self, reservoir=checks.count("reservoir", self.reservoir))
        settle(self, freeze=checks.number("freeze", self.freeze, least=0.0, below=1.0))
        if self.freeze == 0.0:
            raise ValueError("freeze must be above 0, got 0")


Sampler = PCD | CD | ParallelTempering | TrajectoryTempering
SAMPLERS: dict[str, Sampler] = {
    "pcd": PCD(),
    "cd": CD(),
    "pt": ParallelTempering(),
    "ptt": TrajectoryTempering(),
}


def as_sampler(value: Sampler | str) -> Sampler:
    """Return a sampler from one or from its word."""
    return chosen("sampler", value, SAMPLERS)


# Optimizers.


def _settle_optimizer(value: Any) -> None:
    settle(value, weight_decay=checks.number("weight_decay", value.weight_decay, least=0.0))
    if value.average is not None:
        settle(value, average=checks.number("average", value.average, least=0.0, most=1.0))
    if hasattr(value, "momentum"):
        settle(value, momentum=checks.number("momentum", value.momentum, least=0.0, below=1.0))


@dataclass(frozen=True)
class SGD:
    """Steps along the gradient.

    Parameters
    ----------
    momentum : float
        Of the velocity, in [0, 1).
    weight_decay : float
        Factor of the L2 penalty on the weights.
    average : float, optional
        Share of the updates so far over which the parameters of the model that is returned and
        scored are averaged, latest ones most; 0 takes those of the last update, 1 the mean over
        all.  By default 0.1 for the RBM and 0.05 for the temporal one; the regression has none.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.SGD(momentum=0.5)
    SGD(momentum=0.5, weight_decay=0.0, average=None)
    """

    name: ClassVar[str] = "sgd"
    momentum: float = 0.0
    weight_decay: float = 0.0
    average: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _settle_optimizer(self)


@dataclass(frozen=True)
class RMSprop:
    """Steps along the gradient over the root of its mean square.

    Parameters
    ----------
    weight_decay, average
        As of :class:`SGD`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.RMSprop(average=0.0)
    RMSprop(weight_decay=0.0, average=0.0)
    """

    name: ClassVar[str] = "rmsprop"
    weight_decay: float = 0.0
    average: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _settle_optimizer(self)


@dataclass(frozen=True)
class Adam:
    """Steps along the gradient's running mean over the root of its mean square.

    Parameters
    ----------
    momentum : float
        Of the mean, in [0, 1).
    weight_decay, average
        As of :class:`SGD`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.Adam(weight_decay=1e-4)
    Adam(momentum=0.9, weight_decay=0.0001, average=None)
    """

    name: ClassVar[str] = "adam"
    momentum: float = 0.9
    weight_decay: float = 0.0
    average: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        _settle_optimizer(self)


Optimizer = SGD | RMSprop | Adam
OPTIMIZERS: dict[str, Optimizer] = {"sgd": SGD(), "rmsprop": RMSprop(), "adam": Adam()}


def as_optimizer(value: Optimizer | str) -> Optimizer:
    """Return an optimizer from one or from its word."""
    return chosen("optimizer", value, OPTIMIZERS)


# Scores, and where training starts.


@dataclass(frozen=True)
class Monitor:
    """What is scored while training goes on, and what chooses the model.

    Parameters
    ----------
    score : str or callable
        Of the RBM "pseudo", "reconstruction" or "ais"; of the temporal one "prediction"; of the
        regression "rmse" or "log_likelihood".  "auto" is the usual one.  Of both RBMs also a
        function of a model and rows (up to 1,000; or a list of up to 20 sequences), which returns a
        number, higher for better models.  A checkpoint knows it by its name alone.
    every : int
        Epochs between scores; those between hold NaN in the history.
    patience : int, optional
        End after so many validation scores in a row without a new best one, and return the model
        of the best.  A number as large as the run's only keeps the best.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.Monitor("ais", every=10)
    Monitor(score='ais', every=10, patience=None)
    >>> fewest = tf.Monitor(lambda model, X: -model.free_energy(X).std(), patience=3)
    """

    score: str | Callable[[Any, Any], float] = "auto"
    every: int = 1
    patience: int | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
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
    >>> tf.RandomWeights(0.01)
    RandomWeights(scale=0.01)
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        """Check the field."""
        if self.scale is not None:
            settle(self, scale=checks.number("scale", self.scale, least=0.0))
