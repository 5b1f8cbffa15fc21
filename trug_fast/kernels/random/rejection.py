"""The two published samplers of truncated normals, complete for every interval.

Both work in the frame of normalizer.py: z is counted from the mode, v from the near end u, the
width may be infinite.  ``envelope`` is what they share: a uniform or an exponential proposal, the
latter cut to the interval, which is right everywhere and efficient where the interval is narrow or
far out.
"""

import math
from pathlib import Path

import numpy as np

from trug_fast.kernels.compiling import inner
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log, log1p

from .stream import uniform

TWO_PI = 6.283185307179586
# Above this width a normal draw falls inside often enough, below it a uniform one is accepted often
# enough: each at least every second time.
ROBERT_WIDTH = 2.5

# The cells, of equal area: edges, and how far up the curve reaches everywhere in the cell.  Where
# the point lies in its cell is independent of where it lies in height, so only points in the top
# layer need the density.  6 kB with the index below, so they stay in the first-level cache.
_EDGES = np.array(Path(__file__).with_name("chopin_edges.txt").read_text("ascii").split(), float)
CELLS = len(_EDGES) - 1
_FULL = np.exp(0.5 * (_EDGES[:-1] - _EDGES[1:]) * (_EDGES[:-1] + _EDGES[1:]))
_LAST = float(_EDGES[-1])
# The cell in which each bin of [0, X] begins.  Bins are narrower than cells: one step at most.
_BINS = 1024
_BINS_PER_UNIT = _BINS / _LAST
_STARTS = np.arange(_BINS + 1) / _BINS_PER_UNIT
_FIRST = (np.searchsorted(_EDGES, _STARTS, "right") - 1).astype(np.int16)
FEWEST_CELLS = 8  # below this, cells at the two ends would waste too many proposals


@inner
def envelope(rng, u, width):
    """Return v in [0, width] with density proportional to exp(-u v - v**2/2).

    Robert (1995), with his exponential proposal cut to the interval; at least 49 % of proposals are
    accepted if u >= 0 or the width is below 2.5.
    """
    rate = 0.5 * (u + math.sqrt(u * u + 4.0)) if u >= 0.0 else 0.0
    if width * rate < 1.0:
        v = width * uniform(rng)
        if u < 0.0:
            while uniform(rng) >= exp(-0.5 * (u + v) * (u + v)):
                v = width * uniform(rng)
        else:
            while uniform(rng) >= exp(-(u + 0.5 * v) * v):
                v = width * uniform(rng)
        return v
    shift = 1.0 / rate  # = rate - u, the mode of the ratio of target and proposal
    best = min(shift, width)
    _, whole = exp_and_expm1(-width * rate)
    while True:
        v = -log1p(uniform(rng) * whole) / rate
        if uniform(rng) < exp(0.5 * (best - v) * (best + v - 2.0 * shift)):
            return v


@inner
def normal_between(rng, u, u_far):
    """Return a normal z in [u, u_far] by drawing until one falls inside."""
    while True:
        # Box and Muller's pair of normals, of which one is used: simple, and no state to keep.
        radius = math.sqrt(-2.0 * log(uniform(rng)))
        z = radius * math.cos(TWO_PI * uniform(rng))
        if u <= z <= u_far:
            return z


@inner
def cell_of(z):
    """Return the number of the cell that z lies in: 0 to CELLS for z >= 0, -1 downwards below."""
    size = abs(z)
    if size >= _LAST:
        k = CELLS
    else:
        k = int(_FIRST[int(size * _BINS_PER_UNIT)])
        if size >= _EDGES[k + 1]:
            k += 1
        elif size < _EDGES[k]:  # rounding at the edge of a bin
            k -= 1
    return k if z >= 0.0 else -1 - k


@inner
def point_of_cells(rng, first, last, u, u_far):
    """Return a normal z in [u, u_far], whose ends lie in the cells ``first`` and ``last``.

    All cells have one area, so one of them is taken at random; its area is that under the curve but
    for the top layer.
    """
    while True:
        choice = uniform(rng) * (last - first + 1)
        step = int(choice)
        height = choice - step  # uniform still, on a grid of 2**-43
        j = first + step
        k = j if j >= 0 else -1 - j
        if k == CELLS:  # an exponential beyond the last edge
            v = -log(uniform(rng)) / _LAST
            z = _LAST + v
            accepted = height < exp(-0.5 * v * v)
        else:
            z = _EDGES[k] + uniform(rng) * (_EDGES[k + 1] - _EDGES[k])
            accepted = height < _FULL[k] or height < exp(0.5 * (_EDGES[k] - z) * (_EDGES[k] + z))
        z = z if j >= 0 else -z
        if accepted and u <= z <= u_far:
            return z


@inner
def robert(rng, u, u_far, width):
    """Return (z - u if the near end decides, else z; whether it is counted from the near end)."""
    if u < 0.0 and width >= ROBERT_WIDTH:
        return normal_between(rng, u, u_far), False
    return envelope(rng, u, width), True


@inner
def chopin(rng, u, u_far, width):
    """Return the same as ``robert``, by cells where the interval covers enough of them."""
    if u < _LAST:
        first, last = cell_of(u), cell_of(u_far)
        if last - first >= FEWEST_CELLS:
            return point_of_cells(rng, first, last, u, u_far), False
    return envelope(rng, u, width), True
