"""Kernels that are compiled once: how they are called, what users' code may hold, references."""

import gc
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache
from numba.core.errors import TypingError

from trug_fast import kernels
from trug_fast.kernels import allocation, linking
from trug_fast.kernels.compiling import kernel, linked, rare, row_loop
from trug_fast.kernels.linking import links_of, rarely, want
from trug_fast.kernels.loops import each
from trug_fast.kernels.rbm import hidden


def uncached(function):
    """Compile a kernel anew in every process: of code from the disk nothing can be seen."""
    function._cache = NullCache()
    return function


@linked
def twice(values):
    """Double all."""
    for i in range(values.size):
        values[i] *= 2.0


@uncached
@kernel
def four_times(values):
    """Double all twice."""
    twice(values)
    twice(values)


@linked
def at(index, values, scale):
    """Write at one place."""
    values[index] = scale * index


@kernel
def ramp(values, scale):
    """Write at all places, in all threads."""
    each(at, values.size, (values, scale))


@linked
def hungry(index, sizes, out):
    """Ask for so much memory."""
    out[index] = np.empty(sizes[index]).size


@kernel
def feed(sizes, out):
    """Ask for memory in all threads."""
    each(hungry, sizes.size, (sizes, out))


@rare("tests of tests/kernels/test_linking.py")
def minus(values):
    """Turn the sign."""
    for i in range(values.size):
        values[i] = -values[i]


@kernel
def turn(values):
    """Turn the sign by a rare kernel."""
    rarely(minus, (values,))


def test_a_linked_kernel_is_called_and_not_copied():
    values = np.ones(3)
    four_times(values)
    np.testing.assert_array_equal(values, 4.0)
    (found,) = four_times.overloads.values()
    assert [(link.module, link.name) for link in set(links_of(found.library))] == [
        (__name__, "twice")
    ]


def test_each_calls_for_every_index_in_any_number_of_threads():
    for size in (0, 1, 2, 1000):
        values = np.full(size, np.nan)
        ramp(values, 0.5)
        np.testing.assert_array_equal(values, 0.5 * np.arange(size))


def test_a_failure_in_one_of_the_threads_is_an_error():
    out = np.zeros(3)
    feed(np.array([1, 2, 3]), out)
    np.testing.assert_array_equal(out, [1, 2, 3])
    with pytest.raises(MemoryError):
        feed(np.array([1, 1 << 60, 3]), out)


def test_a_rare_kernel_is_an_error_until_it_is_wanted():
    values = np.ones(2)
    with pytest.raises(RuntimeError, match="minus is not compiled: its subject is not wanted"):
        turn(values)
    assert not minus.overloads
    want(minus.subject)
    turn(values)
    np.testing.assert_array_equal(values, -1.0)
    turn(values.astype(np.float32))  # types that come later are compiled at once


def test_no_path_of_the_package_calls_a_rare_kernel_that_is_not_wanted():
    """Wherever units with d <= 0 reach kernels, they come through ``trug_units``."""
    script = """
import numpy as np, trug_fast as tf
from trug_fast.kernels import linking
X = (np.random.default_rng(0).random((12, 4)) < 0.5) * 1.0
tf.TruGRBM(np.ones((4, 2)), 0.0, 0.0, 1.0, 0.0, 1.0).hidden_moments(X)
assert not linking._wanted
model = tf.TruGRBM(np.ones((4, 2)), 0.0, 0.0, [-1.0, 1.0], 0.0, 1.0)
found = model.hidden_moments(X), model.free_energy(X), model.sample_hidden(X, rng=0)
assert all(np.isfinite(np.asarray(each)).all() for each in (*found[0], *found[1:]))
tf.train_rbm(X, 2, epochs=1, start=model, rng=0)
tf.log_partition(model, n_temperatures=5, n_chains=2, rng=0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", kernels.__all__)
def test_what_users_embed_holds_no_links(name):
    """Numba's own cache of their functions would not load them."""
    rng = kernels.stream(1)
    arguments = {"stream": (1,), "uniform": (rng,)}
    if name.startswith("draw"):
        arguments[name] = (rng, 0.0, 1.0, 0.0, 1.0)
    row, rows = np.zeros(1), np.ones((1, 1))
    index = np.array([0, 1])
    arguments["gibbs_step"] = (rng, row, row, rows, row, row)
    arguments["gibbs_step_sparse"] = (rng, row, row, index, index, rows[0], row, row)
    x = (0.5,) if name in ("cdf", "sf", "logcdf", "logsf", "logpdf", "ppf", "isf") else ()
    function = getattr(kernels, name)
    user = njit(lambda *args: function(*args))
    user(*arguments.get(name, (*x, 0.0, 1.0, 0.0, 1.0)))
    (found,) = user.overloads.values()
    assert not links_of(found.library)


USER = """
import sys
from numba import njit
from trug_fast.kernels import draw, mean_variance, stream

@njit(cache=True)
def sample(n):
    rng, total = stream(1), 0.0
    for i in range(n):
        total += draw(rng, 0.1 * i, 1.0, 0.0, 1.0) + mean_variance(0.1, -1.0, 0.0, 1.0)[0]
    return total

if __name__ == "__main__":
    print(sample(5), sum(sample.stats.cache_hits.values()))
"""


def test_a_users_function_is_kept_by_numbas_own_cache(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER, "utf-8")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def once():
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (total, hits), (again, more) = once(), once()
    assert (total, int(hits), int(more)) == (again, 0, 1)


def test_row_loops_count_no_references():
    for function in (hidden.mean_row, hidden.draw_row):
        assert isinstance(function, linking.Linked)

    @uncached
    @row_loop
    def shift(net, units, out):
        lower, upper = units.lower, units.upper
        for j in range(net.size):
            out[j] = net[j] + lower[j] - upper[j]

    @uncached
    @linked
    def rows(net, units, out):
        for r in range(net.shape[0]):
            shift(net[r], units, out[r])

    ones = np.ones(4)
    units = hidden.HiddenUnits(hidden.TRUG, ones, ones, ones, 0)
    matrix = np.ones((3, 4))
    njit(lambda net, units, out: rows(net, units, out))(matrix, units, np.empty_like(matrix))
    for function in (shift, rows):
        (code,) = function.inspect_asm().values()
        assert not re.search(r"NRT_incref|NRT_decref", code)


@kernel
def _new_arrays(rows, kind):
    return allocation.empty((rows, 2, np.int32(3)), kind.dtype), allocation.zeros(rows, np.uint64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_new_arrays_are_as_numpys(rows, dtype):
    like, none = _new_arrays(rows, np.empty(1, dtype))
    assert (like.shape, like.dtype) == ((rows, 2, 3), dtype)
    assert like.flags.c_contiguous and like.flags.owndata is False and like.flags.writeable
    assert like.ctypes.data % allocation.ALIGNMENT == 0
    like[...] = 1.0
    np.testing.assert_array_equal(none, np.zeros(rows, np.uint64))
    assert none.dtype == np.uint64


def test_a_new_array_is_refused_where_the_memory_is_not_there():
    with pytest.raises(MemoryError):
        _new_arrays(1 << 58, np.empty(1, np.float32))


def test_a_new_array_of_what_is_no_length_is_refused():
    with pytest.raises(TypingError, match="an array takes its lengths and a dtype"):
        njit(lambda: allocation.empty(2.0, np.float64))()
    with pytest.raises(TypingError, match="an array takes its lengths and a dtype"):
        njit(lambda: allocation.zeros(2, 3))()


@pytest.mark.parametrize("enabled", [True, False])
def test_compiling_leaves_the_collection_of_garbage_as_it_was(enabled):
    (gc.enable if enabled else gc.disable)()
    try:
        kernel(lambda values: values[0])(np.ones(2))
        assert gc.isenabled() == enabled
        with pytest.raises(TypingError):
            kernel(lambda values: values.nothing)(1.0)
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


COUNTED = """
import numpy as np, trug_fast as tf
from numba.core.runtime import rtsys
X = (np.random.default_rng(0).random((40, 5)) < 0.5) * 1.0
S = X.reshape(4, 10, 5)

def use():
    model = tf.train_rbm(X, 3, epochs=2, batch_size=10, rng=0).model
    model.sample(3, rng=0)
    model.hidden_moments(X)
    tf.log_partition(model, n_temperatures=20, n_chains=4, rng=0)
    tf.train_trbm(S, 3, epochs=1, rng=0, progress=False).model.generate(3, rng=0)
    tf.train_tggm(X, X[:, 0], 3, epochs=1, rng=0).model.posterior(X, X[:, 0])
    tf.truncnorm.rvs(0.0, 1.0, size=5000, rng=0)

use()
before = rtsys.get_allocation_stats()
use()
after = rtsys.get_allocation_stats()
print(after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free)
"""


def test_kernels_free_what_they_allocate_and_nothing_else():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNTED],
        env=os.environ | {"NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    allocated, freed = map(int, done.stdout.split())
    assert allocated == freed > 0
