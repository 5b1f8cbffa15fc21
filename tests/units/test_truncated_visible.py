"""Truncated Gaussian visible units: SciPy's truncated normals, data, files, densities."""

import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support import truncated_exact as oracle
from trug_fast.units.kinds import Run
from trug_fast.units.layer import Layer

INTERVALS = [(0.0, 1.0), (0.0, np.inf), (-np.inf, 0.5), (-1.0, 1.0), (3.0, 255.0)]


def model_of(visible="relu", n_visible=3, seed=0, **more):
    """Return a small model of such units."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.3, (n_visible, 2))
    precision = more.pop("precision", np.linspace(0.7, 1.5, n_visible))
    return tf.TruGRBM(
        weights, rng.normal(size=n_visible), 0.2, 1.0, 0.0, 1.5, precision, visible=visible, **more
    )


def scipys(net, precision, ends):
    """Return the same units as SciPy has them."""
    centre, scale = net / precision, precision**-0.5
    a, b = ((end - centre) / scale for end in ends)
    return stats.truncnorm(a, b, centre, scale)


@pytest.mark.parametrize("ends", INTERVALS)
def test_units_are_truncated_normals(ends):
    precision = np.array([0.3, 1.0, 4.0])
    units = Layer((Run("truncated", 3, 1, *ends),), precision)
    net = np.array([[-1.0, 0.0, 2.0], [2.0, 0.7, -3.0]])
    exact = scipys(net, precision, ends)
    np.testing.assert_allclose(units.mean(net), exact.mean(), rtol=1e-9)
    np.testing.assert_allclose(units.variance(net), exact.var(), rtol=1e-7)
    logs = net**2 / (2 * precision) + 0.5 * np.log(2 * np.pi / precision)
    centre = stats.norm(net / precision, precision**-0.5)
    mass = np.where(centre.mean() > 0, 1.0, 1.0) * (centre.cdf(ends[1]) - centre.cdf(ends[0]))
    if ends[0] > 2:  # so far in the tail that these cancel
        mass = centre.sf(ends[0]) - centre.sf(ends[1])
    np.testing.assert_allclose(units.log_norm(net), (logs + np.log(mass)).sum(axis=1), rtol=1e-9)
    # Kolmogorov and Smirnov's test of each unit: all pass but for 1 in 300,000 seeds.
    drawn = units.independent(np.random.default_rng(0), 4000, net[0])
    for unit in range(3):
        law = scipys(net[0, unit], precision[unit], ends)
        assert stats.kstest(drawn[:, unit], law.cdf).pvalue > 1e-6
    wanted = units.mean(net[1])
    if np.isfinite(ends[1] - ends[0]):  # which are moved inwards
        wanted = wanted * 1.02 - 0.01 * (ends[0] + ends[1])
    np.testing.assert_allclose(units.mean(units.bias(wanted)), units.mean(net[1]), rtol=1e-8)


@pytest.mark.parametrize("ends", INTERVALS)
def test_means_at_an_end_have_finite_biases(ends):
    units = Layer((Run("truncated", 2, 1, *ends),), np.array([1e-4, 1e4]))
    end = ends[0] if np.isfinite(ends[0]) else ends[1]
    for dtype in (np.float32, np.float64):
        bias = units.bias(np.full(2, end, dtype))
        assert np.isfinite(bias).all() and bias.dtype == dtype


@pytest.mark.parametrize(
    ("visible", "value", "message"),
    [
        ("relu", -0.1, r"X must be in \[0, inf\), got -0.1 at row 1, column 2"),
        ("truncated", 1.1, r"X must be in \[0, 1\], got 1.1 at row 1, column 2"),
        (tf.TruncatedUnits("tanh"), -2, r"X must be in \[-1, 1\], got -2"),
        (tf.TruncatedUnits((-np.inf, 3)), 4, r"X must be in \(-inf, 3\], got 4"),
        ("relu", np.inf, "X must not have NaN or infinit"),
    ],
)
def test_data_outside_are_refused(visible, value, message):
    model = model_of(visible)
    X = np.zeros((2, 3))
    assert np.isfinite(model.free_energy(X)).all()  # an end belongs to the interval
    X[1, 2] = value
    with pytest.raises(ValueError, match=message if np.isfinite(value) else "X"):
        model.free_energy(X)
    with pytest.raises(ValueError, match="clamp must"):
        model.sample(clamp=X[1])


def test_draws_of_a_float32_model_are_data():
    ends = tf.TruncatedUnits((0.1, 0.3))
    model = tf.TruGRBM(np.full((4, 2), 9, np.float32), 30, 0, 1, 0, 1, 1.0, visible=ends)
    X = model.sample(200, n_gibbs=5, rng=0)
    assert X.max() > 0.299 and np.isfinite(model.free_energy(X)).all()
    assert np.isfinite(model.free_energy(X.astype(float))).all()


def test_files_copies_and_prints_remember_the_interval(tmp_path):
    kinds = ["relu", tf.TruncatedUnits((-1, 2)), "gaussian", "spin", tf.CategoricalUnits(2)]
    mixed = tf.BernoulliRBM(np.full((6, 2), 0.1), 0, 0, [1, 2, 3, 1, 1, 1], visible=kinds)
    for model in (model_of(), model_of("truncated"), mixed):
        path = tmp_path / "model.npz"
        model.save(path)
        again = type(model).load(path)
        assert again.runs == model.runs and repr(again) == repr(model)
        X = model.sample(3, n_gibbs=3, rng=0)
        assert np.array_equal(again.free_energy(X), model.free_energy(X))
    assert "visible='truncated'" in repr(model_of()) and mixed.visible == "mixed"
    held = model_of().clamped([1.0, np.nan, np.nan])
    assert held.runs == (Run("truncated", 2, 1, 0.0, np.inf),)
    with pytest.raises(ValueError, match=r"clamp must be in \[0, inf\), got -1"):
        model_of().clamped([-1.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("weight", "lower", "upper", "fine"),
    [
        (1.2, 0.0, np.inf, False),
        (-9.0, 0.0, np.inf, True),  # which holds both back
        (-1.2, -np.inf, 0.0, False),
        (9.0, -np.inf, 0.0, True),
        (1.2, 0.0, 50.0, True),
        (-1.2, -np.inf, np.inf, False),
    ],
)
def test_what_has_no_density_is_refused(weight, lower, upper, fine):
    def build(visible, **more):
        return tf.TruGRBM([[weight]], 0, 0, 1.0, lower, upper, 1.0, visible=visible, **more)

    build("truncated")  # with two ends of its own
    if fine:
        assert np.isfinite(oracle.log_partition(build("relu")))
        return
    with pytest.raises(ValueError, match="weights are too large to normalize"):
        build("relu")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.TruncatedUnits("s-learn"), "truncation of visible units is not learned"),
        (lambda: tf.TruncatedUnits((-np.inf, np.inf)), "truncation must have an end"),
        (lambda: tf.TruncatedUnits((1e9, 1e9 + 1)), "float32 can hold and tell apart"),
        (lambda: tf.TruncatedUnits((0, 1e39)), "float32 can hold and tell apart"),
        (lambda: tf.TruncatedUnits("relu", precision=-1.0), "precision must be positive"),
        (lambda: tf.TruncatedUnits("relu", precision_rate=0.1), "precision_rate has no effect"),
        (lambda: model_of(tf.TruncatedUnits("relu", precision=2.0)), "precision has no effect"),
        (lambda: model_of([tf.TruncatedUnits(missing=2)] * 3), "missing has no effect in a model"),
        (lambda: model_of(precision=None), "visible_precision must be given"),
        (lambda: tf.pseudo_log_likelihood(model_of(), [[1, 1, 1]]), "not for Gaussian visible"),
        (lambda: model_of().with_scaling(tf.models.Scaling([1.0] * 3, [1.0] * 3)), "are truncated"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
