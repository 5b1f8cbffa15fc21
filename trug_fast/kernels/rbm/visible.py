"""Rows of visible units: means and draws from their net inputs, of zeros and ones or of Gaussians.

Tested in tests/kernels/rbm/test_gibbs.py.
"""

from trug_fast.kernels.compiling import row_loop
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import sigmoid
from trug_fast.kernels.unit.quantile import quantile


@row_loop
def mean_visible_row(net, precision):
    """Replace net inputs by means: of zeros and ones, or, given precisions, of Gaussians."""
    for i in range(net.size):
        net[i] = sigmoid(net[i]) if precision.size == 0 else net[i] / precision[i]


@row_loop
def draw_visible_row(net, precision, uniform, sample):
    """Replace net inputs by means, and draw."""
    if precision.size == 0:
        for i in range(net.size):
            net[i] = sigmoid(net[i])
            sample[i] = like(net[i], 1.0) if uniform[i] < net[i] else like(net[i], 0.0)
        return
    infinity = like(net[0], float("inf"))
    for i in range(net.size):
        sample[i] = quantile(uniform[i], net[i], precision[i], -infinity, infinity)
        net[i] = net[i] / precision[i]
