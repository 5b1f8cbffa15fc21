"""Gaussian visible units: energies, exact results, gradients, chains and annealing."""

import numba
import numpy as np
import pytest
from scipy import integrate
from scipy.optimize import minimize

import trug_fast as tf
from tests.training.rbm.test_gradients import estimate
from trug_fast._common import files
from trug_fast.evaluation.exact import gaussian as exact_gaussian
from trug_fast.evaluation.partition import mean_field, paths, runs
from trug_fast.models.normalizable import NORM, scaled

SHAPES = {
    "[0,1]": (1.0, 0.0, 1.0),
    "mixed": (np.array([1.5, 0.8]), np.array([0.0, -1.0]), np.array([np.inf, 1.5])),
    "[0,inf)": (1.0, 0.0, np.inf),
    "flat": (np.array([-1.0, 0.5]), -0.5, 1.0),
}
KINDS = (*SHAPES, "bernoulli")


def machine(kind, dtype=np.float64, n_visible=3, n_hidden=2, seed=0, norm=0.6):
    """Return a small machine with Gaussian visible units whose exact results are cheap."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_visible, n_hidden))
    b, c = rng.normal(0, 0.5, n_visible), rng.normal(0, 0.5, n_hidden)
    a = rng.uniform(0.5, 2.0, n_visible)
    weights *= norm / np.linalg.norm(weights / np.sqrt(a)[:, None], 2)
    weights = weights.astype(dtype)
    if kind == "bernoulli":
        return tf.BernoulliRBM(2 * weights, b, c, visible_precision=a)
    shape = (np.resize(v, n_hidden) for v in SHAPES[kind])
    return tf.TruGRBM(weights, b, c, *shape, visible_precision=a)


def exact_draws(model, n, seed):
    """Return n independent visible vectors: hidden ones drawn exactly, then visible ones."""
    rng = np.random.default_rng(seed)
    a, w, b = exact_gaussian._visible(model)
    box = exact_gaussian.hidden_box(model)
    if isinstance(model, tf.BernoulliRBM):
        states = tf.exact.binary_states(model.n_hidden)
        log_p = states @ box.linear - 0.5 * ((states @ box.form) * states).sum(axis=1)
        p = np.exp(log_p - log_p.max())
        h = states[rng.choice(len(p), n, p=p / p.sum())]
    else:  # from a box, by rejection; infinite ends cut where less than 1e-20 of the mass is left
        low, high = np.array(model.lower), np.minimum(model.upper, 12.0)

        def log_p(h):
            return h @ box.linear - 0.5 * ((h @ box.form) * h).sum(axis=-1)

        starts = tf.exact.binary_states(len(low)) * (high - low) + low
        bounds = list(zip(low, high, strict=True))
        top = max(-minimize(lambda h: -log_p(h), s, bounds=bounds).fun for s in starts)
        h = np.empty((0, len(low)))
        while len(h) < n:
            fresh = rng.uniform(low, high, (500_000, len(low)))
            h = np.concatenate([h, fresh[rng.random(len(fresh)) < np.exp(log_p(fresh) - top)]])
        h = h[:n]
    x = (h @ w.T + b) / a + rng.normal(size=(n, len(a))) / np.sqrt(a)
    return x.astype(model.dtype)


def plane():
    """Return the points of a square on which two visible units have all their mass, and a cell."""
    side = np.linspace(-12, 12, 361)
    return np.stack([v.ravel() for v in np.meshgrid(side, side)], 1), (side[1] - side[0]) ** 2


@pytest.mark.parametrize("kind", KINDS)
def test_free_energy_sums_the_hidden_units_out(kind):
    model, x = machine(kind), np.random.default_rng(1).normal(0, 2, (4, 3))
    for row, energy in zip(x, model.free_energy(x), strict=True):
        log_p = model.visible_bias @ row - 0.5 * model.visible_precision @ row**2
        for j, a in enumerate(row @ model.weights + model.hidden_bias):
            if kind == "bernoulli":
                log_p += np.log1p(np.exp(a))
                continue
            d, ends = model.precision[j], (model.lower[j], model.upper[j])
            term = integrate.quad(lambda h, a=a, d=d: np.exp(a * h - d * h * h / 2), *ends)
            log_p += np.log(term[0])
        assert energy == pytest.approx(-log_p, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_probabilities_integrate_to_one(kind):
    # The trapezoidal rule is exact to rounding for such densities.
    points, cell = plane()
    model = machine(kind, n_visible=2)
    density = np.exp(tf.exact.log_likelihood(model, points))
    assert density.sum() * cell == pytest.approx(1, abs=1e-10)
    log_z = tf.exact.log_partition(model)
    np.testing.assert_allclose(tf.log_likelihood(model, points, log_z), np.log(density), atol=1e-9)
    moments = exact_gaussian.expectations(model)
    np.testing.assert_allclose(density @ points * cell, moments["visible_bias"], atol=1e-9)
    np.testing.assert_allclose(
        -0.5 * density @ points**2 * cell, moments["visible_precision"], atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_exact_gradient_is_the_slope_of_the_exact_likelihood(kind):
    model, rng = machine(kind), np.random.default_rng(0)
    data, step = rng.normal(size=(5, 3)), 1e-5
    gradient = tf.exact.gradient(model, data)
    assert set(gradient) == set(model.names)
    for name in model.names:
        value = getattr(model, name)
        direction = np.where(np.isinf(value), 0.0, rng.normal(size=value.shape))
        ends = []
        for sign in (1, -1):
            fields = {n: getattr(model, n) for n in model.names}
            fields[name] = value + sign * step * direction
            ends.append(tf.exact.log_likelihood(type(model)(**fields), data).mean())
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx((gradient[name] * direction).sum(), abs=2e-8), name


@pytest.mark.parametrize(("k", "persistent"), [(1, False), (3, True)])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_estimate_is_exact_on_average_at_the_target(kind, k, persistent):
    # As test_gradients.py has it for Bernoulli visible units: chains that start at the exact
    # distribution stay there.  About 170 comparisons at 4.5 sigma of 40 repetitions (Student's t):
    # chance of failure 1e-2 for a set of seeds; they are fixed.
    model = machine(kind)
    data = exact_draws(machine(kind, seed=9), 20, seed=2)
    exact = tf.exact.gradient(model, data)
    draws = exact_draws(model, 40 * 1000, seed=1).reshape(40, 1000, -1)
    found = [
        estimate(model, data, start, repeat, k=k, persistent=persistent)[0]
        for repeat, start in enumerate(draws)
    ]
    for name in found[0].keys() & exact.keys():
        values = np.array([one[name] for one in found])
        error = values.std(axis=0, ddof=1) / np.sqrt(len(found))
        assert (abs(values.mean(axis=0) - exact[name]) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.02, name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_sweeps_are_stationary(kind, dtype):
    # Means, squares and products after two sweeps against exact ones: 9 numbers at 5 sigma.
    model, n = machine(kind, dtype), 50_000
    start = exact_draws(model, n, seed=1)
    end = model.sample(start=start, n_gibbs=2, rng=3)
    assert end.dtype == dtype and (end != start).all()
    moments = exact_gaussian.expectations(model)
    for values, exact in (
        (end, moments["visible_bias"]),
        (end**2, -2 * moments["visible_precision"]),
        (end.astype(float).T[:, :, None] * model.hidden_moments(end).mean, moments["weights"]),
    ):
        axis = 1 if values.ndim == 3 else 0
        error = values.std(axis=axis) / np.sqrt(n)
        assert (abs(values.mean(axis=axis) - exact) < 5 * error).all()


def test_draws_given_hidden_units_have_mean_and_variance():
    model, n = machine("[0,1]"), 60_000
    h = np.tile([0.2, 0.9], (n, 1))
    draws, a = model.sample_visible(h, rng=0), model.visible_precision
    # 6 numbers at 5 sigma; the variance of n normal numbers has the relative error sqrt(2 / n).
    mean = (model.weights @ h[0] + model.visible_bias) / a
    assert (abs(draws.mean(axis=0) - mean) < 5 / np.sqrt(a * n)).all()
    assert (abs(draws.var(axis=0) * a - 1) < 5 * np.sqrt(2 / n)).all()


def test_sampling_starts_clamps_and_returns_means():
    model = machine("mixed")
    free = tf.TruGRBM(np.zeros((3, 2)), [1.0, 0, -2], 0, 1, 0, 1, visible_precision=4.0)
    draws = free.sample(20_000, n_gibbs=1, rng=0)
    assert (abs(draws.mean(axis=0) - [0.25, 0, -0.5]) < 5 * 0.5 / np.sqrt(20_000)).all()
    means = free.sample(5, n_gibbs=1, rng=0, return_mean=True)
    np.testing.assert_allclose(means, np.tile([0.25, 0, -0.5], (5, 1)))
    held = model.sample(7, n_gibbs=3, rng=0, clamp=[np.nan, -3.5, np.nan])
    assert (held[:, 1] == -3.5).all() and len(np.unique(held[:, 0])) == 7
    np.testing.assert_array_equal(
        held, model.sample(7, n_gibbs=3, rng=0, clamp=[np.nan, -3.5, np.nan])
    )


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
@pytest.mark.parametrize("path", ["quad", "quad2"])
@pytest.mark.parametrize("kind", KINDS)
def test_annealing_agrees_with_exact_results_in_both_directions(kind, path, weights_on):
    # 20 cases of three numbers at 4.5 sigma.
    model = machine(kind)
    base = exact_draws(model, 300, seed=3) if path == "quad" else None
    found = tf.log_partition(
        model,
        n_chains=300,
        n_temperatures=60,
        path=path,
        weights_on=weights_on,
        base=base,
        start=exact_draws(model, 300, seed=4),
        n_gibbs=5,
        direction="both",
        rng=1,
    )
    exact = tf.exact.log_partition(model)
    for side in (found, found.forward, found.reverse):
        assert abs(side.log_z - exact) < 4.5 * side.std_error
        assert 1e-5 < side.std_error < 0.05
    assert found.mean_field < exact and not found.warnings


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
@pytest.mark.parametrize("kind", ["mixed", "flat", "bernoulli"])
@pytest.mark.parametrize("temperatures", [1, 3])
def test_weights_are_unbiased_however_few_temperatures(kind, temperatures, weights_on):
    model = machine(kind, norm=0.3)
    found = tf.log_partition(
        model, n_chains=20_000, n_temperatures=temperatures, weights_on=weights_on, rng=2
    )
    relative = np.exp(found.log_weights - tf.exact.log_partition(model))
    error = relative.std(ddof=1) / np.sqrt(relative.size)
    assert abs(relative.mean() - 1) < 5 * error
    assert error < 0.05


def test_the_papers_path_and_float32_agree_too():
    model = machine("mixed", np.float32)
    exact = tf.exact.log_partition(model)
    for options in ({"path": "paper"}, {"path": "quad2"}):
        found = tf.log_partition(model, n_chains=500, n_temperatures=100, rng=0, **options)
        assert abs(found.log_z - exact) < 4.5 * found.std_error < 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", [(0.4, 0.401), (0.0, 1.0), (0.8, 0.4)])
def test_gain_of_a_step_on_the_hidden_layer(times, dtype):
    model = machine("mixed", dtype)
    h = model.sample_hidden(exact_draws(model, 20, seed=1), rng=0)
    path = paths.along("quad2", np.array(times), np.array([0.3, -1.0, 2.0]))
    gain = runs.travel(runs.Leg(model.layers(), path, 1, True), runs.go_on(h), 1).log_weight

    def log_p(k):  # math.md 3.2 with x integrated out
        t, s = path.hidden_scale[k], path.bias_scale[k]
        net = (
            (1 - s) * path.base_bias
            + s * model.visible_bias
            + t * h.astype(float) @ model.weights.T
        )
        return t * h @ model.hidden_bias + (net**2 / (2 * model.visible_precision)).sum(axis=1)

    tight = dtype == np.float64
    np.testing.assert_allclose(gain, log_p(1) - log_p(0), rtol=1e-5, atol=1e-12 if tight else 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_mean_field_stays_below(kind):
    for seed in range(5):
        model = machine(kind, seed=seed, norm=0.8)
        start = mean_field.starting_points(model, None, 0)
        assert mean_field.bound(model, start) < tf.exact.log_partition(model)


@pytest.mark.filterwarnings("ignore::trug_fast.PartitionWarning")  # of four temperatures
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


def test_what_cannot_be_normalized_is_refused():
    def build(weights, upper=np.inf, d=1.0):
        return tf.TruGRBM(weights, 0, 0, d, 0.0, upper, visible_precision=[1.0, 4.0])

    with pytest.raises(
        ValueError, match=r"unit 1, which.* is 1\.25, .*below the unit's precision 1"
    ):
        build([[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"norm of A\^-1/2 W D\^-1/2 is 1\.131, below 1 is safe"):
        build([[0.8, 0.8], [0.0, 0.0]])
    for model in (
        build([[0.0, 1.0], [0.0, 1.0]], upper=5.0),
        build([[0.0, 1.0], [0.0, 1.0]], d=1.3),
        build([[0.0, 1.0], [0.0, 1.0]], upper=[np.inf, 9.0]),
        build([[0.8, -0.8], [0.0, 0.0]]),  # copositive: the units keep each other in check
    ):
        assert np.isfinite(model.free_energy(np.zeros((1, 2)))).all()
    tf.BernoulliRBM([[9.0], [9.0]], 0, 0, visible_precision=1.0)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_return_the_same_machine_and_old_ones_are_read(kind, dtype, tmp_path):
    model, path = machine(kind, dtype), tmp_path / "model.npz"
    model.save(path)
    again = type(model).load(path)
    assert again.names == model.names and "visible_precision" in again.names
    for name in model.names:
        assert getattr(again, name).dtype == dtype
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert repr(again) == repr(model) and "visible='gaussian'" in repr(model)
    old = {name: getattr(model, name) for name in model.names if name != "visible_precision"}
    files.write(path, type(model).__name__, old)
    before = type(model).load(path)
    assert before.visible_precision is None and before.names == tuple(old)


def mixture(rows, seed):
    """Return draws of two standardised clusters in four dimensions."""
    rng = np.random.default_rng(seed)
    side = rng.choice([-1.0, 1.0], (rows, 1))
    x = 0.8 * side * [1, 1, -1, 1] + 0.6 * rng.normal(size=(rows, 4))
    return x / np.sqrt(0.8**2 + 0.6**2)


INDEPENDENT = -2 * np.log(2 * np.pi) - 2  # nats of standard normal columns


@pytest.mark.parametrize(
    "options",
    [
        {"hidden": "bernoulli"},
        {"truncation": "sigmoid", "learning_rate": (0.2, 0.01)},
        {"truncation": "relu"},
        {"method": "cd", "centred": False, "truncation": (0.0, 4.0)},
        {"method": "pt", "betas": 4, "n_chains": 25},
        {"optimizer": "adam", "learning_rate": 0.01},
    ],
)
def test_training_raises_the_exact_likelihood(options):
    train, test = mixture(1000, seed=0), mixture(1000, seed=1)
    # A slow start, so that the history shows the way.
    start = {"init_scale": 0.01, "learning_rate": (0.05, 0.0025), "n_chains": 50}
    options = start | {"n_hidden": 3, "epochs": 60, "batch_size": 50, "rng": 0} | options
    options |= {"visible": "gaussian", "visible_precision": 2.5}
    fit = tf.train_rbm(train, validation=test, **options)
    score = tf.exact.log_likelihood(fit.model, test).mean()
    # The clusters' own likelihood is 1.35 nats above independent columns.
    assert INDEPENDENT + 0.75 < score < INDEPENDENT + 1.4
    history = fit.history["validation_score"]
    assert history[0] < -3 and history[-1] > -2  # of 4, the columns' variance


def test_training_stays_where_there_is_a_density():
    # At this rate the weights would leave it; CD-1 from large data pushes them out.
    train = 3 * mixture(500, seed=0)
    fit = tf.train_rbm(
        train, 3, visible="gaussian", truncation="relu", epochs=20, learning_rate=0.05,
        batch_size=100, init_scale=0.01, average=0, dtype="float64", rng=0,
    )  # fmt: skip
    m = fit.model
    norm = np.linalg.norm(scaled(m.weights, m.precision, m.visible_precision), 2)
    assert norm == pytest.approx(NORM, abs=0.02) and norm <= NORM + 1e-12
    assert np.isfinite(tf.exact.log_likelihood(m, train)).all()


def test_training_with_annealed_scores():
    train = mixture(300, seed=0)
    fit = tf.train_rbm(
        train, 3, visible="gaussian", visible_precision=2.0, score="ais", epochs=2, rng=0
    )
    exact = tf.exact.log_likelihood(fit.model, train).mean()
    assert fit.history["score"][-1] == pytest.approx(exact, abs=0.05)
    assert (fit.model.visible_precision == 2).all()


BAD = [
    ({"X": [[np.nan, 0.0]]}, ValueError, "X must be finite, got nan"),
    ({"validation": [[0.0]]}, ValueError, "validation must have 2 columns"),
    ({"visible": "real"}, ValueError, "visible must be one of 'bernoulli', 'gaussian'"),
    ({"visible_precision": 0}, ValueError, "visible_precision must be positive, got 0"),
    ({"visible_precision": "1"}, TypeError, "visible_precision must be a number"),
    ({"visible": "bernoulli", "visible_precision": 1.0}, ValueError, "is for visible='gaussian'"),
    ({"soft": True}, ValueError, "soft is for visible='bernoulli'"),
    ({"score": "pseudo"}, ValueError, "score='pseudo' is for visible='bernoulli'"),
]


@pytest.mark.parametrize(("change", "kind", "words"), BAD)
def test_bad_training_arguments(change, kind, words):
    options = {"X": [[0.5, -3.0], [1.0, 0.0]], "n_hidden": 2, "visible": "gaussian"} | change
    with pytest.raises(kind, match=words):
        tf.train_rbm(**options)


def test_bad_arguments_of_a_machine():
    model = machine("[0,1]")
    for a, words in (
        ([1.0, 0.0, 1.0], "visible_precision must be positive, got 0.0 at index 1"),
        ([1.0], r"visible_precision must be a number or have shape \(3,\)"),
        (np.nan, "visible_precision must not be NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            tf.BernoulliRBM(np.zeros((3, 2)), 0, 0, visible_precision=a)
    with pytest.raises(ValueError, match="pseudo-log-likelihood is for Bernoulli visible units"):
        tf.pseudo_log_likelihood(model, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="clamp must hold finite numbers"):
        model.sample(clamp=[np.inf, 0, 0])
    with pytest.raises(ValueError, match="at most 3 TruG hidden units, got 4"):
        tf.exact.log_partition(machine("[0,1]", n_hidden=4))
    with pytest.raises(ValueError, match="base must have 3 columns"):
        tf.log_partition(model, base=np.zeros((2, 2)))


def test_divergence_is_said_in_words():
    train = 10 * mixture(200, seed=0)
    with pytest.raises(FloatingPointError, match="training diverged"):
        tf.train_rbm(train, 3, visible="gaussian", truncation="relu", learning_rate=1e3, rng=0)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_a_first_frame_is_such_a_machine(kind):
    model, zero = machine(kind), np.zeros
    kinds = {tf.TruGRBM: tf.TruGTRBM, tf.BernoulliRBM: tf.BernoulliTRBM}
    fields = {name: getattr(model, name) for name in model.names}
    past = {"visible_to_hidden": zero((2, 3)), "visible_to_visible": zero((3, 3))}
    past["hidden_to_hidden"] = zero((2, 2))
    past |= {f"initial_{name}": fields[name] for name in ("visible_bias", "hidden_bias")}
    temporal = kinds[type(model)](**(fields | past))
    x = np.random.default_rng(0).normal(size=(1, 3))
    exact = tf.exact.log_likelihood(model, x)
    np.testing.assert_allclose(tf.exact.log_likelihood(temporal, [x]), exact, rtol=1e-12)
    ours, theirs = tf.exact.gradient(model, x), tf.exact.gradient(temporal, [x])
    for name in model.names:
        frame = f"initial_{name}" if f"initial_{name}" in theirs else name
        np.testing.assert_allclose(theirs[frame], ours[name], atol=1e-12, err_msg=name)
