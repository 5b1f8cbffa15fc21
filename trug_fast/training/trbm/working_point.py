"""Where a hidden unit works: around which net input, and what it answers there.

Tested in tests/training/trbm/test_start.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trug_fast import kernels
from trug_fast.training.unit_parameters import UnitParameters

OFF = 30.0  # net input that silences a unit


class WorkingPoint(NamedTuple):
    """A hidden unit at work: where its response is nearly linear."""

    net: float
    mean: float
    slope: float  # of the mean by the net input: the variance
    lit: float  # mean far above
    dark: float  # mean far below


def working_point(units: UnitParameters) -> WorkingPoint:
    """Return where to work: the middle of an interval; well inside, where it is infinite."""
    d, low, high = (float(v[0]) for v in (units.precision, units.lower, units.upper))
    if units.bernoulli:
        net = 0.0
    elif units.bounded:
        net = float(units.precision[0] * (units.lower[0] + units.upper[0]) / 2)
    else:
        net = 3 * np.sqrt(d) + d * low if np.isfinite(low) else -3 * np.sqrt(d) + d * high
        net = net if np.isfinite(net) else 0.0
    lit, dark = (response(units, net + sign * OFF)[0] for sign in (1, -1))
    return WorkingPoint(net, *response(units, net), lit, dark)


def response(units: UnitParameters, net: float) -> tuple[float, float]:
    """Return the mean of the first hidden unit and its derivative by the net input."""
    if units.bernoulli:
        mean = 1 / (1 + float(np.exp(-net)))
        return mean, mean * (1 - mean)
    d, low, high = (float(v[0]) for v in (units.precision, units.lower, units.upper))
    found = kernels.mean_variance(net, d, low, high)
    return float(found[0]), float(found[1])
