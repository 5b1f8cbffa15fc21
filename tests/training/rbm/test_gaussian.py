"""Training with Gaussian visible units."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.gaussian import KINDS, gaussian_draws, gaussian_model, mixture
from tests.support.gradients import estimate
from trug_fast.units.normalizable import NORM, scaled


@pytest.mark.parametrize(("k", "persistent"), [(1, False), (3, True)])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_estimate_is_exact_on_average_at_the_target(kind, k, persistent):
    # As test_gradients.py has it for Bernoulli visible units: chains that start at the exact
    # distribution stay there.  About 170 comparisons at 4.5 sigma of 40 repetitions (Student's t):
    # chance of failure 1e-2 for a set of seeds; they are fixed.
    model = gaussian_model(kind)
    data = gaussian_draws(gaussian_model(kind, seed=9), 20, seed=2)
    exact = tf.exact.gradient(model, data)
    draws = gaussian_draws(model, 40 * 1000, seed=1).reshape(40, 1000, -1)
    found = [
        estimate(model, data, start, repeat, k=k, persistent=persistent)[0]
        for repeat, start in enumerate(draws)
    ]
    for name in found[0].keys() & exact.keys():
        values = np.array([one[name] for one in found])
        error = values.std(axis=0, ddof=1) / np.sqrt(len(found))
        assert (abs(values.mean(axis=0) - exact[name]) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.02, name


INDEPENDENT = -2 * np.log(2 * np.pi) - 2  # nats of standard normal columns


@pytest.mark.parametrize(
    "options",
    [
        {"hidden": "bernoulli"},
        {"truncation": "sigmoid", "learning_rate": (0.2, 0.01)},
        {"truncation": "relu"},
        {"sampler": tf.training.CD(centred=False), "truncation": (0.0, 4.0)},
        {"sampler": tf.training.ParallelTempering(4, n_chains=25)},
        {"optimizer": "adam", "learning_rate": 0.01},
    ],
)
def test_training_raises_the_exact_likelihood(options):
    train, test = mixture(1000, seed=0), mixture(1000, seed=1)
    # A slow start, so that the history shows the way.
    slow = {"start": tf.training.RandomWeights(0.01), "learning_rate": (0.05, 0.0025)}
    slow |= {"sampler": tf.training.PCD(n_chains=50)}
    options = slow | {"n_hidden": 3, "epochs": 60, "batch_size": 50, "rng": 0} | options
    options |= {"visible": tf.GaussianUnits(precision=2.5)}
    fit = tf.train_rbm(train, validation=test, **options)
    score = tf.exact.log_likelihood(fit.model, test).mean()
    # The clusters' own likelihood is 1.35 nats above independent columns.
    assert INDEPENDENT + 0.75 < score < INDEPENDENT + 1.4
    history = fit.history["validation_score"]
    assert history[0] < -3 and history[-1] > -2  # of 4, the columns' variance


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")  # such a rate is told
def test_training_stays_where_there_is_a_density():
    # At this rate the weights would leave it; CD-1 from large data pushes them out.
    train = 3 * mixture(500, seed=0)
    fit = tf.train_rbm(
        train, 3, visible="gaussian", truncation="relu", epochs=20, learning_rate=0.05,
        batch_size=100, start=tf.training.RandomWeights(0.01), optimizer=tf.training.SGD(average=0),
        dtype="float64", rng=0,
    )  # fmt: skip
    m = fit.model
    norm = np.linalg.norm(scaled(m.weights, m.precision, m.visible_precision), 2)
    assert norm == pytest.approx(NORM, abs=0.02) and norm <= NORM + 1e-12
    assert np.isfinite(tf.exact.log_likelihood(m, train)).all()


def test_training_with_annealed_scores():
    train = mixture(300, seed=0)
    fit = tf.train_rbm(
        train, 3, visible=tf.GaussianUnits(precision=2.0), monitor="ais", epochs=2, rng=0
    )
    exact = tf.exact.log_likelihood(fit.model, train).mean()
    assert fit.history["score"][-1] == pytest.approx(exact, abs=0.05)
    assert (fit.model.visible_precision == 2).all()


BAD = [
    ({"X": [[np.nan, 0.0]]}, ValueError, "X must be finite, got nan"),
    ({"validation": [[0.0]]}, ValueError, "validation must have 2 columns"),
    ({"visible": "real"}, ValueError, "visible must be one of 'bernoulli', 'gaussian'"),
    (
        {
            "visible": tf.GaussianUnits(learn_precision=True),
            "sampler": tf.training.TrajectoryTempering(),
        },
        ValueError,
        "learn_precision does not go with TrajectoryTempering",
    ),
    ({"visible": tf.TruGUnits()}, TypeError, "visible must be .* made by BernoulliUnits or Gauss"),
    ({"monitor": "pseudo"}, ValueError, "monitor='pseudo' is for visible='bernoulli'"),
    (
        {"monitor": tf.training.Monitor("pseudo")},
        ValueError,
        "monitor='pseudo' is for visible='bernoulli'",
    ),
]


@pytest.mark.parametrize(("change", "kind", "words"), BAD)
def test_bad_training_arguments(change, kind, words):
    options = {"X": [[0.5, -3.0], [1.0, 0.0]], "n_hidden": 2, "visible": "gaussian"} | change
    with pytest.raises(kind, match=words):
        tf.train_rbm(**options)


def test_divergence_is_said_in_words():
    train = 10 * mixture(200, seed=0)
    with pytest.raises(FloatingPointError, match="training diverged"):
        tf.train_rbm(train, 3, visible="gaussian", truncation="relu", learning_rate=1e3, rng=0)


@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")  # of four temperatures
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_thread_equals_all(dtype):
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.03, (131, 203)).astype(dtype)
    model = tf.TruGRBM(weights, 0.1, 0.2, 1.0, 0.0, np.inf, visible_precision=1.0)
    data = rng.normal(size=(300, 131))
    found = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        draws = model.sample(300, n_gibbs=3, rng=1)
        z = tf.log_partition(model, n_chains=130, n_temperatures=4, direction="both", rng=2)
        fit = tf.train_rbm(data, 20, visible="gaussian", truncation="relu", epochs=2, rng=3)
        found.append((draws, z.log_weights, fit.model.weights, fit.history["score"]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
