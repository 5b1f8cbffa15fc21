"""Missing values: the gradient is that of the likelihood of what is there."""

from dataclasses import replace

import numba
import numpy as np
import pytest
import scipy.sparse

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, same, with_interrupts
from tests.support.models import model_of, states_of
from trug_fast._common.numerics import log_sum_exp
from trug_fast.training.chunks import as_rows
from trug_fast.training.diagnosis import Columns
from trug_fast.training.rbm import watch as scores
from trug_fast.training.rbm.data import check_of
from trug_fast.training.rbm.defaults import ByData
from trug_fast.training.rbm.parts import Filling
from trug_fast.training.unit_parameters import Shape
from trug_fast.units.kinds import Run
from trug_fast.units.layer import Layer

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
interrupts = pytest.fixture(with_interrupts)
NAN = np.nan
HOLES = np.array(
    [[1, NAN, 0, NAN, 1], [NAN, 1, NAN, NAN, NAN], [0, 0, 1, 1, NAN], [1, 0, 1, 0, 0]], float
)
DRAWN = tf.BernoulliUnits(missing="draw")
BASE = {"n_hidden": 8, "epochs": 3, "batch_size": 30, "visible": DRAWN, "rng": 0}


def small_digits(rows=None):
    """Return the 4x4 pixels in the middle of digits, and the same with three in ten missing."""
    whole = tf.datasets.load_digits(binarize="threshold").train.reshape(-1, 8, 8)[:rows, 2:6, 2:6]
    whole = whole.reshape(-1, 16).astype(float)
    return whole, np.where(np.random.default_rng(0).random(whole.shape) < 0.3, NAN, whole)


def completions(row):
    """Return all that a row may be."""
    free = np.isnan(row)
    every = np.repeat(row[None], 2 ** free.sum(), axis=0)
    every[:, free] = states_of(free.sum()) if free.any() else 0
    return every


def observed_likelihood(model, rows):
    """Return the mean log-probability of what is there."""
    each = [log_sum_exp(-model.free_energy(completions(row))) for row in rows]
    return np.mean(each) - tf.exact.log_partition(model)


def slopes(model, rows, name, step=1e-5):
    """Return the derivatives of that by a parameter."""
    own = {key: np.array(getattr(model, key)) for key in model.names}
    result = np.zeros(own[name].shape)
    for place in np.ndindex(result.shape):
        values = []
        for sign in (1, -1):
            moved = own[name].copy()
            moved[place] += sign * step
            values.append(observed_likelihood(type(model)(**own | {name: moved}), rows))
        result[place] = (values[0] - values[1]) / (2 * step)
    return result


@pytest.mark.parametrize("kind", ["[0,4]", "bernoulli"])
def test_the_gradient_is_that_of_the_likelihood_of_what_is_there(kind):
    model = model_of(kind)
    filling = Filling(10, np.full(5, 0.5))
    runs = []
    for update in range(10):
        rows = np.repeat(HOLES, 1000, axis=0)
        filling.fill(model.layers(), rows, 3, update)
        runs.append(tf.exact.gradient(model, rows))
    means = tf.exact.gradient(model, filling.by_means(HOLES))
    far = []
    for name in model.names:
        draws = np.array([run[name] for run in runs])
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs)) + 1e-7
        exact = slopes(model, HOLES, name)
        assert (abs(draws.mean(axis=0) - exact) <= 5 * error).all(), name
        far.append((abs(means[name] - exact) / error).max())
    assert max(far) > 20  # tight enough to tell it from means


def test_real_units_are_drawn_from_their_conditional():
    # Hidden units that are not truncated: all is Gaussian.
    weights = np.random.default_rng(1).normal(0, 0.4, (4, 3))
    bias, a = np.array([0.5, -1.0, 0.0, 0.3]), 2.0
    model = tf.TruGRBM(weights, bias, 0.0, 1.0, -np.inf, np.inf, visible_precision=a)
    inverse = a * np.eye(4) - weights @ weights.T
    rows = np.tile([[1.5, NAN, -0.5, NAN]], (20_000, 1))
    Filling(20, np.zeros(4)).fill(model.layers(), rows, 0, 0)
    assert (rows[:, [0, 2]] == [1.5, -0.5]).all()
    covariance = np.linalg.inv(inverse[1::2, 1::2])
    mean = covariance @ (bias[1::2] - inverse[1::2, ::2] @ [1.5, -0.5])
    np.testing.assert_allclose(rows[:, 1::2].mean(axis=0), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(rows[:, 1::2].T), covariance, atol=0.03)


def test_it_learns_more_than_from_means():
    whole, holes = small_digits()
    options = {"n_hidden": 20, "epochs": 10, "rng": 0, "monitor": None}
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    soft = tf.train_rbm(filled, visible=tf.BernoulliUnits(soft=True), **options)
    drawn = tf.train_rbm(holes, visible=DRAWN, **options)
    best = tf.train_rbm(whole, **options)
    found = [tf.exact.log_likelihood(fit.model, whole).mean() for fit in (soft, drawn, best)]
    assert found[1] > found[0] + 0.7  # -10.1, -9.2 and -8.7 nats
    assert found[1] > found[2] - 0.6


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": "cd"},
        {
            "sampler": tf.training.ParallelTempering(3, n_chains=20),
            "visible": tf.BernoulliUnits(missing=2),
            "dtype": "float64",
        },
        {
            "visible": tf.GaussianUnits(missing="draw"),
            "truncation": "relu",
            "learning_rate": 0.01,
        },
        {"visible": tf.BernoulliUnits(soft=True, missing=5), "hidden": "bernoulli"},
    ],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(
    options, tmp_path, monkeypatch, interrupts
):
    _, holes = small_digits(200)
    options = BASE | options | {"validation": holes[:50]}
    whole = tf.train_rbm(holes, **options)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 10)
        with pytest.warns(UserWarning, match="interrupted"):
            assert tf.train_rbm(holes, **options, checkpoint=path).interrupted
    again = tf.train_rbm(holes, **options, checkpoint=tf.training.Checkpoint(path, resume=True))
    assert_same(whole, again)
    assert np.isfinite(whole.history["validation_score"]).all()
    with pytest.raises(ValueError, match="belongs to another run: .*missing"):
        other = options | {"visible": replace(options["visible"], missing=7)}
        tf.train_rbm(holes, **other, checkpoint=tf.training.Checkpoint(path, resume=True))


def test_one_thread_equals_all():
    _, holes = small_digits()
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        models.append(tf.train_rbm(holes, **BASE | {"batch_size": 700, "n_hidden": 140}).model)
    assert same(*models)


def test_chunks_of_all_rows_are_an_array():
    _, holes = small_digits(150)
    fit = tf.train_rbm(holes, **BASE)
    assert_same(
        fit, tf.train_rbm(tf.training.Chunks(lambda: iter([holes]), shape=holes.shape), **BASE)
    )
    parts = tf.training.Chunks(lambda: iter([holes[:90], holes[90:]]), shape=holes.shape)
    rows = as_rows("X", parts, check_of(Layer((Run("bernoulli", 16),)), soft=False, missing=True))
    np.testing.assert_allclose(rows.means, np.nanmean(holes, axis=0), rtol=1e-14)
    tf.train_rbm(parts, **BASE)


def test_data_in_files_columns_or_sparse_is_an_array(tmp_path):
    _, holes = small_digits(150)
    fit, before = tf.train_rbm(holes, **BASE), holes.copy()
    np.save(tmp_path / "rows.npy", holes)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for rows in (mapped, np.asfortranarray(holes), scipy.sparse.csr_matrix(holes)):
        assert_same(fit, tf.train_rbm(rows, **BASE))
    np.testing.assert_array_equal(holes, before)


def test_scores_are_of_what_is_there():
    # The pseudo-log-likelihood, as its definition has it; and a bound on what the model says.
    model, filling = model_of("bernoulli"), Filling(10, np.full(5, 0.5))
    found = scores.pseudo(model, np.repeat(HOLES, 4000, axis=0), 0, filling).reshape(4, -1)
    for row, draws in zip(HOLES, found, strict=True):
        means, bounds = [], []
        for pixel in np.flatnonzero(~np.isnan(row)):
            held = row.copy()
            held[pixel] = NAN
            every = completions(held)
            log_p = -model.free_energy(every)
            others = np.delete(every, pixel, axis=1)
            value = dict(zip(map(tuple, every), log_p, strict=True))
            right = [np.insert(other, pixel, row[pixel]) for other in others]
            wrong = [np.insert(other, pixel, 1 - row[pixel]) for other in others]
            log_odds = np.array(
                [value[tuple(r)] - value[tuple(w)] for r, w in zip(right, wrong, strict=True)]
            )
            weight = np.exp(log_p - log_sum_exp(log_p))
            means.append(-5 * weight @ np.logaddexp(0, -log_odds))
            bounds.append(5 * np.log(weight[every[:, pixel] == row[pixel]].sum()))
        error = draws.std() / np.sqrt(draws.size)
        assert abs(draws.mean() - np.mean(means)) < 4 * error + 1e-12
        assert np.mean(means) <= np.mean(bounds) + 1e-12


def test_a_reconstruction_is_judged_where_values_are():
    model, filling = model_of("[0,4]"), Filling(5, np.full(5, 0.5))
    found = scores.reconstruction(model, HOLES, 0, filling)
    rows = filling.drawn(model, HOLES, 0)
    net = model.visible_bias + model.hidden_moments(rows).mean @ model.weights.T
    error = (HOLES - 1 / (1 + np.exp(-net))) ** 2
    np.testing.assert_allclose(found, -5 * np.nanmean(error, axis=1))


def test_a_function_is_given_whole_rows():
    _, holes = small_digits(100)

    def score(model, rows):
        assert ((rows == holes) | np.isnan(holes)).all() and np.isin(rows, (0, 1)).all()
        return 0.0

    tf.train_rbm(holes, **BASE, monitor=tf.training.Monitor(score))


def test_choices_by_the_data_are_those_of_whole_data():
    whole, holes = small_digits()
    shape = Shape.of(8, tf.Truncation(0, 4), tf.TruGUnits(), np.float32)
    ours, theirs = ByData.of(holes, shape), ByData.of(whole, shape)
    assert abs(ours.scale / theirs.scale - 1) < 0.03
    assert 0.75 < ours.learning_rate("sgd", real=False)[0] / 0.2 <= 1
    found, expected = Columns.of(holes, True), Columns.of(whole, True)
    np.testing.assert_allclose(found.deviation, expected.deviation, atol=0.05)


X = HOLES[:, [0, 2, 4]][[0, 2, 3]]  # one value is missing
FULL = np.nan_to_num(X)


@pytest.mark.parametrize(
    ("rows", "options", "kind", "words"),
    [
        (
            X,
            {"visible": None},
            ValueError,
            r"got nan at index \(1, 2\) \(visible units with missing='draw' take NaN",
        ),
        (FULL, {}, ValueError, "missing has no effect, neither X nor validation has NaN"),
        (X, {"monitor": "ais"}, ValueError, "'ais' needs whole rows: .* take 'pseudo' or 'recon"),
        ([[NAN, 0], [NAN, 1]], {}, ValueError, "in each column, got none in column 0"),
        (
            [[1, 0], [NAN, NAN]],
            {},
            ValueError,
            "X must have a value in each row, got none in row 1",
        ),
        ([[1, np.inf], [NAN, 1]], {}, ValueError, r"X must be finite, got inf at index \(0, 1\)$"),
        ([[1, 0.5], [NAN, 1]], {}, ValueError, "X must be 0 or 1, got 0.5 at row 0, column 1"),
        (X, {"validation": [[NAN] * 3]}, ValueError, "validation must have a value in each row"),
    ],
)
def test_bad_input(rows, options, kind, words):
    with pytest.raises(kind, match=words):
        tf.train_rbm(rows, **BASE | options)


def test_missing_values_of_validation_alone():
    fit = tf.train_rbm(FULL, **BASE, validation=X)
    assert np.isfinite(fit.history["validation_score"]).all()
