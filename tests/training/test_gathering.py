"""Batches are taken from rows that lie in one piece, whatever the order of the data."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, with_interrupts
from trug_fast.training import gathering, run
from trug_fast.training.learner import shuffled
from trug_fast.training.rbm import learner

interruptible = pytest.fixture(autouse=True)(with_interrupts)


def one_by_one(data, batches):
    """Yield each batch with the matrix that its rows lie in."""
    for source, part, numbers in gathering.in_reach(data, batches):
        if not isinstance(numbers, slice):
            np.testing.assert_array_equal(source[: numbers.size], data[numbers])
        for rows in part:
            yield source, rows


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64])
def test_rows_come_together_in_their_own_type(dtype):
    columns = np.asfortranarray(np.random.default_rng(0).random((7, 5)) < 0.5).astype(dtype)
    together = gathering.rows_together(columns)
    assert together.dtype == dtype and together.flags.c_contiguous
    np.testing.assert_array_equal(together, columns)
    for fine in (together, together[::2], together[:, :3], columns[:, :1]):
        assert gathering.rows_together(fine) is fine


def test_large_data_and_files_stay_where_they_are(tmp_path, monkeypatch):
    columns = np.asfortranarray(np.ones((6, 4)))
    np.save(tmp_path / "data.npy", columns)
    mapped = np.asarray(np.load(tmp_path / "data.npy", mmap_mode="r"))
    assert gathering.rows_together(mapped[1:]).strides == mapped.strides
    monkeypatch.setattr(gathering, "LARGEST", columns.nbytes - 1)
    assert gathering.rows_together(columns) is columns


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("together", [1, 150, 10**6])
def test_batches_of_columns_hold_the_rows_asked_for(dtype, together, monkeypatch):
    monkeypatch.setattr(gathering, "TOGETHER", together)
    columns = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (47, 5))).astype(dtype)
    batches = list(shuffled(3, 47, 10, 0))
    for given in (columns, columns[:, ::-1], np.ascontiguousarray(columns)):
        found = list(one_by_one(given, iter(batches)))
        assert [len(rows) for _, rows in found] == [10, 10, 10, 10, 7]
    taken = one_by_one(columns, iter(batches))
    for (source, rows), batch in zip(taken, batches, strict=True):
        assert source.dtype == dtype and source.strides[1] == source.itemsize
        np.testing.assert_array_equal(source[rows], columns[batch])


def test_data_that_need_nothing_are_handed_on():
    rows, batches = np.zeros((6, 3)), [np.arange(3), np.arange(3, 6)]
    for data in (rows, rows[:, :2], rows[::2], object()):
        for (source, own), batch in zip(one_by_one(data, batches), batches, strict=True):
            assert source is data and own is batch


@pytest.mark.parametrize("place", ["copied", "too large", "in a file"])
def test_training_gathers_rows_whatever_the_order_of_the_data(place, tmp_path, monkeypatch):
    data = (np.random.default_rng(0).random((60, 16)) < 0.3).astype(np.uint8)
    columns = np.asfortranarray(data)
    if place == "too large":
        monkeypatch.setattr(gathering, "LARGEST", 0)
        monkeypatch.setattr(gathering, "TOGETHER", 40 * 16)
    if place == "in a file":
        np.save(tmp_path / "data.npy", columns)
        columns = np.load(tmp_path / "data.npy", mmap_mode="r")
    gather, pieces = learner.gather, []

    def watched(source, order, out):
        pieces.append(source.strides[1] == source.itemsize)
        gather(source, order, out)

    monkeypatch.setattr(learner, "gather", watched)
    monkeypatch.setattr(run, "STRETCH", 0.0)
    options = {"epochs": 2, "batch_size": 20, "rng": 0}
    models = [tf.train_rbm(X, 4, **options).model for X in (data, columns)]
    np.testing.assert_array_equal(models[0].weights, models[1].weights)
    # Only chains that start at data that stay as they are go without.
    assert len(pieces) == 2 * 7 and pieces.count(False) == (place != "copied")


def test_training_on_columns_goes_on_in_the_middle_of_an_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "LARGEST", 0)
    monkeypatch.setattr(gathering, "TOGETHER", 40 * 16)
    data = np.asfortranarray(np.random.default_rng(0).random((60, 16)) < 0.3)
    options = {"epochs": 3, "batch_size": 20, "rng": 0}
    path = str(tmp_path / "run.npz")
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 4)
        tf.train_rbm(data, 4, **options, checkpoint=path)
    rest = tf.train_rbm(data, 4, **options, checkpoint=tf.training.Checkpoint(path, resume=True))
    whole = tf.train_rbm(data, 4, **options)
    assert_same(whole, rest)


@pytest.mark.parametrize("wrap", [lambda data: data, tf.training.Chunks], ids=["mapped", "chunks"])
@pytest.mark.parametrize("value", [0.5, 1e30, None])
def test_a_file_that_is_written_to_while_it_is_trained_on_is_told_as_such(tmp_path, wrap, value):
    path = tmp_path / "data.npy"
    rng = np.random.default_rng(0)  # something to be learned: no other warning
    rows = rng.choice([-1.0, 1.0], (300, 1)) + rng.normal(0.0, 0.2, (300, 8))
    np.save(path, rows.astype(np.float32))
    data = np.load(path, mmap_mode="r")

    def writing(end):
        if end.epoch == 2 and value is not None:
            with path.open("r+b") as stream:  # another process would
                stream.seek(data.offset)
                stream.write(np.full(data.shape, value, data.dtype).tobytes())

    own = {"n_hidden": 4, "visible": "gaussian", "epochs": 30, "rng": 0}
    own |= {"callbacks": [writing]}
    words = "data.npy, which is mapped to memory, was written to while it was trained on: the model"
    if value is None:
        tf.train_rbm(wrap(data), **own)
    elif value > 1:  # the advice would be to take a lower rate
        with pytest.warns(tf.training.TrainingWarning, match=words) as caught:
            fit = tf.train_rbm(wrap(data), **own)
        assert fit.interrupted and "learning_rate" not in str(caught[0].message)
    else:
        with pytest.warns(tf.training.TrainingWarning, match=words):
            tf.train_rbm(wrap(data), **own)
