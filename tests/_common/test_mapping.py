"""Arrays in files are found behind views, looked at in blocks, and let go of."""

import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from trug_fast._common import mapping
from trug_fast._common.checkpoints import array_identity
from trug_fast.units.kinds import Run
from trug_fast.units.layer import Layer

BITS = Layer((Run("bernoulli", 1),))


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "data.npy", np.arange(60.0).reshape(20, 3))
    return tmp_path / "data.npy"


def resident():
    """Return the memory that pages of files have in this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssFile")))


def test_views_of_files_are_known(path):
    data = np.load(path, mmap_mode="r")
    for view in (data, data[3:], np.asarray(data)[::2].T):
        assert mapping.mapped(view) is not None
    for other in (np.zeros(3), np.array(data), None, 3.0):
        assert mapping.mapped(other) is None


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_what_is_let_go_can_be_read_again(path, mode):
    data = np.load(path, mmap_mode=mode)
    if mode != "r":
        data[0] = -1  # in "c" a private copy of the page, which must stay
    mapping.release(data[2:])
    expected = np.arange(60.0).reshape(20, 3)
    expected[0] = [0, 1, 2] if mode == "r" else -1
    np.testing.assert_array_equal(data, expected)


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="pages cannot be let go of here")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing tells what is there")
def test_checks_do_not_keep_a_file_in_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "ones.npy", np.ones((2**15, 128), np.float32))  # 16 MiB
    monkeypatch.setattr(mapping, "BLOCK", 2**16)
    data = np.load(tmp_path / "ones.npy", mmap_mode="r")
    before = resident()
    BITS.checked("X", data, soft=False)
    array_identity(data)
    assert resident() - before < 2**22
    assert data.sum() == 2**22 and resident() - before > 2**23


@pytest.mark.parametrize("bad", [2.0, np.nan, -1.0])
@pytest.mark.parametrize("row", [0, 7, 19])
def test_blocks_tell_where_it_is_as_the_whole_does(path, bad, row, monkeypatch):
    data = np.zeros((20, 3))
    data[row, 1] = bad
    words = []
    for size in (10**6, 7):
        monkeypatch.setattr(mapping, "BLOCK", size)
        with pytest.raises(ValueError, match=str(row)) as caught:
            BITS.checked("X", data)
        words.append(str(caught.value))
    assert words[0] == words[1]
    ones = np.ones((20, 3))
    assert [start for start, _ in mapping.blocks(ones)] == list(range(0, 20, 2))
    whole = array_identity(np.asfortranarray(data))
    monkeypatch.setattr(mapping, "BLOCK", 10**6)
    assert array_identity(data) == whole


def test_a_file_that_was_written_to_is_known(path):
    data = np.load(path, mmap_mode="r")
    before = mapping.FileState.of(data[3:])
    assert before.change(data) is None
    with path.open("r+b") as stream:
        stream.seek(200)
        stream.write(bytes(8))
    words = before.change(data)
    assert words.startswith(f"{path}, which is mapped to memory, was written to while")
    with path.open("ab") as stream:
        stream.write(bytes(8))
    size = path.stat().st_size
    assert f", from {size - 8} to {size} bytes: the model is" in before.change(data)


def test_a_file_in_the_place_of_a_mapped_one_changes_nothing(path):
    data = np.load(path, mmap_mode="r")
    before = mapping.FileState.of(data)
    if os.name != "nt":
        path.rename(path.with_name("old.npy"))
        np.save(path, np.zeros((2, 3)))
        assert before.change(data) is None
        path.unlink()
        assert before.change(data) is None
    for other in (np.zeros(3), np.array(data), data + 1, None, lambda: None):
        assert mapping.FileState.of(other) is None
