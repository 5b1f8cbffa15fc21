"""Draws of whole rows of units: the steps of quantile.py one by one, each a loop of its own.

One loop over all of a draw is a chain of 450 instructions, of which a processor sees a third at a
time: it waits for one number where it could work at the next eight.  Loops over one step each are
short enough that it works at many units at once.  Nanoseconds a draw, in one loop and so, on an
AMD EPYC (family 25, model 17):

=========  =============  =============
           512 bits       256 bits
=========  =============  =============
float64    15.1, 10.4     26.7, 14.7
float32    6.2, 4.1       11.2, 5.9
=========  =============  =============

Between steps numbers wait in ``space``, one array with all that a row of units needs, at distances
that the compiler knows: so it sees that they do not overlap, however many there are.

Tested in tests/kernels/unit/test_quantile.py.
"""

from trug_fast.kernels.compiling import linked, row_loop
from trug_fast.kernels.intrinsics import like

from . import quantile as steps

ROW = 256  # units that go through together, whose numbers stay in the first-level cache
# Distances of 4096 bytes, or multiples, are taken for none by a processor that orders loads after
# stores.
PITCH = ROW + 16
# Where numbers lie; some places are taken again once their numbers are used.
U, FAR, WIDTH, TAU, SIGNED, BY_NEAR, BY_FAR, NEAR_0, FAR_0, DECAY, MINUS, HEIGHT = (
    k * PITCH for k in range(12)
)
NEAR, BEND, LOST, STEP, TARGET = BY_NEAR, BY_FAR, FAR, WIDTH, TAU
SURVIVAL, FACTOR, V, RISE, EXCESS = DECAY, HEIGHT, MINUS, NEAR_0, FAR_0
SPACE = 12 * PITCH  # length of ``space``, of the units' float type


@row_loop
def begin(a, d, lower, upper, space):
    """Take the first step of up to ROW units."""
    for i in range(a.size):
        (
            space[U + i],
            space[FAR + i],
            space[WIDTH + i],
            space[TAU + i],
            space[SIGNED + i],
            space[BY_NEAR + i],
            space[BY_FAR + i],
        ) = steps.frame(a[i], d[i], lower[i], upper[i])


@row_loop
def begin_standard(lower, upper, space):
    """Take the first step of standard normals, for which it has neither root nor quotient."""
    for i in range(lower.size):
        zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
        (
            space[U + i],
            space[FAR + i],
            space[WIDTH + i],
            space[TAU + i],
            space[SIGNED + i],
            space[BY_NEAR + i],
            space[BY_FAR + i],
        ) = steps.frame(zero, one, lower[i], upper[i])


@row_loop
def weigh_ends(n, space):
    """Take the steps of n units that no uniform has a part in."""
    for i in range(n):
        space[BY_NEAR + i] = steps.slope(space[BY_NEAR + i])
    for i in range(n):
        space[BY_FAR + i] = steps.slope(space[BY_FAR + i])
    for i in range(n):
        (
            space[TAU + i],
            space[NEAR + i],
            space[BEND + i],
            space[NEAR_0 + i],
            space[FAR_0 + i],
        ) = steps.hazards(
            space[U + i],
            space[FAR + i],
            space[WIDTH + i],
            space[TAU + i],
            space[BY_NEAR + i],
            space[BY_FAR + i],
        )
    for i in range(n):
        space[DECAY + i], space[MINUS + i], space[HEIGHT + i] = steps.weights(
            space[U + i], space[TAU + i]
        )


@row_loop
def go_on(p, n, space):
    """Take the steps of n units from there to the last, given their uniforms."""
    for i in range(n):
        ends = space[U + i], space[FAR + i], space[WIDTH + i]
        weights = space[DECAY + i], space[MINUS + i], space[HEIGHT + i]
        space[SURVIVAL + i], space[LOST + i], space[FACTOR + i], space[STEP + i] = steps.share(
            p[i],
            like(p[i], 1.0) - p[i],
            ends,
            space[SIGNED + i],
            space[NEAR + i],
            space[NEAR_0 + i],
            space[FAR_0 + i],
            weights,
        )
    for i in range(n):
        space[TARGET + i], space[V + i] = steps.start(
            space[SURVIVAL + i],
            space[LOST + i],
            space[U + i],
            space[NEAR + i],
            space[BEND + i],
        )
    for i in range(n):
        x = steps.base_of(space[U + i]) + space[V + i]
        space[RISE + i] = steps.slope(like(x, 1.0) / (x + like(x, 4.0)))
    for i in range(n):
        space[EXCESS + i] = steps.excess(
            space[V + i],
            steps.base_of(space[U + i]),
            space[RISE + i],
            space[FACTOR + i],
            space[LOST + i],
        )
    for i in range(n):
        v = space[V + i]
        x = steps.base_of(space[U + i]) + v
        space[V + i] = steps.hazard_refine(
            v, x, space[RISE + i], space[EXCESS + i], space[TARGET + i]
        )


@row_loop
def end(a, lower, upper, space, out):
    """Take the last step of up to ROW units: write their draws."""
    for i in range(out.size):
        out[i] = steps.placed(
            space[V + i],
            space[U + i],
            space[SIGNED + i],
            space[STEP + i],
            a[i],
            lower[i],
            upper[i],
        )


@row_loop
def end_standard(lower, upper, space, out):
    """Take the last step of standard normals."""
    for i in range(out.size):
        out[i] = steps.placed(
            space[V + i],
            space[U + i],
            space[SIGNED + i],
            space[STEP + i],
            like(lower[i], 0.0),
            lower[i],
            upper[i],
        )


@linked
def quantile_row(p, a, d, lower, upper, out, space):
    """Write what ``quantile`` returns of each unit, d > 0; ``space`` has SPACE numbers."""
    for start in range(0, out.size, ROW):
        stop = min(start + ROW, out.size)
        low, high = lower[start:stop], upper[start:stop]
        begin(a[start:stop], d[start:stop], low, high, space)
        weigh_ends(stop - start, space)
        go_on(p[start:stop], stop - start, space)
        end(a[start:stop], low, high, space, out[start:stop])


@linked
def standard_quantile_row(p, lower, upper, out, space):
    """Write the same of up to ROW standard normals."""
    begin_standard(lower, upper, space)
    weigh_ends(out.size, space)
    go_on(p, out.size, space)
    end_standard(lower, upper, space, out)
