"""Binarized MNIST: facts of the real files where they are at hand, else small files made here."""

import numpy as np
import pytest

from reproduction.datasets import binarized, load_binarized_mnist
from tests.support.data import DATA as REAL
from trug_fast import datasets

needs_real_files = pytest.mark.skipif(
    not (REAL / "mnist").is_dir(), reason="the original files are not at hand"
)


@pytest.fixture
def small_binarized(monkeypatch):
    rows = {"train": 4, "valid": 3, "test": 2}
    monkeypatch.setattr(binarized, "BINARIZED_MNIST_ROWS", rows)
    rng = np.random.default_rng(0)
    return {part: rng.integers(0, 2, (n, 784), np.uint8) for part, n in rows.items()}


@needs_real_files
def test_binarized_mnist_is_the_fixed_one():
    data = load_binarized_mnist(REAL)
    parts = data.train, data.valid, data.test
    assert [part.shape for part in parts] == [(50_000, 784), (10_000, 784), (10_000, 784)]
    assert [int(part.sum()) for part in parts] == [5_118_041, 1_028_036, 1_038_896]
    assert [int(part[0].sum()) for part in parts] == [123, 90, 147]
    assert all(part.dtype == np.uint8 and part.flags.c_contiguous for part in parts)
    assert data.merge_valid().train.shape == (60_000, 784)


@needs_real_files
def test_binarized_mnist_test_images_are_mnist_by_class():
    grey = datasets.load_mnist(REAL)
    images = grey.test[np.argsort(grey.test_labels, kind="stable")]
    binary = load_binarized_mnist(REAL).test
    assert not binary[images == 0].any() and binary[images == 1].all()


def written(folder, arrays, packed):
    """Write arrays as the one file, or as the three texts."""
    if packed:
        np.savez(folder / "binarized_mnist_fixed.npz", **arrays)
    for part, array in arrays.items() if not packed else ():
        np.savetxt(folder / f"binarized_mnist_{part}.amat", array, fmt="%d")


@pytest.mark.parametrize("packed", [True, False])
def test_binarized_mnist(tmp_path, small_binarized, packed):
    (tmp_path / "mnist_binarized").mkdir()
    written(tmp_path / "mnist_binarized", small_binarized, packed)
    data = load_binarized_mnist(tmp_path)
    for part, array in small_binarized.items():
        np.testing.assert_array_equal(getattr(data, part), array)
        assert getattr(data, part).dtype == np.uint8


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"valid": np.zeros((3, 783))}, "must hold 3 valid images, got shape"),
        ({"valid": np.full((3, 784), 2)}, "must hold pixels 0 and 1 only"),
    ],
)
def test_binarized_mnist_of_something_else(tmp_path, small_binarized, change, message, packed):
    written(tmp_path, small_binarized | change, packed)
    with pytest.raises(ValueError, match=rf"binarized_mnist_(fixed|valid).* {message}"):
        load_binarized_mnist(tmp_path)


@pytest.mark.parametrize(
    ("packed", "message"), [(True, "lacks the arrays valid"), (False, "no file .*_valid.amat")]
)
def test_binarized_mnist_without_a_part(tmp_path, small_binarized, packed, message):
    del small_binarized["valid"]
    written(tmp_path, small_binarized, packed)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load_binarized_mnist(tmp_path)


def test_missing_files_say_what_where_and_whence(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as caught:
        load_binarized_mnist(tmp_path)
    for word in ("binarized_mnist_fixed.npz", str(tmp_path), "Hugo Larochelle", "TRUG_FAST_DATA"):
        assert word in str(caught.value)
    assert "python -m reproduction fetch binarized-mnist" in str(caught.value)
    with pytest.raises(TypeError, match="directory must be a path or None, got int"):
        load_binarized_mnist(3)
