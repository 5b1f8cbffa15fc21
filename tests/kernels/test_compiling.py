"""The cache stamp: machine code never survives an edit of any file of the folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit

from trug_fast import kernels
from trug_fast.kernels import caching, compiling

HELPER = """
from .compiling import scalar

@scalar
def factor():
    return 2.0
"""
PARALLEL = """
from numba import prange
from .compiling import parallel
from .helper import factor

@parallel
def fill(out):
    for i in prange(out.size):
        out[i] = factor()
"""
PATTERN = """
from .compiling import pattern, serial
from .helper import factor

@pattern
def each(value_of, out):
    for i in range(out.size):
        out[i] = value_of()

@serial
def fill(out):
    each(factor, out)
"""
SCRIPT = """
import numpy as np
from folder.kernel import fill
out = np.empty(3)
fill(out)
print(out[0], sum(fill.stats.cache_hits.values()))
"""


def fill(folder, kernel):
    """Make a folder of kernels like the package's."""
    folder.mkdir()
    (folder / "__init__.py").touch()
    for module in (caching, compiling):
        shutil.copy(module.__file__, folder)
    (folder / "helper.py").write_text(HELPER, encoding="utf-8")
    (folder / "kernel.py").write_text(kernel, encoding="utf-8")


@pytest.fixture(params=[PARALLEL, PATTERN], ids=["parallel", "pattern"])
def run(tmp_path, request):
    folder = tmp_path / "folder"
    fill(folder, request.param)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",  # else Python itself may miss an edit within a second
    }

    def once():
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        value, hits = done.stdout.split()
        return float(value), int(hits)

    return folder, once


def test_an_edited_helper_reaches_the_kernel_in_another_file(run):
    folder, once = run
    assert once() == (2.0, 0)
    assert once() == (2.0, 1)  # from the cache
    helper = folder / "helper.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("2.0", "3.0"), encoding="utf-8")
    assert once() == (3.0, 0)


def test_the_stamp_covers_every_file_here():
    assert caching.STAMP == caching.folder_stamp()
    sources = list(Path(kernels.__file__).parent.rglob("*.py"))
    assert len(sources) > 30
    stamped = kernels.log_normalizer._cache._cache_file._source_stamp
    assert stamped == caching.STAMP


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
