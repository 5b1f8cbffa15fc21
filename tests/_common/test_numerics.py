"""Data are brought into the order in which batches are gathered quickly."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import numerics
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
