"""Fits where one end is fixed in standard deviations and the other is known in units of x.

The likelihood need not be concave here.  Two numbers are left at most, so it is looked at on a
grid, and the best point of that is improved by the gradient (mathematics 1.14).
Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast.kernels import arrays

from .broadcasting import elementwise
from .fit_sample import FitTask, Sample, at_infinity, require_two_values
from .fit_shape import outside

_FLATTEST = 1e-6  # width of the data in standard deviations: less is as good as uniform
_NOTHING = 1e-9  # of a datum's log likelihood


class Mixed(NamedTuple):
    """The problem with the fixed end a below; x is 0 at the least datum, 1 at the known end.

    In standard deviations from loc a datum is at a + gap + slope x: slope > 0, gap >= 0.
    """

    a: float
    mean: float
    square: float

    def objective(self, slope: Any, gap: Any) -> Any:
        """Return the negative log likelihood of a datum, less that of the uniform on [0, 1]."""
        start = self.a + gap
        energy = start * start + 2.0 * start * slope * self.mean + slope * slope * self.square
        mass = elementwise(arrays.log_mass, self.a, start + slope)
        return 0.5 * energy + mass - np.log(slope) + 0.5 * math.log(2.0 * math.pi)

    def gradient(self, slope: float, gap: float) -> NDArray[np.float64]:
        """Return its derivatives by log(slope) and gap."""
        start = self.a + gap
        end = float(elementwise(arrays.pdf, self.a, start + slope, x=start + slope))
        by_slope = start * self.mean + slope * self.square + end - 1.0 / slope
        return np.array([slope * by_slope, start + slope * self.mean + end])


def fit_mixed(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return the loc and scale of the greatest likelihood."""
    require_two_values(sample, "a distribution whose ends or scale are free")
    if task.a is None:
        assert task.b is not None and task.lower is not None
        turned = FitTask(-task.b, None, _minus(task.loc), task.scale, None, -task.lower)
        mirrored = sample._replace(least=-sample.most, most=-sample.least, mean=-sample.mean)
        loc, scale = _fit_lower(mirrored, turned)
        return -loc, scale
    return _fit_lower(sample, task)


def _minus(x: float | None) -> float | None:
    return None if x is None else -x


def _fit_lower(sample: Sample, task: FitTask) -> tuple[float, float]:
    assert task.a is not None and task.upper is not None
    width = task.upper - sample.least
    mean = (sample.mean - sample.least) / width
    square = (sample.unit / width) ** 2 + mean * mean
    problem = Mixed(task.a, mean, square)
    if task.scale is not None:
        slope = width / task.scale
        gap = _best_gap(problem, slope)
    elif task.loc is not None:
        slope, gap = _best_about(problem, (sample.least - task.loc) / width, sample, task)
    else:
        slope, gap = _best_of_both(problem, sample.unit / width)
    scale = width / slope if task.scale is None else task.scale
    loc = sample.least - scale * (task.a + gap) if task.loc is None else task.loc
    return loc, scale


def _gaps(a: float, slope: float = 0.0) -> NDArray[np.float64]:
    """Return gaps to look at: the mode of the density lies beyond none of the largest."""
    return np.concatenate([[0.0], np.geomspace(1e-6, 20.0 + 2.0 * abs(a) + slope, 160)])


def _best_gap(problem: Mixed, slope: float) -> float:
    """Return the gap of the least objective for a given slope."""
    gaps = _gaps(problem.a, slope)
    place = int(np.argmin(problem.objective(slope, gaps)))
    return _refined(lambda gap: problem.gradient(slope, gap)[1], gaps, place)


def _best_about(problem: Mixed, start: float, sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return slope and gap for a known loc: a + gap = slope start."""
    a = problem.a
    least, most = _FLATTEST, 50.0 / math.sqrt(problem.square) + 4.0 * abs(a)
    most = max(most, 50.0 / math.sqrt((start + problem.mean) ** 2 + 1e-30))
    if start > 0:
        least = max(least, a / start)
        most = max(most, 2.0 * least)
    elif start < 0:
        most = min(most, a / start)
    if not least < most or (start == 0 and a > 0):
        raise outside(sample, task)
    slopes = np.geomspace(least, most, 400)
    slopes[0], slopes[-1] = least, most
    gaps = np.maximum(slopes * start - a, 0.0)
    place = int(np.argmin(problem.objective(slopes, gaps)))

    def slope_of(log_slope: float) -> float:
        slope = math.exp(log_slope)
        by_slope, by_gap = problem.gradient(slope, max(slope * start - a, 0.0))
        return float(by_slope + slope * start * by_gap)

    slope = math.exp(_refined(slope_of, np.log(slopes), place))
    if slope <= 1.01 * _FLATTEST:
        raise at_infinity("uniform", "With this loc they vary as much as that, or more.")
    slope = min(max(slope, least), most)
    return slope, max(slope * start - a, 0.0)


def _refined(slope_of: Any, points: NDArray[np.float64], place: int) -> float:
    """Return the minimum beside a point of a grid, by the zero of the derivative."""
    from scipy.optimize import brentq  # here, as its import takes a while

    at = slope_of(points[place])
    beside = min(max(place + (1 if at < 0 else -1), 0), len(points) - 1)
    if at == 0 or at * slope_of(points[beside]) >= 0:
        return float(points[place])
    low, high = sorted((points[place], points[beside]))
    return float(brentq(slope_of, low, high, xtol=1e-300, rtol=1e-15))


def _best_of_both(problem: Mixed, deviation: float) -> tuple[float, float]:
    """Return the best slope and gap: the least of all minima of the profile over the slope.

    At slope 0 lies the uniform, whose objective is 0: the limit, unless a minimum is below that.
    """
    slopes = np.geomspace(_FLATTEST, 20.0 / deviation + abs(problem.a), 100)

    def slope_of(log_slope: float) -> float:
        slope = math.exp(log_slope)
        return float(problem.gradient(slope, _best_gap(problem, slope))[0])

    profile = [problem.objective(s, _best_gap(problem, s)) for s in slopes]
    found = []
    for place in range(1, slopes.size - 1):
        if profile[place - 1] >= profile[place] <= profile[place + 1]:
            slope = math.exp(_refined(slope_of, np.log(slopes), place))
            found.append((slope, _best_gap(problem, slope)))
    best = min(found, key=lambda pair: float(problem.objective(*pair)), default=None)
    if best is None or not problem.objective(*best) < -_NOTHING:
        raise at_infinity(
            "uniform from the least to the greatest of them",
            "They vary as much as that, or more. Fix loc or scale, or free the other end.",
        )
    return best
