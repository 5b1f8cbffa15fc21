"""Data in files of HDF5, as `read` takes them."""

import numpy as np
import pytest

from trug_fast.datasets import read

h5py = pytest.importorskip("h5py")
X = np.random.default_rng(0).integers(0, 2, (7, 5)).astype(np.float32)
LABELS = np.arange(7) % 3


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["samples"], file["labels"], file["about"] = X, LABELS, "words"
        file["more/samples"], file["count"] = X[:2], 3
    return tmp_path / "data.h5"


def test_samples_are_the_rows_and_labels_a_target(path):
    data = read(path)
    assert data.names == ("labels", "more/samples", "samples")
    rows = data.rows()
    np.testing.assert_array_equal(rows, X)
    assert rows.dtype == np.float32
    for found, expected in zip(data.regression("labels"), (X, LABELS), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        read(path, key="more/samples", drop=[1]).rows(), X[:2, [0, 2, 3, 4]]
    )


def test_what_is_said_of_others(path, tmp_path):
    with pytest.raises(
        ValueError, match="no array key='x': it holds labels, more/samples, samples"
    ):
        read(path, key="x")
    (tmp_path / "no.h5").write_bytes(b"something else")
    with pytest.raises(ValueError, match="no.h5 is damaged, or no file of HDF5"):
        read(tmp_path / "no.h5")
    (tmp_path / "cut.hdf5").write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="cut.hdf5 is damaged, or no file of HDF5"):
        read(tmp_path / "cut.hdf5")
    with h5py.File(tmp_path / "empty.h5", "w") as file:
        file["about"] = "words"
    with pytest.raises(ValueError, match="empty.h5 holds no arrays"):
        read(tmp_path / "empty.h5")
