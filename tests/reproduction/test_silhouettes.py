"""Silhouettes: facts of the real file where it lies at hand, small files made here otherwise."""

import numpy as np
import pytest
from scipy.io import savemat

from reproduction import datasets
from tests.support.data import DATA as REAL

needs_real_files = pytest.mark.skipif(
    not (REAL / "caltech101_silhouettes").is_dir(), reason="the original files are not at hand"
)


def silhouette_arrays():
    rng = np.random.default_rng(0)
    arrays = {}
    for part, n in (("train", 4), ("val", 3), ("test", 2)):
        arrays[f"{part}_data"] = rng.integers(0, 2, (n, 784)).astype(np.uint8)
        arrays[f"{part}_labels"] = np.arange(1, n + 1, dtype=np.uint8)[:, None]
    return arrays


SILHOUETTES = "caltech101_silhouettes_28_split1.mat"


@needs_real_files
def test_silhouettes_are_the_original():
    data = datasets.load_caltech101_silhouettes(REAL)
    parts = data.train, data.valid, data.test
    assert [part.shape for part in parts] == [(4100, 784), (2264, 784), (2307, 784)]
    assert [int(part.sum()) for part in parts] == [1_771_310, 951_315, 974_910]
    assert [int(part[0].sum()) for part in parts] == [362, 512, 411]
    labels = data.train_labels, data.valid_labels, data.test_labels
    assert [x[:3].tolist() for x in labels] == [[57, 26, 48], [45, 5, 5], [3, 21, 5]]
    assert [int((x == 1).sum()) for x in labels] == [100, 349, 349]
    merged = data.merge_valid()
    assert merged.train.shape == (6364, 784) and merged.train_labels.shape == (6364,)
    assert merged.valid is None and merged.valid_labels is None


def test_silhouettes_are_turned_upright(tmp_path):
    arrays = silhouette_arrays()
    savemat(tmp_path / SILHOUETTES, arrays)
    data = datasets.load_caltech101_silhouettes(tmp_path)
    for name, stored in (("train", "train"), ("valid", "val"), ("test", "test")):
        images = getattr(data, name)
        assert images.dtype == np.uint8 and images.flags.c_contiguous
        for row, column_major in zip(images, arrays[f"{stored}_data"], strict=True):
            np.testing.assert_array_equal(row.reshape(28, 28), column_major.reshape(28, 28).T)
        labels = getattr(data, f"{name}_labels")
        assert labels.tolist() == list(range(1, len(images) + 1))
    inverted = datasets.load_caltech101_silhouettes(tmp_path, invert=True)
    np.testing.assert_array_equal(inverted.test, 1 - data.test)


@pytest.mark.parametrize("kept", [0, 60, 200, -3])
def test_short_mat_file_is_named(tmp_path, kept):
    path = tmp_path / SILHOUETTES
    savemat(path, silhouette_arrays(), do_compression=True)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=SILHOUETTES):
        datasets.load_caltech101_silhouettes(tmp_path)


def test_mat_file_with_too_few_labels(tmp_path):
    savemat(tmp_path / SILHOUETTES, silhouette_arrays() | {"val_labels": np.ones((2, 1))})
    with pytest.raises(ValueError, match="each of its 3 images, got 2"):
        datasets.load_caltech101_silhouettes(tmp_path)


def test_a_missing_file_says_what_where_and_whence(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load_caltech101_silhouettes(tmp_path)
    for word in (SILHOUETTES, str(tmp_path), "Benjamin Marlin", "reproduction fetch caltech"):
        assert word in str(caught.value)
