"""Data larger than memory: the same model wherever the rows come from, and only some in memory."""

import numpy as np
import pytest
from scipy import sparse

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, same, with_interrupts
from tests.support.rbm_runs import digits
from trug_fast._common import mapping
from trug_fast.training import chunks, gathering

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
interruptible = pytest.fixture(autouse=True)(with_interrupts)
data = pytest.fixture(scope="module")(digits)

OPTIONS = {"n_hidden": 6, "batch_size": 20, "epochs": 2, "rng": 0}


class Stored:
    """An array as libraries for large files have them, which counts what is read."""

    def __init__(self, data):
        self.shape, self.dtype, self.ndim = data.shape, data.dtype, 2
        self._data, self.most = data, 0

    def __getitem__(self, rows):
        found = self._data[rows]
        self.most = max(self.most, len(found))
        return found


def pieces(data, *ends):
    """Return a function that yields the rows up to each end."""
    return lambda: iter(np.split(data, ends))


def train(X, **options):
    return tf.train_rbm(X, **OPTIONS | options)


@pytest.mark.parametrize("visible", ["bernoulli", "gaussian"])
def test_one_chunk_is_the_array_itself(data, visible):
    rows = data if visible == "bernoulli" else data + np.float32(0.1) * data[::-1]
    whole = train(rows, visible=visible, validation=rows[:50])
    for source in (
        tf.training.Chunks(rows),
        tf.training.Chunks(pieces(rows), rows.shape),
        Stored(rows),
    ):
        held_out = tf.training.Chunks(rows[:50], rows=20)
        assert_same(whole, train(source, visible=visible, validation=held_out))


def test_chunks_are_the_same_wherever_they_come_from(data, tmp_path):
    np.save(tmp_path / "data.npy", data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    whole = train(tf.training.Chunks(data, rows=50))
    stored = Stored(data)
    for source in (
        tf.training.Chunks(mapped, rows=50),
        tf.training.Chunks(stored, rows=50),
        tf.training.Chunks(np.asfortranarray(data), rows=50),
        tf.training.Chunks(pieces(data, 50, 100), data.shape),
    ):
        assert_same(whole, train(source))
    assert stored.most == 50
    assert not same(whole.model, train(data).model)  # other batches
    updates = train(tf.training.Chunks(data, rows=50), epochs=1, callbacks=[print]).history
    assert len(updates["score"]) == 1


def test_hdf5_is_read_in_chunks(data, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    whole = train(tf.training.Chunks(data, rows=64))
    monkeypatch.setattr(chunks, "BYTES", 64 * data.shape[1])
    with h5py.File(tmp_path / "data.h5", "w") as file:
        stored = file.create_dataset("X", data=data, chunks=(10, 64), compression="gzip")
        assert_same(whole, train(stored))


def test_an_array_that_would_not_fit_is_read_in_chunks_unasked(data, monkeypatch):
    monkeypatch.setattr(chunks, "BYTES", 50 * data.shape[1])
    stored = Stored(data)
    fit = train(stored)
    assert stored.most == 50
    assert_same(fit, train(tf.training.Chunks(data, rows=50)))
    wide = tf.training.Chunks(Stored(np.zeros((5000, 8), np.uint8)))
    assert wide.rows == 50 * data.shape[1] // 8
    monkeypatch.setattr(chunks, "BYTES", 25_000)
    assert tf.training.Chunks(Stored(np.zeros((5000, 8), np.uint8))).rows == 3000


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array"])
def test_a_sparse_matrix_is_trained_on_as_the_array(data, kind, monkeypatch):
    monkeypatch.setattr(chunks, "BYTES", 40 * 64)
    monkeypatch.setattr(chunks, "TOGETHER", 80 * 64)
    matrix = getattr(sparse, kind)(data)
    whole = train(data, validation=data[:30])
    assert_same(whole, train(matrix, validation=sparse.csr_array(data[:30])))
    real = (data * np.linspace(0.1, 2, 64)).astype(np.float32)
    whole = train(real, visible="gaussian")
    assert_same(whole, train(getattr(sparse, kind)(real), visible="gaussian"))


@pytest.mark.parametrize("make", [lambda x: tf.training.Chunks(x, rows=50), sparse.csr_array])
def test_a_run_on_parts_goes_on_where_it_was(data, make, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    whole = train(make(data))
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 9)  # in the second epoch
        train(make(data), checkpoint=path)
    go_on = tf.training.Checkpoint(path, resume=True)
    for other, words in (
        (make(1 - data), "SHA-256"),
        (tf.training.Chunks(data, rows=40), "4 chunks"),
    ):
        with pytest.raises(ValueError, match=f"X is .*{words}"):
            train(other, checkpoint=go_on)
    assert_same(whole, train(make(data), checkpoint=go_on))


def test_a_large_file_is_passed_through(data, tmp_path, monkeypatch):
    np.save(tmp_path / "data.npy", data)
    whole = train(data)
    monkeypatch.setattr(gathering, "TOGETHER", 45 * 64)
    monkeypatch.setattr(gathering, "PASSED", 30 * 64)
    monkeypatch.setattr(mapping, "BLOCK", 20 * 64)
    released = []
    monkeypatch.setattr(gathering, "release", released.append)
    assert_same(whole, train(np.load(tmp_path / "data.npy", mmap_mode="r")))
    # Three parts an epoch, of 60, 60 and 10 rows, each in five passages, beside what is scored.
    assert len(released) >= 2 * 3 * 5


X = np.zeros((6, 4))
NOT_ONE = np.array([[0, 0], [0, 1], [0, 0], [0.5, 0]])
BAD = [
    (
        lambda: tf.training.Chunks([[0, 1]]),
        TypeError,
        "source must be a function, or have shape, .* list",
    ),
    (lambda: tf.training.Chunks(X[0]), ValueError, r"source must be a matrix .* got shape \(4,\)"),
    (
        lambda: tf.training.Chunks(X, (6, 5)),
        ValueError,
        r"shape must be that of the array, \(6, 4\)",
    ),
    (lambda: tf.training.Chunks(X, rows=0), ValueError, "rows must be at least 1, got 0"),
    (
        lambda: tf.training.Chunks(pieces(X)),
        TypeError,
        "shape must be a pair .rows, columns. beside",
    ),
    (lambda: tf.training.Chunks(pieces(X), (6, 0)), ValueError, "shape must be at least 1, got 0"),
    (
        lambda: tf.training.Chunks(pieces(X), X.shape, 2),
        ValueError,
        "rows has no effect on a function",
    ),
    (
        lambda: train(tf.training.Chunks(pieces(X), (7, 4))),
        ValueError,
        "chunks of 7 rows .*got 6 rows",
    ),
    (
        lambda: train(tf.training.Chunks(pieces(X, 3), (5, 4))),
        ValueError,
        "got 3 rows more in chunk 1",
    ),
    (
        lambda: train(tf.training.Chunks(pieces(X), (6, 3))),
        ValueError,
        "chunk 0 of X must have 3 columns",
    ),
    (
        lambda: train(tf.training.Chunks(NOT_ONE, rows=2)),
        ValueError,
        "chunk 1 of X must be 0 or 1, got 0.5 at row 1, column 0",
    ),
    (
        lambda: train(tf.training.Chunks(lambda: [["a"]], (1, 1))),
        TypeError,
        "chunk 0 of X must hold real",
    ),
    (lambda: train(sparse.csr_array(NOT_ONE)), ValueError, "X must be 0 or 1, got 0.5 at row 3"),
    (lambda: train(sparse.csr_array((0, 3))), ValueError, r"X must be .* not empty.*\(0, 3\)"),
    (lambda: train(X, validation=sparse.csr_array(X[:, :3])), ValueError, "validation must have 4"),
    (
        lambda: train(X, validation=tf.training.Chunks(X[:, :3])),
        ValueError,
        "validation must have 4 col",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), BAD)
def test_chunks_that_are_none(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_a_function_must_yield_the_same_chunks_again(data):
    passes = []

    def other():
        passes.append(1)
        return iter(np.split(data, [50 if len(passes) < 4 else 60]))

    with pytest.raises(ValueError, match="each as it was the first time, got 60 rows more in chu"):
        train(tf.training.Chunks(other, data.shape), epochs=9)
