"""Kernels of whole arrays: their loops vectorise, and no element depends on its place."""

import re
from functools import cache

import numpy as np
import pytest
from numba import njit

from tests.kernels.unit.test_normalizer import has_wide_vectors
from trug_fast.kernels import arrays, compiling
from trug_fast.kernels.unit import quantile_rows

OF_POINTS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"]
OF_INTERVALS = ["mean", "var", "skewness", "entropy", "log_mass"]
SUFFIXES = {np.float64: ("pd", "sd"), np.float32: ("ps", "ss")}  # packed numbers, one number


def arguments(name, n, dtype, decades=(0, 0)):
    """Return a, b, loc, scale behind what the kernel takes before them."""
    rng = np.random.default_rng(1)
    a = rng.uniform(-6, 6, n)
    width = rng.uniform(1, 3, n) * 10.0 ** rng.uniform(*decades, n)
    values = [a, a + width, rng.normal(size=n), rng.uniform(1, 2, n)]
    if name in ("ppf", "isf"):
        values.insert(0, rng.random(n))
    elif name in OF_POINTS:
        values.insert(0, values[2] + values[3] * (a + width * rng.uniform(0.1, 0.9, n)))
    return [v.astype(dtype) for v in values]


def compiled_anew(kernel):
    """Return a kernel whose assembly can be seen; code from the cache shows none."""
    return njit(**compiling._OPTIONS | {"cache": False})(kernel.py_func)


@cache
def compiled(name, dtype):
    """Return a kernel compiled for a type, or the functions that have its loops."""
    values = [*((1, 0) if name == "rvs_of_one" else ()), *arguments(name, 3, dtype)]
    if name == "rvs":  # its steps lie in two functions
        first, last = map(compiled_anew, (quantile_rows.weigh_ends, quantile_rows.go_on))
        space = np.empty(quantile_rows.SPACE, dtype)
        first(3, space)
        last(values[0], 3, space)
        return first, last
    own = {"ppf": arrays._quantiles, "isf": arrays._quantiles}
    kernel = compiled_anew(own.get(name, getattr(arrays, name)))
    if name in ("ppf", "isf"):
        values.insert(1, name == "isf")
    kernel(*values, np.empty(3, dtype))
    return (kernel,)


def sums_to_fuse(code):
    """Return the sums that the compiler may fuse with a product, in what LLVM is given."""
    found = []
    for function in re.split(r"^define ", code, flags=re.MULTILINE)[1:]:
        lines = re.findall(r"^ +(%\S+) = (f\w+) (.*?)(?:, !.*)?$", function, re.MULTILINE)
        fused = {name: kind for name, kind, rest in lines if "contract" in rest}
        signs = {name: rest.split()[-1] for name, kind, rest in lines if kind == "fneg"}
        for _, kind, rest in lines:
            terms = re.findall(r'%[\w."$]+', rest)
            products = [one for one in terms if fused.get(signs.get(one, one)) == "fmul"]
            if kind in ("fadd", "fsub") and "contract" in rest and products:
                found.append(rest)
    return found


# Each is compiled anew: a few by default.
ONES = ["rvs", "rvs_of_one", "ppf", "var", "logcdf", "skewness"]
EACH = [
    name if name in ONES else pytest.param(name, marks=pytest.mark.slow)
    for name in (*OF_POINTS, *OF_INTERVALS, "rvs", "rvs_of_one")
]
TYPES = pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)], ids=["64", "32"]
)


@pytest.mark.skipif(not has_wide_vectors(), reason="x86-64 with AVX2 only")
@TYPES
@pytest.mark.parametrize("name", EACH)
def test_every_loop_vectorises(name, dtype):
    code = "".join(code for one in compiled(name, dtype) for code in one.inspect_asm().values())
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


@TYPES
@pytest.mark.parametrize("name", EACH)
def test_no_sum_is_left_to_the_compiler_to_fuse(name, dtype):
    """Which it fuses differs with processor, version and place: by hand, none is left to it."""
    for one in compiled(name, dtype):
        (code,) = one.inspect_llvm().values()
        assert "fmul contract" in code and "@llvm.fma" in code
        assert not sums_to_fuse(code)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sum_to_fuse_is_found(sign):
    plain = njit(**compiling._OPTIONS)(lambda x, y, z: x * y + z if sign > 0 else z - x * y)
    assert plain(2.0, 3.0, 4.0) == 4.0 + sign * 6.0
    (code,) = plain.inspect_llvm().values()
    assert sums_to_fuse(code)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*OF_POINTS, *OF_INTERVALS])
@pytest.mark.parametrize("decades", [(0, 0), (-2.5, 1.5)], ids=["usual", "all"])
def test_an_element_does_not_depend_on_its_place(name, dtype, decades):
    n = 2 * arrays.BLOCK + 37
    kernel, values = getattr(arrays, name), arguments(name, n, dtype, decades)
    whole = np.empty(n, dtype)
    kernel(*values, whole)
    assert np.isfinite(whole).all()
    cuts = [slice(i, i + 1) for i in range(500)]
    cuts += [slice(i, i + length) for length in range(2, 41) for i in (0, 3, arrays.BLOCK - 7)]
    for cut in (*cuts, slice(1000, 1100), slice(1, n)):
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
