"""Compiled kernels where little or nothing can be written, or the cache is damaged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.test_compiling import fill
from tests.support import processes

KERNEL = """
from .compiling import kernel
from .helper import factor

@kernel
def fill(out):
    out[:] = factor()
"""
SCRIPT = """
import numpy as np
from folder.kernel import fill
for size in (3, 4):
    out = np.empty(size)
    fill(out)
print(out[0], sum(fill.stats.cache_hits.values()))
"""
# Root may write everywhere: a folder that is said to be read-only is one for this process.
READ_ONLY = """
import tempfile
real = tempfile.TemporaryFile
def refuse(*args, dir=None, **options):
    if dir is not None and str(dir).startswith({folder!r}):
        raise PermissionError(13, "Permission denied", str(dir))
    return real(*args, dir=dir, **options)
tempfile.TemporaryFile = refuse
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of one kernel and a helper."""
    fill(tmp_path / "folder", KERNEL)
    return tmp_path / "folder"


def once(folder, cache, before="", **variables):
    """Run the kernel in a new process; return its value, its hits in the cache, and its words."""
    environment = os.environ | variables
    environment |= dict.fromkeys(("HOME", "LOCALAPPDATA", "XDG_CACHE_HOME"), str(cache))
    if "NUMBA_CACHE_DIR" not in variables:
        environment.pop("NUMBA_CACHE_DIR", None)
    printed, said = processes.run(before + SCRIPT, folder.parent, **environment)
    value, hits = printed.split()
    return float(value), int(hits), said


def nowhere(folder):
    """Leave no place for a cache: files stand where folders would be.  Return a home like that."""
    (folder / "__pycache__").touch()
    home = folder.parent / "home"
    home.touch()
    return home


def test_without_a_place_for_the_cache_kernels_run_and_it_is_said_once(folder):
    value, hits, words = once(folder, nowhere(folder))
    assert (value, hits) == (2.0, 0)
    assert words.count("RuntimeWarning") == 1
    assert "unless NUMBA_CACHE_DIR names a folder that can be written" in words


def test_the_folder_that_a_user_names_is_used(folder, tmp_path):
    home, own = nowhere(folder), tmp_path / "own"
    for expected in (0, 1):
        value, hits, words = once(folder, home, NUMBA_CACHE_DIR=str(own))
        assert (value, hits, words) == (2.0, expected, "")
    helper = folder / "helper.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("2.0", "3.0"), encoding="utf-8")
    assert once(folder, home, NUMBA_CACHE_DIR=str(own))[:2] == (3.0, 0)


def test_the_users_own_cache_notices_an_edited_helper_too(folder, tmp_path):
    (folder / "__pycache__").touch()
    for expected in (0, 1):
        assert once(folder, tmp_path / "home") == (2.0, expected, "")
    helper = folder / "helper.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("2.0", "3.0"), encoding="utf-8")
    assert once(folder, tmp_path / "home") == (3.0, 0, "")


@pytest.mark.parametrize("home", ["file", pytest.param("folder", marks=pytest.mark.slow)])
def test_kernels_beside_read_only_sources_are_read(folder, tmp_path, home):
    """So an image in which root has run the package once serves its users."""
    assert once(folder, tmp_path / "builder")[1] == 0
    before = READ_ONLY.format(folder=str(folder))
    if home == "file":
        (tmp_path / "home").touch()
    assert once(folder, tmp_path / "home", before) == (2.0, 1, "")


@pytest.mark.parametrize("what", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "length",
    [pytest.param(0, marks=pytest.mark.slow), 5, pytest.param(60, marks=pytest.mark.slow)],
)
def test_a_file_that_was_cut_off_is_compiled_anew(folder, tmp_path, what, length):
    once(folder, tmp_path)
    for path in Path(folder, "__pycache__").glob(f"*.{what}"):
        path.write_bytes(path.read_bytes()[:length])
    assert once(folder, tmp_path) == (2.0, 0, "")
    assert once(folder, tmp_path) == (2.0, 1, "")


def test_a_file_with_code_for_other_types_is_not_run(folder, tmp_path):
    both = "import numpy as np\nfrom folder.kernel import fill\nfill(np.empty(3, np.float32))\n"
    once(folder, tmp_path, both)
    first, second = sorted(Path(folder, "__pycache__").glob("kernel.fill*.nbc"))
    second.write_bytes(first.read_bytes())
    assert once(folder, tmp_path, both)[0] == 2.0


def test_a_full_disk_costs_the_cache_only(folder, tmp_path):
    full = """
import errno
from numba.core.caching import IndexDataCacheFile
def save(self, *args):
    raise OSError(errno.ENOSPC, "No space left on device")
IndexDataCacheFile.save = save
"""
    value, hits, words = once(folder, tmp_path, full)
    assert (value, hits) == (2.0, 0)
    assert words.count("RuntimeWarning") == 1 and "No space left on device" in words


def test_without_compilation_the_import_says_what_to_do():
    command = [sys.executable, "-c", "from trug_fast import truncnorm"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "ImportError: trug_fast consists of compiled kernels: unset NUMBA_DISABLE_JIT" in (
        done.stderr
    )
