"""Training of the RBM: it learns, repeats itself exactly, and keeps what it promises."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same
from tests.support.models import exact_draws, strong_model

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


SAMPLERS = {
    "pcd": tf.training.PCD(n_gibbs=3),
    "cd": tf.training.CD(n_gibbs=3),
    "pt": tf.training.ParallelTempering(4, n_gibbs=3, n_chains=25),
}


@pytest.mark.parametrize(
    ("hidden", "sampler"),
    [
        ("trug", "pcd"),
        ("bernoulli", "cd"),
        ("trug", "pt"),
        pytest.param("trug", "cd", marks=pytest.mark.slow),
        pytest.param("bernoulli", "pcd", marks=pytest.mark.slow),
        pytest.param("bernoulli", "pt", marks=pytest.mark.slow),
    ],
)
def test_training_learns_a_known_distribution(hidden, sampler):
    # Data from an enumerable model: the likelihood of the fit must come near that of the truth.
    truth = strong_model()
    data, test = exact_draws(truth, 4000, seed=0), exact_draws(truth, 4000, seed=1)
    fit = tf.train_rbm(
        data,
        8,
        hidden=hidden,
        sampler=SAMPLERS[sampler],
        batch_size=100,
        epochs=60,
        learning_rate=(0.5, 0.01),
        rng=0,
        dtype="float64",
        monitor=None,
    )
    best = tf.exact.log_likelihood(truth, test).mean()
    independent = tf.BernoulliRBM(np.zeros((8, 1)), np.log(data.mean(0) / (1 - data.mean(0))), 0)
    floor = tf.exact.log_likelihood(independent, test).mean()
    reached = tf.exact.log_likelihood(fit.model, test).mean()
    assert best - floor > 1.0  # there is something to learn
    assert reached > best - 0.1 * (best - floor)


@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop", "adam"])
def test_every_optimizer_improves_the_score(digits, optimizer):
    fit = tf.train_rbm(
        digits.train,
        30,
        epochs=12,
        batch_size=20,
        optimizer=optimizer,
        # At a constant rate the score of these runs goes up and down by more than they gain.
        learning_rate={"sgd": (0.3, 0.03)}.get(optimizer, (0.003, 0.0003)),
        rng=0,
        validation=digits.test,
    )
    score = fit.history["validation_score"]
    assert score[-1] > score[0] + 0.3
    assert fit.history["epoch"].tolist() == list(range(1, 13))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sampler": tf.training.CD(n_gibbs=2)},
        {"sampler": tf.training.ParallelTempering(n_chains=5)},
        {"sampler": tf.training.TrajectoryTempering(n_chains=20, reservoir=2)},
        {"hidden": "bernoulli", "optimizer": "adam"},
        {"truncation": "c-learn", "optimizer": "rmsprop", "dtype": "float64"},
    ],
)
def test_one_thread_equals_all(digits, options):
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        models.append(tf.train_rbm(digits.train, **(ARGUMENTS | options)).model)
    assert same(*models)


def test_the_seed_decides(digits):
    first = tf.train_rbm(digits.train, **ARGUMENTS).model
    assert same(first, tf.train_rbm(digits.train, **ARGUMENTS).model)
    assert not same(first, tf.train_rbm(digits.train, **(ARGUMENTS | {"rng": 1})).model)


def test_divergence_is_named(digits):
    with pytest.raises(FloatingPointError, match=r"diverged in epoch \d+.*lower learning_rate"):
        tf.train_rbm(digits.train, **ARGUMENTS, truncation="relu", learning_rate=1e38)


def test_a_diverged_state_does_not_replace_a_good_checkpoint(digits, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FloatingPointError, match="diverged"):
        tf.train_rbm(
            digits.train,
            **ARGUMENTS,
            truncation="relu",
            optimizer="sgd",
            learning_rate=(1e-3, 1e38),
            checkpoint=tf.training.Checkpoint(path, every=0),
        )
    assert np.isfinite(np.load(path)["weights"]).all()


def test_centring_makes_shifted_intervals_equal():
    # [-1, 1] is [0, 2] (mathematics 2.4): with the centred gradient both reach the same likelihood,
    # with the plain one [-1, 1] lags behind (the paper's -124.5).
    data = exact_draws(strong_model(), 2000, seed=0)
    reached = [
        tf.exact.log_likelihood(
            tf.train_rbm(
                data,
                8,
                truncation=ends,
                epochs=60,
                batch_size=100,
                sampler=tf.training.PCD(n_gibbs=2),
                learning_rate=0.2,
                rng=0,
                monitor=None,
            ).model,
            data,
        ).mean()
        for ends in ((-1.0, 1.0), (0.0, 2.0))
    ]
    assert abs(reached[0] - reached[1]) < 0.05
    assert min(reached) > -4.5


def test_constant_and_duplicate_pixels_do_no_harm():
    data = np.zeros((200, 6))
    data[:, 1] = 1
    data[::2, 2:4] = 1
    model = tf.train_rbm(data, 4, epochs=20, rng=0, monitor=None).model
    draws = model.sample(500, n_gibbs=20, rng=0)
    assert np.isfinite(model.weights).all()
    assert draws[:, 0].mean() < 0.05 and draws[:, 1].mean() > 0.95


def test_soft_data_and_every_dtype_of_data_are_accepted(digits):
    grey = tf.datasets.load_digits().train
    soft = tf.BernoulliUnits(soft=True)
    model = tf.train_rbm(grey, **ARGUMENTS, visible=soft).model
    assert np.isfinite(model.weights).all()
    models = [
        tf.train_rbm(digits.train.astype(kind), **ARGUMENTS).model
        for kind in (np.uint8, bool, np.int64, np.float32, np.float64)
    ]
    assert all(same(models[0], other) for other in models[1:])
    before = digits.train.copy()
    tf.train_rbm(np.asfortranarray(digits.train), **ARGUMENTS)
    assert np.array_equal(before, digits.train)


def test_more_rows_than_a_batch_and_chains_of_their_own(digits):
    options = ARGUMENTS | {"batch_size": 10, "sampler": tf.training.PCD(n_chains=7)}
    model = tf.train_rbm(digits.train[:33], **options).model
    assert np.isfinite(model.weights).all()


def test_a_pair_of_sweeps_rises_geometrically(digits):
    data = digits.train[:100]
    options = ARGUMENTS | {"epochs": 9}
    history = tf.train_rbm(data, **options, sampler=tf.training.CD(n_gibbs=(1, 16))).history
    # At the last of an epoch's five batches 4/5 of the epoch are done.
    expected = np.round(16 ** ((np.arange(9) + 0.8) / 9))
    assert history["n_gibbs"].tolist() == expected.tolist()
    models = [tf.train_rbm(data, **options, sampler=tf.training.CD(n)).model for n in (3, (3, 3))]
    assert same(*models)
