"""Log-normalisers of whole hidden layers, from which free energies are made.

Tested in tests/models/test_rbm.py.
"""

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.loops import each
from trug_fast.kernels.tiles import HIDDEN, tile, tile_count

from .gibbs import dense_net
from .hidden import log_norm_row, part_of


@linked
def _log_norm_rows(net, units, values, parts, part, column):
    for r in range(part.row, part.row_stop):
        row = net[r, part.unit : part.unit_stop]
        parts[r, column] = log_norm_row(row, units, 1.0, 1.0, values)


@linked
def _log_norm_tile(index, layers, visible, net, parts):
    rows, units = net.shape
    part = tile(index, rows, units, HIDDEN)
    dense_net(layers, visible, net, part)
    values = empty(part.unit_stop - part.unit, np.float64)
    own = part_of(layers, part.unit, part.unit_stop)
    _log_norm_rows(net, own, values, parts, part, index % parts.shape[1])


@kernel
def log_norm_parts(layers, visible):
    """Return sum_j L(a_j(x)) of each row, by tiles: (rows, hidden tiles) float64, to be added."""
    rows, units = visible.shape[0], layers.weights.shape[1]
    net = empty((rows, units), visible.dtype)
    parts = empty((rows, tile_count(1, units, HIDDEN)), np.float64)
    each(_log_norm_tile, tile_count(rows, units, HIDDEN), (layers, visible, net, parts))
    return parts
