"""The hidden units' own parameters in training: truncation points and precisions.

The points are learned as ``low_end`` and ``log_width``, so that they cannot cross
(mathematics 2.3); precisions as ``curvature``, d times the squared width at the start, or as log d
where an end is infinite, which keeps them positive (kernels/rbm/unit_steps.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.optimizer import VALUES
from trug_fast.kernels.rbm import unit_steps
from trug_fast.kernels.rbm.hidden import HiddenUnits
from trug_fast.kernels.unit.truncation_coordinates import FIXED, PER_UNIT, SHARED
from trug_fast.units.kinds import BERNOULLI, TRUNCATED, Own, Run
from trug_fast.units.normalizable import keep_normalizable
from trug_fast.units.truncation import Truncation

from .diagnosis import Ranges
from .steps import Steps
from .units import TruGUnits

LOG_PRECISION = 9.2  # learned precisions of visible units stay between 1e-4 and 1e4
ENDS = {None: FIXED, "shared": SHARED, "per_unit": PER_UNIT}


class Shape(NamedTuple):
    """Where hidden units start, a number for each unit in float64, and what is learned of them."""

    precision: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    truncation: Truncation | None  # None: Bernoulli units, which have no parameters to learn
    learn_precision: bool

    @classmethod
    def of(
        cls, n_hidden: int, truncation: Truncation, units: TruGUnits | None, dtype: Any
    ) -> Shape:
        """Return units that all start alike, and None for Bernoulli units.

        Raises
        ------
        ValueError
            If they cannot be normalized in this float type.
        """
        hidden = units or TruGUnits()
        numbers = hidden.precision, truncation.lower, truncation.upper
        precision, lower, upper = (np.full(n_hidden, float(value)) for value in numbers)
        checks.intervals(*(values.astype(dtype) for values in (precision, lower, upper)))
        return cls(
            precision, lower, upper, None if units is None else truncation, hidden.learn_precision
        )

    @property
    def learns_ends(self) -> bool:
        """Whether truncation points move."""
        return self.truncation is not None and self.truncation.learn is not None


class UnitParameters:
    """Truncation points and precisions in the course of training, all changed in place.

    Of Bernoulli units they stand still, and say nothing.
    """

    def __init__(self, start: Shape, steps: Steps, dtype: np.dtype[Any]) -> None:
        self.start, self._steps = start, steps
        ends, width = start.truncation or Truncation(), start.upper - start.lower
        self.bounded = bool(np.isfinite(width).all())
        own = np.array(start[:3]).astype(dtype)
        both = start.learns_ends and ends.learn_lower and ends.learn_upper
        area = width**2
        with np.errstate(all="ignore"):  # of a precision that is not learned no log is taken
            curvature = start.precision * area if self.bounded else np.log(start.precision)
        low_end, log_width, curvature = (
            steps.stack(values.astype(dtype), name if learned else None)
            for name, values, learned in (
                ("low_end", start.lower, both),
                ("log_width", np.log(width.astype(dtype)), start.learns_ends),
                ("curvature", curvature, start.learn_precision),
            )
        )
        self.moved = unit_steps.Units(
            ENDS[ends.learn],
            ends.learn_lower,
            ends.learn_upper,
            start.learn_precision,
            self.bounded,
            own,
            area,
            low_end,
            log_width,
            curvature,
        )
        self.precision, self.lower, self.upper = own
        self.low_end, self.log_width = low_end[VALUES], log_width[VALUES]
        self.curvature = curvature[VALUES]

    @property
    def bernoulli(self) -> bool:
        """Whether they are Bernoulli units."""
        return self.start.truncation is None

    @property
    def _ends(self) -> Truncation:
        return self.start.truncation or Truncation()

    def learned(self) -> State:
        """Return what of the model is learned, sharing memory."""
        ends = {"lower": self.lower, "upper": self.upper} if self.start.learns_ends else {}
        return ends | ({"precision": self.precision} if self.start.learn_precision else {})

    def parameters(self) -> State:
        """Return what a model has of them, sharing memory."""
        if self.bernoulli:
            return {}
        return {"precision": self.precision, "lower": self.lower, "upper": self.upper}

    def arrays(self) -> State:
        """Return all arrays, as a checkpoint holds them."""
        names = ("precision", "lower", "upper", "low_end", "log_width", "curvature")
        return {name: getattr(self, name) for name in names}

    def layer(self) -> HiddenUnits:
        """Return the units' own fields of ``gibbs.Layers``, sharing memory."""
        kind = BERNOULLI if self.bernoulli else TRUNCATED
        run = Run(kind.word, self.lower.size)
        return kind.as_hidden(Own(run, self.precision, self.lower, self.upper))

    def middle(self, mean: FloatArray) -> FloatArray:
        """Return the middle of each interval, or this where there is none."""
        return (self.lower + self.upper) / 2 if self.bounded else mean

    def ranges(self, mean: FloatArray | None) -> Ranges:
        """Return how far units go and where they are (their means), as diagnosis.LIMIT counts it.

        Without means they are where they would be without input, about.
        """
        zeros = np.zeros_like(self.lower)
        if self.bernoulli:
            return Ranges(zeros + 1, zeros if mean is None else mean)
        width = np.minimum(self.upper - self.lower, 1 / np.sqrt(np.maximum(self.precision, 1e-30)))
        return Ranges(width, zeros.clip(self.lower, self.upper) if mean is None else mean)

    def move_ends(self, by_lower: Any, by_upper: Any, rate: float) -> None:
        """Move the truncation points along their gradients."""
        unit_steps.move_ends(self._steps.rule(rate), self.moved, by_lower, by_upper, rate)

    def move_precision(
        self, by_precision: Any, by_mean: Any, mean: FloatArray, rate: float
    ) -> FloatArray:
        """Move the precisions along their gradient.

        Parameters
        ----------
        by_precision, by_mean : ndarray, shape (n_hidden,)
            The plain gradients by the precisions and by the hidden biases.
        mean : ndarray, shape (n_hidden,)
            About the means of the units.

        Returns
        -------
        ndarray, shape (n_hidden,)
            What is to be added to the hidden biases.
        """
        shift: FloatArray = np.empty_like(self.precision)
        unit_steps.move_precision(
            self._steps.rule(rate), self.moved, by_precision, by_mean, mean, rate, shift
        )
        return shift

    def loose(
        self, visible_precision: FloatArray, visible_ends: NDArray[np.float64] | None = None
    ) -> bool:
        """Whether visible units without an end and infinite ends may leave no density."""
        endless = visible_ends is None or bool(
            (np.isinf(visible_ends).any(axis=0) & (visible_precision > 0)).any()
        )
        return bool(visible_precision.size) and endless and not (self.bounded or self.bernoulli)

    def keep_normalizable(
        self,
        weights: FloatArray,
        visible_precision: FloatArray,
        visible_ends: NDArray[np.float64] | None = None,
    ) -> None:
        """Scale weights down where units without an end, of both layers, would leave no density."""
        if self.loose(visible_precision, visible_ends):
            own = self.precision, self.lower, self.upper
            keep_normalizable(weights, *own, visible_precision, visible_ends)

    def brief(self, truncation_rate: float, precision_rate: float) -> dict[str, float]:
        """Return the rates in effect and the learned shapes of the units in brief."""
        ends, precision = self.start.learns_ends, self.start.learn_precision
        rates = {"truncation_rate": truncation_rate} if ends else {}
        rates |= {"precision_rate": precision_rate} if precision else {}
        moves = {
            "lower": ends and self._ends.learn_lower,
            "upper": ends and self._ends.learn_upper,
            "precision": precision,
        }
        return rates | {
            f"{name}_{word}": float(getattr(getattr(self, name), word)())
            for name in moves
            if moves[name]
            for word in ("mean", "min", "max")
        }
