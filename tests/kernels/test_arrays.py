"""Kernels of whole arrays: their loops vectorise, and no element depends on its place."""

import re

import numpy as np
import pytest
from numba import njit

from tests.kernels.unit.test_normalizer import has_wide_vectors
from trug_fast.kernels import arrays, compiling
from trug_fast.kernels.unit import quantile_rows

OF_POINTS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"]
OF_INTERVALS = ["mean", "var", "skewness", "entropy", "log_mass"]
SUFFIXES = {np.float64: ("pd", "sd"), np.float32: ("ps", "ss")}  # packed numbers, one number


def arguments(name, n, dtype):
    """Return a, b, loc, scale behind what the kernel takes before them."""
    rng = np.random.default_rng(1)
    a = rng.uniform(-6, 6, n)
    values = [a, a + rng.uniform(1, 3, n), rng.normal(size=n), rng.uniform(1, 2, n)]
    if name in ("ppf", "isf"):
        values.insert(0, rng.random(n))
    elif name in OF_POINTS:
        values.insert(0, values[2] + values[3] * (a + rng.random(n)))
    return [v.astype(dtype) for v in values]


def compiled_anew(kernel):
    """Return a kernel whose assembly can be seen; code from the cache shows none."""
    return njit(**compiling._OPTIONS | {"cache": False})(kernel.py_func)


def machine_code(name, dtype):
    """Return the assembly of a kernel, or of what has its loops."""
    values = [*((1, 0) if name == "rvs_of_one" else ()), *arguments(name, 3, dtype)]
    if name == "rvs":  # its steps lie in two functions
        first, last = map(compiled_anew, (quantile_rows.weigh_ends, quantile_rows.go_on))
        space = np.empty(quantile_rows.SPACE, dtype)
        first(3, space)
        last(values[0], 3, space)
        return "".join(code for each in (first, last) for code in each.inspect_asm().values())
    own = {"ppf": arrays._quantiles, "isf": arrays._quantiles}
    kernel = compiled_anew(own.get(name, getattr(arrays, name)))
    if name in ("ppf", "isf"):
        values.insert(1, name == "isf")
    kernel(*values, np.empty(3, dtype))
    return next(iter(kernel.inspect_asm().values()))


@pytest.mark.skipif(not has_wide_vectors(), reason="x86-64 with AVX2 only")
@pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)], ids=["64", "32"]
)
@pytest.mark.parametrize(
    "name",  # each is compiled anew: a few by default
    [
        name
        if name in ("rvs", "rvs_of_one", "ppf", "var", "logcdf")
        else pytest.param(name, marks=pytest.mark.slow)
        for name in (*OF_POINTS, *OF_INTERVALS, "rvs", "rvs_of_one")
    ],
)
def test_every_loop_vectorises(name, dtype):
    code = machine_code(name, dtype)
    packed, single = SUFFIXES[dtype]
    wide = re.findall(rf"^\s+vfn?m\w+{packed}\s.*%[yz]mm", code, re.MULTILINE)
    alone = re.findall(rf"^\s+vfn?m\w+{single}\s", code, re.MULTILINE)
    # Each loop is there twice, wide and for the elements left over.  A loop that stays scalar, or
    # one of its functions called rather than inlined, would leave the wide ones behind.
    if name == "rvs_of_one":  # less is left in its loop, and what is outside is not wide
        assert len(wide) > 40
    else:
        assert len(wide) > 80 and len(wide) > 0.5 * len(alone)
    assert not re.search(r"call\w*\s+\**_?(exp|log|erf)", code)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*OF_POINTS, *OF_INTERVALS])
def test_an_element_does_not_depend_on_its_place(name, dtype):
    n = 2 * arrays.BLOCK + 37
    kernel, values = getattr(arrays, name), arguments(name, n, dtype)
    whole = np.empty(n, dtype)
    kernel(*values, whole)
    assert np.isfinite(whole).all()
    alone = [slice(i, i + 1) for i in range(500)]
    for cut in (*alone, slice(9, 20), slice(1000, 1100), slice(1, n)):
        part = np.empty_like(whole[cut])
        kernel(*(v[cut] for v in values), part)
        np.testing.assert_array_equal(part, whole[cut])


def test_a_draw_does_not_depend_on_how_many_follow():
    for dtype in (np.float64, np.float32):
        values = arguments("rvs", arrays.BLOCK, dtype)
        whole, part = np.empty(arrays.BLOCK, dtype), np.empty(arrays.BLOCK, dtype)
        arrays.rvs(1, 0, *values, whole)
        for n in range(1, 200):
            arrays.rvs(1, 0, *(v[:n] for v in values), part[:n])
            np.testing.assert_array_equal(part[:n], whole[:n])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_draws_of_one_interval_are_those_of_many(dtype):
    values = arguments("rvs", 60, dtype)
    odd = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, -1], [np.nan, 1, 0, 1], [0, 1, np.nan, 1]]
    odd += [[np.finfo(dtype).max, np.inf, 0, 1], [-np.inf, np.inf, 3, 2], [0, np.inf, np.inf, 1]]
    for row in [*np.stack(values, axis=1), *np.array(odd, dtype)]:
        one = [np.array([value], dtype) for value in row]
        for n, first in ((0, 0), (1, 0), (2 * arrays.BLOCK + 5, 5 * arrays.BLOCK)):
            many, alone = np.empty(n, dtype), np.empty(n, dtype)
            arrays.rvs(3, first, *(np.full(n, value, dtype) for value in row), many)
            arrays.rvs_of_one(3, first, *one, alone)
            np.testing.assert_array_equal(alone, many)


@pytest.mark.parametrize("name", [*OF_POINTS, *OF_INTERVALS])
def test_one_number_stands_for_all(name):
    values = arguments(name, 1500, np.float64)
    for i in range(len(values)):
        short = [v[:1] if i == k else v for k, v in enumerate(values)]
        full = [np.full(1500, v[0]) if i == k else v for k, v in enumerate(values)]
        results = [np.empty(1500), np.empty(1500)]
        getattr(arrays, name)(*short, results[0])
        getattr(arrays, name)(*full, results[1])
        np.testing.assert_array_equal(*results)
