"""Training of temporal models: exact gradients on average, and what the loop promises."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import temporal_model
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.exact import binary_states as states_of
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.sequences import as_sequences
from trug_fast.training.trbm import train as temporal_training
from trug_fast.training.trbm.gradients import Centre, How, _starts, estimate
from trug_fast.training.trbm.learner import TemporalLearner

COPIES = 500


def exact_starts(model, x, repeats, seed):
    """Exact draws of x_t given the filtered past, then of h_t given them: (repeats, T, m)."""
    rng = np.random.default_rng(seed)
    hidden = model.filter(x)
    states = states_of(model.n_visible)
    result = np.empty((repeats, len(x), model.n_hidden))
    for t in range(len(x)):
        b, c = model.initial_visible_bias, model.initial_hidden_bias
        if t:
            b, c = temporal_exact.biases(model, x[t - 1], hidden[t - 1])
        p = np.exp([temporal_exact.frame(model, b, c, s).log_likelihood for s in states])
        rows = states[rng.choice(len(states), repeats, p=p / p.sum())]
        if isinstance(model, tf.TruGTRBM):
            rbm = tf.TruGRBM(model.weights, b, c, model.precision, model.lower, model.upper)
        else:
            rbm = tf.BernoulliRBM(model.weights, b, c)
        result[:, t] = rbm.sample_hidden(rows, rng=seed + t)
    return result


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("mixed", "full"),
        ("bernoulli", "paper"),
        pytest.param("mixed", "paper", marks=pytest.mark.slow),
        pytest.param("bernoulli", "full", marks=pytest.mark.slow),
    ],
)
def test_estimate_is_exact_on_average_at_the_target(kind, rule):
    # Chains that start at the exact conditionals stay there, so the estimate is unbiased.  40
    # repetitions of 500 sequences give its standard error.  Of 400 comparisons one exceeds 4.5 of
    # them by chance in 1 of 40 sets of seeds (Student's t, 39 degrees); the seeds are fixed.
    model = temporal_model(kind, scale=0.5)
    x = np.random.default_rng(5).integers(0, 2, (3, model.n_visible)).astype(float)
    exact = tf.exact.gradient(model, [x], rule=rule)
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli")
    batch = sequences.batch(np.arange(COPIES))
    centre = Centre(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    runs = []
    for repeat in range(40):
        start = exact_starts(model, x, COPIES, 10 * repeat).transpose(1, 0, 2)
        how = How(2, rule == "full", False, repeat, 0, 0)
        with one_blas_thread():
            runs.append(
                estimate(
                    model.parameters(),
                    sequences,
                    batch,
                    centre,
                    how,
                    np.ascontiguousarray(start.reshape(-1, model.n_hidden)),
                )
            )
    for name, value in exact.items():
        draws = np.array([run[name] for run in runs], float)
        if name.endswith(("_to_hidden", "_to_visible")):
            draws = draws.swapaxes(1, 2)
        draws *= 1 if name.startswith("initial") else len(x)  # per frame there, per sequence here
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - value) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.02, name  # tight enough to notice a wrong factor or sign


@pytest.mark.slow
@pytest.mark.parametrize("chains", ["past", "both"])
def test_chains_from_the_past_reach_the_target(chains):
    # After 60 sweeps it does not matter where the chains of this small model began.
    model = temporal_model("mixed", scale=0.5)
    x = np.random.default_rng(5).integers(0, 2, (3, model.n_visible)).astype(float)
    exact = tf.exact.gradient(model, [x], rule="full")
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli")
    batch = sequences.batch(np.arange(COPIES))
    centre = Centre(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    runs = []
    for repeat in range(40):
        with one_blas_thread():
            how = How(60, True, False, repeat, 0, 0, chains)
            runs.append(estimate(model.parameters(), sequences, batch, centre, how))
    for name in ("weights", "visible_to_hidden", "hidden_to_hidden", "visible_bias", "upper"):
        draws = np.array([run[name] for run in runs], float)
        if name.endswith("_to_hidden"):
            draws = draws.swapaxes(1, 2)
        draws *= len(x)
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - exact[name]) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.03, name


def test_where_chains_start():
    # Strong weights copy a start for many sweeps: what a chain shows is where it began.
    n = 6
    model = tf.TruGTRBM(
        60 * np.eye(n), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)),
        -30.0, -30.0, -30.0, -30.0, 1.0, 0.0, 1.0,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (200, 2, n)).astype(float)
    sequences = as_sequences("x", x, visible="bernoulli")
    batch = sequences.batch(np.arange(len(x)))
    found = {}
    for chains in ("data", "past", "both"):
        with one_blas_thread():
            seen = model.parameters().filter(sequences, batch)
            how = How(1, True, False, 3, 0, 0, chains)
            found[chains] = _starts(model.parameters(), seen, batch.first, how).round()
    first = batch.first
    now, before = seen.visible[first:], seen.past_visible
    for chains in found:  # first frames have no past
        np.testing.assert_array_equal(found[chains][:first], seen.visible[:first])
    np.testing.assert_array_equal(found["data"][first:], now)
    np.testing.assert_array_equal(found["past"][first:], before)
    both = found["both"][first:]
    from_past = (both == before).all(axis=1) & ~(now == before).all(axis=1)
    from_data = (both == now).all(axis=1) & ~(now == before).all(axis=1)
    assert (from_past | from_data | (now == before).all(axis=1)).all()
    assert 60 < from_past.sum() < 140  # binomial of 200: outside by chance once in 10 million


def test_real_estimate_is_exact_on_average():
    # From far-away starts 60 sweeps reach the target of this small model.
    model = temporal_model("gaussian", n_visible=2, n_hidden=2, scale=0.5)
    x = np.random.default_rng(5).normal(size=(3, 2))
    exact = tf.exact.gradient(model, [x], rule="full")
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="gaussian")
    batch, centre = sequences.batch(np.arange(COPIES)), Centre(np.zeros(2), np.zeros(2))
    runs = []
    for repeat in range(40):
        with one_blas_thread():
            how = How(60, True, False, repeat, 0, 0)
            runs.append(estimate(model.parameters(), sequences, batch, centre, how))
    for name, value in exact.items():
        draws = np.array([run[name] for run in runs], float)
        if name.endswith(("_to_hidden", "_to_visible")):
            draws = draws.swapaxes(1, 2)
        draws *= 1 if name.startswith("initial") else len(x)
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - value) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.03, name


def test_centred_gradient_is_its_definition():
    # The plain gradient in the coordinates in which offsets are subtracted from all states.
    model = temporal_model()
    rng = np.random.default_rng(0)
    data = [rng.random((t, 4)) for t in (5, 3)]
    sequences = as_sequences("x", data, visible="bernoulli")
    batch, how = sequences.batch(np.arange(2)), How(1, True, False, 3, 0, 0)
    x, h = rng.random(4), rng.random(3)
    with one_blas_thread():
        plain, centred = (
            estimate(model.parameters(), sequences, batch, Centre(a, b), how)
            for a, b in ((0 * x, 0 * h), (x, h))
        )
    by_visible, by_hidden = plain["visible_bias"], plain["hidden_bias"]
    w2 = plain["visible_to_hidden"] - np.outer(x, by_hidden)
    w3 = plain["visible_to_visible"] - np.outer(x, by_visible)
    w4 = plain["hidden_to_hidden"] - np.outer(h, by_hidden)
    for name, value in (
        ("visible_to_hidden", w2),
        ("visible_to_visible", w3),
        ("hidden_to_hidden", w4),
        ("visible_bias", by_visible - centred["weights"] @ h - x @ w3),
        ("hidden_bias", by_hidden - x @ centred["weights"] - x @ w2 - h @ w4),
        ("initial_visible_bias", plain["initial_visible_bias"] - centred["weights"] @ h),
        ("initial_hidden_bias", plain["initial_hidden_bias"] - x @ centred["weights"]),
        ("upper", plain["upper"]),
    ):
        np.testing.assert_allclose(centred[name], value, atol=1e-13, err_msg=name)


@pytest.fixture(scope="module")
def videos():
    return tf.datasets.bouncing_balls(14, 12, size=8, rng=0)


ARGUMENTS = {"n_hidden": 12, "epochs": 2, "batch_size": 4, "score": False, "rng": 0}
SETTINGS = [
    {},
    {"hidden": "bernoulli", "optimizer": "sgd", "k": (1, 3), "chains": "past", "noise": 0.1},
    {
        "gradient": "paper",
        "filtering": "sample",
        "truncation": "c-learn",
        "average": 0.5,
        "chains": "data",
    },
    {
        "visible": "real",
        "truncation": "relu",
        "learn_visible_precision": True,
        "dtype": "float64",
        "noise": 0.1,
    },
]


def same(a, b):
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in a.names)


@pytest.mark.parametrize("options", SETTINGS)
def test_one_thread_equals_all(videos, options):
    sequences = [x[: 5 + k] for k, x in enumerate(videos[:7])]
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        models.append(tf.train_trbm(sequences, **(ARGUMENTS | options)).model)
    assert same(*models)


class Watch(TemporalLearner):
    """A learner that keeps what it was shown."""

    def _disturbed(self, data, number):
        disturbed = super()._disturbed(data, number)
        self.seen = disturbed.frames.copy()
        return disturbed


@pytest.mark.parametrize("visible", ["binary", "real"])
def test_noise_is_what_it_says_and_new_each_time(visible, monkeypatch):
    monkeypatch.setattr(temporal_training, "TemporalLearner", Watch)
    frames = np.random.default_rng(0).integers(0, 2, (4, 50, 100)).astype(np.float64)
    original, learners = frames.copy(), []

    def look(event):
        learners.append(event.snapshot.__self__.seen)

    options = {"n_hidden": 3, "epochs": 2, "k": 1, "batch_size": 4, "score": False, "rng": 0}
    tf.train_trbm(frames, visible=visible, noise=0.2, callbacks=[look], **options)
    np.testing.assert_array_equal(frames, original)
    first, second = learners
    assert not np.array_equal(first, second)
    # A batch has another order: each is compared with all. Bounds are five deviations.
    if visible == "binary":
        assert set(np.unique(first)) == {0.0, 1.0}
        found = np.array([[(a != b).mean() for b in frames] for a in first.reshape(4, 50, 100)])
        assert np.abs(found.min(axis=1) - 0.1).max() < 5 * np.sqrt(0.09 / 5000)
    else:
        found = np.array([[(a - b).std() for b in frames] for a in first.reshape(4, 50, 100)])
        assert np.abs(found.min(axis=1) - 0.2).max() < 5 * 0.2 / np.sqrt(2 * 5000)


@pytest.mark.parametrize("options", SETTINGS)
def test_resumed_equals_never_stopped(videos, options, tmp_path):
    arguments = ARGUMENTS | options
    whole = tf.train_trbm(videos, **arguments)
    path = tmp_path / "run.npz"

    def stop(event):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        part = tf.train_trbm(videos, **arguments, checkpoint=path, callbacks=[stop])
    assert part.interrupted
    rest = tf.train_trbm(videos, **arguments, checkpoint=path, resume=True)
    assert same(whole.model, rest.model)
    with pytest.raises(ValueError, match="belongs to another run"):
        tf.train_trbm(videos[:-1], **arguments, checkpoint=path, resume=True)


@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_training_learns_to_predict(hidden):
    videos = tf.datasets.bouncing_balls(60, 30, size=10, n_balls=1, radius=2.0, rng=0)
    train, test = videos[:50], videos[50:]
    fit = tf.train_trbm(
        train, 40, hidden=hidden, epochs=20, batch_size=2, learning_rate=(5e-3, 5e-4),
        validation=test, score_every=20, rng=0,
    )  # fmt: skip
    error = tf.prediction_error(fit.model, test, method="mean_field", rng=0).mean()
    # It starts near the error of a linear forecast, 1.19; the frame before has 1.36.
    assert error < {"trug": 1.13, "bernoulli": 1.25}[hidden]
    assert abs(fit.history["validation_score"][-1] + error) < 1e-5


def test_real_training_beats_its_linear_start():
    # Each frame turns the one before by an angle that depends on its sign: no linear rule does.
    rng = np.random.default_rng(0)
    data = np.empty((80, 30, 2))
    data[:, 0] = rng.normal(size=(80, 2))
    for t in range(1, 30):
        angle = np.where(data[:, t - 1, 0] > 0, 1.2, -0.4)
        x, y = data[:, t - 1].T
        turned = np.stack(
            [np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y], 1
        )
        data[:, t] = turned + 0.1 * rng.normal(size=(80, 2))
    fit = tf.train_trbm(
        data[:60], 30, visible="real", learn_visible_precision=True, epochs=30, batch_size=4,
        learning_rate=(1e-2, 1e-3), score=False, rng=0,
    )  # fmt: skip
    error = tf.prediction_error(fit.model, data[60:], method="mean_field").mean()
    simple = tf.forecast_errors(data[:60], data[60:])
    assert error < 0.9 * simple["linear, order 2"].mean() < simple["linear, order 1"].mean()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filtering": "sample"}, "has no gradient"),
        ({"hidden": "bernoulli", "truncation": "relu"}, "truncation is for hidden='trug'"),
        ({"learn_visible_precision": True}, "is for visible='real'"),
        ({"patience": 3}, "patience needs validation"),
        ({"gradient": "whole"}, "gradient must be one of"),
        ({"chains": "noise"}, "chains must be one of"),
        ({"truncation": "relu", "precision": -1.0}, "precision must be positive"),
        ({"noise": 1.5}, "noise must be at most 1"),
    ],
)
def test_bad_options(videos, options, words):
    with pytest.raises(ValueError, match=words):
        tf.train_trbm(videos, **(ARGUMENTS | options))
