"""Training on truncated visible units, what it learns, and what else knows of them."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support import truncated_exact as oracle
from tests.support.fits import assert_same, interrupt_after, same, with_interrupts

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
interrupts = pytest.fixture(with_interrupts)


def clumps(rows, seed=0):
    """Return nonnegative rows: one of two pairs of columns is large, the other small."""
    rng = np.random.default_rng(seed)
    first = rng.random((rows, 1)) < 0.5
    scale = np.where(first, [[2.0, 2.0, 0.3, 0.3]], [[0.3, 0.3, 2.0, 2.0]])
    return abs(scale * rng.normal(size=(rows, 4)))


X = clumps(2500)
TRAIN, TEST = X[:2000], X[2000:]
LEARNS = tf.TruncatedUnits("relu", learn_precision=True)
SHORT = {"n_hidden": 2, "epochs": 3, "rng": 0, "visible": LEARNS, "batch_size": 25}


def independent(train, test):
    """Return the log-likelihood of half normals of each column's own scale."""
    squares = (train**2).mean(axis=0)
    each = 0.5 * np.log(2 / (np.pi * squares)) - test**2 / (2 * squares)
    return each.sum(axis=1).mean()


@pytest.mark.parametrize("sampler", ["pcd", "cd", "pt", "ptt"])
def test_training_learns_what_columns_have_in_common(sampler):
    options = SHORT | {"epochs": 6, "visible": "relu" if sampler == "ptt" else LEARNS}
    fit = tf.train_rbm(TRAIN, **options, sampler=sampler, validation=TEST)
    found = oracle.log_likelihood(fit.model, TEST).mean()
    assert fit.history["validation_score"][-1] == pytest.approx(fit.history["score"][-1], abs=0.5)
    if sampler != "ptt":
        assert found > independent(TRAIN, TEST) + 1  # -2.6 against -4.3
        return
    known = fit.ladder.log_partition(fit.model, rng=0)
    assert abs(known.log_z - oracle.log_partition(fit.model)) < 5 * known.std_error


@pytest.fixture(scope="module")
def trained():
    """Return a model that has learned."""
    return tf.train_rbm(TRAIN, **SHORT | {"epochs": 6}).model


def test_precisions_of_bounded_units_are_found():
    # Independent columns of 4,000 rows, by which log a is known to about 0.03.
    a = np.array([12.0, 40.0, 20.0])
    normals = tf.truncnorm(-0.4 * a**0.5, 0.6 * a**0.5, 0.4, a**-0.5)
    rows = normals.rvs(size=(4000, 3), random_state=0)
    # They tell less of a row than Gaussian units do: steps are longer than those of these.
    more = {"learn_precision": True, "precision_rate": (0.5, 0.05)}
    units = tf.TruncatedUnits("sigmoid", precision=5.0, **more)
    options = {"learning_rate": (0.05, 0.01), "rng": 0, "batch_size": 100}
    fit = tf.train_rbm(rows, 1, visible=units, hidden="bernoulli", epochs=15, **options)
    np.testing.assert_allclose(fit.model.visible_precision, a, rtol=0.25)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
def test_annealing_agrees_with_exact_results(weights_on, direction, trained):
    # Five standard errors: exceeded by chance in 1e-6 of seeds.
    model = trained
    options = {"n_chains": 200, "n_temperatures": 200, "direction": direction, "rng": 0}
    found = tf.log_partition(model, base=TRAIN, weights_on=weights_on, **options)
    assert found.std_error < 0.1 and found.warnings == ()
    assert abs(found.log_z - oracle.log_partition(model)) < 5 * found.std_error
    assert found.mean_field < oracle.log_partition(model)


def test_conditionals_and_bounds_agree_with_exact_results(trained):
    model = trained
    known = [True, True, False, False]
    exact = []
    for row in TEST[:2]:
        free = model.clamped(np.where(known, row, np.nan))
        exact.append(-free.free_energy(row[None, 2:])[0] - oracle.log_partition(free))
    found = tf.log_conditional(model, TEST[:2], known, n_temperatures=200, rng=0)
    assert (abs(found.value - exact) < 5 * found.std_error + 1e-3).all()
    bound = tf.evaluation.log_likelihood_bound(model, TEST[:100], n_chains=3, rng=0).value
    exact = oracle.log_likelihood(model, TEST[:100])
    assert bound.mean() == pytest.approx(exact.mean(), abs=0.05)
    # Given the first pair is large, the other is small.
    rows = model.sample(500, n_gibbs=50, clamp=[2.5, 2.0, np.nan, np.nan], rng=0)
    assert (rows[:, :2] == [2.5, 2.0]).all() and rows[:, 2:].mean() < 0.6


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"visible": "relu", "optimizer": "adam", "hidden": "bernoulli", "sampler": "cd"},
        {"visible": "relu", "sampler": "ptt"},
        {"truncation": "relu", "sampler": "pt"},
        {"visible": ["relu", "gaussian", tf.TruncatedUnits((0, 20), precision=0.5), LEARNS]},
    ],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(
    options, tmp_path, monkeypatch, interrupts
):
    options = SHORT | {"validation": TEST[:100]} | options
    whole = tf.train_rbm(TRAIN[:300], **options)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 20)
        with pytest.warns(UserWarning, match="interrupted"):
            assert tf.train_rbm(TRAIN[:300], **options, checkpoint=path).interrupted
    again = tf.train_rbm(
        TRAIN[:300], **options, checkpoint=tf.training.Checkpoint(path, resume=True)
    )
    assert_same(whole._replace(ladder=None), again._replace(ladder=None))
    with pytest.raises(ValueError, match="belongs to another run: .*visible"):
        other = options | {"visible": tf.TruncatedUnits((0, 99))}
        tf.train_rbm(TRAIN[:300], **other, checkpoint=tf.training.Checkpoint(path, resume=True))


def test_columns_of_a_list_learn_their_own_precision():
    spins = np.where(TRAIN[:, :1] > TRAIN[:, 2:3], 1, -1)
    rows = np.hstack([TRAIN, spins])
    kinds = [LEARNS, LEARNS, "relu", tf.TruncatedUnits((0, 20), precision=0.5), "spin"]
    fit = tf.train_rbm(rows, **SHORT | {"visible": kinds, "epochs": 6, "hidden": "bernoulli"})
    a = fit.model.visible_precision
    assert (a[2:] == [1.0, 0.5, 1.0]).all() and (abs(a[:2] - 0.3) < 0.2).all()
    means = fit.history["visible_precision_mean"]
    assert means[0] < 1 and means[-1] == pytest.approx(a[:2].mean(), abs=0.05)
    gaussian = tf.GaussianUnits(learn_precision=True)
    both = (
        tf.train_rbm(rows[:, :2], **SHORT | {"visible": kinds}).model
        for kinds in ([gaussian] * 2, gaussian)
    )
    assert same(*both)


def test_one_thread_equals_all():
    rows = np.tile(TRAIN[:1400], (1, 30)).clip(0, 1)
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        fit = tf.train_rbm(rows, 140, visible="truncated", batch_size=700, epochs=1, rng=0)
        models.append(fit.model)
    assert same(*models)


def test_missing_values_are_drawn_in_the_interval():
    holes = np.where(np.random.default_rng(1).random(TRAIN.shape) < 0.2, np.nan, TRAIN)
    holes[np.isnan(holes).all(axis=1)] = 1.0
    units = tf.TruncatedUnits("relu", learn_precision=True, missing="draw")
    model = tf.train_rbm(holes, **SHORT | {"visible": units, "epochs": 5}).model
    found = oracle.log_likelihood(model, TEST).mean()
    assert found > independent(TRAIN, TEST) + 0.2


def test_units_without_an_end_in_both_layers_stay_normalizable():
    rows = TRAIN.clip(0, 3) * 5
    options = SHORT | {"truncation": "relu", "learning_rate": 0.05, "epochs": 3}
    fit = tf.train_rbm(rows, **options)
    pushing = np.maximum(fit.model.weights, 0) / np.sqrt(fit.model.visible_precision)[:, None]
    assert np.linalg.norm(pushing, 2) < 1
    assert np.isfinite(oracle.log_partition(fit.model))


def test_going_on_keeps_the_interval():
    start = tf.train_rbm(TRAIN, **SHORT).model
    again = tf.train_rbm(TRAIN, start=start, epochs=1, rng=0).model
    assert again.runs == start.runs
    with pytest.raises(ValueError, match=r"in the interval: \[0, 9\] asked for, \[0, inf\) in it"):
        tf.train_rbm(TRAIN, start=start, visible=tf.TruncatedUnits((0, 9)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"visible": "truncated"}, r"X must be in \[0, 1\], got .* at row \d+, column \d"),
        ({"monitor": "pseudo"}, "nor have truncated ones"),
        ({"sampler": "ptt"}, "learn_precision does not go with TrajectoryTempering"),
        ({"visible": ["relu"] * 3}, "a kind for each of the 4 columns"),
    ],
)
def test_data_and_units_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tf.train_rbm(TRAIN, **SHORT | options)
    with pytest.raises(ValueError, match="takes 'bernoulli' or 'gaussian'"):
        tf.train_trbm(TRAIN[None], 2, visible="relu")
