"""How a regression is trained, checked together before anything is computed.

Tested in tests/training/tggm/test_train.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trug_fast._common import checks
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.truncation import Truncation
from trug_fast.training.checkpoints import data_identity
from trug_fast.training.going_on import require_ends
from trug_fast.training.options import PENALTIES, Optimizer, identity_of
from trug_fast.training.rates import Schedule

from .options import MeanField, Noise, Objective

HIDDEN_VARIANCE = 0.1


@dataclass(frozen=True)
class RegressionSettings:
    """How to train, checked by the caller."""

    n_inputs: int
    n_hidden: int
    n_outputs: int
    truncation: Truncation
    objective: Objective
    noise: Noise
    optimizer: Optimizer
    learning_rate: Schedule
    truncation_rate: Schedule | None  # None: as the learning rate
    batch_size: int
    dtype: np.dtype[Any]
    start: TruGTGGM | None

    def __post_init__(self) -> None:
        """Refuse what does not fit together, or would have no effect.

        Raises
        ------
        TypeError, ValueError
            Naming the argument.
        """
        if self.truncation_rate is not None and self.truncation.learn is None:
            raise ValueError("truncation_rate has no effect: this truncation is not learned")
        if self.optimizer.average is not None:
            raise ValueError(
                f"optimizer has average={self.optimizer.average}, which has no effect: the "
                "regression averages no parameters"
            )
        self._check_penalties()
        if self.noise.kind == "by_input" and isinstance(self.objective, MeanField):
            raise ValueError(
                "noise='by_input' needs objective='moments' or 'bp': the mean field of 'ml' has "
                "one noise for all rows"
            )
        if self.start is None:
            return
        checks.kind("start", self.start, TruGTGGM)
        for what in ("inputs", "hidden", "outputs"):
            expected, found = (getattr(each, f"n_{what}") for each in (self, self.start))
            if expected != found:
                raise ValueError(f"start must have n_{what}={expected}, got {found}")
        require_ends(self.start, self.truncation)
        if self.start.noise_weights is not None and self.noise.kind != "by_input":
            raise ValueError(
                f"noise is {self.noise.kind!r}, but that of start depends on the inputs: give "
                "'by_input'"
            )
        if self.noise.variance != Noise.variance:
            raise ValueError(
                f"noise has variance={self.noise.variance}, which has no effect: training goes on "
                "with the noise of start"
            )

    def _check_penalties(self) -> None:
        """Refuse penalties that a regression has not."""
        for name in PENALTIES:
            value = getattr(self.optimizer, name)
            if name == "weight_decay" and not isinstance(value, float):
                raise TypeError(f"weight_decay of a regression must be a number, got {value!r}")
            if name != "weight_decay" and value != 0.0:
                raise ValueError(
                    f"optimizer has {name}={value!r}, which has no effect: a regression has "
                    "weight_decay alone"
                )

    @property
    def weight_decay(self) -> float:
        """Factor of the L2 penalty: a number, as was checked."""
        return float(self.optimizer.weight_decay)  # type: ignore[arg-type]

    @property
    def hidden_variance(self) -> float:
        """Variance of the hidden units where they do not have that of the targets."""
        return self.noise.hidden_variance or HIDDEN_VARIANCE

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, as numbers and words."""
        words: dict[str, Any] = {name: repr(value) for name, value in vars(self).items()}
        words |= {name: value for name, value in vars(self).items() if isinstance(value, int)}
        words["optimizer"] = identity_of(self.optimizer)
        words["learning_rate"] = self.learning_rate.identity()
        if self.truncation_rate is not None:
            words["truncation_rate"] = self.truncation_rate.identity()
        if self.start is not None:
            parts = [np.ravel(getattr(self.start, name)) for name in self.start.names]
            words["start"] = data_identity(np.concatenate(parts))
        return words
