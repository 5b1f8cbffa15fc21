"""Fits of loc and scale where both ends are fixed in standard deviations: closed forms.

With s = 1/scale and m = loc/scale the negative log likelihood is convex and the ends are linear
bounds, so the maximum is the normal's, or on one bound, or where both meet (mathematics 1.14).
Everything here is in the units of a Sample.  Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math

from .fit_sample import FitTask, Sample, require_two_values


def fit_shape(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return the loc and scale of the greatest likelihood."""
    assert task.a is not None and task.b is not None
    a, b = task.a, task.b
    ends = sample.measured(sample.least), sample.measured(sample.most)
    if task.scale is not None:
        s = sample.unit / task.scale
        least, most = s * ends[1] - b, s * ends[0] - a
        if not least <= most:
            raise outside(sample, task)
        m = min(max(0.0, least), most)
        return sample.mean + task.scale * m, task.scale
    if task.loc is not None:
        return task.loc, sample.unit / _slope_about(sample, task, a, b, ends)
    require_two_values(sample, "loc and scale")
    found = [(1.0, 0.0)]
    if math.isfinite(a):
        s = _on_a_bound(a, ends[0])
        found.append((s, s * ends[0] - a))
    if math.isfinite(b):
        s = _on_a_bound(b, ends[1])
        found.append((s, s * ends[1] - b))
    low, high = a - _off(a), b + _off(b)
    good = [(s, m) for s, m in found if s * ends[0] - m >= low and s * ends[1] - m <= high]
    if math.isfinite(b - a):
        s = (b - a) / (ends[1] - ends[0])
        good.append((s, s * ends[0] - a))
    s, m = min(good, key=lambda pair: 0.5 * (pair[0] ** 2 + pair[1] ** 2) - math.log(pair[0]))
    return sample.mean + sample.unit * m / s, sample.unit / s


def _off(end: float) -> float:
    """Return what rounding may put between a bound and a point on it."""
    return 1e-14 * max(1.0, abs(end)) if math.isfinite(end) else 0.0


def _on_a_bound(a: float, end: float) -> float:
    """Return the s of the least objective where s end - m = a: (1 + end**2) s**2 - a end s = 1."""
    square, lean = 1.0 + end * end, a * end
    root = math.hypot(lean, 2.0 * math.sqrt(square))
    return (lean + root) / (2.0 * square) if lean > 0 else 2.0 / (root - lean)


def _slope_about(
    sample: Sample, task: FitTask, a: float, b: float, ends: tuple[float, float]
) -> float:
    """Return s for a known loc: a square root, within what the ends allow."""
    assert task.loc is not None
    loc = sample.measured(task.loc)
    least, most = 0.0, math.inf
    # s (x - loc) is to lie in [a, b] for the least and the greatest x.
    for bound, distance in ((a, ends[0] - loc), (-b, loc - ends[1])):
        if distance > 0:
            least = max(least, bound / distance)
        elif distance < 0:
            most = min(most, bound / distance)
        elif bound > 0:
            most = -math.inf
    square = sample.spread + loc * loc
    if not (least <= most and most > 0):
        raise outside(sample, task)
    if not square:
        raise ValueError(f"data must differ from floc={task.loc} to fit scale: all are equal to it")
    return min(max(1.0 / math.sqrt(square), least), most)


def outside(sample: Sample, task: FitTask) -> ValueError:
    """Return the error for data that no parameters left free can hold."""
    names = {"a": task.a, "b": task.b, "loc": task.loc, "scale": task.scale}
    given = ", ".join(f"{name}={value}" for name, value in names.items() if value is not None)
    return ValueError(
        f"data must lie between the ends, but no interval with {given} holds all from "
        f"{sample.least} to {sample.most}"
    )
