"""The adapter that SciPy takes for a distribution of its own, and what needs none."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import differential_evolution
from scipy.stats.sampling import NumericalInversePolynomial

from trug_fast import truncnorm
from trug_fast.distributions import Family, Frozen, scipy_truncnorm

INF = float("inf")


@pytest.fixture(scope="module")
def data():
    return truncnorm.rvs(-1.0, 2.0, 5.0, 2.0, size=200, rng=1)


def test_the_adapter_is_of_scipys_class_and_truncnorm_is_not():
    assert isinstance(scipy_truncnorm, stats.rv_continuous)
    assert isinstance(scipy_truncnorm(0, 1), stats.distributions.rv_frozen)
    assert not isinstance(truncnorm, stats.rv_continuous)
    assert truncnorm.__class__ is Family and truncnorm(0, 1).__class__ is Frozen
    for one in (truncnorm, scipy_truncnorm):
        assert (one.name, one.shapes, one.numargs) == ("truncnorm", "a, b", 2)


def test_scipy_stats_is_not_imported_without_it():
    code = """if True:
        import pickle, sys
        from trug_fast import truncnorm
        frozen = truncnorm(0, 1)
        frozen.stats("mvsk"), frozen.moment(3), truncnorm.fit([0.0, 1.0, 3.0], fa=-1, fb=1)
        pickle.dumps(frozen)
        assert "scipy.stats" not in sys.modules
        from trug_fast.distributions import scipy_truncnorm
        assert scipy_truncnorm.mean(0, 1) == truncnorm.mean(0, 1)
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_copies_and_pickles_are_of_our_classes():
    frozen = truncnorm([0.0, 1.0], 2.0)
    for thing in (truncnorm, frozen):
        for again in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
            assert type(again) is type(thing) and repr(again) == repr(thing)


def test_what_a_frozen_distribution_was_made_of():
    frozen = truncnorm(0.5, 2.0, loc=3)
    assert frozen.args == (0.5, 2.0) and frozen.kwds == {"loc": 3, "scale": 1}
    assert frozen.dist is truncnorm
    assert frozen.dist(*frozen.args, **frozen.kwds).mean() == frozen.mean()
    assert (frozen.a, frozen.b) == (stats.truncnorm(0.5, 2.0).a, stats.truncnorm(0.5, 2.0).b)
    assert repr(truncnorm.freeze(0.5, 2.0, loc=3)) == repr(frozen)


def test_numbers_of_the_adapter_are_ours():
    for ends in ((8.0, INF), (-2.0, 3.0), (1e6, INF)):
        for own in ((), (3.0, 2.0)):
            ours, theirs = truncnorm(*ends, *own), scipy_truncnorm(*ends, *own)
            x = ours.ppf([0.1, 0.5, 0.9])
            for name in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
                want = getattr(ours, name)(x)
                np.testing.assert_allclose(getattr(theirs, name)(x), want, rtol=1e-13)
            for name in ("mean", "var", "std", "entropy", "median", "support"):
                want = getattr(ours, name)()
                np.testing.assert_allclose(getattr(theirs, name)(), want, rtol=1e-14)
            np.testing.assert_allclose(theirs.stats("mvsk"), ours.stats("mvsk"), rtol=1e-13)
    assert scipy_truncnorm.moment(5, -2.0, 3.0) == truncnorm.moment(5, -2.0, 3.0)
    draws = scipy_truncnorm.rvs(40.0, INF, 1.0, 2.0, size=(50, 4), random_state=1)
    source = np.random.RandomState(1)  # noqa: NPY002  (what SciPy makes of a seed)
    want = 1.0 + 2.0 * truncnorm.rvs(40.0, INF, size=(50, 4), random_state=source)
    np.testing.assert_allclose(draws, want, rtol=1e-12)


def test_scipys_own_tests_of_the_adapter():
    common = pytest.importorskip("scipy.stats.tests.common_tests")
    again = pickle.loads(pickle.dumps(scipy_truncnorm))
    assert again.sf(8.5, 8.0, 9.0) == truncnorm.sf(8.5, 8.0, 9.0)
    for parameters in ((-1.0, 2.0), (10.0, 12.0)):
        mean, variance = scipy_truncnorm.stats(*parameters)
        common.check_normalization(scipy_truncnorm, parameters, "truncnorm")
        common.check_moment(scipy_truncnorm, parameters, mean, variance, "truncnorm")
        common.check_edge_support(scipy_truncnorm, parameters)
        common.check_random_state_property(scipy_truncnorm, parameters)
        common.check_pickling(scipy_truncnorm, parameters)


def test_scipys_fit(data):
    bounds = {"a": (-3, 0), "b": (0, 5), "loc": (3, 7), "scale": (0.5, 4)}

    def few(function, bounds, **kwds):
        return differential_evolution(function, bounds, seed=1, maxiter=20)

    ours = stats.fit(scipy_truncnorm, data, bounds, optimizer=few)
    theirs = stats.fit(stats.truncnorm, data, bounds, optimizer=few)
    assert ours.params == pytest.approx(tuple(theirs.params), rel=1e-6)
    assert ours.nllf() == pytest.approx(theirs.nllf(), rel=1e-9)


def test_scipys_goodness_of_fit(data):
    known = {"a": -1.0, "b": 2.0}
    for statistic in ("ad", "ks", "cvm", "filliben"):
        result = stats.goodness_of_fit(
            scipy_truncnorm, data, known_params=known, statistic=statistic, n_mc_samples=30
        )
        assert result.pvalue > 0.02
        found = truncnorm.fit(data, fa=-1.0, fb=2.0)
        assert tuple(result.fit_result.params) == pytest.approx(found, rel=1e-12)
    wrong = stats.goodness_of_fit(
        scipy_truncnorm, data, known_params={"a": 0.0, "b": INF}, statistic="cvm", n_mc_samples=50
    )
    assert wrong.pvalue < 0.05


def test_other_functions_of_scipy(data):
    frozen = truncnorm(-1.0, 2.0, 5.0, 2.0)
    assert stats.kstest(data, frozen.cdf).pvalue > 0.01
    ours = stats.probplot(data, sparams=(-1, 2), dist=scipy_truncnorm)[1]
    assert ours == pytest.approx(stats.probplot(data, sparams=(-1, 2), dist=stats.truncnorm)[1])
    draws = NumericalInversePolynomial(frozen, center=5.0, random_state=1).rvs(1000)
    assert stats.kstest(draws, frozen.cdf).pvalue > 0.01
    generic = stats.distributions.rv_frozen(scipy_truncnorm, 8.0, INF)
    assert generic.mean() == pytest.approx(truncnorm.mean(8.0, INF), rel=1e-14)


def test_broadcast_arrays_are_taken_without_a_word():
    # NumPy warns of whoever asks whether they may be written to; SciPy passes them on.
    a, b = np.broadcast_arrays(np.zeros(3), [[1.0], [2.0]])
    assert (truncnorm.mean(a, b) == truncnorm.mean(np.zeros(3), [[1.0], [2.0]])).all()
