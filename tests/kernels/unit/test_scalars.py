"""The public scalars: values, dispatch on d, every kind of caller, and the draws."""

import doctest
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit, prange

from tests.support.data import exact_cases
from tests.support.units import (
    EDGE_CASES,
    assert_uniform,
    random_nonpositive_units,
    regimes,
    transform,
)
from trug_fast import kernels
from trug_fast.kernels.unit import nonpositive_precision as nonpositive

inf, nan = math.inf, math.nan
SAMPLERS = ["draw", "draw_robert", "draw_chopin"]


def exact_rows():
    return [row for case in exact_cases("unit") for row in case["rows"]]


@pytest.mark.parametrize("row", exact_rows(), ids=lambda r: f"{r['a']},{r['xi1']},{r['xi2']}")
def test_exact_cases(row):
    number = {k: inf if v is None else float(v) for k, v in row.items()}
    unit = number["a"], number["d"], number["xi1"], number["xi2"]
    mean, variance = kernels.mean_variance(*unit)
    low, high = kernels.log_end_densities(*unit)
    near = {"rtol": 1e-14, "atol": 1e-15}
    np.testing.assert_allclose(kernels.log_normalizer(*unit), number["log_norm"], **near)
    np.testing.assert_allclose([mean, variance], [number["mean"], number["var"]], **near)
    np.testing.assert_allclose(low, number["log_density_xi1"], **near)
    want = -inf if unit[3] == inf else number["log_density_xi2"]
    np.testing.assert_allclose(high, want, **near)
    np.testing.assert_allclose(kernels.second_moment(*unit), number["second_moment"], **near)
    if low >= high:
        np.testing.assert_allclose(kernels.offset(*unit), number["mean_minus_xi1"], rtol=1e-14)


def test_both_signs_of_d_meet_at_zero():
    for a in (-2.0, 0.0, 3.0):
        for lower, upper in ((0.0, 1.0), (-1.0, 1.0), (2.0, 2.5)):
            below, at, above = (
                np.array(
                    [
                        kernels.log_normalizer(a, d, lower, upper),
                        *kernels.mean_variance(a, d, lower, upper),
                        *kernels.log_end_densities(a, d, lower, upper),
                        kernels.offset(a, d, lower, upper),
                    ]
                )
                for d in (-1e-15, 0.0, 1e-15)
            )
            np.testing.assert_allclose(below, at, atol=1e-13)
            np.testing.assert_allclose(above, at, atol=1e-13)


@pytest.mark.parametrize("d", [1e-149, 1e-151, 1e-300, 5e-324])
def test_next_to_no_d_is_none(d):
    for unit in ((3.0, 0.0, 1.0), (-1e10, -1.0, 2.0), (0.0, -1.0, 1.0)):
        a, *ends = unit
        want = kernels.mean_variance(a, 0.0, *ends)
        np.testing.assert_allclose(kernels.mean_variance(a, d, *ends), want, rtol=1e-14)
        want = kernels.draw(kernels.stream(1), a, 0.0, *ends)
        np.testing.assert_allclose(kernels.draw(kernels.stream(1), a, d, *ends), want, rtol=1e-8)
        if d < 1e-150:  # inversion stands in for rejection
            got = kernels.draw_robert(kernels.stream(1), a, d, *ends)
            np.testing.assert_allclose(got, want, rtol=1e-8)


def test_numbers_of_any_kind():
    want = kernels.mean_variance(1.0, 2.0, 0.0, 1.0)
    assert kernels.mean_variance(1, 2, 0, 1) == want
    assert kernels.mean_variance(np.float32(1), np.int32(2), np.uint8(0), np.float64(1)) == want


def functions():
    return [
        kernels.log_normalizer,
        kernels.mean_variance,
        kernels.log_end_densities,
        kernels.offset,
        kernels.second_moment,
        lambda *unit: kernels.draw(kernels.stream(1), *unit),
        lambda *unit: kernels.draw_robert(kernels.stream(1), *unit),
        lambda *unit: kernels.draw_chopin(kernels.stream(1), *unit),
    ]


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0])
def test_no_density_gives_nan(d):
    bad = [(nan, d, 0, 1), (0, nan, 0, 1), (0, d, nan, 1), (0, d, 0, nan), (0, d, 1, 0)]
    bad += [(0, nan, 0, inf), (0, nan, -inf, inf)]
    bad += [] if d > 0 else [(0, d, 0, inf), (0, d, -inf, 0), (0, d, -inf, inf)]
    for unit in bad:
        for function in functions():
            assert np.isnan(function(*map(float, unit))).all(), unit


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0])
def test_a_point(d):
    unit = 0.5, d, 2.0, 2.0
    assert kernels.log_normalizer(*unit) == -inf
    assert kernels.mean_variance(*unit) == (2.0, 0.0)
    assert kernels.log_end_densities(*unit) == (inf, inf)
    assert kernels.offset(*unit) == 0.0
    assert kernels.draw(kernels.stream(1), *unit) == 2.0
    assert kernels.draw_robert(kernels.stream(1), *unit) == 2.0
    assert kernels.draw_chopin(kernels.stream(1), *unit) == 2.0


def everything(a, d, lower, upper, seed, out):
    """Call every public scalar for each unit: compiled in three ways below."""
    for i in prange(a.size):
        rng = kernels.stream(seed, chain=i)
        unit = a[i], d[i], lower[i], upper[i]
        out[i, 0] = kernels.log_normalizer(*unit)
        out[i, 1], out[i, 2] = kernels.mean_variance(*unit)
        out[i, 3], out[i, 4] = kernels.log_end_densities(*unit)
        out[i, 5] = kernels.offset(*unit)
        out[i, 6] = kernels.second_moment(*unit)
        out[i, 7] = kernels.draw(rng, *unit)
        out[i, 8] = kernels.draw_robert(rng, *unit)
        out[i, 9] = kernels.uniform(rng)


@pytest.mark.parametrize("options", [{}, {"parallel": True}, {"fastmath": True}], ids=str)
def test_inside_compiled_code_of_the_user(options):
    # A caller's fast-math reaches neither the infinite bounds nor the digits of the scalars.
    a = np.array([-40.0, 0.3, 2.0, -1.0, 0.5, 0.0])
    d = np.array([1.0, 2.0, 1.0, 0.0, -3.0, 1.0])
    lower = np.array([0.0, -1.0, -inf, 0.0, -1.0, -inf])
    upper = np.array([inf, 1.0, 0.0, 2.0, 1.0, inf])
    got, want = np.empty((2, 6, 10))
    with np.errstate(all="ignore"):
        njit(**options)(everything)(a, d, lower, upper, 5, got)
    everything(a, d, lower, upper, 5, want)
    np.testing.assert_array_equal(got, want)
    assert np.isneginf(want[0, 4]) and np.isneginf(want[2, 3])
    assert np.isfinite(want[:, [0, 1, 2, 7, 8]]).all()


CACHED = """
import numpy as np
from numba import njit
from trug_fast import kernels

@njit(cache=True)
def gibbs_like(rng, n):
    total = 0.0
    for _ in range(n):
        total += kernels.draw(rng, 0.0, 1.0, 0.0, np.inf)
    return total

print(gibbs_like(kernels.stream(1), 10), gibbs_like(np.random.default_rng(1), 10))
print(sum(gibbs_like.stats.cache_hits.values()))
"""


def test_a_users_kernel_can_be_cached(tmp_path):
    (tmp_path / "user.py").write_text(CACHED, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    lines = []
    for _ in range(2):
        command = [sys.executable, "user.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.split("\n"))
    assert lines[0][0] == lines[1][0]
    assert (lines[0][1], lines[1][1]) == ("0", "2")


# ------------------------------------------------------------------------------------------- draws


def drawer(name):
    sampler = getattr(kernels, name)

    @njit
    def fill(rng, a, d, lower, upper, out):
        for i in range(out.size):
            out[i] = sampler(rng, a[i], d[i], lower[i], upper[i])

    def draws(rng, *unit, n=None):
        out = np.empty(n or len(unit[0]))
        # Copies: views of broadcast numbers are read-only, and would be compiled for once more.
        fill(rng, *(np.array(np.broadcast_to(x, out.size), float) for x in unit), out)
        return out

    return draws


DRAWS = {name: drawer(name) for name in SAMPLERS}


def rngs(seed):
    return {"stream": kernels.stream(seed), "generator": np.random.default_rng(seed)}


@pytest.mark.parametrize("kind", ["stream", "generator"])
@pytest.mark.parametrize("regime", regimes(1))
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_follow_the_distribution(name, regime, kind):
    """Kolmogorov-Smirnov after the exact transform: right draws fail once in 1e6 times."""
    a, d, lower, upper = regimes(40_000)[regime]
    h = DRAWS[name](rngs(1)[kind], a, d, lower, upper)
    assert ((lower <= h) & (h <= upper)).all()
    order = np.argsort(a, kind="stable")  # a fault of far units alone is seen in its group
    assert_uniform(transform(h, a, d, lower, upper)[order])
    assert np.unique(h).size > 0.999 * h.size


@pytest.mark.parametrize("ends", EDGE_CASES, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_edge_cases_of_published_samplers(name, ends):
    """Intervals on which published samplers are wrong, endless or stop the process."""
    h = DRAWS[name](kernels.stream(2), 0.0, 1.0, *ends, n=4000)
    assert ((ends[0] <= h) & (h <= ends[1])).all()
    assert_uniform(transform(h, 0.0, 1.0, *ends), groups=2)
    assert np.unique(h).size > 3000  # at 1e6 the unit is only 8,000 roundings wide


@pytest.mark.parametrize("name", ["draw_robert", "draw_chopin"])
@pytest.mark.parametrize("width", [0.036, 0.1, 0.9, 2.4, 2.6, 8.0, inf])
@pytest.mark.parametrize("lower", [-9.0, -2.9, -1.2, -1e-9, 0.0, 1e-9, 0.7, 2.3, 3.0, 50.0])
def test_rejection_on_both_sides_of_its_switches(lower, width, name):
    for flip in (False, True):
        ends = (-lower - width, -lower) if flip else (lower, lower + width)
        h = DRAWS[name](kernels.stream(3), 0.0, 1.0, *ends, n=4000)
        assert ((ends[0] <= h) & (h <= ends[1])).all()
        assert_uniform(transform(h, 0.0, 1.0, *ends), groups=1)


@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_with_d_below_zero(name):
    rng = np.random.default_rng(3)
    units = [u for u in zip(*random_nonpositive_units(rng, 300), strict=True)]
    # The transform to compare with cancels where a curvature is slight: keep it out.
    units = [u for u in units if u[1] == 0 or -u[1] * (u[3] - u[2]) ** 2 > 1e-2]
    a, d, lower, upper = (np.repeat(x, 100) for x in map(np.array, zip(*units, strict=True)))
    h = DRAWS[name](kernels.stream(4), a, d, lower, upper)
    assert ((lower <= h) & (h <= upper)).all()
    # Where h's own spacing is coarse beside the unit, its draws are lumps: not for this test.
    spread = np.array([nonpositive.evaluate_nonpositive(*u)[3] ** 0.5 for u in units])
    fine = np.repeat(spread, 100) > 1e6 * np.spacing(np.maximum(abs(lower), abs(upper)))
    assert_uniform(transform(h, a, d, lower, upper)[fine])


def test_both_samplers_have_the_moments_of_the_unit():
    """Six standard errors: exceeded by right samplers once in 1e9 times each."""
    n = 100_000
    for unit in [(0.3, 2.0, -1.0, 1.5), (-5.0, 1.0, 0.0, inf), (0.4, -2.0, 0.0, 1.0)]:
        mean, variance = kernels.mean_variance(*unit)
        for name in SAMPLERS:
            h = DRAWS[name](kernels.stream(6), *unit, n=n)
            assert abs(h.mean() - mean) < 6 * math.sqrt(variance / n)
            square = (h - mean) ** 2
            assert abs(square.mean() - variance) < 6 * square.std() / math.sqrt(n)


@pytest.mark.slow
@pytest.mark.parametrize("regime", regimes(1))
@pytest.mark.parametrize("name", SAMPLERS)
def test_two_million_draws(name, regime):
    a, d, lower, upper = regimes(2_000_000)[regime]
    h = DRAWS[name](kernels.stream(7), a, d, lower, upper)
    assert_uniform(transform(h, a, d, lower, upper)[np.argsort(a, kind="stable")])


@pytest.mark.parametrize("name", kernels.__all__)
def test_examples_in_the_docstrings(name):
    documented = getattr(kernels, name)
    test = doctest.DocTestParser().get_doctest(documented.__doc__, {}, name, None, 0)
    assert test.examples
    assert not doctest.DocTestRunner().run(test).failed
