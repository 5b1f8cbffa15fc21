"""``truncnorm`` as an object: called, imported in every way, beside SciPy's."""

import inspect
import pickle
import re
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import stats

import trug_fast
from trug_fast import truncmvn, truncnorm
from trug_fast.distributions import Frozen
from trug_fast.distributions.multivariate.family import FrozenVector

ATTRIBUTES = {"name", "numargs", "random_state", "shapes"}
FUNCTIONS = [n for n in dir(truncnorm) if n[0] != "_" and n not in ATTRIBUTES]
OURS_ALONE = {"log_mass"}
OF_DATA = {"fit", "nnlf"}  # not of frozen distributions


def test_the_object_hides_no_module_of_its_name():
    assert trug_fast.truncnorm is truncnorm is trug_fast.distributions.truncnorm
    assert find_spec("trug_fast.truncnorm") is None


def test_help_shows_signatures_and_examples():
    for name in FUNCTIONS:
        function = getattr(truncnorm, name)
        assert ">>> " in inspect.getdoc(function)
        wanted = {"loc", "scale"} if name == "expect" else {"a", "b", "loc", "scale"}
        if name not in OF_DATA:
            assert wanted <= inspect.signature(function).parameters.keys()
        assert name in OF_DATA | {"freeze"} or inspect.getdoc(getattr(Frozen, name))


def test_functions_are_made_of_the_methods_of_frozen_distributions():
    """Arguments without defaults, the parameters, arguments with defaults; and words for each."""
    wanted = {
        truncnorm.pdf: "x, a, b, loc=0, scale=1",
        truncnorm.isf: "q, a, b, loc=0, scale=1",
        truncnorm.std: "a, b, loc=0, scale=1",
        truncnorm.interval: "confidence, a, b, loc=0, scale=1",
        truncnorm.stats: "a, b, loc=0, scale=1, moments='mv'",
        truncmvn.marginal_logpdf: "index, x, mean=None, cov=1, lower=None, upper=None, A=None, *, "
        "n_points=10000, rng=None",
        truncmvn.rvs: "mean=None, cov=1, lower=None, upper=None, A=None, *, size=None, rng=None, "
        "return_info=False",
    }
    for function, words in wanted.items():
        made = inspect.signature(function)
        assert all(p.annotation is not p.empty for p in made.parameters.values())
        plain = [p.replace(annotation=p.empty) for p in made.parameters.values()]
        assert str(inspect.Signature(plain)) == f"({words})"
        frozen = FrozenVector if "cov" in made.parameters else Frozen
        for one in (function, getattr(frozen, function.__name__)):
            text = inspect.getdoc(one).partition("Returns\n")[0]
            told = re.findall(r"^([\w, ]+) : ", text, re.MULTILINE)
            own = [name for name in inspect.signature(one).parameters if name != "self"]
            assert [name for names in told for name in names.split(", ")] == own
        assert pickle.loads(pickle.dumps(function)) is function
    assert truncnorm.pdf(x=0.5, a=-1, b=1) == truncnorm(-1, 1).pdf(0.5)
    with pytest.raises(TypeError, match=r"pdf\(\) missing 2 required positional arguments"):
        truncnorm.pdf(0.5)


def test_what_scipy_has_is_here():
    theirs = {name for name in dir(stats.truncnorm(0, 1)) if not name.startswith("_")}
    ours = {name for name in dir(truncnorm(0, 1)) if not name.startswith("_")}
    assert theirs <= ours
    assert ours - theirs == OURS_ALONE | {"loc", "scale"}
    assert set(FUNCTIONS) - {n for n in dir(stats.truncnorm) if n[0] != "_"} == OURS_ALONE


@pytest.mark.parametrize(
    "parameters",
    [(-1, 2), (0.5, np.inf, 3.0, 2.0), (np.array([[-1.0], [0.5]]), [1.0, 2.0, 3.0], 1.0)],
    ids=str,
)
def test_a_frozen_distribution_does_what_scipys_does(parameters):
    ours, theirs = truncnorm(*parameters), stats.truncnorm(*parameters)
    arguments = dict.fromkeys(["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"], (1.25,))
    arguments |= dict.fromkeys(["mean", "var", "std", "median", "support", "stats"], ())
    arguments |= {"ppf": (0.3,), "isf": (0.3,), "interval": (0.9,), "moment": (3,)}
    if np.isfinite(parameters[1]).all():
        arguments["entropy"] = ()  # SciPy has it with finite ends only
    for name, values in arguments.items():
        got, want = getattr(ours, name)(*values), getattr(theirs, name)(*values)
        if name != "support":  # SciPy leaves the shapes of a and b
            assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, np.broadcast_to(want, np.shape(got)), rtol=1e-9)
        np.testing.assert_array_equal(got, getattr(truncnorm, name)(*values, *parameters))
    np.testing.assert_array_equal(ours.log_mass(), truncnorm.log_mass(*parameters))
    assert ours.stats("v") == pytest.approx(ours.var())


def test_draws_of_a_frozen_distribution():
    frozen = truncnorm([0.0, 8.0], np.inf, loc=1.0, scale=2.0)
    want = truncnorm.rvs([0.0, 8.0], np.inf, 1.0, 2.0, size=(5, 2), rng=3)
    np.testing.assert_array_equal(frozen.rvs((5, 2), 3), want)
    np.testing.assert_array_equal(frozen.rvs(size=(5, 2), random_state=3), want)
    np.testing.assert_array_equal(frozen.rvs(size=(5, 2), rng=3), want)
    out = np.empty((5, 2))
    assert frozen.rvs(rng=3, out=out) is out and (out == want).all()
    assert frozen.rvs().shape == (2,)


def test_parameters_are_copied_and_checked():
    a = np.zeros(3)
    frozen = truncnorm(a, 1.0)
    a[:] = 0.5
    assert (frozen.support()[0] == 0).all()
    for name in ("a", "scale", "_random_state", "randomstate"):
        with pytest.raises(AttributeError, match=f"{name} cannot be set"):
            setattr(frozen, name, 1.0)
    with pytest.raises(TypeError, match="scale must hold real numbers"):
        truncnorm(0, 1, scale="wide")
    with pytest.raises(ValueError, match="shapes must broadcast"):
        truncnorm([0, 0], [1, 1, 1])
    assert np.isnan(truncnorm(1, 0).mean())
    with pytest.raises(ValueError, match="a must be below b"):
        truncnorm(1, 0).rvs()


def test_float_types_survive_freezing():
    single = truncnorm(np.float32(0), np.float32(1), 2)
    assert single.mean().dtype == np.float32 and single.rvs(3).dtype == np.float32
    assert single.cdf(0.5).dtype == np.float32
    assert truncnorm(0, 1).mean().dtype == np.float64


def test_a_frozen_distribution_can_be_shown_and_sent():
    assert repr(truncnorm(0, 1.5, scale=2)) == "Frozen(a=0, b=1.5, loc=0, scale=2)"
    frozen = truncnorm([0.0, 1.0], 3.0)
    again = pickle.loads(pickle.dumps(frozen))
    np.testing.assert_array_equal(again.mean(), frozen.mean())


@pytest.fixture
def restored():
    before, truncnorm.random_state = truncnorm.random_state, None
    yield
    truncnorm.random_state = before if before is not np.random.mtrand._rand else None


@pytest.mark.usefixtures("restored")
def test_seeded_scipy_code_is_reproducible():
    np.random.seed(1234)  # noqa: NPY002
    first = [truncnorm.rvs(0, 1, size=4) for _ in range(2)]
    assert (first[0] != first[1]).all()
    np.random.seed(1234)  # noqa: NPY002
    np.testing.assert_array_equal([truncnorm(0, 1).rvs(4) for _ in range(2)], first)
    for holder, parameters in ((truncnorm, (0, 1)), (truncnorm(0, 1), ())):
        for source in (1234, np.random.RandomState(1234)):  # noqa: NPY002
            holder.random_state = source
            got = [holder.rvs(*parameters, size=4) for _ in range(2)]
            np.testing.assert_array_equal(got, first)
        holder.random_state = np.random.default_rng(3)
        again = holder.rvs(*parameters, size=4)
        holder.random_state = np.random.default_rng(3)
        np.testing.assert_array_equal(holder.rvs(*parameters, size=4), again)
        # A source of the call's own leaves the attribute alone.
        state = np.random.default_rng(3).bit_generator.state
        holder.random_state = np.random.default_rng(3)
        holder.rvs(*parameters, size=4, rng=1)
        assert holder.random_state.bit_generator.state == state
        for wrong, kind in ((1.5, TypeError), ("yes", TypeError), (-1, ValueError)):
            with pytest.raises(kind, match="random_state"):
                holder.random_state = wrong


@pytest.mark.usefixtures("restored")
def test_scipys_own_tests_of_random_state_and_pickling():
    common = pytest.importorskip("scipy.stats.tests.common_tests")
    for parameters in ((-1.0, 2.0), (10.0, 12.0)):
        common.check_random_state_property(truncnorm, parameters)
        common.check_pickling(truncnorm, parameters)


@pytest.mark.usefixtures("restored")
def test_a_pickle_goes_on_with_the_same_draws():
    truncnorm.random_state = 5
    again = pickle.loads(pickle.dumps(truncnorm))
    np.testing.assert_array_equal(again.rvs(0, 1, size=5), truncnorm.rvs(0, 1, size=5))
    frozen = truncnorm([0.0, 1.0], 3.0)
    again = pickle.loads(pickle.dumps(frozen))
    np.testing.assert_array_equal(again.rvs(), frozen.rvs())
