"""Gibbs sampling of a truncated normal vector: coordinates in turn, many chains side by side.

A block of chains lies as (coordinates, chains): what a coordinate is told by the others is then a
sum of rows over chains, and so are its draws, which vectorise.  The sums of PANEL coordinates are
one matrix product of a dense precision, to which is added what changed within the panel; of a
sparse one, coordinates of a colour (no two of them neighbours) are drawn together.

Which chains are a block depends on their number alone, as do all random numbers on chain, sweep and
place: any number of threads gives the same bits.

Tested in tests/distributions/multivariate/test_gibbs.py.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import inner, kernel, linked, pattern, scalar
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.draws import draw
from trug_fast.kernels.random.philox import DISTRIBUTION, block, double_from_words
from trug_fast.kernels.tiles import block_height
from trug_fast.kernels.unit.quantile_rows import ROW, SPACE, quantile_row

BLOCK = 32  # chains that are a block, at most
PANEL = 32  # coordinates whose numbers are prepared together; even, as a block of words is a pair
SMALL = 8  # the same, and from how many chains on sums over panels vectorise


class Coordinates(NamedTuple):
    """What the draw of each coordinate needs beside the others, in the order of a sweep."""

    shift: np.ndarray  # (d,), the precision times the mean
    diagonal: np.ndarray  # (d,), of the precision
    lower: np.ndarray  # (d,)
    upper: np.ndarray  # (d,)
    places: np.ndarray  # (d,) of int64: where each stands in samples and states


class Neighbours(NamedTuple):
    """The rest of a sparse precision in compressed rows, in the order of a sweep."""

    starts: np.ndarray  # (d + 1,) of int64
    columns: np.ndarray  # of int64
    values: np.ndarray
    colour_ends: np.ndarray  # (d,) of int64: the first coordinate of the next colour


class Sweeps(NamedTuple):
    """Sweeps to run: some without a sample, then ``thin`` before each row of ``samples``."""

    seed: int
    first_step: int
    n_burn: int
    thin: int


@linked
def _load(states, first, places, x):
    for i in range(places.size):
        for c in range(x.shape[1]):
            x[i, c] = states[first + c, places[i]]


@linked
def _store(x, places, first, rows):
    """Write the states of a block to rows (chains, d), whose first row is chain 0."""
    for start in range(0, x.shape[1], 8):  # eight rows at a time stay in the cache
        stop = min(start + 8, x.shape[1])
        for i in range(places.size):
            for c in range(start, stop):
                rows[first + c, places[i]] = x[i, c]


@linked
def _fill_uniforms(address, first_chain, position, chains, out):
    """Write the numbers of places from ``position`` on, those of a place side by side."""
    seed, step = address
    for pair in range(out.size // (2 * chains)):
        one = out[2 * pair * chains : (2 * pair + 1) * chains]
        two = out[(2 * pair + 1) * chains : (2 * pair + 2) * chains]
        for c in range(chains):
            w0, w1, w2, w3 = block(seed, DISTRIBUTION, step, first_chain + c, position // 2 + pair)
            one[c] = double_from_words(w0, w1)
            two[c] = double_from_words(w2, w3)


@linked
def _spread(values, start, stop, chains, out):
    for i in range(start, stop):
        row = out[(i - start) * chains : (i - start + 1) * chains]
        value = values[i]
        for c in range(chains):
            row[c] = value


@linked
def _draw_places(coordinates, start, stop, uniform, net, drawn, space):
    """Draw coordinates start..stop, independent given the others."""
    size, chains = net.size, net.size // (stop - start)
    ends, steps = space
    _spread(coordinates.diagonal, start, stop, chains, ends[0])
    _spread(coordinates.lower, start, stop, chains, ends[1])
    _spread(coordinates.upper, start, stop, chains, ends[2])
    quantile_row(uniform, net, ends[0][:size], ends[1][:size], ends[2][:size], drawn, steps)


@linked
def _dense_panel(coordinates, others, position, x, uniform, work, space):
    """Draw a panel of coordinates from ``position`` on, one after the other."""
    net, change, drawn = work[0], work[1], work[2][0]
    chains = x.shape[1]
    rows = min(uniform.size // chains, x.shape[0] - position)
    gemm(False, False, -1.0, others[position : position + rows], x, 0.0, net[:rows])
    for r in range(rows):
        i = position + r
        own, old, moved, shift = net[r], x[i], change[r], coordinates.shift[i]
        for c in range(chains):
            own[c] += shift
        for k in range(r):
            weight, before = others[i, position + k], change[k]
            for c in range(chains):
                own[c] -= weight * before[c]
        part = uniform[r * chains : (r + 1) * chains]
        _draw_places(coordinates, i, i + 1, part, own, drawn[:chains], space)
        for c in range(chains):
            moved[c] = drawn[c] - old[c]
            old[c] = drawn[c]


@linked
def _sparse_panel(coordinates, others, position, x, uniform, work, space):
    """Draw a panel of coordinates from ``position`` on, those of a colour together."""
    drawn, net = work[2][0], work[2][1]
    chains, end = x.shape[1], min(position + uniform.size // x.shape[1], x.shape[0])
    start = position
    while start < end:
        stop = min(others.colour_ends[start], end)
        size = (stop - start) * chains
        for i in range(start, stop):
            own, shift = net[(i - start) * chains : (i - start + 1) * chains], coordinates.shift[i]
            for c in range(chains):
                own[c] = shift
            for entry in range(others.starts[i], others.starts[i + 1]):
                weight, neighbour = others.values[entry], x[others.columns[entry]]
                for c in range(chains):
                    own[c] -= weight * neighbour[c]
        begin = (start - position) * chains
        part = uniform[begin : begin + size]
        _draw_places(coordinates, start, stop, part, net[:size], drawn[:size], space)
        for i in range(start, stop):
            own, new = x[i], drawn[(i - start) * chains : (i - start + 1) * chains]
            for c in range(chains):
                own[c] = new[c]
        start = stop


@scalar
def _dense_width(chains):
    return PANEL if chains >= SMALL else SMALL


@scalar
def _sparse_width(chains):
    return max(PANEL, ROW // chains // 2 * 2)


@pattern
def _run_block(panel, width_of, index, coordinates, others, states, samples, sweeps):
    chains, d = states.shape
    height = block_height(chains, BLOCK)
    first = index * height
    n = min(height, chains - first)
    width = width_of(n)
    x, uniform = empty((d, n), np.float64), empty(width * n, np.float64)
    work = (
        empty((width, n), np.float64),
        empty((width, n), np.float64),
        empty((2, width * n), np.float64),
    )
    space = empty((3, width * n), np.float64), empty(SPACE, np.float64)
    _load(states, first, coordinates.places, x)
    for sweep in range(sweeps.n_burn + sweeps.thin * samples.shape[0]):
        address = sweeps.seed, sweeps.first_step + sweep
        for position in range(0, d, width):
            _fill_uniforms(address, first, position, n, uniform)
            panel(coordinates, others, position, x, uniform, work, space)
        kept = sweep - sweeps.n_burn + 1
        if kept > 0 and kept % sweeps.thin == 0:
            _store(x, coordinates.places, first, samples[kept // sweeps.thin - 1])
    _store(x, coordinates.places, first, states)


@linked
def _dense_block(index, coordinates, others, states, samples, sweeps):
    _run_block(_dense_panel, _dense_width, index, coordinates, others, states, samples, sweeps)


@linked
def _sparse_block(index, coordinates, others, states, samples, sweeps):
    _run_block(_sparse_panel, _sparse_width, index, coordinates, others, states, samples, sweeps)


@kernel
def run_dense(coordinates, others, states, samples, sweeps):
    """Run all chains; ``others`` is the precision (d, d) with zeros on its diagonal.

    states : (chains, d), from where and to where; samples : (draws, chains, d), written
    """
    chains = states.shape[0]
    count = -(-chains // block_height(chains, BLOCK))
    each(_dense_block, count, (coordinates, others, states, samples, sweeps))


@kernel
def run_sparse(coordinates, others, states, samples, sweeps):
    """Run all chains; ``others`` are Neighbours, everything in the order of a sweep."""
    chains = states.shape[0]
    count = -(-chains // block_height(chains, BLOCK))
    each(_sparse_block, count, (coordinates, others, states, samples, sweeps))


@kernel
def colour(starts, columns, colours):
    """Give each coordinate the least colour that none of its neighbours has; return how many."""
    n_colours = 0
    taken = empty(colours.size + 1, np.int64)  # by colour: the last coordinate that may not have it
    for i in range(taken.size):
        taken[i] = -1
    for i in range(colours.size):
        colours[i] = -1
    for i in range(colours.size):
        for entry in range(starts[i], starts[i + 1]):
            if columns[entry] < i:
                taken[colours[columns[entry]]] = i
        own = 0
        while taken[own] == i:
            own += 1
        colours[i] = own
        n_colours = max(n_colours, own + 1)
    return n_colours


@inner
def gibbs_step(rng, x, mean, precision, lower, upper):
    """Draw each coordinate of a truncated normal vector once, given all others; x is changed.

    Parameters
    ----------
    rng : numpy.random.Generator or numpy.ndarray
        A NumPy Generator or a stream from :func:`stream`.
    x : numpy.ndarray
        Shape (d,), float64: the state, between lower and upper.
    mean : numpy.ndarray
        Shape (d,), of the normal before truncation.
    precision : numpy.ndarray
        Shape (d, d), the inverse of its covariance.  Only its rows are read, in their order.
    lower, upper : numpy.ndarray
        Shape (d,); infinite ends are allowed.

    Notes
    -----
    mathematics 1.16.  Nothing is checked: shapes that do not fit end in wrong numbers, or worse.
    Each coordinate takes one uniform number, and d multiply-adds.

    Examples
    --------
    >>> import numpy as np
    >>> from trug_fast.kernels import gibbs_step, stream
    >>> x, lower, upper = np.ones(2), np.zeros(2), np.full(2, np.inf)
    >>> gibbs_step(stream(1), x, np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]), lower, upper)
    >>> bool((x > 0).all())
    True
    """
    for i in range(x.size):
        net = precision[i, i] * x[i]
        for j in range(x.size):
            net += precision[i, j] * (mean[j] - x[j])
        x[i] = draw(rng, net, precision[i, i], lower[i], upper[i])


@inner
def gibbs_step_sparse(rng, x, mean, starts, columns, values, lower, upper):
    """Draw each coordinate once, as :func:`gibbs_step` does, from a sparse precision.

    Parameters
    ----------
    rng, x, mean, lower, upper
        As of :func:`gibbs_step`.
    starts, columns, values : numpy.ndarray
        The precision in compressed rows: ``indptr``, ``indices`` and ``data`` of a
        ``scipy.sparse.csr_array``, without duplicates.

    Notes
    -----
    mathematics 1.16; a coordinate without an entry on the diagonal becomes NaN.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from trug_fast.kernels import gibbs_step_sparse, stream
    >>> q = scipy.sparse.csr_array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> x, zero, far = np.ones(3), np.zeros(3), np.full(3, np.inf)
    >>> gibbs_step_sparse(stream(1), x, zero, q.indptr, q.indices, q.data, zero, far)
    >>> bool((x > 0).all())
    True
    """
    for i in range(x.size):
        net, diagonal = 0.0, 0.0
        for entry in range(starts[i], starts[i + 1]):
            j, value = columns[entry], values[entry]
            net += value * (mean[j] - x[j])
            diagonal += value if j == i else 0.0
        x[i] = draw(rng, net + diagonal * x[i], diagonal, lower[i], upper[i])
