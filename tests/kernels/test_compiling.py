"""The cache stamp: machine code never survives an edit of any file of the folder."""

import os
import re
import shutil
from pathlib import Path

import pytest
from numba import njit

from tests.support import processes
from trug_fast import kernels
from trug_fast.kernels import (
    caching,
    compiling,
    libraries,
    linking,
    loading,
    loops,
    numba_parts,
    plain,
)

HELPER = """
from .compiling import scalar

@scalar
def factor():
    return 2.0
"""
PARALLEL = """
from .compiling import kernel, linked
from .helper import factor
from .loops import each

@linked
def one(i, out):
    out[i] = factor()

@kernel
def fill(out):
    each(one, out.size, (out,))
"""
PATTERN = """
from .compiling import pattern, kernel
from .helper import factor

@pattern
def each(value_of, out):
    for i in range(out.size):
        out[i] = value_of()

@kernel
def fill(out):
    each(factor, out)
"""
# In rooms on other floors: files of one name that hold kernels of one name on the same line.
DEEP = """
from folder.compiling import kernel, linked
from folder.deep.er.helper import factor
from folder.loops import each

@linked
def one(i, out):
    out[i] = NUMBER * factor()

@kernel
def fill(out):
    each(one, out.size, (out,))
"""
ROOMS = ("rbm", "trbm", "deep/rbm")  # of which two end alike
SCRIPT = """
import numpy as np
from folder.kernel import fill
out = np.empty(3)
fill(out)
print(out[0], sum(fill.stats.cache_hits.values()))
"""


ALL_ROOMS = """
import numpy as np
from folder.rbm.kernel import fill as one
from folder.trbm.kernel import fill as two
from folder.deep.rbm.kernel import fill as three
for fill in (one, two, three):
    out = np.empty(3)
    fill(out)
    print(out[0], sum(fill.stats.cache_hits.values()))
"""


def fill(folder, kernel):
    """Make a folder of kernels like the package's."""
    folder.mkdir()
    (folder / "__init__.py").touch()
    modules = (caching, compiling, libraries, linking, loading, loops, numba_parts, plain)
    for module in modules:
        shutil.copy(module.__file__, folder)
    (folder / "helper.py").write_text(HELPER, encoding="utf-8")
    (folder / "kernel.py").write_text(kernel, encoding="utf-8")


def once(folder, script):
    """Run a script in a new process; return the values that it prints, with their cache hits."""
    variables = os.environ | {"NUMBA_CACHE_DIR": str(folder.parent / "cache")}
    printed, _ = processes.run(script, folder.parent, **variables)
    lines = (line.split() for line in printed.splitlines())
    return [(float(value), int(hits)) for value, hits in lines]


def edit(helper):
    """Have a helper return another number."""
    helper.write_text(helper.read_text(encoding="utf-8").replace("2.0", "3.0"), encoding="utf-8")


@pytest.mark.parametrize("kernel", [PARALLEL, PATTERN], ids=["parallel", "pattern"])
def test_an_edited_helper_reaches_the_kernel_in_another_file(kernel, tmp_path):
    folder = tmp_path / "folder"
    fill(folder, kernel)
    assert once(folder, SCRIPT) == [(2.0, 0)]
    assert once(folder, SCRIPT) == [(2.0, 1)]  # from the cache
    edit(folder / "helper.py")
    assert once(folder, SCRIPT) == [(3.0, 0)]


def test_rooms_on_other_floors_follow_a_helper_and_keep_apart(tmp_path):
    folder = tmp_path / "folder"
    fill(folder, PARALLEL)
    for room in ("deep", "deep/er", *ROOMS):
        (folder / room).mkdir()
        (folder / room / "__init__.py").touch()
    helper = folder / "deep" / "er" / "helper.py"
    helper.write_text(HELPER.replace("from .", "from folder."), encoding="utf-8")
    for number, room in enumerate(ROOMS, 1):
        text = DEEP.replace("NUMBER", str(number))
        (folder / room / "kernel.py").write_text(text, encoding="utf-8")
    assert once(folder, ALL_ROOMS) == [(2.0, 0), (4.0, 0), (6.0, 0)]
    assert once(folder, ALL_ROOMS) == [(2.0, 1), (4.0, 1), (6.0, 1)]
    edit(helper)
    assert once(folder, ALL_ROOMS) == [(3.0, 0), (6.0, 0), (9.0, 0)]
    assert once(folder, ALL_ROOMS) == [(3.0, 1), (6.0, 1), (9.0, 1)]


def test_the_stamp_covers_every_file_here():
    assert caching.STAMP == caching.folder_stamp()
    sources = list(Path(kernels.__file__).parent.rglob("*.py"))
    assert len(sources) > 30
    stamped = kernels.log_normalizer._cache._cache_file._source_stamp
    assert stamped == caching.STAMP


@pytest.mark.parametrize("name", ["one.py", "deep/two.py", "deep/numbers.txt"])
def test_the_stamp_covers_sources_and_tables(name, tmp_path, monkeypatch):
    monkeypatch.setattr(caching, "FOLDER", tmp_path)
    (tmp_path / "deep" / "__pycache__").mkdir(parents=True)
    for file in ("one.py", "deep/two.py", "deep/numbers.txt"):
        (tmp_path / file).write_text("1.0")
    before = caching.folder_stamp()
    (tmp_path / "deep" / "__pycache__" / "three.py").write_text("1.0")
    assert caching.folder_stamp() == before
    (tmp_path / name).write_text("2.0")
    assert caching.folder_stamp() != before


def test_every_kernel_is_compiled_by_the_decorators_of_this_file():
    """A plain njit would miss the stamp and the floating-point rules."""
    for path in Path(kernels.__file__).parent.rglob("*.py"):
        if path.name != "compiling.py":
            assert not re.search(r"^\s*@(nb\.|numba\.)?n?jit\b", path.read_text("utf-8"), re.M), (
                path
            )


def test_a_scalar_is_inlined_into_its_caller():
    @compiling.scalar
    def twice(x):
        return 2.0 * x

    @njit
    def caller(x):
        return twice(x)

    assert caller(4.0) == 8.0
    code = next(iter(caller.inspect_asm().values()))
    assert not re.search(r"^\s+call\w*\s.*twice", code, re.MULTILINE)
