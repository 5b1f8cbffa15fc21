"""Training of the regression: gradients against exact values and slopes, and what users get."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import trug_fast as tf
from tests.support.regressions import TGGM_CASES, of_case, regression, rows
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.tggm import epoch as steps
from trug_fast.kernels.tggm import objectives as kernels
from trug_fast.training.tggm.learner import Learner, Scale, Settings

PER_UNIT = tf.Truncation(-0.5, 1.2, learn="per_unit", learn_lower=True)
COMMON = tf.Truncation(0.0, 1.5, learn="shared", learn_lower=True)
CONVERGED = 400  # cycles


def learner(method, noise="separate", truncation=PER_UNIT, inputs=3, outputs=2, hidden=4):
    settings = Settings(
        truncation=truncation,
        method=method,
        n_cycles=CONVERGED,
        tolerance=0.0,
        noise=noise,
        learn_noise=True,
        noise_variance=0.3,
        hidden_variance=0.4,
        batch_size=10,
        optimizer="adam",
        momentum=0.0,
        weight_decay=0.0,
        dtype=np.dtype(np.float64),
    )
    return Learner(inputs, outputs, hidden, settings, seed=0)


def plain(width):
    return Scale.none(width)


def gradient(run, X, y):
    """Return the objective and a copy of its gradient's parts."""
    with one_blas_thread():
        value = kernels.gradient_of(run.task, run.state, X, y)
    return value, kernels.parts(run.task, run.state.gradient.copy())


def at_model(model, method, noise):
    """Return a learner at a model, whose data needs no scaling."""
    run = learner(method, noise, PER_UNIT, model.n_inputs, model.n_outputs, model.n_hidden)
    run.settings = dataclasses.replace(run.settings, hidden_variance=model.hidden_variance)
    run.begin_at(model, plain(model.n_inputs), plain(model.n_outputs))
    run.task = run.task._replace(hidden_precision=1 / model.hidden_variance)
    return run


@pytest.mark.parametrize("case", TGGM_CASES, ids=lambda case: case["name"])
class TestExactCases:
    def found(self, case, method):
        model, X, y = of_case(case)
        return gradient(at_model(model, method, "shared"), X, y)

    def compare(self, own, expected):
        names = {
            "W0": own.input_weights,
            "b0": own.input_bias,
            "W1": own.output_weights,
            "b1": own.output_bias,
            "xi1": own.low_end,  # before end_coordinates: by the two ends
            "xi2": own.log_width,
        }
        for key, values in names.items():
            exact = np.array(expected[key], dtype=object)
            exact = np.where(exact == None, 0.0, exact).astype(float)  # noqa: E711
            np.testing.assert_allclose(values, exact, rtol=0, atol=1e-11, err_msg=key)

    def test_bound(self, case):
        expected, noise = case["expected"]["mf"], case["params"]["sigma2"]
        value, own = self.found(case, "ml")
        assert value == pytest.approx(expected["elbo"], abs=1e-12)
        self.compare(own, expected["grad"])
        np.testing.assert_allclose(own.log_noise, noise * expected["grad"]["sigma2"], atol=1e-11)

    def test_squared_error(self, case):
        self.compare(self.found(case, "bp")[1], case["expected"]["neg_half_sq_err_grad"])


@pytest.mark.parametrize(
    "truncation", [PER_UNIT, COMMON, tf.Truncation(0.0, np.inf)], ids=["per unit", "common", "relu"]
)
@pytest.mark.parametrize("noise", ["separate", "shared"])
@pytest.mark.parametrize("method", ["ml", "moments"])
def test_gradient_is_the_slope_of_the_objective(method, noise, truncation):
    # In the coordinates that training moves: log noise, lower end, log width.
    run = learner(method, noise, truncation)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    task, state = run.task, run.state
    gradient(run, X, y)
    if truncation.learn is not None:
        steps.end_coordinates(task, state)
    own = state.gradient.copy()
    start, step = state.theta.copy(), 1e-5
    stop = start.size if truncation.learn is not None else start.size - 2 * task.hidden
    slope = np.zeros(stop)
    for i in range(stop):
        values = []
        for shift in (step, -step):
            state.theta[:] = start
            state.theta[i] += shift
            if truncation.learn is not None:
                steps.place_ends(task, state)
            values.append(gradient(run, X, y)[0])
        slope[i] = (values[0] - values[1]) / (2 * step)
    slopes, ours = (kernels.parts(task, np.append(v, start[stop:])) for v in (slope, own[:stop]))
    for name in ("input_weights", "input_bias", "output_weights", "output_bias"):
        np.testing.assert_allclose(getattr(ours, name), getattr(slopes, name), atol=1e-9)
    if noise == "shared":  # both entries move together, along the sum
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise.sum(), atol=1e-9)
    else:
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise, atol=1e-9)
    if truncation.learn is not None:
        share = task.hidden if truncation.learn == "shared" else 1  # common ends take the mean
        np.testing.assert_allclose(ours.low_end * share, slopes.low_end, atol=1e-9)
        np.testing.assert_allclose(ours.log_width * share, slopes.log_width, atol=1e-9)


def test_noise_of_squared_errors_follows_the_predictive_likelihood():
    X, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    y = y[:, :2]
    _, squares = gradient(learner("bp"), X, y)
    _, moments = gradient(learner("moments"), X, y)
    np.testing.assert_array_equal(squares.log_noise, moments.log_noise)


def test_early_end_of_cycles_changes_the_gradient_little():
    run = learner("ml", hidden=30)
    X, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    y = y[:, :2]
    _, exact = gradient(run, X, y)
    errors = []
    for tolerance in (0.1, 0.01):
        run.task = run.task._replace(tolerance=tolerance, cycles=10)
        _, own = gradient(run, X, y)
        errors.append(max(abs(a - b).max() for a, b in zip(own, exact, strict=True)))
    assert errors[1] < errors[0] < 0.02 * max(abs(part).max() for part in exact)


def test_standardisation_is_folded_into_the_model_and_back():
    rng = np.random.default_rng(0)
    X, y = rng.normal([5, -3, 1e4], [2, 0.1, 3.0], (30, 3)), rng.normal([7, 0], [3, 1e-3], (30, 2))
    scales = Scale.of(X, np.inf), Scale.of(y, 1.0)
    for noise in ("separate", "shared"):
        run = learner("ml", noise)
        standard = run.model(plain(3), plain(2))
        model = run.model(*scales)
        mean, std = standard.predict(scales[0].apply(X, np.dtype(float)), return_std=True)
        found, spread = model.predict(X, return_std=True)
        deviation = y.std(axis=0)
        np.testing.assert_allclose(found, mean * deviation + y.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(spread, std * deviation, rtol=1e-9)
        again = learner("ml", noise)
        again.state.theta[:] = 9.0
        again.begin_at(model, *scales)
        np.testing.assert_allclose(again.state.theta, run.state.theta, rtol=1e-9, atol=1e-9)


def test_starting_at_a_model_keeps_its_predictions_whatever_the_unit_of_the_hidden_layer():
    model = regression("separate", outputs=1, hidden=4)
    X, _ = rows(model, 10)
    for noise in ("separate", "shared"):
        run = learner("ml", noise, outputs=1)
        run.begin_at(model, plain(3), plain(1))
        again = run.model(plain(3), plain(1))
        for a, b in zip(again.predict(X, True), model.predict(X, True), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


YACHT = tf.datasets.load_yacht().split(1)
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
    assert fitted.learning_rate == 0.01 and not fitted.interrupted
    ends = fitted.model.lower, fitted.model.upper
    assert (ends[0] != -1).all() and (ends[1] != 1).all() and ends[0].std() > 0


@pytest.mark.parametrize("method", ["ml", "moments", "bp"])
@pytest.mark.parametrize("noise", ["separate", "shared"])
def test_every_method_learns(method, noise):
    options = QUICK | dict(method=method, noise=noise, epochs=100)
    fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, **options, rng=0)
    assert rmse(fit.model) < 4
    _, std = fit.model.predict(YACHT.X_test, return_std=True)
    assert std.mean() < 5


@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop"])
def test_every_optimiser_learns(optimizer):
    fit = tf.train_tggm(YACHT.X_train, YACHT.y_train, **LONG, optimizer=optimizer, rng=0)
    assert fit.history["objective"][-1] > fit.history["objective"][0] + 1
    assert rmse(fit.model) < 2.5


@pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")
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


class TestValidation:
    def test_without_it_the_last_epoch_counts(self):
        options = QUICK | dict(epochs=4)
        fit = tf.train_tggm(*YACHT[:2], **options, validation_fraction=0.0, rng=0)
        assert fit.best_epoch == 4 and "validation_rmse" not in fit.history

    def test_the_best_rate_is_taken(self):
        rates = (1e-5, 1e-2)
        fit = tf.train_tggm(*YACHT[:2], **QUICK, learning_rate=rates, rng=0)
        alone = tf.train_tggm(*YACHT[:2], **QUICK, learning_rate=1e-2, rng=0)
        assert fit.learning_rate == 1e-2
        np.testing.assert_array_equal(fit.model.upper, alone.model.upper)

    def test_a_rate_that_diverges_is_left_out(self):
        options = QUICK | dict(optimizer="sgd", epochs=3)
        fit = tf.train_tggm(*YACHT[:2], **options, learning_rate=(1e30, 1e-3), rng=0)
        assert fit.learning_rate == 1e-3
        with pytest.raises(FloatingPointError, match="use a lower learning_rate"):
            tf.train_tggm(*YACHT[:2], **options, learning_rate=1e30, rng=0)

    def test_patience_ends_a_run(self):
        noise = np.random.default_rng(0).normal(size=277)  # nothing to learn: the first is best
        with pytest.warns(tf.TrainingWarning, match="no better than the mean"):
            fit = tf.train_tggm(YACHT.X_train, noise, **QUICK, patience=5, rng=0)
        assert len(fit.history["epoch"]) == fit.best_epoch + 5 < 60

    def test_the_refit_is_a_run_on_all_rows(self):
        fit = tf.train_tggm(*YACHT[:2], **QUICK, calibrate=False, rng=0)
        part = tf.train_tggm(*YACHT[:2], **QUICK, calibrate=False, refit=False, rng=0)
        assert fit.best_epoch == part.best_epoch
        assert (fit.model.upper != part.model.upper).all()

    def test_calibration_covers_what_it_says(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(1000, 5))
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=1000)
        covered = {}
        for calibrate in (True, False):
            fit = tf.train_tggm(
                X[:300],
                y[:300],
                30,
                epochs=300,
                validation_fraction=0.3,
                score="rmse",
                calibrate=calibrate,
                progress=False,
                rng=0,
                patience=300,
                refit=False,
            )
            mean, std = fit.model.predict(X[300:], return_std=True)
            covered[calibrate] = np.mean(abs(mean - y[300:]) < 1.645 * std)
        assert abs(covered[True] - 0.9) < 0.05
        assert covered[True] >= covered[False]


def test_interruption_gives_the_fit_so_far(monkeypatch):
    epoch = Learner.run_epoch

    def stopped(self, inputs, targets, rows, number, *rates):
        if number == 3:
            raise KeyboardInterrupt
        return epoch(self, inputs, targets, rows, number, *rates)

    monkeypatch.setattr(Learner, "run_epoch", stopped)
    with pytest.warns(UserWarning, match="training was interrupted"):
        fit = tf.train_tggm(*YACHT[:2], **QUICK, rng=0)
    assert fit.interrupted and len(fit.history["epoch"]) == 3
    assert np.isfinite(fit.model.predict(YACHT.X_test)).all()


BAD = [
    (dict(X=[1.0, 2.0]), "X must be a matrix"),
    (dict(X=np.full((277, 6), np.nan)), "X must be finite"),
    (dict(y=np.zeros(5)), "y must be a vector or matrix with a row for each of the 277 rows of X"),
    (dict(y=np.full(277, np.inf)), "y must be finite"),
    (dict(n_hidden=0), "n_hidden must be at least 1"),
    (dict(method="em"), "method must be one of 'ml', 'moments', 'bp'"),
    (dict(noise="none"), "noise must be one of"),
    (dict(noise_variance=0.0), "noise_variance must be positive"),
    (dict(optimizer="lbfgs"), "optimizer must be one of"),
    (dict(learning_rate=[]), "learning_rate must be a number or a sequence"),
    (dict(learning_rate=-1.0), "learning_rate must be at least 0"),
    (dict(learning_rate=[0.1, 0.2], validation_fraction=0.0), "several learning rates need"),
    (dict(validation_fraction=1.0), "validation_fraction must be below 1"),
    (dict(X=np.zeros((1, 2)), y=[0.0], validation_fraction=0.9), "too few to hold 1 back"),
    (dict(score="r2"), "score must be one of"),
    (dict(start=tf.TruGTGGM([[1.0]], 0, [[1.0]], 0, 1, 0, 1)), "start must have 6 inputs, got 1"),
    (dict(truncation="cosine"), "truncation must be one of"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_arguments(change, message):
    arguments = dict(X=YACHT.X_train, y=YACHT.y_train, n_hidden=3, epochs=1) | change
    with pytest.raises(ValueError, match=message):
        tf.train_tggm(**arguments)


def test_bad_kinds_of_arguments():
    for change, message in (
        (dict(dtype="int32"), "dtype must be float32 or float64"),
        (dict(start=3), "start must be a TruGTGGM, got int"),
        (dict(rng=1.5), "rng must be None"),
    ):
        with pytest.raises(TypeError, match=message):
            tf.train_tggm(*YACHT[:2], 3, **change)
