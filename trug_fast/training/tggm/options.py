"""Choices that only the training of the regression has, as values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.training.options import chosen, settle
from trug_fast.training.rates import Rate


@dataclass(frozen=True)
class MeanField:
    """Maximum likelihood by the evidence lower bound at the mean field (mathematics 5).

    Parameters
    ----------
    n_cycles : int
        Passes of the mean field over the units.
    tolerance : float
        The passes end earlier once none of a batch's means moves by more standard deviations.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.MeanField(n_cycles=20)
    MeanField(n_cycles=20, tolerance=0.1)
    """

    n_cycles: int = 10
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        settle(
            self,
            n_cycles=checks.count("n_cycles", self.n_cycles),
            tolerance=checks.number("tolerance", self.tolerance, least=0.0),
        )


@dataclass(frozen=True)
class Noise:
    """Variances of the regression's targets and hidden units, of the standardised targets.

    Parameters
    ----------
    kind : {"shared", "separate", "by_input"}
        Whether the hidden units have the noise variance of the targets, as in the paper, or
        ``hidden_variance``, with a noise variance for each output.  "by_input" is as "separate",
        but the log of the noise variance has weights for the mean of each hidden unit, too, which
        start at 0.
    learn : bool
        Learn the noise variance, or keep it in training.  That of the model which is returned is
        kept, too, only without calibration: ``HoldOut(calibrate=None)``, or ``validation=None``.
    variance : float
        Where the noise variance starts.
    hidden_variance : float, optional
        Of the hidden units unless the noise is "shared", 0.1 by default.  It is not learned: its
        scale is that of the truncation points.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.Noise("separate", variance=1.0).learn
    True
    """

    kind: Literal["shared", "separate", "by_input"] = "shared"
    learn: bool = True
    variance: float = 0.1
    hidden_variance: float | None = None

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, ("shared", "separate", "by_input"))
        settle(self, learn=checks.flag("learn", self.learn))
        settle(self, variance=checks.above_zero("variance", self.variance))
        if self.hidden_variance is not None:
            if self.kind == "shared":
                raise ValueError("hidden_variance has no effect on kind='shared'")
            found = checks.above_zero("hidden_variance", self.hidden_variance)
            settle(self, hidden_variance=found)


CALIBRATIONS = ("held_back", "cross_validation")


@dataclass(frozen=True)
class HoldOut:
    """Rows held back at random, by which the epoch and the learning rate are chosen.

    Parameters
    ----------
    fraction : float
        Of the rows, above 0 and below 1; at least one row is held back.
    refit : bool
        Train on all rows in the end; otherwise the model of the best epoch is returned.
    calibrate : {"held_back", "cross_validation", None}
        By which rows the noise variance is set, to that of the highest likelihood (moment-matched):
        what the training rows say is too low after a close fit.  By those held back; or by all
        rows, each predicted by a model of as many epochs that was trained on four fifths without
        it.  That takes five more runs, and is as much surer as there are more rows: the noise of n
        rows is known to a share of sqrt(2/n).
    laplace : bool
        Give the model a posterior of its readout, as
        :meth:`TruGTGGM.with_readout_posterior` does by the rows that it was trained on: predictions
        get wider where hidden units are unlike those of these rows.  The noise is calibrated beside
        it.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.HoldOut(0.2, refit=False)
    HoldOut(fraction=0.2, refit=False, calibrate='held_back', laplace=False)
    """

    fraction: float = 0.1
    refit: bool = True
    calibrate: Literal["held_back", "cross_validation"] | None = "held_back"
    laplace: bool = False

    def __post_init__(self) -> None:
        settle(
            self,
            fraction=checks.above_zero("fraction", self.fraction, below=1.0),
            refit=checks.flag("refit", self.refit),
            laplace=checks.flag("laplace", self.laplace),
        )
        if self.calibrate is not None:
            checks.choice("calibrate", self.calibrate, CALIBRATIONS)


@dataclass(frozen=True)
class RateSearch:
    """Learning rates to try; the best on the rows that are held out is taken.

    Parameters
    ----------
    rates : sequence of rates
        Each a number, a pair (start, end), a function or an array, as ``learning_rate`` is.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.RateSearch([0.003, (0.01, 0.0002)])
    RateSearch(rates=(0.003, (0.01, 0.0002)))
    """

    rates: Sequence[Rate]

    def __post_init__(self) -> None:
        """Check that there are some; what each may be depends on the number of epochs."""
        if callable(self.rates) or not isinstance(self.rates, Iterable):
            raise TypeError(f"rates must be a sequence of learning rates, got {self.rates!r}")
        settle(self, rates=tuple(self.rates))
        if not self.rates:
            raise ValueError("rates must hold learning rates, got none")


Objective = MeanField | Literal["moments", "bp", "probit"]


def as_objective(value: MeanField | Literal["ml", "moments", "bp", "probit"]) -> Objective:
    """Return what is ascended: "ml" stands for MeanField()."""
    own: tuple[Objective, ...] = ("moments", "bp", "probit")
    words: dict[str, Objective] = {"ml": MeanField()} | {str(word): word for word in own}
    return chosen("objective", value, words)


NoiseLike = Noise | Literal["shared", "separate", "by_input"]


def as_noise(value: NoiseLike) -> Noise:
    """Return a Noise from one or from its kind."""
    words = {"shared": Noise(), "separate": Noise("separate"), "by_input": Noise("by_input")}
    return chosen("noise", value, words)


Validation = float | HoldOut | tuple[ArrayLike, ArrayLike] | None


def as_validation(value: Any) -> HoldOut | tuple[ArrayLike, ArrayLike] | None:
    """Return a HoldOut from one or from a fraction, or a pair (X, y) as it is; None stays None."""
    if value is None or isinstance(value, HoldOut):
        return value
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise ValueError(f"validation must be a pair (X, y), got {len(value)} things")
        return value[0], value[1]
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(
            f"validation must be a fraction, a HoldOut, a pair (X, y) or None, got {value!r}"
        )
    return HoldOut(checks.above_zero("validation", value, below=1.0))
