"""Data sets: facts of the real files where they lie at hand, small files made here otherwise."""

import doctest
import gzip
import subprocess
import sys

import numpy as np
import pytest

from tests.support.data import DATA as REAL
from tests.support.data import ROOT
from trug_fast import datasets
from trug_fast.datasets import published

needs_real_files = pytest.mark.skipif(
    not (REAL / "mnist").is_dir(), reason="the original files are not at hand"
)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)


def write_idx(path, values, magic=None):
    header = np.array([magic or 0x800 + values.ndim, *values.shape], ">u4").tobytes()
    content = header + values.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.fixture
def mnist_folder(tmp_path):
    rng = np.random.default_rng(0)
    for part, n, ending in (("train", 5, ".gz"), ("t10k", 3, "")):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{ending}", rng.integers(0, 256, (n, 28, 28)))
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{ending}", np.arange(n))
    return tmp_path


# The real files.


@needs_real_files
def test_mnist_is_the_original():
    mnist = datasets.load_mnist(REAL, binarize="threshold")
    assert mnist.train.shape == (60_000, 784) and mnist.test.shape == (10_000, 784)
    assert mnist.train.sum() == 6_221_431 and mnist.test.sum() == 1_052_359
    assert mnist.train_labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert mnist.test_labels[:5].tolist() == [7, 2, 1, 0, 4]
    counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(mnist.train_labels).tolist() == counts


@needs_real_files
def test_mnist_intensities_are_the_bytes_over_255(monkeypatch):
    monkeypatch.setenv("TRUG_FAST_DATA", str(REAL / "mnist"))
    mnist = datasets.load_mnist()
    assert mnist.train.dtype == np.float32
    for grey, total in ((mnist.train, 1_567_298_545), (mnist.test, 264_923_200)):
        assert np.rint(grey * 255).sum(dtype=np.int64) == total


# The digits, shipped.


def test_digits():
    digits = datasets.load_digits()
    assert digits.train.shape == (1437, 64) and digits.test.shape == (360, 64)
    assert digits.train.dtype == np.float32 and digits.train.max() == 1
    assert set(np.unique(digits.train * 16)) == set(range(17))
    assert digits.train_labels[:10].tolist() == list(range(10))


def test_digits_file_is_what_the_script_writes(tmp_path):
    pytest.importorskip("sklearn")
    path = tmp_path / "digits.npz"
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_digits.py"), str(path)], check=True)
    with np.load(path) as made, np.load(ROOT / "trug_fast/datasets/digits.npz") as shipped:
        assert sorted(made) == sorted(shipped)
        for key in made:
            np.testing.assert_array_equal(made[key], shipped[key])


def test_sampled_digits_follow_rng():
    first, again = (datasets.load_digits(binarize="sample", rng=4) for _ in range(2))
    other = datasets.load_digits(binarize="sample", rng=5)
    np.testing.assert_array_equal(first.train, again.train)
    np.testing.assert_array_equal(first.test, again.test)
    assert (first.train != other.train).any()
    grey = datasets.load_digits()
    # 0.01 is six standard errors of the mean of 92,000 pixels
    assert first.train.mean() == pytest.approx(grey.train.mean(), abs=0.01)


# MNIST from small idx files.


def test_mnist_reads_packed_and_unpacked_files(mnist_folder):
    mnist = datasets.load_mnist(mnist_folder)
    assert mnist.train.shape == (5, 784) and mnist.test.shape == (3, 784)
    assert mnist.train_labels.tolist() == [0, 1, 2, 3, 4]
    assert mnist.train_labels.dtype == np.int64
    pixels = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    np.testing.assert_array_equal(np.rint(mnist.train * 255), pixels.reshape(5, 784))


@pytest.mark.parametrize("subfolder", ["mnist", "MNIST/raw"])
def test_folder_comes_from_the_environment(mnist_folder, tmp_path_factory, monkeypatch, subfolder):
    top = tmp_path_factory.mktemp("data")
    (top / subfolder).parent.mkdir(exist_ok=True)
    (top / subfolder).symlink_to(mnist_folder, target_is_directory=True)
    monkeypatch.setenv("TRUG_FAST_DATA", str(top))
    assert len(datasets.load_mnist().train) == 5


def test_names_with_a_dot_are_found(mnist_folder):
    for path in mnist_folder.iterdir():
        path.rename(path.with_name(path.name.replace("-idx", ".idx")))
    assert len(datasets.load_mnist(mnist_folder).train) == 5


@pytest.mark.parametrize(
    ("part", "values", "magic", "message"),
    [
        ("images-idx3", np.zeros((5, 28, 28)), 2049, "or no idx file of bytes in 3 dimensions"),
        ("images-idx3", np.zeros((5, 8, 8)), None, r"28, 28\) at most, got \(5, 8, 8\)"),
        ("labels-idx1", np.zeros(4), None, "each of the 5 images .* got 4"),
    ],
)
def test_mnist_of_something_else(mnist_folder, part, values, magic, message):
    write_idx(mnist_folder / f"train-{part}-ubyte.gz", values, magic)
    with pytest.raises(ValueError, match=message):
        datasets.load_mnist(mnist_folder)


def test_a_short_file_is_named(mnist_folder):
    path = mnist_folder / "t10k-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"t10k.*cut short.* says \(3, 28, 28\), of 2367 bytes"):
        datasets.load_mnist(mnist_folder)


# What is asked of the caller.

FROM_FILES = [
    (datasets.load_mnist, "train-images-idx3-ubyte.gz", "Yann LeCun"),
]


@pytest.mark.parametrize(("load", "file", "home"), FROM_FILES)
def test_missing_files_say_what_where_and_whence(tmp_path, load, file, home):
    with pytest.raises(FileNotFoundError) as caught:
        load(tmp_path)
    for word in (file, str(tmp_path), home, "TRUG_FAST_DATA"):
        assert word in str(caught.value)
    with pytest.raises(FileNotFoundError, match="looked nowhere.*TRUG_FAST_DATA"):
        load()


@pytest.mark.parametrize("load", [row[0] for row in FROM_FILES])
def test_directory_must_be_a_path(load):
    with pytest.raises(ValueError, match="directory must name a folder, got ''"):
        datasets.load_mnist("")
    with pytest.raises(TypeError, match="directory must be a path or None, got int"):
        load(3)


@pytest.mark.parametrize("load", [datasets.load_digits, datasets.load_mnist])
def test_loaders_check_how_images_are_wanted_before_they_read(load):
    with pytest.raises(ValueError, match="binarize must be None, 'threshold' or 'sample', got 'x'"):
        load(binarize="x")
    with pytest.raises(TypeError, match="rng must be .* got str"):
        load(rng="x")


def test_data_cannot_be_reassigned():
    with pytest.raises(AttributeError):
        datasets.load_digits().train = None


def test_examples_run():
    failed, tried = doctest.testmod(published)
    assert tried and not failed
