"""The data's phase of rows that have weights: what each is worth in a gradient.

Rows without weights have no part in this: it is compiled for those who give some.

Tested in tests/training/rbm/test_weights.py.
"""

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.compiling import linked, rare
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.optimizer import add
from trug_fast.kernels.tiles import HIDDEN, ROWS, copy_rows, tile, tile_count

from .gibbs import hidden_net
from .hidden import Statistics, part_of, statistics_row

WEIGHTED = "weighted rows"  # subject of rare kernels


@linked
def _weighted_rows(net, units, mean, weights, sums, part):
    """Do what statistics of rows are, each row apart, and add it up by its weight."""
    unit, unit_stop = part.unit, part.unit_stop
    own = empty(sums.shape, sums.dtype)
    row = Statistics(own[0], own[1], own[2], own[3])
    for r in range(part.row, part.row_stop):
        own[:, :] = like(own[0, 0], 0.0)
        target = mean[r, unit:unit_stop]
        statistics_row(net[r, unit:unit_stop], units, target, row)
        for k in range(4):
            add(sums[k], own[k], weights[r], 1)
        for j in range(target.size):
            target[j] *= like(target[0], weights[r])


@linked
def _weighted_tile(index, layers, phase, weights):
    net = phase.net
    rows, units = net.shape
    part = tile(index, rows, units, HIDDEN)
    row, _, unit, unit_stop = part
    hidden_net(layers, phase.visible, net, part)
    total = zeros((4, unit_stop - unit), net.dtype)
    _weighted_rows(net, part_of(layers, unit, unit_stop), phase.mean, weights, total, part)
    copy_rows(total, phase.sums[row // ROWS, :, unit:unit_stop])


@rare(WEIGHTED)
def weighted_statistics(layers, phase, weights):
    """Fill a phase from its visible units; means and sums are multiplied by the rows' weights."""
    rows, units = phase.net.shape
    each(_weighted_tile, tile_count(rows, units, HIDDEN), (layers, phase, weights))
