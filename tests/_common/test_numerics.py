"""Data are brought into the order, and the kind of memory, that kernels are compiled for."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import numerics
from trug_fast.kernels.rbm import free_energy, gibbs
from trug_fast.kernels.tggm import mean_field
from trug_fast.training.rbm import learner


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64])
def test_rows_come_together_in_their_own_type(dtype):
    columns = np.asfortranarray(np.random.default_rng(0).random((7, 5)) < 0.5).astype(dtype)
    together = numerics.rows_together(columns)
    assert together.dtype == dtype and together.flags.c_contiguous
    np.testing.assert_array_equal(together, columns)
    for fine in (together, together[::2], together[:, :3], columns[:, :1]):
        assert numerics.rows_together(fine) is fine


def test_large_data_and_files_stay_where_they_are(tmp_path, monkeypatch):
    columns = np.asfortranarray(np.ones((6, 4)))
    np.save(tmp_path / "data.npy", columns)
    mapped = np.asarray(np.load(tmp_path / "data.npy", mmap_mode="r"))
    assert numerics.rows_together(mapped[1:]).strides == mapped.strides
    monkeypatch.setattr(numerics, "LARGEST", columns.nbytes - 1)
    assert numerics.rows_together(columns) is columns


def test_training_gathers_rows_whatever_the_order_of_the_data(monkeypatch):
    gather = learner.gather

    def watched(source, order, out):
        assert source.strides[1] == source.itemsize
        gather(source, order, out)

    monkeypatch.setattr(learner, "gather", watched)
    data = (np.random.default_rng(0).random((60, 16)) < 0.3).astype(np.uint8)
    options = {"epochs": 2, "batch_size": 20, "rng": 0}
    models = [tf.train_rbm(X, 4, **options).model for X in (data, np.asfortranarray(data))]
    np.testing.assert_array_equal(models[0].weights, models[1].weights)


def test_no_kernel_is_compiled_again_for_memory_of_another_kind():
    """Each takes seconds: to Numba, arrays that are read-only or columns are of another type."""
    kernels = (
        *(free_energy.log_norm_parts, gibbs.hidden_moments, gibbs.step_hidden, gibbs.step_visible),
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
