"""Training of the regression: what users get, and what they are told of wrong arguments.

Which runs there are and what is chosen is tested in ``test_stages.py``.
"""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from scipy.stats import norm
from threadpoolctl import threadpool_info

import trug_fast as tf
from tests.support.regressions import COMMON, YACHT

QUICK = dict(n_hidden=20, epochs=60, progress=False)
LONG = QUICK | dict(epochs=150)


def rmse(model, split=YACHT):
    return np.sqrt(np.mean((model.predict(split.X_test) - split.y_test) ** 2))


@pytest.fixture(scope="module")
def fitted():
    return tf.train_tggm(YACHT.X_train, YACHT.y_train, **LONG, rng=0)


def test_a_fit_predicts_and_says_how(fitted):
    assert rmse(fitted.model) < 2.5  # least squares: 8.9, the deviation: 15
    history = fitted.history
    assert history["epoch"].tolist() == list(range(1, 151))
    assert {len(values) for values in history.values()} == {150}
    assert history["objective"][-1] > history["objective"][0] + 1
    assert fitted.best_epoch == 1 + np.argmin(history["validation_rmse"])
    np.testing.assert_array_equal(history["validation_score"], -history["validation_rmse"])
    assert fitted.learning_rate == (0.01, 0.0002) and not fitted.interrupted
    ends = fitted.model.lower, fitted.model.upper
    assert (ends[0] != -1).all() and (ends[1] != 1).all() and ends[0].std() > 0


@pytest.mark.parametrize("objective", ["ml", "moments", "bp"])
@pytest.mark.parametrize("noise", ["separate", "shared"])
def test_every_objective_learns(objective, noise):
    options = QUICK | dict(objective=objective, noise=noise, epochs=100)
    fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, **options, rng=0)
    assert rmse(fit.model) < 4
    _, std = fit.model.predict(YACHT.X_test, return_std=True)
    assert std.mean() < 5


@pytest.mark.parametrize("objective", ["moments", "bp"])
def test_noise_that_depends_on_the_inputs_is_learned(objective):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 2))
    std = 10 * np.exp(1.2 * X[:, 0])
    mean = 20 * np.sin(2 * X[:, 1])
    y = mean + std * rng.normal(size=1500)
    best = norm.logpdf(y, mean, std)[1000:].mean()
    train, test = (X[:1000], y[:1000]), (X[1000:], y[1000:])
    options = {"n_hidden": 10, "epochs": 60, "objective": objective, "progress": False, "rng": 0}
    for validation in (0.1, tf.training.HoldOut(calibrate="cross_validation")):
        constant, own = (
            tf.train_tggm(*train, noise=noise, validation=validation, **options).model
            for noise in ("separate", "by_input")
        )
        # "moments" bends the hidden units for their variance where nothing else depends on x.
        gain = own.log_density(*test).mean() - constant.log_density(*test).mean()
        assert gain > (0.03 if objective == "moments" else 0.25)
        assert own.log_density(*test).mean() > best - 0.06
        found = own.predict(test[0], return_std=True)[1]
        assert np.corrcoef(np.log(found), X[1000:, 0])[0, 1] > 0.9
        low, high = own.predict_interval(test[0])
        for part in (X[1000:, 0] < 0, X[1000:, 0] >= 0):
            inside = (low <= test[1]) & (test[1] <= high)
            assert abs(inside[part].mean() - 0.9) < 0.06  # three standard errors
    again = tf.train_tggm(*train, noise="by_input", start=own, **options | {"epochs": 1}).model
    np.testing.assert_allclose(again.predict(test[0]), own.predict(test[0]), atol=6)


@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop"])
def test_every_optimizer_learns(optimizer):
    fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, **LONG, optimizer=optimizer, rng=0)
    assert fit.history["objective"][-1] > fit.history["objective"][0] + 1
    assert rmse(fit.model) < 2.5


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_truncation_is_learned_as_asked():
    def ends(truncation):
        options = QUICK | dict(epochs=5)
        fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, truncation=truncation, rng=0, **options)
        return fit.model.lower, fit.model.upper

    low, high = ends("sigmoid")
    assert (low == 0).all() and (high == 1).all()
    low, high = ends("relu")
    assert (low == 0).all() and np.isinf(high).all()
    low, high = ends("s-learn")
    assert (low == 0).all() and (high != 1).all() and high.std() > 0
    low, high = ends(COMMON)
    assert low.std() == high.std() == 0 and low[0] != 0 and high[0] != 1.5
    only_lower = tf.Truncation(0, 1, learn="per_unit", learn_lower=True, learn_upper=False)
    low, high = ends(only_lower)
    assert (high == 1).all() and low.std() > 0


def test_results_depend_on_the_seed_alone(fitted):
    def fit(seed):
        return tf.train_tggm(YACHT.X_train, YACHT.y_train, **LONG, rng=seed).model

    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = fit(0)
    finally:
        numba.set_num_threads(before)
    with ThreadPoolExecutor(3) as pool:  # trials in threads, as the tables run them
        together = list(pool.map(fit, (0, 0, 1)))
    for name in alone.names:
        for other in (fitted.model, *together[:2]):
            np.testing.assert_array_equal(getattr(alone, name), getattr(other, name))
    assert (alone.input_weights != together[2].input_weights).any()


def test_blas_has_its_threads_back_after_trials_in_threads():
    def blas():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = blas()
    with ThreadPoolExecutor(4) as pool:
        options = QUICK | dict(epochs=3)
        list(pool.map(lambda s: tf.train_tggm(*YACHT[:2], rng=s, **options), range(8)))
    assert blas() == before


def test_callers_arrays_stay_as_they_are():
    X, y = YACHT.X_train.copy(), YACHT.y_train.copy()
    X.flags.writeable = y.flags.writeable = False
    tf.train_tggm(X, y, **(QUICK | dict(epochs=2)), rng=0)
    np.testing.assert_array_equal(X, YACHT.X_train)


def test_constant_columns_have_no_influence():
    X = np.column_stack([YACHT.X_train, np.full(len(YACHT.X_train), 7.3), np.zeros(277)])
    fit = tf.train_tggm(X, YACHT.y_train, **(QUICK | dict(epochs=3)), rng=0)
    there = X.copy()
    there[:, 6:] = 1e6
    np.testing.assert_array_equal(fit.model.predict(there), fit.model.predict(X))
    assert np.isfinite(fit.model.predict(X)).all()
    constant = tf.train_tggm(X, np.full(277, 5.0), **(QUICK | dict(epochs=3)), rng=0)
    assert abs(constant.model.predict(X) - 5).max() < 3


def test_several_outputs_each_in_its_own_unit():
    X = YACHT.X_train
    y = np.column_stack([YACHT.y_train, 1e-3 * YACHT.y_train + 5, X[:, 5]])
    for noise in ("separate", "shared"):
        fit = tf.train_tggm(X, y, **LONG, noise=noise, rng=0)
        error = np.sqrt(np.mean((fit.model.predict(X) - y) ** 2, axis=0))
        assert (error < 0.2 * y.std(axis=0)).all()
        assert fit.model.noise_variance.shape == (3,)


def test_float64_follows_float32(fitted):
    double = tf.train_tggm(*YACHT[:2], **LONG, dtype="float64", rng=0)
    np.testing.assert_allclose(
        double.history["objective"][:3], fitted.history["objective"][:3], rtol=1e-4
    )
    assert double.model.dtype == fitted.model.dtype == np.float64


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
class TestRates:
    def rates(self, name="learning_rate", **options):
        fit = tf.train_tggm(*YACHT[:2], n_hidden=5, epochs=4, **options, rng=0)
        return fit.history[name], fit

    def test_a_number_stays(self):
        found, fit = self.rates(learning_rate=0.01)
        assert (found == 0.01).all() and fit.learning_rate == 0.01

    def test_a_pair_decays_geometrically(self):
        found, _ = self.rates(learning_rate=(0.01, 0.0001))
        np.testing.assert_allclose(found, 0.01 * 100 ** -np.array([0, 0.25, 0.5, 0.75]))

    def test_a_function_gives_the_rate_by_the_share_of_the_run(self):
        def warm_up(share):
            return 0.01 * min(1.0, 2 * share + 0.1)

        found, fit = self.rates(learning_rate=warm_up)
        np.testing.assert_allclose(found, [0.001, 0.006, 0.01, 0.01])
        assert fit.learning_rate is warm_up

    def test_truncation_points_follow_the_learning_rate_or_have_their_own(self):
        alone, together = self.rates(learning_rate=(0.02, 0.002))
        own = tf.training.Adam(truncation_rate=(0.02, 0.002))
        same, given = self.rates(learning_rate=(0.02, 0.002), optimizer=own)
        np.testing.assert_array_equal(together.model.upper, given.model.upper)
        own, fit = self.rates(
            "truncation_rate", learning_rate=0.02, optimizer=tf.training.Adam(truncation_rate=0.0)
        )
        assert (own == 0).all() and (fit.model.upper == np.float32(1)).all()

    def test_they_go_over_the_whole_plan_also_in_the_refit(self):
        seen = []
        tf.train_tggm(
            *YACHT[:2],
            5,
            epochs=10,
            learning_rate=lambda share: 0.05 + 0.1 * share,
            monitor=tf.training.Monitor(patience=1),
            callbacks=[lambda event: seen.append(event.history["learning_rate"][-1])],
            progress=False,
            rng=0,
        )
        refit = seen[1 + seen[1:].index(seen[0]) :]
        for run in (seen[: -len(refit)], refit):
            np.testing.assert_allclose(run, 0.05 + 0.01 * np.arange(len(run)))


def test_at_most_twenty_parameters():
    assert len(inspect.signature(tf.train_tggm).parameters) <= 20


START = tf.TruGTGGM([[1.0]], 0, [[1.0]], 0, 1, 0, 1)
OWN = tf.TruGTGGM(np.ones((3, 6)), 0, np.ones((1, 3)), 0, 1, 0, 1)
BENT = tf.TruGTGGM(np.ones((3, 6)), 0, np.ones((1, 3)), 0, 1, 0, 1, noise_weights=[[1, 0, 0]])
BAD = [
    (dict(X=[1.0, 2.0]), "X must be a matrix"),
    (dict(X=np.full((277, 6), np.nan)), "X must be finite"),
    (dict(y=np.zeros(5)), "y must be a vector or matrix with a row for each of the 277 rows of X"),
    (dict(y=np.full(277, np.inf)), "y must be finite"),
    (dict(n_hidden=0), "n_hidden must be at least 1"),
    (dict(objective="em"), "objective must be one of 'ml', 'moments', 'bp'"),
    (dict(noise="none"), "noise must be one of"),
    (dict(noise="by_input"), "noise='by_input' needs objective='moments' or 'bp'"),
    (dict(start=BENT, noise="separate"), "noise is 'separate', but that of start depends on the"),
    (dict(optimizer="lbfgs"), "optimizer must be one of"),
    (
        dict(learning_rate=(0.1, 0.01, 0.001)),
        "learning_rate must have a value for each of the 1 epochs",
    ),
    (dict(learning_rate=-1.0), "learning_rate must be at least 0"),
    (dict(learning_rate=tf.training.RateSearch([0.1, -1.0])), "rates must be at least 0"),
    (
        dict(learning_rate=tf.training.RateSearch([0.1, 0.2]), validation=None),
        "RateSearch needs validation",
    ),
    (dict(validation=1.0), "validation must be below 1"),
    (dict(validation=0.0), "validation must be positive"),
    (dict(X=np.zeros((1, 2)), y=[0.0], validation=0.9), "too few to hold 1 back"),
    (dict(validation=(np.zeros((3, 5)), np.zeros(3))), "X of validation must have 6 columns"),
    (dict(validation=(np.zeros((3, 6)), np.zeros(4))), "y of validation must be .* the 3 rows"),
    (dict(validation=(np.zeros((3, 6)), np.zeros((3, 2)))), "y of validation must have 1 column"),
    (dict(monitor="r2"), "monitor must be one of"),
    (
        dict(monitor=tf.training.Monitor("ais")),
        "score must be one of 'auto', 'rmse', 'log_likelihood'",
    ),
    (dict(start=START), "start must have n_inputs=6, got 1"),
    (dict(truncation="cosine"), "truncation must be one of"),
]
NO_EFFECT = [
    (
        dict(truncation="relu", optimizer=tf.training.Adam(truncation_rate=0.1)),
        "truncation_rate has no effect: .* not learned",
    ),
    (dict(optimizer=tf.training.Adam(average=0.1)), "average=0.1, which has no effect"),
    (dict(validation=None, monitor="rmse"), "monitor has no effect without validation"),
    (
        dict(validation=None, monitor=tf.training.Monitor()),
        "monitor has no effect without validation",
    ),
    (
        dict(start=OWN, noise=tf.training.Noise(variance=0.2)),
        "variance=0.2, which has no effect: .* start",
    ),
    (
        dict(learning_rate=tf.training.RateSearch([0.1, 0.2]), monitor=None),
        "RateSearch needs validation, and a monitor",
    ),
]


@pytest.mark.parametrize(("change", "message"), BAD + NO_EFFECT)
def test_bad_arguments(change, message):
    arguments = dict(X=YACHT.X_train, y=YACHT.y_train, n_hidden=3, epochs=1) | change
    with pytest.raises(ValueError, match=message):
        tf.train_tggm(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(dtype="int32"), "dtype must be float32 or float64"),
        (dict(start=3), "start must be a TruGTGGM, got int"),
        (dict(start=tf.training.RandomWeights()), "start must be a TruGTGGM, got RandomWeights"),
        (dict(rng=1.5), "rng must be None"),
        (dict(callbacks=print), "callbacks must be a list of functions"),
        (dict(validation="0.1"), "validation must be a fraction"),
        (dict(checkpoint=3), "^checkpoint must be a path"),
    ],
)
def test_bad_kinds_of_arguments(change, message):
    with pytest.raises(TypeError, match=message):
        tf.train_tggm(*YACHT[:2], 3, **change)
