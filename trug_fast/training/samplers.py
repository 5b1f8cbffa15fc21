"""Samplers of a training: where the model's side of the gradient comes from.

Tested in tests/training/test_options.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from .options import chosen, settle
from .rates import pair_or_each

Sweeps = int | tuple[int, int] | Callable[[float], int] | NDArray[Any]


def as_sweeps(value: Any) -> Sweeps:
    """Return a number of Gibbs sweeps, a pair (start, end), or one for each epoch, as ints."""
    return pair_or_each("n_gibbs", value, checks.count)  # type: ignore[no-any-return]


class _Chains:
    """What all samplers share."""

    n_gibbs: Sweeps
    centred: bool
    least: ClassVar[int] = 1  # chains

    def __post_init__(self) -> None:
        settle(self, n_gibbs=as_sweeps(self.n_gibbs), centred=checks.flag("centred", self.centred))
        chains = getattr(self, "n_chains", None)
        if chains is not None:
            settle(self, n_chains=checks.count("n_chains", chains, least=self.least))


@dataclass(frozen=True)
class CD(_Chains):
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
    >>> tf.training.CD(n_gibbs=(1, 10))
    CD(n_gibbs=(1, 10), centred=True)
    """

    n_gibbs: Sweeps = 1
    centred: bool = True


@dataclass(frozen=True)
class PCD(_Chains):
    """Persistent contrastive divergence: chains that go on from update to update.

    Where data have two phases, each the other turned over, as those of a magnet, chains are turned
    over too (docs/training.md).

    Parameters
    ----------
    n_chains : int, optional
        By default 100, or as many as a batch has rows if that is more.
    n_gibbs, centred
        As of :class:`CD`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.PCD(n_chains=500)
    PCD(n_gibbs=1, n_chains=500, centred=True)
    """

    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    centred: bool = True


@dataclass(frozen=True)
class ParallelTempering(_Chains):
    """Persistent chains that exchange their states with replicas at higher temperatures.

    Mixes between modes, at the cost of a chain for each temperature.

    Parameters
    ----------
    betas : int or array_like
        Inverse temperatures: so many from 0 to 1, or a list that rises to 1.
    n_chains : int, optional
        At each temperature, as of :class:`PCD`.
    n_gibbs, centred
        As of :class:`CD`; each sweep is followed by an exchange.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.ParallelTempering(betas=[0.0, 0.5, 1.0]).betas
    (0.0, 0.5, 1.0)
    """

    betas: int | ArrayLike = 10
    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    centred: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
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
class TrajectoryTempering(_Chains):
    """Persistent chains that exchange their states with earlier models of the same run.

    Once the model has moved away from the last of them, it becomes one itself: a rung of a ladder
    that begins at a model without weights, whose log Z is exact.  Mixes between modes, and keeps
    log Z of the run with its error (docs/training.md).

    Parameters
    ----------
    n_gibbs, centred
        As of :class:`CD`; an exchange follows the sweeps of an update.
    n_chains : int, optional
        As of :class:`PCD`.  On every rung there are as many.
    reservoir : int
        Draws of the last rung for each chain to exchange with.
    freeze : float
        The acceptance of exchanges below which the model becomes a rung, above 0 and below 1.
    renew : int
        Updates for each rung, after which the last rung's draws are made anew: in fewer, shares of
        modes become more exact, and the run takes longer.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.TrajectoryTempering(n_chains=200, renew=40).renew
    40
    """

    least: ClassVar[int] = 10
    n_gibbs: Sweeps = 1
    n_chains: int | None = None
    reservoir: int = 10
    freeze: float = 0.3
    renew: int = 80
    centred: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, reservoir=checks.count("reservoir", self.reservoir))
        settle(self, renew=checks.count("renew", self.renew))
        settle(self, freeze=checks.number("freeze", self.freeze, least=0.0, below=1.0))
        if self.freeze == 0.0:
            raise ValueError("freeze must be above 0, got 0")


@dataclass(frozen=True)
class SequenceCD(_Chains):
    """Contrastive divergence for each frame of a sequence, given those before it.

    Parameters
    ----------
    n_gibbs : int, (start, end), callable or array
        As of :class:`CD`.  Few are enough while weights are small: three all the way end with
        forecasts that get worse.
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
        checks.choice("begin", self.begin, ("both", "data", "past"))
        checks.choice("gradient", self.gradient, ("full", "paper", "paper-draws"))
        super().__post_init__()


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
