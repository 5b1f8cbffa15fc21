"""SciPy takes ``truncnorm`` and its frozen distributions for its own."""

import copy
import pickle
import subprocess
import sys

import pytest
from scipy import stats
from scipy.optimize import differential_evolution
from scipy.stats.sampling import NumericalInversePolynomial

from trug_fast import truncnorm
from trug_fast.distributions import Family, Frozen

INF = float("inf")


@pytest.fixture(scope="module")
def data():
    return truncnorm.rvs(-1.0, 2.0, 5.0, 2.0, size=200, rng=1)


def test_classes():
    frozen = truncnorm(0, 1)
    for thing, classes in (
        (truncnorm, (Family, stats.rv_continuous, type(stats.truncnorm))),
        (frozen, (Frozen, stats.distributions.rv_frozen, type(stats.norm()))),
    ):
        for one in classes:
            assert isinstance(thing, one) and issubclass(thing.__class__, one)
    assert not isinstance(truncnorm, Frozen) and not isinstance(frozen, Family)
    assert not isinstance(truncnorm, stats.rv_discrete)
    assert type(truncnorm) is Family and type(frozen) is Frozen
    assert (truncnorm.name, truncnorm.shapes, truncnorm.numargs) == ("truncnorm", "a, b", 2)


def test_scipy_stats_is_not_imported_for_it():
    code = """if True:
        import pickle, sys
        from trug_fast import truncnorm
        frozen = truncnorm(0, 1)
        frozen.stats("mvsk"), frozen.moment(3), truncnorm.fit([0.0, 1.0, 3.0], fa=-1, fb=1)
        assert not hasattr(truncnorm, "_pdf") and truncnorm.__class__.__name__ == "Family"
        stored = pickle.dumps(frozen)
        assert "scipy.stats" not in sys.modules
        import scipy.stats
        assert isinstance(truncnorm, scipy.stats.rv_continuous)
        assert pickle.loads(stored).rvs() == frozen.rvs()
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


def test_numbers_of_scipys_private_methods_are_ours():
    assert truncnorm._pdf(9.0, 8.0, INF) == truncnorm.pdf(9.0, 8.0, INF)
    assert truncnorm._munp(5, -2.0, 3.0) == truncnorm.moment(5, -2.0, 3.0)
    assert truncnorm._entropy(40.0, INF) == truncnorm.entropy(40.0, INF)
    mean, variance, skewness, kurtosis = truncnorm._stats(1e6, INF)
    assert kurtosis == truncnorm.stats(1e6, INF, moments="k")
    for name in ("no_such_thing", "_no_such_thing", "__no_such_thing__"):
        with pytest.raises(AttributeError, match=name):
            getattr(truncnorm, name)


def test_scipys_fit(data):
    bounds = {"a": (-3, 0), "b": (0, 5), "loc": (3, 7), "scale": (0.5, 4)}

    def few(function, bounds, **kwds):
        return differential_evolution(function, bounds, seed=1, maxiter=20)

    ours = stats.fit(truncnorm, data, bounds, optimizer=few)
    theirs = stats.fit(stats.truncnorm, data, bounds, optimizer=few)
    assert ours.params == pytest.approx(tuple(theirs.params), rel=1e-6)
    assert ours.nllf() == pytest.approx(theirs.nllf(), rel=1e-9)


def test_scipys_goodness_of_fit(data):
    known = {"a": -1.0, "b": 2.0}
    for statistic in ("ad", "ks", "cvm", "filliben"):
        result = stats.goodness_of_fit(
            truncnorm, data, known_params=known, statistic=statistic, n_mc_samples=30
        )
        assert result.pvalue > 0.02
        found = truncnorm.fit(data, fa=-1.0, fb=2.0)
        assert tuple(result.fit_result.params) == pytest.approx(found, rel=1e-12)
    wrong = stats.goodness_of_fit(
        truncnorm, data, known_params={"a": 0.0, "b": INF}, statistic="cvm", n_mc_samples=50
    )
    assert wrong.pvalue < 0.05


def test_other_functions_of_scipy(data):
    frozen = truncnorm(-1.0, 2.0, 5.0, 2.0)
    assert stats.kstest(data, frozen.cdf).pvalue > 0.01
    ours = stats.probplot(data, sparams=(-1, 2), dist=truncnorm)[1]
    assert ours == pytest.approx(stats.probplot(data, sparams=(-1, 2), dist=stats.truncnorm)[1])
    draws = NumericalInversePolynomial(frozen, center=5.0, random_state=1).rvs(1000)
    assert stats.kstest(draws, frozen.cdf).pvalue > 0.01
    generic = stats.distributions.rv_frozen(truncnorm, 8.0, INF)
    assert generic.mean() == pytest.approx(truncnorm.mean(8.0, INF), rel=1e-14)
