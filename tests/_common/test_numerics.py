"""Sums in logarithms, and data in the kind of memory that kernels are compiled for."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import numerics
from trug_fast._common.numerics import log_sum_exp, read_only
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.tggm import mean_field


def test_sums_of_exponentials_neither_overflow_nor_vanish():
    assert log_sum_exp(np.array([1000.0, 1000.0])) == pytest.approx(1000.0 + np.log(2.0))
    assert log_sum_exp(np.array([-1000.0, -np.inf])) == -1000.0
    assert log_sum_exp(np.full(2, -np.inf)) == -np.inf


def test_a_view_cannot_be_written_to_and_shares_memory():
    weights = np.zeros(3)
    view = read_only(weights)
    weights[0] = 1.0
    assert view[0] == 1.0 and weights.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2.0


def test_no_kernel_is_compiled_again_for_memory_of_another_kind():
    """Each takes seconds: to Numba, arrays that are read-only or columns are of another type."""
    kernels = (
        *(gibbs.log_norm_parts, gibbs.hidden_moments, gibbs.step_hidden, gibbs.step_visible),
        mean_field.posterior,
    )
    rbm = tf.TruGRBM(np.ones((3, 2)), 0.0, 0.0, 1.0, 0.0, 1.0)
    regression = tf.TruGTGGM(np.ones((2, 3)), 0.0, np.ones((1, 2)), 0.0, 0.1, 0.0, 1.0)
    wide = np.eye(4)

    def use(given):
        rbm.free_energy(given)
        rbm.hidden_moments(given)
        rbm.sample_visible(rbm.sample_hidden(given, rng=0), rng=0)
        rbm.sample_visible(numerics.read_only(given[:, :2]), rng=0)
        regression.posterior(given, given[:, 0])

    use(wide[:, :3].copy())
    known = [set(kernel.signatures) for kernel in kernels]
    use(wide[:, :3])
    use(numerics.read_only(wide[:, :3].copy()))
    options = {"n_chains": 2, "n_temperatures": 2, "rng": 0, "progress": False}
    tf.log_partition(rbm, **options)  # the normaliser of a model without weights
    assert [set(kernel.signatures) for kernel in kernels] == known
