"""Visible units of any kind: the tiles they are cut into, means and draws from their net inputs.

Kernels see *columns*.  A categorical unit of q states takes q of them, zeros but for a one at its
state; every other unit takes one.  A draw takes one uniform a unit, whose address is the unit's own
number: results depend neither on tiles nor on threads.

Tested in tests/kernels/rbm/test_gibbs.py and test_visible.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import linked, rare_row, rarely, row_loop, scalar, want
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.random.philox import uniform_row
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, sigmoid
from trug_fast.kernels.tiles import ROWS, VISIBLE, Tile
from trug_fast.kernels.unit.quantile import quantile
from trug_fast.kernels.unit.quantile_rows import SPACE, quantile_row

from .hidden import TRUG, HiddenUnits, mean_row

BERNOULLI, SPIN, CATEGORICAL, GAUSSIAN, TRUNCATED = range(5)
KIND, FIRST, STOP, STATES = range(4)  # columns of spans
# Subjects of rare kernels.
SPINS, CATEGORIES, TRUNCATIONS = "spins", "categorical units", "truncated visible units"
WIDE = 256  # columns of a tile where some units are categorical, if they fit

# Sums of exp(net) in this range have lost no digits; beyond it they are taken from the largest.
LEAST, MOST = 1e-20, 1e20


class VisibleKinds(NamedTuple):
    """Which columns are of which kind, and where tiles of them begin."""

    spans: np.ndarray  # (spans, 4) int64: kind, first column, column to stop at, states of a unit
    precision: np.ndarray  # (columns,) of real units, 1 elsewhere; (0,) if none is real
    ends: np.ndarray  # (2, columns) of truncated units, any elsewhere; (2, 0) if none is truncated
    cuts: np.ndarray  # (tiles + 1,) int64: the columns where tiles begin, and their number


class VisiblePart(NamedTuple):
    """The visible units of a few columns."""

    spans: np.ndarray  # (spans, 4), counted from the first of these columns
    precision: np.ndarray  # (columns,) or (0,)
    lower: np.ndarray  # (columns,) or (0,)
    upper: np.ndarray  # (columns,) or (0,)
    address: int  # where their uniforms begin, a multiple of 64
    skipped: int  # uniforms before the first unit's
    uniforms: int  # how many to make, a multiple of 64
    space: np.ndarray  # (4 times the most states,), (SPACE,) of truncated units, to work in


def visible_kinds(
    spans: Sequence[Sequence[int]], precision: Any, ends: Any = None, width: int = VISIBLE
) -> VisibleKinds:
    """Return the kinds of units that kernels are to see in their columns.

    spans : (kind, first column, column to stop at, states) of neighbours of one kind, in order
        and without gaps; states are 1 but of categorical units
    precision : (columns,) if some are Gaussian or truncated, else (0,); its memory is shared
    ends : (2, columns) if some are truncated, of the same float type
    width : of a tile, a multiple of 64; of categorical units tiles are WIDE
    """
    found = np.array(spans, np.int64).reshape(-1, 4)
    want_kinds(found)
    ends = np.empty((2, 0), precision.dtype) if ends is None else ends
    return VisibleKinds(found, precision, ends, _cuts(found, width))


def want_kinds(spans: np.ndarray) -> None:
    """Have the kernels of these kinds compiled: also where a process was sent them ready-made."""
    for kind, subject in ((SPIN, SPINS), (CATEGORICAL, CATEGORIES), (TRUNCATED, TRUNCATIONS)):
        if (spans[:, KIND] == kind).any():
            want(subject)


def one_kind(columns: int, precision: Any, width: int = VISIBLE) -> VisibleKinds:
    """Return Gaussian units of these precisions; of no entries, units of zeros and ones."""
    kind = GAUSSIAN if precision.size else BERNOULLI
    return visible_kinds([(kind, 0, columns, 1)], precision, width=width)


def _cuts(spans: np.ndarray, width: int) -> np.ndarray:
    """Return where tiles begin: at multiples of ``width``, or with categories between units."""
    columns = int(spans[-1, STOP])
    if not (spans[:, KIND] == CATEGORICAL).any():
        return np.append(np.arange(0, columns, width), columns)
    units = [np.arange(first, stop, states) for _, first, stop, states in spans]
    edges = np.append(np.concatenate(units), columns)
    cuts = [0]
    while cuts[-1] < columns:
        last = int(np.searchsorted(edges, cuts[-1] + WIDE, "right")) - 1
        wide = int(edges[last])  # a unit of more states is a tile of its own
        cuts.append(wide if wide > cuts[-1] else int(edges[last + 1]))
    return np.array(cuts, np.int64)


@scalar
def tile_column(index, kinds):
    """Return which of the tiles of a row is number ``index``; the last come first, as in tile."""
    across = kinds.cuts.size - 1
    return across - 1 - index % across


@scalar
def visible_tile(index, rows, kinds, height=ROWS):
    """Return tile ``index`` of rows of visible units."""
    row, at = index // (kinds.cuts.size - 1) * height, tile_column(index, kinds)
    return Tile(row, min(row + height, rows), kinds.cuts[at], kinds.cuts[at + 1])


def count_visible_tiles(rows, kinds, height=ROWS):
    """Return how many tiles so many rows of visible units are cut into."""
    return -(-rows // height) * (kinds.cuts.size - 1)


visible_tile_count = scalar(count_visible_tiles)  # the same for kernels


@scalar
def span_at(spans, s):
    """Return kind, first column, column to stop at and states of a span."""
    return spans[s, KIND], spans[s, FIRST], spans[s, STOP], spans[s, STATES]


@linked
def visible_part(kinds, column, column_stop):
    """Return the units in columns ``column`` to ``column_stop``, none of which is cut."""
    spans, count, before = kinds.spans, 0, 0
    for s in range(spans.shape[0]):
        count += int(spans[s, STOP] > column and spans[s, FIRST] < column_stop)
    found = empty((count, 4), np.int64)
    at = units = size = 0
    for s in range(spans.shape[0]):
        kind, first, stop, states = span_at(spans, s)
        before += max(0, min(stop, column) - first) // states
        if stop > column and first < column_stop:
            found[at, KIND], found[at, STATES] = kind, states
            found[at, FIRST] = max(first, column) - column
            found[at, STOP] = min(stop, column_stop) - column
            units += (found[at, STOP] - found[at, FIRST]) // states
            at, size = at + 1, max(size, SPACE if kind == TRUNCATED else 4 * states)
    address = before - before % 64
    skipped = before - address
    uniforms = -(-(skipped + units) // 64) * 64
    precision = kinds.precision[column:column_stop]
    lower, upper = kinds.ends[0, column:column_stop], kinds.ends[1, column:column_stop]
    space = empty(size, precision.dtype)
    return VisiblePart(found, precision, lower, upper, address, skipped, uniforms, space)


@scalar
def spin_mean(net):
    """Return E[x] of a spin: tanh(net), to full relative precision."""
    e, minus = exp_and_expm1(like(net, -2.0) * abs(net))
    size = -minus / (like(net, 1.0) + e)
    return size if net >= like(net, 0.0) else -size


@rare_row(SPINS)
def _spin_means(net):
    for i in range(net.size):
        net[i] = spin_mean(net[i])


@rare_row(SPINS)
def _spin_draws(net, uniform, sample):
    for i in range(net.size):
        one = like(net[i], 1.0)
        sample[i] = one if uniform[i] < sigmoid(like(net[i], 2.0) * net[i]) else -one
        net[i] = spin_mean(net[i])


@scalar
def ordinary(total):
    """Tell whether a sum of exp(net) has lost no digits; not so of NaN."""
    return total > like(total, LEAST) and total < like(total, MOST)


@linked
def exp_from_largest(net, out):
    """Write exp(net - m) with m the largest, and return the sum."""
    largest = net[0]
    for k in range(1, net.size):
        largest = max(largest, net[k])
    total = like(largest, 0.0)
    for k in range(net.size):
        out[k] = exp(net[k] - largest)
        total += out[k]
    return total


@row_loop
def _sums_of_four(e, states, sums):
    """Write running sums of four units, side by side: none waits for the additions of another."""
    first = second = third = fourth = like(e[0], 0.0)
    for k in range(states):
        first += e[k]
        second += e[states + k]
        third += e[2 * states + k]
        fourth += e[3 * states + k]
        sums[k], sums[states + k] = first, second
        sums[2 * states + k], sums[3 * states + k] = third, fourth


@row_loop
def _sums_of_one(e, sums):
    total = like(e[0], 0.0)
    for k in range(e.size):
        total += e[k]
        sums[k] = total


@linked
def _running_sums(net, states, e, sums):
    """Write exp(net), and its running sums within each of up to four units.

    Where these would not fit, exp(net - largest).
    """
    if e.size == 4 * states:
        _sums_of_four(e, states, sums)
    for k in range(0, e.size, states):
        own, total = e[k : k + states], sums[k : k + states]
        if e.size < 4 * states:
            _sums_of_one(own, total)
        if not ordinary(total[states - 1]):
            exp_from_largest(net[k : k + states], own)
            _sums_of_one(own, total)


@linked
def categorical_means(net, states, mean, space):
    """Write the probabilities of the states of some units; ``space`` holds four times as many."""
    for i in range(net.size):
        mean[i] = exp(net[i])
    for first in range(0, net.size, 4 * states):
        stop = min(first + 4 * states, net.size)
        own, sums = mean[first:stop], space[: stop - first]
        _running_sums(net[first:stop], states, own, sums)
        for k in range(0, own.size, states):
            share, shares = like(own[0], 1.0) / sums[k + states - 1], own[k : k + states]
            for i in range(states):
                shares[i] *= share


@row_loop
def _pick_state(net, uniform, sums, sample):
    """Make exp(net) in ``sample`` the mean, in ``net``, and a draw by its running sums."""
    total = sums[sums.size - 1]
    share, at, state = like(total, 1.0) / total, uniform * total, 0
    for k in range(net.size):
        net[k] = share * sample[k]
        state += int(sums[k] <= at)
        sample[k] = like(at, 0.0)
    sample[state] = like(at, 1.0)  # sums[-1] > at, since 1 - uniform is more than a rounding error


@rare_row(CATEGORIES)
def _categorical_means(net, states):
    for first in range(0, net.size, states):
        own = net[first : first + states]
        share = like(own[0], 1.0) / exp_from_largest(own, own)
        for k in range(own.size):
            own[k] *= share


@rare_row(CATEGORIES)
def _categorical_draws(net, states, uniform, sample, space):
    for i in range(net.size):
        sample[i] = exp(net[i])
    for first in range(0, net.size, 4 * states):
        stop = min(first + 4 * states, net.size)
        own, drawn, sums = net[first:stop], sample[first:stop], space[: stop - first]
        _running_sums(own, states, drawn, sums)
        for k in range(0, own.size, states):
            number, last = uniform[(first + k) // states], k + states
            _pick_state(own[k:last], number, sums[k:last], drawn[k:last])


@scalar
def truncated_units(precision, lower, upper):
    """Return truncated visible units as the loops over rows of hidden ones take them."""
    return HiddenUnits(TRUG, precision, lower, upper, 0)


@rare_row(TRUNCATIONS)
def _truncated_means(net, precision, lower, upper, space):
    # Loops over rows write to other arrays than they read.
    mean = space[: net.size]
    mean_row(net, truncated_units(precision, lower, upper), mean)
    for i in range(net.size):
        net[i] = mean[i]


@rare_row(TRUNCATIONS)
def _truncated_draws(net, precision, lower, upper, uniform, sample, space):
    quantile_row(uniform, net, precision, lower, upper, sample, space)
    mean = space[: net.size]
    mean_row(net, truncated_units(precision, lower, upper), mean)
    for i in range(net.size):
        net[i] = mean[i]


@row_loop
def _mean_span(kind, states, net, precision, lower, upper, space):
    if kind == BERNOULLI:
        for i in range(net.size):
            net[i] = sigmoid(net[i])
    elif kind == GAUSSIAN:
        for i in range(net.size):
            net[i] = net[i] / precision[i]
    elif kind == SPIN:
        rarely(_spin_means, (net,))
    elif kind == TRUNCATED:
        rarely(_truncated_means, (net, precision, lower, upper, space))
    else:
        rarely(_categorical_means, (net, states))


@row_loop
def _draw_span(kind, states, net, precision, lower, upper, uniform, sample, space):
    if kind == BERNOULLI:
        for i in range(net.size):
            net[i] = sigmoid(net[i])
            sample[i] = like(net[i], 1.0) if uniform[i] < net[i] else like(net[i], 0.0)
    elif kind == GAUSSIAN:
        infinity = like(net[0], float("inf"))
        for i in range(net.size):
            sample[i] = quantile(uniform[i], net[i], precision[i], -infinity, infinity)
            net[i] = net[i] / precision[i]
    elif kind == SPIN:
        rarely(_spin_draws, (net, uniform, sample))
    elif kind == TRUNCATED:
        rarely(_truncated_draws, (net, precision, lower, upper, uniform, sample, space))
    else:
        rarely(_categorical_draws, (net, states, uniform, sample, space))


@scalar
def mean_visible_row(net, units):
    """Replace net inputs by means; ``units`` are the VisiblePart of this row."""
    for s in range(units.spans.shape[0]):
        kind, first, stop, states = span_at(units.spans, s)
        precision, lower = units.precision[first:stop], units.lower[first:stop]
        own, upper = net[first:stop], units.upper[first:stop]
        _mean_span(kind, states, own, precision, lower, upper, units.space)


@scalar
def draw_visible_row(net, units, uniform, sample):
    """Replace net inputs by means, and draw; ``uniform`` has one number a unit."""
    precision, space, at = units.precision, units.space, 0
    for s in range(units.spans.shape[0]):
        kind, first, stop, states = span_at(units.spans, s)
        own, drawn, numbers = net[first:stop], sample[first:stop], uniform[at:]
        lower, upper = units.lower[first:stop], units.upper[first:stop]
        _draw_span(kind, states, own, precision[first:stop], lower, upper, numbers, drawn, space)
        at += (stop - first) // states


@linked
def visible_rows(mean, units, address, uniform, sample, part):
    """Write means and draws of one tile of visible units from their net inputs.

    units : VisiblePart of the tile's columns
    sample : (rows, visible), or nothing: then means are all that is written
    """
    unit, unit_stop = part.unit, part.unit_stop
    numbers = uniform[units.skipped :]
    for r in range(part.row, part.row_stop):
        if sample.size == 0:
            mean_visible_row(mean[r, unit:unit_stop], units)
            continue
        chain = address.first_chain + r
        uniform_row(address.seed, address.purpose, address.step, chain, units.address, uniform)
        draw_visible_row(mean[r, unit:unit_stop], units, numbers, sample[r, unit:unit_stop])
