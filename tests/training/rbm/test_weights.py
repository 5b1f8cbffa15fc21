"""Weighted rows of an RBM: the gradient of the weighted likelihood, whatever rows come from."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, same
from tests.support.gradients import estimate
from tests.support.models import KINDS, exact_draws, model_of
from trug_fast._common.randomness import seed_from
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm.weighing import WEIGHTED
from trug_fast.training import chunks, gathering
from trug_fast.training.going_on import UnitKinds
from trug_fast.training.rbm import learner as learners
from trug_fast.training.rbm import watch as scores
from trug_fast.training.rbm.data import checked_data
from trug_fast.training.rbm.defaults import ByData
from trug_fast.training.rbm.parts import Filling
from trug_fast.training.rbm.train import _settings
from trug_fast.training.weighing import Weighted

want(WEIGHTED)
RNG = np.random.default_rng(5)
PIXELS = (RNG.random((120, 6)) < [0.2, 0.5, 0.8, 0.5, 0.3, 0.6]).astype(float)
WEIGHTS = RNG.integers(1, 5, len(PIXELS)).astype(float)
FEW = {"n_hidden": 4, "epochs": 2, "batch_size": 20, "rng": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_weight_two_is_the_row_twice(kind):
    model = model_of(kind)
    data, start = exact_draws(model, 12, seed=1), exact_draws(model, 30, seed=2)
    weights = np.array([1, 2, 3, 1, 2, 1, 1, 4, 2, 1, 1, 5.0])
    again = np.repeat(data, weights.astype(int), axis=0)
    for offsets in (None, (np.full(model.n_visible, 0.3), np.full(model.n_hidden, 0.6))):
        own = estimate(model, data, start, 5, offsets=offsets, weights=weights / weights.mean())
        twice = estimate(model, again, start, 5, offsets=offsets)
        for name, value in twice[0].items():
            np.testing.assert_allclose(own[0][name], value, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(own[1].means(), twice[1].means(), rtol=1e-13)


def likelihood(model, data, shares, name, value):
    """Return the mean over rows of shares of their log-likelihoods, with another parameter."""
    own = {each: getattr(model, each) for each in model.names} | {name: value}
    return float(np.mean(shares * tf.exact.log_likelihood(type(model)(**own), data)))


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_the_gradient_is_that_of_the_weighted_likelihood(kind):
    # Of two sets of weights with the same sum the model's sides are the same: what is left is
    # exact, and so is its finite difference.
    model = model_of(kind)
    data, start = exact_draws(model, 7, seed=1), exact_draws(model, 9, seed=2)
    weights = np.array([0.5, 0, 2, 1, 0.7, 1.8, 0])
    weights[-1] = 7 - weights.sum()
    found = estimate(model, data, start, 5, weights=weights)[0]
    plain = estimate(model, data, start, 5)[0]
    step = 1e-5
    for name in ("weights", "visible_bias", "hidden_bias", "precision", "lower", "upper"):
        value = getattr(model, name, None)
        if value is None:
            continue
        for index in np.ndindex(value.shape):
            if not np.isfinite(value[index]):
                continue
            ends = []
            for sign in (1, -1):
                moved = np.array(value)
                moved[index] += sign * step
                ends.append(likelihood(model, data, weights - 1, name, moved))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert found[name][index] - plain[name][index] == pytest.approx(slope, abs=1e-8), name


def test_the_model_s_side_counts_for_what_the_batch_weighs():
    # The gradient is the sum over rows of weight times that of the row alone (mathematics 2.10),
    # the centred one too: a batch of light rows moves little, and nothing if they weigh nothing.
    model = model_of("mixed")
    data, start = exact_draws(model, 5, seed=1), exact_draws(model, 8, seed=2)
    offsets = np.full(model.n_visible, 0.3), np.full(model.n_hidden, 0.6)
    weights = np.array([0.1, 0.0, 0.5, 2.0, 0.2])
    found = estimate(model, data, start, 5, offsets=offsets, weights=weights)[0]
    alone = [estimate(model, row[None], start, 5, offsets=offsets)[0] for row in data]
    nothing = estimate(model, data, start, 5, offsets=offsets, weights=np.zeros(5))[0]
    for name, value in found.items():
        parts = [w * each[name] for w, each in zip(weights, alone, strict=True)]
        np.testing.assert_allclose(value, np.sum(parts, axis=0) / 5, atol=1e-14, err_msg=name)
        assert not nothing[name].any()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sampler": "cd", "hidden": tf.TruGUnits(learn_precision=True)},
        {"sampler": tf.training.ParallelTempering(3, n_chains=10), "hidden": "bernoulli"},
        {"visible": "gaussian", "truncation": "relu", "learning_rate": 0.01},
        {"optimizer": "adam", "dtype": "float64", "truncation": "c-learn"},
    ],
)
def test_weights_of_one_give_the_same_bits_as_none(options, monkeypatch):
    plain = tf.train_rbm(PIXELS, **FEW | options)
    assert_same(tf.train_rbm(PIXELS, **FEW | options, sample_weight=np.full(120, 3.0)), plain)
    update = learners.RBMLearner.update

    def weighted(self, data, batches, times):
        return update(self, Weighted(data, np.ones(len(data))), batches, times)

    monkeypatch.setattr(learners.RBMLearner, "update", weighted)
    assert_same(tf.train_rbm(PIXELS, **FEW | options), plain)


def test_what_data_decide_is_that_of_repeated_rows():
    again = np.repeat(PIXELS, WEIGHTS.astype(int), axis=0)
    for data, twice in ((PIXELS, again), (PIXELS - 0.3, again - 0.3)):
        ours = ByData(data, tf.Truncation(0, 4), 1.0, WEIGHTS)
        theirs = ByData(twice, tf.Truncation(0, 4), 1.0)
        assert ours.scale == theirs.scale
        for name in ("sgd", "adam"):
            rates = (one.learning_rate(name, real=True) for one in (ours, theirs))
            np.testing.assert_allclose(*rates)
    run, own = begun(PIXELS, WEIGHTS), begun(again, None)
    np.testing.assert_allclose(run.core.visible_offset, own.core.visible_offset, rtol=1e-6)
    assert not np.isclose(run.core.visible_offset, PIXELS.mean(axis=0), rtol=1e-3).all()
    run.core.visible_bias[:] = 0  # as it was when the units' means were taken
    mean = run.model().hidden_moments(PIXELS).mean
    np.testing.assert_allclose(
        run.core.hidden_offset, np.average(mean, axis=0, weights=WEIGHTS), 1e-5
    )


def begun(data, weights):
    """Return a learner before its first update."""
    given = checked_data(data, weights, None, tf.BernoulliUnits())
    settings, _ = _settings(
        given.data,
        given.weights,
        UnitKinds(4, tf.TruGUnits(), tf.BernoulliUnits()),
        tf.training.RandomWeights(),
        truncation=None,
        sampler=tf.training.PCD(n_chains=len(data)),
        optimizer=tf.training.SGD(),
        learning_rate=0.1,
        batch_size=20,
        epochs=1,
        monitor=None,
        dtype=np.dtype(np.float32),
    )
    return learners.RBMLearner(given.data, settings, 0, given.weights)


def test_rows_of_weight_zero_are_left_out():
    weights = np.where(np.arange(120) % 3 == 0, 0.0, WEIGHTS)
    kept = weights > 0
    ours = tf.train_rbm(PIXELS, **FEW, sample_weight=weights)
    assert_same(ours, tf.train_rbm(PIXELS[kept], **FEW, sample_weight=weights[kept]))
    ours = tf.train_rbm(PIXELS, **FEW, sample_weight=kept)
    assert_same(ours, tf.train_rbm(PIXELS[kept], **FEW))


def test_weights_follow_their_rows_wherever_these_are(tmp_path, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    whole = tf.train_rbm(PIXELS, **FEW, sample_weight=WEIGHTS)
    assert not same(whole.model, tf.train_rbm(PIXELS, **FEW).model)
    np.save(tmp_path / "rows.npy", PIXELS)
    np.save(tmp_path / "columns.npy", np.asfortranarray(PIXELS))
    monkeypatch.setattr(gathering, "LARGEST", 1)
    monkeypatch.setattr(gathering, "TOGETHER", 50 * PIXELS.nbytes // 120)
    monkeypatch.setattr(chunks, "TOGETHER", 50 * PIXELS.nbytes // 120)
    for rows in (
        tf.training.Chunks(PIXELS),
        sparse.csr_matrix(PIXELS),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        np.load(tmp_path / "columns.npy", mmap_mode="r"),
        np.asfortranarray(PIXELS),
    ):
        assert_same(tf.train_rbm(rows, **FEW, sample_weight=WEIGHTS), whole)
    zeros = np.where(np.arange(120) < 40, 0.0, WEIGHTS)
    ours = tf.train_rbm(sparse.csr_matrix(PIXELS), **FEW, sample_weight=zeros)
    assert_same(ours, tf.train_rbm(PIXELS, **FEW, sample_weight=zeros))


def test_in_chunks_rows_of_weight_zero_add_nothing():
    # With rates of 0 but for the first chunk, whose weights are 0, no parameter moves.
    zeros = np.where(np.arange(120) < 60, 0.0, WEIGHTS)
    rate = lambda share: 0.1 if share < 0.5 else 0.0  # noqa: E731
    start = tf.train_rbm(PIXELS, 4, epochs=1, rng=0).model
    options = {"epochs": 1, "batch_size": 20, "rng": 0, "start": start}
    options |= {
        "optimizer": tf.training.SGD(average=0.0, truncation_rate=rate),
        "learning_rate": rate,
    }
    parts = tf.training.Chunks(PIXELS, rows=60)
    assert same(tf.train_rbm(parts, **options, sample_weight=zeros).model, start)
    assert not same(tf.train_rbm(parts, **options, sample_weight=120 - zeros).model, start)


def test_rows_that_are_scored_need_weight():
    zeros = np.zeros(2400)
    zeros[[1, 3]] = 1, 2
    with pytest.raises(ValueError, match="0 for all of the rows that are scored"):
        tf.train_rbm(tf.training.Chunks(np.tile(PIXELS, (20, 1))), **FEW, sample_weight=zeros)


def test_the_likelihood_of_heavy_rows_is_learned():
    # Two noisy patterns, half of the rows each; by weight one is nine times the other.
    rng = np.random.default_rng(3)
    heavy = np.arange(1000) % 2 == 0
    rows = np.where(heavy[:, None], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1])
    rows = np.where(rng.random(rows.shape) < 0.1, 1 - rows, rows)
    weights, options = np.where(heavy, 9.0, 1.0), {"epochs": 40, "learning_rate": 0.05, "rng": 0}
    states = np.array(list(np.ndindex((2,) * 6)))
    first = states[:, :3].sum(axis=1) > states[:, 3:].sum(axis=1)
    for given, share in ((weights, 0.9), (None, 0.5)):
        model = tf.train_rbm(rows, 4, **options, sample_weight=given).model
        found = np.exp(tf.exact.log_likelihood(model, states))[first].sum()
        of_data = np.average(rows[:, :3].sum(axis=1) > rows[:, 3:].sum(axis=1), weights=given)
        assert found == pytest.approx(of_data, abs=0.05) and abs(of_data - share) < 0.1


def test_scores_are_weighted_means():
    one = FEW | {"epochs": 1, "sample_weight": WEIGHTS, "validation": PIXELS[:50]}
    fit = tf.train_rbm(PIXELS, **one, monitor="reconstruction")
    each = scores.reconstruction(fit.model, PIXELS, 0, Filling())
    found = fit.history["score"][-1]
    assert found == pytest.approx(np.average(each, weights=WEIGHTS), rel=1e-12)
    assert found != pytest.approx(each.mean(), rel=1e-4)
    assert fit.history["validation_score"][-1] == pytest.approx(each[:50].mean(), rel=1e-12)
    seed = seed_from(0, "train_rbm")
    for name in ("pseudo", "ais"):
        fit = tf.train_rbm(PIXELS, **one, monitor=name)
        each = tf.exact.log_likelihood(fit.model, PIXELS)
        if name == "pseudo":
            each = scores.pseudo(fit.model, PIXELS, seed, Filling())
            each[:50] = scores.pseudo(fit.model, PIXELS[:50], seed, Filling())
        found = fit.history["score"][-1], fit.history["validation_score"][-1]
        expected = np.average(each, weights=WEIGHTS), each[:50].mean()
        np.testing.assert_allclose(found, expected, atol=0.02 if name == "ais" else 1e-10)


def test_runs_with_weights_go_on_and_know_them(tmp_path):
    holes = np.where(np.random.default_rng(0).random(PIXELS.shape) < 0.2, np.nan, PIXELS)
    for data, visible in ((PIXELS, None), (holes, tf.BernoulliUnits(missing="draw"))):
        options = FEW | {"visible": visible, "sample_weight": WEIGHTS}
        whole = tf.train_rbm(data, **options)
        path = tmp_path / "run.npz"
        tf.train_rbm(data, **options, checkpoint=path, callbacks=[lambda event: False])
        goes_on = tf.training.Checkpoint(path, resume=True)
        assert_same(tf.train_rbm(data, **options, checkpoint=goes_on), whole)
        for other in (None, WEIGHTS[::-1].copy()):
            with pytest.raises(ValueError, match="another run: .*sample_weight"):
                tf.train_rbm(data, **options | {"sample_weight": other}, checkpoint=goes_on)
        path.unlink()
        assert not same(whole.model, tf.train_rbm(data, **options | {"sample_weight": None}).model)


def test_one_thread_gives_the_bits_of_all():
    options = {"n_hidden": 300, "epochs": 1, "batch_size": 300, "rng": 0}
    rows = RNG.integers(0, 2, (600, 100))
    options |= {"sample_weight": RNG.random(600)}
    before = numba.get_num_threads()
    with tf.computing(1e9):
        whole = tf.train_rbm(rows, **options)
    try:
        numba.set_num_threads(1)
        assert_same(tf.train_rbm(rows, **options), whole)
    finally:
        numba.set_num_threads(before)
