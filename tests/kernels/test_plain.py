"""Kernels by what Numba documents alone: the same numbers, and when that way is taken."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trug_fast.kernels import numba_parts

TINY = """
import json
import numpy as np
from trug_fast.kernels import numba_parts, stream, uniform
rng = stream(3, chain=2)
print(json.dumps([numba_parts.PLAIN, [uniform(rng).hex() for _ in range(5)]]))
"""
ALL = """
import hashlib, json, warnings
import numpy as np
import trug_fast as tf

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
a = 3.0 * rng.normal(size=500)
X = (rng.random((200, 20)) < 0.3) * 1.0
S = (rng.random((3, 30, 6)) < 0.3) * 1.0

def bits(*arrays):
    every = b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)
    return hashlib.sha256(every).hexdigest()

def fields(model):
    return [one for one in vars(model).values() if isinstance(one, np.ndarray)]

model = tf.train_rbm(X, 8, epochs=5, batch_size=20, truncation="s-learn", rng=0).model
found = {
    "draws": bits(tf.truncnorm.rvs(a, a + 2.0, size=500, random_state=1)),
    "means": bits(tf.truncnorm.mean(a, a + 2.0)),
    "rbm": bits(*fields(model)),
    "annealing": bits(tf.log_partition(model, n_temperatures=50, base=X, rng=0).log_weights),
    "tggm": bits(*fields(tf.train_tggm(X[:, :4], a[:200], 5, epochs=3, rng=0).model)),
    "trbm": bits(*fields(tf.train_trbm(S, 5, epochs=3, rng=0, progress=False).model)),
}
moments = tf.truncnorm.var(a, a + 2.0), tf.truncnorm.stats(a, a + 2.0, moments="s")
print(json.dumps([found, [np.ravel(one).tolist() for one in moments]]))
"""


def python(script, before="", **variables):
    """Run a script in a new process; return what it printed last, and its words."""
    environment = {k: v for k, v in os.environ.items() if k != "TRUG_FAST_PLAIN_NUMBA"}
    done = subprocess.run(
        [sys.executable, "-c", before + script],
        env=environment | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


NEWER = "import numba; numba.__version__ = '0.99.0'\n"
LESS = "import numba.core.codegen as module; del module.JITCodeLibrary\n"
METHOD = "import numba.core.caching as module; del module.IndexDataCacheFile.flush\n"


@pytest.mark.parametrize(
    ("before", "variables", "plain", "why"),
    [
        ("", {}, False, None),
        ("", {"TRUG_FAST_PLAIN_NUMBA": "1"}, True, None),
        (NEWER, {}, True, "Numba 0.99.0 is newer than 0.68, the newest that was tried"),
        (NEWER, {"TRUG_FAST_PLAIN_NUMBA": "0"}, False, None),
        (NEWER, {"TRUG_FAST_PLAIN_NUMBA": "1"}, True, None),
        (LESS, {}, True, "lacks numba.core.codegen.JITCodeLibrary"),
        (LESS, {"TRUG_FAST_PLAIN_NUMBA": "0"}, True, "lacks numba.core.codegen.JITCodeLibrary"),
        (METHOD, {}, True, "lacks numba.core.caching.IndexDataCacheFile.flush"),
    ],
    ids=["known", "asked", "newer", "tried", "newer-asked", "less", "less-tried", "method"],
)
def test_the_plain_way_is_taken_where_it_must_be(before, variables, plain, why, tmp_path):
    (taken, numbers), words = python(TINY, before, NUMBA_CACHE_DIR=str(tmp_path), **variables)
    assert taken == plain
    assert words.count("RuntimeWarning") == (why is not None)
    assert why is None or why in words
    assert numbers == python(TINY)[0][1]


def test_the_plain_way_imports_nothing_of_the_other(tmp_path):
    script = """
import sys, json
import trug_fast.kernels.loops
print(json.dumps([name for name in ("linking", "libraries", "loading")
                  if f"trug_fast.kernels.{name}" in sys.modules]))
"""
    assert python(script, TRUG_FAST_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(tmp_path))[0] == []


def test_another_word_for_the_plain_way_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "import trug_fast.kernels"],
        env=os.environ | {"TRUG_FAST_PLAIN_NUMBA": "yes"},
        capture_output=True,
        text=True,
    )
    assert "ValueError: TRUG_FAST_PLAIN_NUMBA must be 0 or 1, got 'yes'" in done.stderr


def test_no_other_file_imports_what_numba_does_not_document():
    """``numba.core`` has documented parts: errors, cgutils, event."""
    documented = "from numba.core.errors", "from numba.core import cgutils", "event"
    folder = os.path.dirname(os.path.dirname(numba_parts.__file__))
    found = []
    for room, _, files in os.walk(folder):
        for name in filter(lambda name: name.endswith(".py"), files):
            with open(os.path.join(room, name), encoding="utf-8") as file:
                for line in file:
                    if line.lstrip().startswith(("from numba.", "import numba.")):
                        if line.split()[1] != "numba.extending" and not any(
                            one in line for one in documented
                        ):
                            found.append((name, line))
    assert found == []


def test_no_kernel_calls_another_with_a_star():
    """The plain way inlines callers, which Numba does not where arguments are starred."""
    found = []
    for path in Path(numba_parts.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
                continue
            if "intrinsic" in map(ast.unparse, function.decorator_list):
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call):
                    starred = any(isinstance(one, ast.Starred) for one in call.args)
                    found += [f"{path.name} {function.name}"] if starred else []
    assert found == []


KERNELS = """
import json
import numpy as np
from folder.kernel import at, fill, grow
out, one = np.zeros(5), np.zeros(1)
fill(out)
fill(one)
try:
    grow(np.array([1, 1 << 60, 1]), np.zeros(3))
    failed = ""
except MemoryError as error:
    failed = str(error)
print(json.dumps([out.tolist(), one.tolist(), failed, sum(fill.stats.cache_hits.values())]))
"""
KERNEL = """
import numpy as np
from .compiling import kernel, linked, rare, rarely
from .helper import factor
from .loops import each

@linked
def at(i, out, scale):
    out[i] = scale * factor() + i

@linked
def pair(x):
    return x, 2.0 * x

@rare("a subject")
def minus(out):
    out[0] = -factor()

@kernel
def fill(out):
    parts, (x, y) = (out, 0.5), pair(1.0)
    each(at, out.size, parts)
    out[-1] += x + y
    rarely(minus, (out,))

@linked
def hungry(i, sizes, out):
    out[i] = np.empty(sizes[i]).size

@kernel
def grow(sizes, out):
    each(hungry, sizes.size, (sizes, out))
"""


def test_kernels_call_each_other_fail_and_follow_an_edited_helper(tmp_path):
    from tests.kernels.test_compiling import edit, fill

    fill(tmp_path / "folder", KERNEL)
    variables = {"TRUG_FAST_PLAIN_NUMBA": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    at = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    for hits in (0, 1):  # compiled, then from the disk
        (out, one, failed, found), _ = python(KERNELS, at, **variables)
        assert (out, one, found) == ([-2.0, 2.0, 3.0, 4.0, 8.0], [-2.0], hits)
        assert "no memory" in failed
    edit(tmp_path / "folder" / "helper.py")
    (out, *_), _ = python(KERNELS, at, **variables)
    assert out == [-3.0, 2.5, 3.5, 4.5, 8.5]
    assert len(list((tmp_path / "cache").glob("*/plain-*"))) == 1  # that of older sources is gone


@pytest.mark.slow
def test_both_ways_have_the_same_numbers():
    (linked, moments), _ = python(ALL, TRUG_FAST_PLAIN_NUMBA="0")
    (plain, others), _ = python(ALL, TRUG_FAST_PLAIN_NUMBA="1")
    assert plain == linked
    # Which of its products and sums are fused changes with all else: two thirds of 3,000 skewnesses
    # differ, by 1.2e-15 at most.
    np.testing.assert_array_equal(moments[0], others[0])
    np.testing.assert_allclose(others[1], moments[1], rtol=4e-15)
