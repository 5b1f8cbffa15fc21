"""Data of one's own: what is read of files and folders, and what is said of wrong ones."""

import sys

import numpy as np
import pytest

from trug_fast.datasets import read

RNG = np.random.default_rng(0)
EXTRAS = {
    "t.h5": ("h5py", "h5py", "hdf5", ""),
    "t/t.png": ("PIL.Image", "Pillow", "images", ""),
}


def table(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def pictures(tmp_path):
    """Four images of 9x7 pixels in a folder with a subfolder, and their bytes."""
    image = pytest.importorskip("PIL.Image")
    levels = RNG.integers(0, 256, (4, 9, 7), dtype=np.uint8)
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    for name, array in zip(("a", "b", "c", "more/d"), levels, strict=True):
        image.fromarray(array).save(folder / f"{name}.png")
    (folder / ".hidden").write_text("not looked at")
    return folder, levels


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b,c\n1,2,3\n4,5,6\n", ("a", "b", "c")),
        ("\ufeffa;b;c\n1;2;3\n4;5;6", ("a", "b", "c")),
        ("1\t2\t3\n4\t5\t6\n\n", None),
        ("# made by hand\n1 2 3\n4 5 6\n", None),
        ('"x, y",b,c\r\n"1",2,3\r\n4,5e0,6\r\n', ("x, y", "b", "c")),
    ],
)
def test_tables(text, columns, tmp_path):
    data = read(table(tmp_path, text))
    assert data.columns == columns and data.image_shape is None
    np.testing.assert_array_equal(data.rows(), [[1, 2, 3], [4, 5, 6]])
    X, y = data.regression(-2)
    np.testing.assert_array_equal(X, [[1, 3], [4, 6]])
    np.testing.assert_array_equal(y, [2, 5])
    np.testing.assert_array_equal(data.sequences()[0], data.rows())


def test_one_column(tmp_path):
    data = read(table(tmp_path, "mean height\n1\n2\n"))
    assert data.columns == ("mean height",) and data.rows().tolist() == [[1], [2]]
    assert read(table(tmp_path, "1 2\n3 4\n")).rows().tolist() == [[1, 2], [3, 4]]
    assert read(table(tmp_path, "a b\n3 4\n", "t.txt")).columns == ("a", "b")
    assert read(table(tmp_path, "2019_1,2019_2\n3,4\n")).columns == ("2019_1", "2019_2")


@pytest.mark.parametrize("name", EXTRAS)
def test_the_extra_is_named_where_a_library_lacks(name, tmp_path, monkeypatch):
    module, words, extra, content = EXTRAS[name]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "t" if "/" in name else tmp_path / name
    with pytest.raises(ImportError, match=rf'{words}: pip install "trug-fast\[{extra}\]"'):
        read(path)
    plain = table(tmp_path, "a,b\n1,2\n")  # needs nothing
    assert read(plain).rows().tolist() == [[1, 2]]


@pytest.mark.parametrize("gap", ["", "nan"])
def test_numbers_are_the_nearest_ones(gap, tmp_path):
    # Without gaps NumPy reads them, else cell by cell.
    X = RNG.normal(size=(500, 2)) * 10.0 ** RNG.integers(-300, 300, (500, 2))
    lines = [f"{float(a)!r},{float(b)!r}" for a, b in X]
    rows = read(table(tmp_path, "\n".join([*lines, f"{gap},1"])), skip_missing=True).rows()
    np.testing.assert_array_equal(rows, X)


def test_columns_by_name_and_rows_without_values(tmp_path):
    path = table(tmp_path, "town,a,b\nOslo,1,2\nRome,,3\nBonn,4,n/a\nKyiv,5,6\n")
    data = read(path, drop="town", skip_missing=True)
    assert data.columns == ("a", "b")
    np.testing.assert_array_equal(data.rows(), [[1, 2], [5, 6]])
    X, y = data.regression("a")
    assert X.tolist() == [[2], [6]] and y.tolist() == [1, 5]
    np.testing.assert_array_equal(read(path, drop=["town", -1], skip_missing=True).rows()[1], [4])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("town,a\nOslo,1\n", "'town' holds the text 'Oslo' in row 0 .from 0.;.*drop='town'"),
        ("a,b,c\n1,2,3\nx,1,\n2,1,y\n", "'x' in row 1 .from 0., and so does 'c';.*drop='a'$"),
        ("a,b\n1,2\n3,\n", "row 1 .* no value in column 'b'; fill it in.*skip_missing=True"),
        ("a,b\n1,2\n3,nan\n", "row 1 .* no value in column 'b'"),
        ("a,b\n1,inf\n", "infinite value in column 'b'"),
        ("a;b\n1;2,5\n", "holds the text '2,5' in row 0 .from 0.; write numbers, as 1234.5"),
        ("a,b\n1,2,3\n", "row 0 .from 0. has more or fewer columns than the first line"),
        ("a,b\n1,2\n3\n", "row 1 .from 0. has more or fewer columns than the first line"),
        ("a,b\n1,2\n3,4,5\n", "row 1 .from 0. has more or fewer columns than the first line"),
        (",a,b\n0,5,5\n1,6,6\n", "the first column has no name and counts the rows.*drop=0"),
        ("a,b\n1_000,2\n", "holds the text '1_000'"),
        ('a,b\n1,\n"2,3\n', "is no table: unexpected end of data"),
        ("a,b\n", "holds no rows"),
        ("", "is empty"),
    ],
)
def test_wrong_tables(text, words, tmp_path):
    with pytest.raises(ValueError, match=words) as error:
        read(table(tmp_path, text)).rows()
    assert "t.csv" in str(error.value)


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe\n1\n".encode("utf-16"))
    with pytest.raises(ValueError, match="no text in UTF-8"):
        read(tmp_path / "t.csv")


def test_arrays(tmp_path):
    images, path = RNG.random((5, 4, 3)).astype(np.float32), tmp_path / "x.npy"
    np.save(path, images)
    data = read(path)
    assert data.image_shape == (4, 3) and data.rows().dtype == np.float32
    np.testing.assert_array_equal(data.rows(), images.reshape(5, 12))
    np.testing.assert_array_equal(data.sequences(), images)
    np.save(path, images.reshape(5, 12))
    assert read(path).image_shape is None
    assert read(path, size=(6, 2)).image_shape == (6, 2)
    np.testing.assert_array_equal(read(path, drop=[0, -1]).rows(), images.reshape(5, 12)[:, 1:-1])
    np.save(path, RNG.random((2, 6, 4, 3)))  # videos
    assert [x.shape for x in read(path).sequences()] == [(6, 12)] * 2
    np.save(path, np.arange(7.0))
    assert [x.tolist() for x in read(path).sequences(3)] == [[[0], [1], [2]], [[3], [4], [5]]]


def test_several_arrays(tmp_path):
    path, X, y = tmp_path / "x.npz", RNG.random((6, 3)), np.arange(6)
    np.savez(path, X=X, y=y, names=np.array(["a"]))
    np.testing.assert_array_equal(read(path, key="X").rows(), X)
    inputs, targets = read(path, key="X").regression("y")
    np.testing.assert_array_equal(inputs, X)
    np.testing.assert_array_equal(targets, y)
    assert read(path, key="X").regression(0)[0].shape == (6, 2)
    np.savez(path, a=X, b=X[:4], c=X[:2])
    assert [len(x) for x in read(path).sequences()] == [6, 4, 2]
    assert [len(x) for x in read(path).sequences(length=4)] == [4, 2, 4, 2]
    assert [len(x) for x in read(path, key="b").sequences()] == [4]


def test_a_folder_of_sequences(tmp_path):
    for name, length in (("b", 3), ("a", 5)):
        np.save(tmp_path / f"{name}.npy", np.full((length, 2), length))
    table(tmp_path, "x,y\n1,2\n", "c.csv")
    with pytest.raises(ValueError, match="files with the same columns"):
        read(tmp_path)
    table(tmp_path, "1,2\n", "c.csv")
    assert [len(x) for x in read(tmp_path).sequences()] == [5, 3, 1]
    with pytest.raises(ValueError, match="is a folder of sequences; name one of its files"):
        read(tmp_path).rows()


def test_a_folder_of_images(pictures):
    folder, levels = pictures
    data = read(folder)
    assert data.image_shape == (9, 7) and data.rows().dtype == np.float32
    np.testing.assert_allclose(data.rows(), levels.reshape(4, 63) / 255, atol=1e-7)
    np.testing.assert_array_equal(data.sequences(), data.rows()[None])  # a video of four frames
    small = read(folder, size=(3, 7)).rows().reshape(4, 3, 7)
    thirds = levels.reshape(4, 3, 3, 7).mean(axis=2) / 255
    np.testing.assert_allclose(small, thirds, atol=0.51 / 255)


def test_images_of_other_kinds(tmp_path):
    image = pytest.importorskip("PIL.Image")
    red = np.zeros((2, 2, 4), np.uint8)
    red[0] = (255, 0, 0, 255)  # the lower half is transparent black: white to see
    image.fromarray(red).save(tmp_path / "a.png")
    found = read(tmp_path).rows()[0]
    np.testing.assert_allclose(found, [0.298, 0.298, 1, 1], atol=0.002)
    deep = np.array([[0, 65535], [32768, 256]], np.uint16)
    image.fromarray(deep).save(tmp_path / "a.png")
    np.testing.assert_allclose(read(tmp_path).rows()[0], deep.ravel() / 65535, atol=1e-6)


def test_wrong_folders(pictures, tmp_path):
    folder, levels = pictures
    image = pytest.importorskip("PIL.Image")
    image.fromarray(levels[0][:5]).save(folder / "z.png")
    with pytest.raises(ValueError, match="z.png has 5x7 pixels.*has 9x7; scale.*size=28"):
        read(folder).rows()
    assert read(folder, size=4).rows().shape == (5, 16)
    (folder / "z.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="z.png is no image or is damaged"):
        read(folder, size=4)
    (folder / "notes.md").write_text("no picture")
    with pytest.raises(ValueError, match="notes.md is no image; leave nothing but images"):
        read(folder)
    image.fromarray(np.zeros((300, 300), np.uint8)).save(tmp_path / "large.png")
    for path in (folder / "z.png", folder / "notes.md", *folder.rglob("*.png")):
        path.unlink(missing_ok=True)
    (tmp_path / "large.png").rename(folder / "large.png")
    with pytest.raises(ValueError, match="300x300 pixels, a visible unit each.* scale.*size=28"):
        read(folder)
    (folder / "large.png").unlink()
    with pytest.raises(ValueError, match="holds no files"):
        read(folder)


@pytest.mark.parametrize(
    ("array", "call", "error", "words"),
    [
        (np.zeros(3), lambda d: d.rows(), ValueError, r"rows and columns, or images.*\(3,\)"),
        (np.zeros((2, 4, 4, 3)), lambda d: d.rows(), ValueError, "images with 3 colours"),
        (np.array([["a"]]), lambda d: d.rows(), TypeError, "must hold real numbers"),
        (np.zeros((2, 2), complex), lambda d: d.rows(), TypeError, "must hold real numbers"),
        (np.full((2, 2), np.nan), lambda d: d.sequences(), ValueError, "frame 0.*fill it in$"),
        (np.zeros((2, 1)), lambda d: d.regression(0), ValueError, "columns beside the target"),
        (np.zeros((2, 2)), lambda d: d.regression(2), ValueError, "columns 0 to 1, got target=2"),
        (np.zeros((2, 2)), lambda d: d.regression("y"), ValueError, "no column 'y'.*no names"),
        (np.zeros((2, 2)), lambda d: d.sequences(1), ValueError, "length must be at least 2"),
        (np.zeros((0, 2)), lambda d: d.rows(), ValueError, "holds no rows"),
    ],
)
def test_wrong_arrays(array, call, error, words, tmp_path):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(error, match=words):
        call(read(tmp_path / "x.npy"))


def test_wrong_files_and_arguments(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.zeros((2, 3)), b=np.zeros((2, 2)))
    np.save(tmp_path / "x.npy", np.zeros((2, 3)))
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("bad.npy", "bad.npz", "a.xlsx", "a.png"):
        (tmp_path / name).write_bytes(b"nonsense")
    for given, words in (
        (("none.csv", {}), "no such file or folder"),
        (("x.npz", {"key": "c"}), "no array key='c': it holds a, b"),
        (("x.npy", {"key": "c"}), "it is no .npz or .h5 file"),
        (("x.npz", {}), "holds the arrays a, b; choose one with key='a'"),
        (("x.npy", {"size": 2}), "3 columns, size=2x2 needs 4"),
        (("x.npy", {"drop": [0, 1, 2]}), "drop leaves none"),
        (("x.npy", {"drop": "town"}), "no column 'town'"),
        (("bad.npy", {}), "bad.npy is damaged, or holds no numbers"),
        (("bad.npz", {}), "damaged, or no archive of NumPy's"),
        (("o.npy", {}), "damaged, or holds no numbers, as X.astype.*Python objects"),
        (("a.xlsx", {}), "kind .xlsx are not read; store the data as .npy, .npz or .csv"),
        (("a.png", {}), "put images into a folder"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=words):
            read(tmp_path / given[0], **given[1]).rows()
    with pytest.raises(
        ValueError, match="as many columns each, 3 as the first one, got shape .2, 2. in b"
    ):
        read(tmp_path / "x.npz").sequences()
    with pytest.raises(ValueError, match="skip_missing=True has no effect on sequences"):
        read(tmp_path / "x.npy", skip_missing=True).sequences()
    with pytest.raises(TypeError):
        read(None)
    with pytest.raises(TypeError, match="must be a pair .height, width."):
        read(tmp_path / "x.npy", size="3x3")
