"""What shape a hidden unit's nonlinearity has, and whether it is learned."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal

from trug_fast._common import checks

Learn = Literal["shared", "per_unit"] | None


@dataclass(frozen=True)
class Truncation:
    """Truncation points of the hidden units: where they start and what training may move.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, ``lower < upper``; either may be infinite.  With learning, where the
        learned end starts, which must be finite: infinity is a fixed point of the gradient.
    learn : None, "shared" or "per_unit"
        Keep the ends fixed, learn one pair for all units, or a pair for each.
    learn_lower, learn_upper : bool
        Which ends move.  The lower end carries no information once biases are learned
        (mathematics 2.4), so only the upper one moves by default.

    Examples
    --------
    >>> from trug_fast import Truncation
    >>> Truncation(0.0, 4.0, learn="per_unit").upper
    4.0
    """

    lower: float = 0.0
    upper: float = 1.0
    learn: Learn = None
    learn_lower: bool = False
    learn_upper: bool = True

    def __post_init__(self) -> None:
        """Refuse crossed, NaN or unlearnable ends."""
        for name in ("learn_lower", "learn_upper"):
            checks.flag(name, getattr(self, name))
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{name} must be a number, got {value!r}")
            if isinstance(value, int) and abs(value) > sys.float_info.max:
                raise ValueError(f"{name} must be a number that floats can hold, got {value}")
            if math.isnan(value):
                raise ValueError(f"{name} must not be NaN")
        if not self.lower < self.upper:
            raise ValueError(
                f"lower must be below upper, got lower={self.lower}, upper={self.upper}"
            )
        if self.learn is not None and (
            not isinstance(self.learn, str) or self.learn not in ("shared", "per_unit")
        ):
            raise ValueError(f"learn must be None, 'shared' or 'per_unit', got {self.learn!r}")
        if self.learn is not None:
            if not (self.learn_lower or self.learn_upper):
                raise ValueError("learn needs learn_lower or learn_upper, got neither")
            # Learning moves the width, hence needs both ends.
            if math.isinf(self.lower) or math.isinf(self.upper):
                raise ValueError(
                    "learning needs finite ends to start from, got "
                    f"lower={self.lower}, upper={self.upper}"
                )


NAMED = {
    "sigmoid": Truncation(0.0, 1.0),
    "relu": Truncation(0.0, math.inf),
    "tanh": Truncation(-1.0, 1.0),
    "c-learn": Truncation(0.0, 1.0, learn="shared"),
    "s-learn": Truncation(0.0, 1.0, learn="per_unit"),
}

TruncationLike = Truncation | str | tuple[float, float]


def as_truncation(value: TruncationLike) -> Truncation:
    """Return a Truncation from one, from a name, or from a pair (lower, upper)."""
    if isinstance(value, Truncation):
        return value
    if isinstance(value, str):
        checks.choice("truncation", value, tuple(NAMED))
        return NAMED[value]
    if isinstance(value, tuple | list) and len(value) == 2:
        return Truncation(*value)
    raise TypeError(
        f"truncation must be a Truncation, a name or a pair (lower, upper), got {value!r}"
    )
