"""How a temporal RBM is trained and where that starts.

Tested in tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from trug_fast._common import checks
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.trbm import WEIGHTS, BernoulliTRBM, TruGTRBM
from trug_fast.training.going_on import UnitKinds, checked_truncation, require_agreement
from trug_fast.training.options import LinearStart
from trug_fast.training.rates import Rate
from trug_fast.training.settings import VISIBLE_RATE, Settings
from trug_fast.training.units import BernoulliUnits, GaussianUnits
from trug_fast.units.truncation import Truncation, TruncationLike

TemporalModel = TruGTRBM | BernoulliTRBM
StartModel = TemporalModel | TruGRBM | BernoulliRBM

# The best that we know: of Bernoulli visibles on bouncing balls, of Gaussian on motion capture.
BEST_TRUNCATION = {
    "bernoulli": Truncation(-1.0, 1.0, learn="per_unit"),
    "gaussian": Truncation(-4.0, 4.0, learn="per_unit"),
}
BEST_ORDER = {"bernoulli": 1, "gaussian": 2}  # of the linear forecast, with one lag
AVERAGE = 0.05
RATES = {
    "bernoulli": {"sgd": (0.05, 0.0005), "rmsprop": (1e-3, 1e-5), "adam": (8e-3, 2e-4)},
    "gaussian": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}
UNIT_RATES = {
    "bernoulli": {"sgd": (0.05, 0.0005), "rmsprop": (5e-4, 5e-5), "adam": (5e-4, 5e-5)},
    "gaussian": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}


@dataclass(frozen=True)
class SequenceSettings(Settings):
    """How to train a temporal RBM, checked by the caller."""

    n_lags: int = 1
    matrices = WEIGHTS

    @property
    def learns_visible_precision(self) -> bool:
        """Whether the precisions of the visible units move."""
        return isinstance(self.visible, GaussianUnits) and self.visible.learn_precision


def checked(settings: SequenceSettings, truncation: TruncationLike | None) -> SequenceSettings:
    """Return the settings with truncation and start as asked for, if all agree."""
    hidden, visible, start = settings.hidden, settings.visible, settings.start
    ends = checked_truncation(truncation, hidden, start, BEST_TRUNCATION[visible.kind])
    if isinstance(visible, BernoulliUnits) and visible.soft:
        raise ValueError("visible: soft has no effect in train_trbm, which takes values in [0, 1]")
    if visible.missing is not None:
        raise ValueError("visible: missing has no effect in train_trbm, which takes whole frames")
    if not isinstance(start, LinearStart):
        units = UnitKinds(settings.n_hidden, hidden, visible)
        require_agreement(start, settings.n_visible, units)
    else:
        start = replace(start, order=_checked_order(start, settings))
    settings = replace(settings, truncation=ends, start=start)
    settings.shape()  # refuses units that cannot be
    return settings


def _checked_order(start: LinearStart, settings: SequenceSettings) -> int:
    """Return from how many frames the forecast is with which training starts."""
    n_lags, order = settings.n_lags, start.order
    usual = BEST_ORDER[settings.visible.kind] if n_lags == 1 else n_lags
    if order is None:
        return usual
    if order > usual:
        but = "" if (order, n_lags) != (2, 1) else "; with one lag it is for visible='gaussian'"
        raise ValueError(
            f"start: LinearStart of order {order} needs n_lags={order} or more, got {n_lags}{but}"
        )
    return order


def checked_lags(n_lags: int | None, start: object, longest: int) -> int:
    """Return how many frames a model looks back, by default as many as the one to go on from.

    longest : the number of frames of the longest sequence
    """
    given = start.n_lags if isinstance(start, TemporalModel) else None
    found = checks.count("n_lags", (given or 1) if n_lags is None else n_lags)
    if given not in (None, found):
        raise ValueError(f"start must agree in n_lags: {found} asked for, {given} in it")
    if found >= longest and n_lags is not None:
        raise ValueError(
            f"n_lags must be less than the longest sequence has frames, {longest}, got {found}"
        )
    return found


def over(settings: SequenceSettings, learning_rate: Rate | None) -> SequenceSettings:
    """Return settings with their rates, those that are not given by the units and the optimizer."""
    kind, name = settings.visible.kind, settings.optimizer.name
    usual = RATES[kind][name] if learning_rate is None else learning_rate
    names = ("truncation_rate", "precision_rate", VISIBLE_RATE)
    return settings.over(usual, dict.fromkeys(names, UNIT_RATES[kind][name]))


def checked_start(start: Any) -> LinearStart | StartModel:
    """Return where training starts, a linear forecast unless it is said."""
    if start is None:
        return LinearStart()
    checks.kind("start", start, TruGTRBM, BernoulliTRBM, TruGRBM, BernoulliRBM, LinearStart)
    return start  # type: ignore[no-any-return]
