"""The training loop: it learns, repeats itself exactly, and keeps what it promises."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import exact_draws
from trug_fast.training.rbm import scores as scoring
from trug_fast.training.rbm.learner import STRIDE, Learner, Settings

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "score": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


def strong_machine():
    """A machine of 8 pixels whose three hidden units make distinct patterns."""
    weights = np.random.default_rng(4).normal(0, 3, (8, 3))
    return tf.BernoulliRBM(weights, -weights.sum(axis=1) / 2, -weights.sum(axis=0) / 2)


def same(a, b):
    """Whether two machines agree in every bit."""
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in a.names)


@pytest.mark.parametrize(
    ("hidden", "method"),
    [
        ("trug", "pcd"),
        ("bernoulli", "cd"),
        ("trug", "pt"),
        pytest.param("trug", "cd", marks=pytest.mark.slow),
        pytest.param("bernoulli", "pcd", marks=pytest.mark.slow),
        pytest.param("bernoulli", "pt", marks=pytest.mark.slow),
    ],
)
def test_training_learns_a_known_distribution(hidden, method):
    # Data from an enumerable machine: the likelihood of the fit must come near that of the truth.
    truth = strong_machine()
    data, test = exact_draws(truth, 4000, seed=0), exact_draws(truth, 4000, seed=1)
    fit = tf.train_rbm(
        data,
        8,
        hidden=hidden,
        method=method,
        betas=4,
        n_chains=25 if method == "pt" else 100,
        batch_size=100,
        epochs=60,
        k=3,
        learning_rate=(0.5, 0.01),
        rng=0,
        dtype="float64",
        score=None,
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
        {"method": "cd", "k": 2},
        {"method": "pt", "n_chains": 5},
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


def test_scores_and_callbacks_do_not_disturb_training(digits):
    plain = tf.train_rbm(digits.train, **ARGUMENTS).model
    seen = []
    watched = tf.train_rbm(
        digits.train,
        **(ARGUMENTS | {"score": "pseudo", "validation": digits.test}),
        callbacks=[lambda end: seen.append((end.epoch, end.snapshot().n_hidden))],
    )
    assert same(plain, watched.model)
    assert seen == [(1, 12), (2, 12), (3, 12)]


def test_a_callback_can_stop(digits):
    fit = tf.train_rbm(digits.train, **ARGUMENTS, callbacks=[lambda end: end.epoch == 2])
    assert fit.history["epoch"].tolist() == [1, 2]
    assert not fit.interrupted


def test_an_interrupt_returns_the_fit_so_far(digits):
    def interrupt(end):
        if end.epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        fit = tf.train_rbm(digits.train, **ARGUMENTS, callbacks=[interrupt])
    assert fit.interrupted and len(fit.history["epoch"]) == 2
    assert np.isfinite(fit.model.weights).all()


@pytest.mark.parametrize("learn", ["shared", "per_unit"])
@pytest.mark.parametrize(("low", "high"), [(False, True), (True, False), (True, True)])
def test_truncation_points_move_as_asked(digits, learn, low, high):
    truncation = tf.Truncation(-1.0, 1.0, learn=learn, learn_lower=low, learn_upper=high)
    model = tf.train_rbm(
        digits.train, **ARGUMENTS, truncation=truncation, truncation_rate=0.05
    ).model
    assert (model.lower < model.upper).all()
    for learned, ends, start in ((low, model.lower, -1.0), (high, model.upper, 1.0)):
        assert np.any(ends != start) == learned
        if learn == "shared":
            assert np.ptp(ends) == 0


def test_huge_truncation_rates_cannot_cross_the_ends(digits):
    model = tf.train_rbm(
        digits.train, **ARGUMENTS, truncation="s-learn", truncation_rate=3.0, optimizer="adam"
    ).model
    assert (model.lower < model.upper).all() and np.isfinite(model.weights).all()


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
            checkpoint=path,
            checkpoint_every=0,
        )
    assert np.isfinite(np.load(path)["weights"]).all()


def test_fixed_ends_stay(digits):
    model = tf.train_rbm(digits.train, **ARGUMENTS, truncation="relu").model
    assert (model.lower == 0).all() and np.isinf(model.upper).all()


def test_centring_makes_shifted_intervals_equal():
    # [-1, 1] is [0, 2] (math.md 2.4): with the centred gradient both reach the same likelihood,
    # with the plain one [-1, 1] lags behind (the paper's -124.5).
    data = exact_draws(strong_machine(), 2000, seed=0)
    reached = [
        tf.exact.log_likelihood(
            tf.train_rbm(
                data,
                8,
                truncation=ends,
                epochs=60,
                batch_size=100,
                k=2,
                learning_rate=0.2,
                rng=0,
                score=None,
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
    model = tf.train_rbm(data, 4, epochs=20, rng=0, score=None).model
    draws = model.sample(500, n_gibbs=20, rng=0)
    assert np.isfinite(model.weights).all()
    assert draws[:, 0].mean() < 0.05 and draws[:, 1].mean() > 0.95


def test_grey_images_binarized_each_epoch():
    grey = tf.datasets.load_digits().train
    sampler = tf.datasets.resampler(grey, rng=3)
    first = tf.train_rbm(sampler, **ARGUMENTS).model
    assert same(first, tf.train_rbm(sampler, **ARGUMENTS).model)
    assert not same(first, tf.train_rbm(sampler.epoch(0), **ARGUMENTS).model)


def test_soft_data_and_every_dtype_of_data_are_accepted(digits):
    grey = tf.datasets.load_digits().train
    assert np.isfinite(tf.train_rbm(grey, **ARGUMENTS, soft=True).model.weights).all()
    models = [
        tf.train_rbm(digits.train.astype(kind), **ARGUMENTS).model
        for kind in (np.uint8, bool, np.int64, np.float32, np.float64)
    ]
    assert all(same(models[0], other) for other in models[1:])
    before = digits.train.copy()
    tf.train_rbm(np.asfortranarray(digits.train), **ARGUMENTS)
    assert np.array_equal(before, digits.train)


def test_ais_score(digits):
    fit = tf.train_rbm(
        digits.train,
        **(ARGUMENTS | {"score": "ais", "score_every": 3}),
        validation=digits.test,
    )
    assert np.isnan(fit.history["score"][:2]).all()
    assert -45 < fit.history["validation_score"][2] < -20


def test_more_rows_than_a_batch_and_chains_of_their_own(digits):
    model = tf.train_rbm(digits.train[:33], **(ARGUMENTS | {"batch_size": 10}), n_chains=7).model
    assert np.isfinite(model.weights).all()


def test_a_pair_of_sweeps_rises_geometrically(digits):
    data = digits.train[:100]
    options = ARGUMENTS | {"epochs": 9, "method": "cd"}
    history = tf.train_rbm(data, **options, k=(1, 16)).history
    # At the last of an epoch's five batches 4/5 of the epoch are done.
    expected = np.round(16 ** ((np.arange(9) + 0.8) / 9))
    assert history["k"].tolist() == expected.tolist()
    same_k = [tf.train_rbm(data, **options, k=k).model for k in (3, (3, 3))]
    assert same(*same_k)


def watch(monkeypatch, *names):
    """Record parameters after each update; returns the list that fills."""
    seen, update = [], Learner.update

    def watched(self, *args):
        update(self, *args)
        seen.append([getattr(self, name).astype(float) for name in names])

    monkeypatch.setattr(Learner, "update", watched)
    return seen


@pytest.mark.parametrize("fraction", [0.3, 1.0])
def test_the_average_is_over_the_last_fraction_of_the_updates(digits, monkeypatch, fraction):
    names = ("weights", "hidden_bias", "upper")
    seen = watch(monkeypatch, *names)
    options = ARGUMENTS | {"truncation_rate": 0.1, "truncation": "s-learn"}
    model = tf.train_rbm(digits.train, **options, average=fraction).model
    kept = seen[STRIDE - 1 :: STRIDE]
    assert len(kept) == 21
    # The weight of sample s among t, in closed form: those after it leave it 1 - 1/(fraction r).
    shares = np.minimum(1, 1 / (fraction * np.arange(1, 22)))
    shares[0] = 1
    weights = [s * np.prod(1 - shares[i + 1 :]) for i, s in enumerate(shares)]
    assert abs(sum(weights) - 1) < 1e-12
    if fraction == 1:
        np.testing.assert_allclose(weights, 1 / 21)
    for at, name in enumerate(names):
        expected = sum(w * arrays[at] for w, arrays in zip(weights, kept, strict=True))
        np.testing.assert_allclose(getattr(model, name), expected, rtol=2e-7, atol=1e-9)
    assert not np.array_equal(model.weights, seen[-1][0])


def test_averaging_does_not_disturb_training(digits, monkeypatch):
    seen = watch(monkeypatch, "weights")
    plain = tf.train_rbm(digits.train, **ARGUMENTS, average=0).model
    last = len(seen)
    tf.train_rbm(digits.train, **ARGUMENTS, average=0.5)
    np.testing.assert_array_equal(seen[last - 1][0], seen[-1][0])
    np.testing.assert_array_equal(plain.weights, seen[-1][0])


def scripted(monkeypatch, values):
    """Let validation scores be these, epoch by epoch."""

    script = iter(values)

    def score(snapshot, kind, due, data, held_out, seed):
        return {"validation_score": next(script)}

    monkeypatch.setattr(scoring, "scores", score)


@pytest.mark.parametrize(
    ("values", "patience", "best", "end"),
    [
        ([1, 3, 2, 2.5, 4, 5], 2, 2, 4),
        ([1, 3, 2, 4, 3, 3.5, 3.9], 3, 4, 7),
        ([1, np.nan, 3, np.nan, 2, np.nan, 2, 9], 2, 3, 7),
        ([5, 4, 3], 9, 1, 3),
        ([1, 2, 2, 1, 1, 3], 2, 3, 5),
    ],
)
def test_patience_ends_training_and_returns_the_best(
    digits, tmp_path, monkeypatch, values, patience, best, end
):
    data, options = digits.train[:100], ARGUMENTS | {"score": "pseudo", "epochs": len(values)}
    models = []
    scripted(monkeypatch, values)
    fit = tf.train_rbm(
        data,
        **options,
        validation=data,
        patience=patience,
        callbacks=[lambda event: models.append(event.snapshot())],
        checkpoint=tmp_path / "run.npz",
    )
    assert len(fit.history["epoch"]) == len(models) == end
    assert same(fit.model, models[best - 1])
    again = tf.train_rbm(
        data,
        **options,
        validation=data,
        patience=patience,
        checkpoint=tmp_path / "run.npz",
        resume=True,
    )
    assert same(fit.model, again.model)


@pytest.mark.slow
def test_learned_precision_nests_the_ordinary_rbm():
    # Data of an ordinary RBM: units on [0, 1] that can bend become binary and reach the truth.
    truth = strong_machine()
    data = exact_draws(truth, 4000, seed=0)
    model = tf.train_rbm(
        data,
        3,
        truncation="sigmoid",
        learn_precision=True,
        precision_rate=(300.0, 10.0),
        learning_rate=(2.0, 0.02),
        epochs=60,
        k=3,
        rng=0,
        dtype="float64",
        score=None,
    ).model
    assert (model.precision < -10).all()
    reached = tf.exact.log_likelihood(model, data).mean()
    assert reached > tf.exact.log_likelihood(truth, data).mean() - 0.02


@pytest.mark.parametrize("upper", [1.5, np.inf])
def test_precisions_move_along_their_gradient(upper):
    # In the step's coordinates, curvature and the bias around the middle, the exact likelihood's
    # slope by differences must be the direction of the step, and the bias must follow.
    data = exact_draws(strong_machine(), 100, seed=0)[:, :5]
    model = tf.TruGRBM(
        np.random.default_rng(0).normal(0, 0.5, (5, 2)), 0.1, 0.2, [0.7, 1.3], -0.5, upper
    )
    settings = Settings(
        truncation=tf.Truncation(-0.5, upper),
        bernoulli=False,
        visible_precision=None,
        precision=1.0,
        learn_precision=True,
        persistent=True,
        betas=(),
        n_chains=3,
        batch_size=3,
        optimizer="sgd",
        momentum=0.0,
        centred=True,
        weight_decay=0.0,
        init_scale=0.0,
        average=0.0,
        dtype=np.dtype(float),
    )
    learner = Learner(data, 2, settings, seed=0)
    middle = np.full(2, 0.5) if np.isfinite(upper) else learner.hidden_offset
    start = model.precision * 2.0**2 if np.isfinite(upper) else np.log(model.precision)

    def moved(curvature):
        """Return the machine at these curvatures."""
        d = curvature / 2.0**2 if np.isfinite(upper) else np.exp(curvature)
        c = model.hidden_bias + middle * (d - model.precision)
        return tf.TruGRBM(model.weights, model.visible_bias, c, d, model.lower, model.upper)

    def likelihood(curvature):
        return tf.exact.log_likelihood(moved(curvature), data).mean()

    step = 1e-5 * np.eye(2)
    slope = [(likelihood(start + e) - likelihood(start - e)) / 2e-5 for e in step]
    learner.precision[:], learner.curvature[:] = model.precision, start
    learner.hidden_bias[:] = model.hidden_bias
    gradient = tf.exact.gradient(model, data)
    learner._move_precision(gradient["precision"], gradient["hidden_bias"], 10.0)
    np.testing.assert_allclose(learner.curvature - start, 10 * np.array(slope), rtol=1e-6)
    expected = moved(learner.curvature)
    np.testing.assert_allclose(learner.precision, expected.precision, rtol=1e-14)
    np.testing.assert_allclose(learner.hidden_bias, expected.hidden_bias, rtol=1e-13)


def test_precisions_stay_where_units_can_be_normalised(digits):
    for truncation in ("relu", (0.0, 2.0)):
        options = ARGUMENTS | {"optimizer": "adam", "precision_rate": 50.0}
        model = tf.train_rbm(digits.train, **options, truncation=truncation, learn_precision=True)
        model = model.model
        assert np.isfinite(model.precision).all() and np.isfinite(model.weights).all()
        assert np.isfinite(model.free_energy(digits.test)).all()
        assert truncation != "relu" or (model.precision > 0).all()
