"""The UCI sets: what is read, and what is said of damaged files."""

import numpy as np
import pytest

from reproduction.datasets import load_uci, uci
from tests.support.data import DATA as REAL
from trug_fast import datasets

NAMES = [name for name in uci.UCI if name != "year"]

needs_real_files = pytest.mark.skipif(
    not (REAL / "uci").is_dir(), reason="the original files are not at hand"
)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)


@pytest.fixture
def small(monkeypatch):
    """A distribution of 10 rows under the name boston."""
    monkeypatch.setitem(uci.UCI, "boston", ("bostonHousing", 10))
    rng = np.random.default_rng(0)
    orders = [rng.permutation(10) for _ in range(3)]
    return {
        "data": rng.normal(size=(10, 4)),
        "index_features": np.array([0, 1, 3], np.int32),
        "index_target": np.array(2, np.int32),
        "index_train": np.array([order[:8] for order in orders], np.int32),
        "index_test": np.array([order[8:] for order in orders], np.int32),
    }


def write_texts(folder, arrays):
    folder.mkdir(parents=True)
    np.savetxt(folder / "data.txt", arrays["data"])
    np.savetxt(folder / "index_features.txt", arrays["index_features"])
    np.savetxt(folder / "index_target.txt", arrays["index_target"].reshape(1))
    for i in range(len(arrays["index_train"])):
        for part in ("train", "test"):
            np.savetxt(folder / f"index_{part}_{i}.txt", arrays[f"index_{part}"][i])


@needs_real_files
def test_the_shipped_yachts_and_splits_are_the_published_ones():
    ours, theirs = datasets.load_yacht(), load_uci("yacht", REAL)
    np.testing.assert_array_equal(ours.X, theirs.X)
    np.testing.assert_array_equal(ours.y, theirs.y)
    for part in ("train_rows", "test_rows"):
        for a, b in zip(getattr(ours, part), getattr(theirs, part), strict=True):
            np.testing.assert_array_equal(a, b)


@needs_real_files
@pytest.mark.parametrize("name", NAMES)
def test_facts_of_the_real_files(name):
    deviations = {"boston": 9.1880, "concrete": 16.6976, "energy": 10.0836, "kin8nm": 0.263591}
    deviations |= {"naval": 0.014720, "power": 17.0661, "protein": 6.1182, "wine": 0.8073}
    deviations |= {"yacht": 15.1359}
    data = load_uci(name, REAL)
    assert len(data.X) == uci.UCI[name][1] == len(data.y)
    assert data.y.std() == pytest.approx(deviations[name], rel=1e-4)
    assert data.n_splits == (5 if name == "protein" else 20)
    assert len(data.split(0).y_test) == pytest.approx(0.1 * len(data.y), abs=1)
    assert data.X.flags.c_contiguous


@pytest.mark.parametrize("sub", ["", "uci", "UCI_Datasets"])
def test_arrays_and_texts_are_read_alike(small, tmp_path, sub, monkeypatch):
    (tmp_path / sub).mkdir(exist_ok=True)
    np.savez(tmp_path / sub / "bostonHousing.npz", **small)
    packed = load_uci("boston", tmp_path)
    write_texts(tmp_path / "texts" / sub / "bostonHousing" / "data", small)
    monkeypatch.setenv("TRUG_FAST_DATA", str(tmp_path / "texts"))
    text = load_uci("boston")
    for data in (packed, text):
        np.testing.assert_array_equal(data.X, small["data"][:, [0, 1, 3]])
        np.testing.assert_array_equal(data.y, small["data"][:, 2])
        for i in range(3):
            np.testing.assert_array_equal(data.train_rows[i], small["index_train"][i])
            np.testing.assert_array_equal(data.test_rows[i], small["index_test"][i])


def test_year_is_read_from_its_own_file(tmp_path, monkeypatch):
    monkeypatch.setitem(uci.UCI, "year", ("YearPredictionMSD", 6))
    monkeypatch.setattr(uci, "YEAR_TRAIN", 4)
    table = np.random.default_rng(0).normal(size=(6, 91))
    np.savetxt(tmp_path / "YearPredictionMSD.txt", table, delimiter=",")
    data = load_uci("year", tmp_path)
    split = data.split(0)
    np.testing.assert_array_equal(split.X_train, table[:4, 1:])
    np.testing.assert_array_equal(split.y_test, table[4:, 0])
    np.savetxt(tmp_path / "YearPredictionMSD.txt", table[:5], delimiter=",")
    with pytest.raises(ValueError, match=r"must hold 6 rows of 91 numbers, got \(5, 91\)"):
        load_uci("year", tmp_path)
    (tmp_path / "YearPredictionMSD.txt").write_text("1,2\n3,x\n")
    with pytest.raises(ValueError, match="YearPredictionMSD.txt is damaged or cut short"):
        load_uci("year", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": np.zeros((9, 4))}, r"must hold 10 rows of finite numbers, got \(9, 4\)"),
        ({"data": np.full((10, 4), np.nan)}, "finite numbers"),
        ({"index_target": np.array(4)}, "names columns that its 4 do not have"),
        ({"index_train": np.zeros((3, 8), int)}, "does not have every row in one of its parts"),
    ],
)
def test_damaged_files_are_named(small, tmp_path, change, message):
    np.savez(tmp_path / "bostonHousing.npz", **(small | change))
    with pytest.raises(ValueError, match=message) as error:
        load_uci("boston", tmp_path)
    assert "bostonHousing.npz" in str(error.value)


def test_damaged_texts_and_missing_files_are_named(small, tmp_path):
    with pytest.raises(ValueError, match="name must be one of 'boston'"):
        load_uci("iris", tmp_path)
    with pytest.raises(FileNotFoundError, match="bostonHousing.npz or bostonHousing/data/data.txt"):
        load_uci("boston", tmp_path)
    write_texts(tmp_path / "bostonHousing" / "data", small)
    (tmp_path / "bostonHousing" / "data" / "data.txt").write_text("1 2\n3\n")
    with pytest.raises(ValueError, match="bostonHousing/data holds a damaged file"):
        load_uci("boston", tmp_path)
