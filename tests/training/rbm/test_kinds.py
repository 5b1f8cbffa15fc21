"""Training on spins, categorical and mixed columns."""

import numba
import numpy as np
import pytest
import scipy.sparse

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, same, with_interrupts
from tests.support.kinds import sequences_of_classes

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
interrupts = pytest.fixture(with_interrupts)
X = sequences_of_classes(2500)
TRAIN, TEST = X[:2000], X[2000:]
SHORT = {"n_hidden": 4, "epochs": 3, "rng": 0, "visible": "categorical"}
KINDS = ["categorical", "gaussian", tf.CategoricalUnits(4), "bernoulli", "spin", "spin"]


def mixed(rows):
    """Return the rows with columns of several kinds."""
    found = rows.astype(float)
    found[:, 1] = (found[:, 1] - 1.5) / 1.1 + np.random.default_rng(0).normal(0, 0.1, len(rows))
    found[:, 3:] = found[:, 3:] > 1
    found[:, 4:] = 2 * found[:, 4:] - 1
    return found


def independent(train, test, states=4):
    """Return the log-likelihood of frequencies alone."""
    shares = np.stack([(train == state).mean(axis=0) for state in range(states)]) + 1e-3
    return np.log(np.take_along_axis(shares, test, axis=0)).sum(axis=1).mean()


@pytest.mark.parametrize("sampler", ["pcd", "cd", "pt", "ptt"])
def test_training_learns_what_columns_have_in_common(sampler):
    fit = tf.train_rbm(TRAIN, **SHORT | {"epochs": 8}, sampler=sampler, validation=TEST)
    found = tf.exact.log_likelihood(fit.model, TEST).mean()
    assert found > independent(TRAIN, TEST) + 0.5  # -5.0 against -6.1 (ptt: -5.3)
    assert fit.model.weights.shape == (6, 4, 4) and fit.history["score"][-1] < 0
    assert fit.history["validation_score"][-1] == pytest.approx(fit.history["score"][-1], abs=0.5)
    if sampler == "ptt":
        known = fit.ladder.log_partition(fit.model, rng=0)
        assert abs(known.log_z - tf.exact.log_partition(fit.model)) < 5 * known.std_error


@pytest.mark.parametrize("monitor", ["pseudo", "reconstruction", "ais"])
def test_scores_rise(monitor):
    score = tf.train_rbm(TRAIN, **SHORT, monitor=monitor).history["score"]
    assert score[-1] > score[0]


@pytest.mark.parametrize(
    "optimizer", ["sgd", tf.training.SGD(momentum=0.5, weight_decay=1e-3), "adam"]
)
@pytest.mark.parametrize("sampler", [tf.training.PCD(), tf.training.PCD(centred=False)])
def test_the_gauge_is_kept_and_changes_nothing(optimizer, sampler):
    options = SHORT | {"dtype": "float64", "optimizer": optimizer, "sampler": sampler}
    kept = tf.train_rbm(TRAIN, **options).model
    assert abs(kept.weights.sum(axis=1)).max() < 1e-14
    assert abs(kept.visible_bias.sum(axis=1)).max() < 1e-14
    free = tf.CategoricalUnits(zero_sum=False)
    other = tf.train_rbm(TRAIN, **options | {"visible": free}).model
    assert abs(other.weights.sum(axis=1)).max() > 1e-3
    both = [tf.exact.log_likelihood(model, TEST).mean() for model in (kept, other)]
    assert both[0] == pytest.approx(both[1], abs=0.1)


def test_centred_updates_leave_sums_alone():
    # No projection takes part: sums over states stay those of the start (mathematics 2.12).
    weights = np.random.default_rng(0).normal(0, 0.1, (6, 4, 4))
    start = tf.TruGRBM(weights, 0.0, 0.0, 1.0, 0.0, 4.0, visible="categorical")
    free = tf.CategoricalUnits(4, zero_sum=False)
    options = SHORT | {"visible": free, "dtype": "float64"}
    found = tf.train_rbm(TRAIN, start=start, **options).model
    np.testing.assert_allclose(found.weights.sum(axis=1), weights.sum(axis=1), atol=1e-12)
    assert abs(found.weights - weights).max() > 0.1


def test_spins_are_trained_as_zeros_and_ones():
    pixels = (TRAIN > 1).astype(float)
    options = {"n_hidden": 4, "epochs": 5, "rng": 0, "hidden": "bernoulli"}
    ordinary = tf.train_rbm(pixels, **options)
    spins = tf.train_rbm(2 * pixels - 1, visible="spin", **options)
    rates = [fit.history["learning_rate"][0] for fit in (ordinary, spins)]
    assert rates[0] == pytest.approx(4 * rates[1], rel=0.02)  # of two digits
    found = tf.exact.log_likelihood(ordinary.model, pixels).mean()
    assert tf.exact.log_likelihood(spins.model, 2 * pixels - 1).mean() == pytest.approx(
        found, abs=0.05
    )


@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_mixed_columns_are_learned_together(hidden):
    train, test = mixed(TRAIN), mixed(TEST)
    n_hidden = 2 if hidden == "trug" else 4  # integrals over three take minutes
    options = {"n_hidden": n_hidden, "hidden": hidden, "visible": KINDS, "rng": 0}
    few, more = (tf.train_rbm(train, epochs=n, **options).model for n in (1, 8))
    assert more.visible == "mixed" and more.n_columns == 12
    found = [tf.exact.log_likelihood(model, test).mean() for model in (few, more)]
    assert found[1] > found[0] + 0.1
    again = tf.train_rbm(train, start=more, epochs=1, rng=0).model
    assert tf.exact.log_likelihood(again, test).mean() > found[0]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (TRAIN, {}),
        (TRAIN, {"optimizer": "adam", "hidden": "bernoulli"}),
        (TRAIN, {"sampler": "ptt"}),
        (mixed(TRAIN), {"visible": KINDS, "sampler": "pt"}),
        (2 * (TRAIN > 1) - 1, {"visible": "spin", "sampler": "cd"}),
    ],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(
    data, options, tmp_path, monkeypatch, interrupts
):
    options = SHORT | {"validation": data[:100]} | options
    whole = tf.train_rbm(data[:300], **options)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 40)
        with pytest.warns(UserWarning, match="interrupted"):
            assert tf.train_rbm(data[:300], **options, checkpoint=path).interrupted
    again = tf.train_rbm(
        data[:300], **options, checkpoint=tf.training.Checkpoint(path, resume=True)
    )
    assert_same(whole._replace(ladder=None), again._replace(ladder=None))
    with pytest.raises(ValueError, match="belongs to another run: .*visible"):
        other = options | {"visible": tf.CategoricalUnits(5), "validation": TEST[:100]}
        tf.train_rbm(TRAIN[:300], **other, checkpoint=tf.training.Checkpoint(path, resume=True))


def test_one_thread_equals_all():
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        fit = tf.train_rbm(TRAIN, 140, visible="categorical", batch_size=700, epochs=2, rng=0)
        models.append(fit.model)
    assert same(*models)


def test_weighted_rows_are_rows_that_come_more_often():
    twice = np.concatenate([TRAIN[:500], TRAIN[:500], TRAIN[500:1000]])
    weights = np.repeat([2.0, 1.0], 500)
    options = SHORT | {"epochs": 10}
    found = [
        tf.train_rbm(TRAIN[:1000], sample_weight=weights, **options).model,
        tf.train_rbm(twice, **options).model,
    ]
    each = [tf.exact.log_likelihood(model, twice).mean() for model in found]
    assert each[0] == pytest.approx(each[1], abs=0.1)


def test_chunks_and_sparse_rows_are_arrays():
    visible = tf.CategoricalUnits(4)
    options = SHORT | {"visible": visible}
    whole = tf.train_rbm(TRAIN[:300], **options, validation=TEST[:50]).model
    for data in (tf.training.Chunks(TRAIN[:300]), scipy.sparse.csr_matrix(TRAIN[:300])):
        assert same(whole, tf.train_rbm(data, **options, validation=TEST[:50]).model)
    with pytest.raises(ValueError, match="must say n_states"):
        tf.train_rbm(tf.training.Chunks(TRAIN), **SHORT)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (TRAIN, {"visible": tf.CategoricalUnits(3)}, r"from 0 to 2, got 3 at row \d+, column \d"),
        (TRAIN + 0.5, {}, r"a whole number .* got [0-3].5 at row 0, column 0"),
        (TRAIN + 1, {}, "no state 0, the least is 1; .*n_states=5"),
        (mixed(TRAIN) + 1, {"visible": KINDS}, r"no state 0 in column \d"),
        (
            TRAIN,
            {"visible": [tf.CategoricalUnits(4), tf.CategoricalUnits(4, zero_sum=False)] * 3},
            "zero_sum must be the same of all categorical columns",
        ),
        (TRAIN - 1, {}, r"got -1 at row \d+, column \d"),
        (TRAIN, {"visible": "spin"}, "X must be -1 or 1"),
        (TRAIN, {"visible": ["spin"] * 5}, "a kind for each of the 6 columns of X, got 5"),
        (TRAIN, {"visible": []}, "a kind for each column, got none"),
        (
            mixed(TRAIN),
            {"visible": KINDS, "monitor": "pseudo"},
            "Gaussian visible units have no pseudo",
        ),
        (
            TRAIN,
            {"visible": [tf.BernoulliUnits(soft=True)] * 6},
            "soft has no effect where each column",
        ),
    ],
)
def test_data_and_units_that_do_not_fit_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        tf.train_rbm(data, **SHORT | options)


def test_what_is_said_beside_a_model_must_agree():
    start = tf.train_rbm(TRAIN, **SHORT).model
    with pytest.raises(ValueError, match="number of states: 5 asked for, 4"):
        tf.train_rbm(TRAIN, start=start, visible=tf.CategoricalUnits(5))
    with pytest.raises(ValueError, match="kind of visible units: spin asked for"):
        tf.train_rbm(2 * (TRAIN > 1) - 1, start=start, visible="spin")
    few = np.minimum(TRAIN, 2)  # states that do not occur are in the model
    assert tf.train_rbm(few, start=start, epochs=1, rng=0).model.n_states == 4


def test_training_goes_on_from_kinds_without_a_gauge():
    data = mixed(TRAIN)[:300, 3:]
    start = tf.train_rbm(data, 2, visible=["bernoulli", "spin", "spin"], epochs=1, rng=0).model
    assert tf.train_rbm(data, start=start, epochs=1, rng=0).model.runs == start.runs
    same_kind = tf.train_rbm(data[:, 1:], 2, visible=["spin"] * 2, epochs=1, rng=0).model
    assert same_kind.visible == "spin"


@pytest.mark.parametrize("visible", ["spin", "categorical", tf.CategoricalUnits(3), ["spin"] * 3])
def test_other_trainings_refuse_these_kinds(visible):
    with pytest.raises(ValueError, match="visible: train_trbm takes 'bernoulli' or 'gaussian'"):
        tf.train_trbm(np.zeros((2, 5, 3)), 2, visible=visible)


def test_sparse_weights_to_go_on_from_stay_sparse():
    start = tf.train_rbm(TRAIN, **SHORT).model.column_weights.copy()
    start[np.arange(start.size).reshape(start.shape) % 3 == 0] = 0
    start = tf.BernoulliRBM(start.reshape(6, 4, -1), 0.0, 0.0, visible="categorical")
    options = {"start": start, "epochs": 1, "learning_rate": 1e-12, "rng": 0}
    sgd = tf.training.SGD(l1=1e-9, average=0)
    kept = tf.train_rbm(TRAIN[:20], **options, hidden="bernoulli", optimizer=sgd).model
    np.testing.assert_allclose(kept.weights, start.weights, atol=1e-6)
    gauged = tf.train_rbm(TRAIN[:20], **options, hidden="bernoulli").model
    assert abs(gauged.weights.sum(axis=1)).max() < 1e-6 < abs(kept.weights.sum(axis=1)).max()


def test_weight_decay_keeps_the_gauge_and_l1_chooses_one_for_itself():
    own = np.random.default_rng(0)
    X = own.integers(0, 3, (400, 4))
    X[:, 1] = np.where(own.random(400) < 0.9, X[:, 0], X[:, 1])  # the others are independent

    def trained(**penalty):
        options = {"visible": "categorical", "hidden": "bernoulli", "epochs": 20, "rng": 0}
        return tf.train_rbm(X, 3, optimizer=tf.training.SGD(**penalty), **options).model.weights

    assert np.abs(trained(weight_decay=0.02).sum(axis=1)).max() < 1e-5
    weights = trained(l1=0.02)
    zeros = weights == 0
    assert (zeros.all(axis=1) != zeros.any(axis=1)).any()
    assert np.abs(weights.sum(axis=1)).max() > 0.1
