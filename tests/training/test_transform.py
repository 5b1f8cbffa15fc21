"""A function through which each batch goes: what it is given, what is made of what it returns."""

import os
import signal
import subprocess
import sys
from functools import partial

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, one_by_one
from trug_fast.training.transform import as_transform

RNG = np.random.default_rng(0)
GREY = RNG.random((90, 7))
PIXELS = (GREY > 0.5).astype(np.uint8)
REAL = RNG.normal(size=(90, 7))
HOLES = np.where(RNG.random(REAL.shape) < 0.1, np.nan, REAL)
STATES = RNG.integers(0, 3, (90, 7))
STATES[0] = 0
VIDEOS = [PIXELS[:12], PIXELS[20:25], PIXELS[30:42], PIXELS[50:70], PIXELS[80:]]
FEW = {"n_hidden": 4, "epochs": 2, "batch_size": 20, "rng": 0}
SHORT = {"n_hidden": 4, "epochs": 2, "batch_size": 2, "rng": 0}
SOFT = tf.BernoulliUnits(soft=True)
MIXED = [*["bernoulli"] * 5, tf.CategoricalUnits(3), "gaussian"]


def flipped(batch, generator, share):
    """Flip some pixels of rows or of sequences, in place; fewer as the run goes on."""
    for x in batch if isinstance(batch, list) else [batch]:
        chosen = generator.random(x.shape, np.float32) < 0.3 - 0.2 * share
        x[chosen] = 1 - x[chosen]
    return batch


def noise(batch, generator, share):
    return batch + 0.1 * generator.normal(size=batch.shape)


def redrawn(batch, generator, share):
    return generator.random(batch.shape, batch.dtype) < batch


def moved(batch, generator, share):
    return np.roll(batch, generator.integers(7), axis=1)


def noisy_past(batch, generator, share):
    return batch, [np.clip(x + 0.2 * generator.normal(size=x.shape), 0, 1) for x in batch]


CASES = {
    "binary": (PIXELS, {"transform": flipped}),
    "grey": (GREY, {"transform": redrawn, "visible": SOFT, "sampler": "cd"}),
    "real": (REAL, {"transform": noise, "visible": "gaussian", "dtype": "float64"}),
    "missing": (
        HOLES,
        {"transform": noise, "visible": tf.GaussianUnits(missing=2), "sampler": "pt"},
    ),
    "states": (STATES, {"transform": moved, "visible": "categorical", "sampler": "ptt"}),
    "weights": (PIXELS, {"transform": flipped, "sample_weight": np.arange(90.0)}),
}


def train(X, **options):
    return tf.train_rbm(X, **FEW | options)


@pytest.mark.parametrize("name", CASES)
def test_the_same_by_seed_and_threads_and_after_a_stop(name, tmp_path, monkeypatch):
    X, options = CASES[name]
    before = X.copy()
    whole = train(X, **options)
    np.testing.assert_array_equal(X, before)
    numba.set_num_threads(1)
    try:
        assert_same(whole, train(X, **options))
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    other = train(X, **options | {"transform": None})
    assert not np.array_equal(whole.model.weights, other.model.weights)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
        interrupt_after(patch, 7)
        train(X, **options, checkpoint=path)
    assert_same(whole, train(X, **options, checkpoint=tf.training.Checkpoint(path, resume=True)))
    with monkeypatch.context() as patch:
        one_by_one(patch)
        assert_same(whole, train(X, **options))


@pytest.mark.parametrize("transform", [flipped, noisy_past])
def test_the_same_of_sequences(transform, tmp_path):
    before = [x.copy() for x in VIDEOS]
    options = SHORT | {"transform": transform}
    whole = tf.train_trbm(VIDEOS, **options)
    for x, y in zip(VIDEOS, before, strict=True):
        np.testing.assert_array_equal(x, y)
    numba.set_num_threads(1)
    try:
        assert_same(whole, tf.train_trbm(VIDEOS, **options))
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert not np.array_equal(whole.model.weights, tf.train_trbm(VIDEOS, **SHORT).model.weights)

    def stop(event):
        raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    with pytest.warns(UserWarning, match="npz continues"):
        tf.train_trbm(VIDEOS, **options, checkpoint=path, callbacks=[stop])
    again = tf.training.Checkpoint(path, resume=True)
    assert_same(whole, tf.train_trbm(VIDEOS, **options, checkpoint=again))
    with pytest.raises(ValueError, match=f"transform is '{transform.__name__}' there, None here"):
        tf.train_trbm(VIDEOS, **SHORT, checkpoint=again)


CHILD = """
import os, signal, sys
import trug_fast as tf
from tests.training import test_transform as tests
calls = []
def flipped(batch, generator, share):
    calls.append(share)
    if len(calls) == 8:
        os.kill(os.getpid(), signal.SIGKILL)
    return tests.flipped(batch, generator, share)
file = tf.training.Checkpoint(sys.argv[1], every=0)
tests.train(tests.PIXELS, transform=flipped, checkpoint=file)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_run_killed_in_the_function_goes_on_and_not_without_it(tmp_path):
    path = tmp_path / "run.npz"
    done = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    again = tf.training.Checkpoint(path, resume=True)
    for other, said in ((None, "None"), (redrawn, "'redrawn'")):
        with pytest.raises(ValueError, match=f"transform is 'flipped' there, {said} here"):
            train(PIXELS, transform=other, checkpoint=again)
    with np.load(path) as file:
        assert 4 <= file["counters"][0] <= 6
    assert_same(
        train(PIXELS, transform=flipped), train(PIXELS, transform=flipped, checkpoint=again)
    )


def test_how_a_function_is_called(monkeypatch):
    seen = []

    def watch(batch, generator, share):
        seen.append((share, generator.random(), batch.copy()))
        batch[:] = 0
        return batch

    train(PIXELS, transform=watch, sampler="cd", monitor=None, dtype="float64")
    shares = [share for share, _, _ in seen]
    assert shares == pytest.approx([1.0, *np.arange(10) / 10])  # scores, then updates
    assert len({number for _, number, _ in seen}) == 11
    np.testing.assert_array_equal(seen[0][2], PIXELS)
    for epoch in (seen[1:6], seen[6:]):
        rows = np.concatenate([batch for _, _, batch in epoch])
        assert rows.dtype == np.float64 and rows.shape == PIXELS.shape
        assert sorted(map(bytes, rows)) == sorted(map(bytes, PIXELS.astype(float)))
    first = [number for _, number, _ in seen]
    seen.clear()
    train(PIXELS, transform=watch, sampler="cd", monitor=None, rng=1)
    assert not {number for _, number, _ in seen} & set(first)


def test_states_are_given_as_they_are_in_the_data():
    found = []

    def watch(batch, generator, share):
        found.append(batch.copy())
        return batch[:, ::-1] if isinstance(kind, str) else batch

    data = np.column_stack([PIXELS[:, :5], STATES[:, :1], REAL[:, :1]])
    for kind, X in (("categorical", STATES), (MIXED, data), ("spin", 1.0 - 2 * PIXELS)):
        plain, found[:] = train(X, visible=kind), []
        other = train(X, visible=kind, transform=watch)
        np.testing.assert_allclose(found[0], X, rtol=1e-6)
        assert (kind is MIXED) == np.array_equal(plain.model.weights, other.model.weights)


def test_sparse_rows_chunks_and_rows_in_memory_give_the_same(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    whole = train(PIXELS, transform=flipped)
    for rows in (sparse.csr_matrix(PIXELS), tf.training.Chunks(PIXELS), np.asfortranarray(PIXELS)):
        assert_same(whole, train(rows, transform=flipped))


def test_a_function_may_see_the_model_and_is_then_called_for_updates_alone():
    kept = []

    def watch(batch, generator, share, model):
        kept.append((model, np.array(model.weights)))
        return flipped(batch, generator, share)

    seen = train(PIXELS, transform=watch, monitor=None)
    assert_same(seen, train(PIXELS, transform=flipped, monitor=None))
    assert len(kept) == 10 and not np.array_equal(kept[0][1], kept[1][1])
    assert all(np.array_equal(model.weights, then) for model, then in kept)
    assert all(isinstance(model, tf.TruGRBM) for model, _ in kept)
    kept.clear()
    tf.train_trbm(VIDEOS, **SHORT, transform=watch)
    assert len(kept) == 6 and all(isinstance(model, tf.TruGTRBM) for model, _ in kept)


def late(change):
    """Return a function that does so from the third update on, which the first epoch has."""

    def wrong(batch, generator, share):
        if isinstance(batch, list):
            return change(batch) if 0.2 < share < 0.3 else batch
        return change(batch) if 0.15 < share < 0.25 else batch

    return wrong


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda x: None, TypeError, r"return an array of shape \(20, 7\), got NoneType"),
        (lambda x: x.tolist(), TypeError, r"return an array of shape \(20, 7\), got list"),
        (lambda x: x[:3], ValueError, r"array of shape \(20, 7\), got shape \(3, 7\)"),
        (lambda x: x[:, :3], ValueError, r"array of shape \(20, 7\), got shape \(20, 3\)"),
        (lambda x: x.astype(complex), TypeError, "must hold real numbers, got dtype complex128"),
        (lambda x: x.astype(object), TypeError, "must hold real numbers, got dtype object"),
        (lambda x: x * np.nan, ValueError, "must be finite, got nan"),
        (lambda x: x + 0.5, ValueError, "must be 0 or 1, got"),
        (lambda x: -x, ValueError, "must be 0 or 1, got -1.0"),
        (lambda x: np.ma.masked_array(x, x > 0), ValueError, "masked"),
    ],
)
def test_what_is_wrong_is_refused_by_name_and_update(change, kind, words):
    with pytest.raises(kind, match=f"transform at update 3 .*{words}"):
        train(PIXELS, transform=late(change), monitor=None)


def test_what_is_out_of_range_of_other_units_is_refused():
    for X, visible, change, words in (
        (STATES, "categorical", lambda x: x + 3, "must be a state, a whole number from 0 to 2"),
        (REAL, "gaussian", lambda x: x * np.inf, "must be finite"),
        (REAL, "gaussian", lambda x: x + np.float64(1e300), "must fit float32"),
        (abs(REAL), "relu", lambda x: -x, "transform at update 3"),
        (HOLES, tf.GaussianUnits(missing=2), lambda x: x * np.nan, "must have a value in each row"),
    ):
        with pytest.raises(ValueError, match=f"transform at update 3.*{words}|{words}"):
            train(X, visible=visible, transform=late(change), monitor=None)
    for words in (3, "noise", [flipped]):
        with pytest.raises(TypeError, match="transform must be a function of a batch"):
            train(PIXELS, transform=words)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda x: np.stack([x[0]] * 2), TypeError, "list of 2 sequences, .*, got ndarray"),
        (lambda x: x[:1], ValueError, "list of 2 sequences, or a pair of such lists, got 1"),
        (lambda x: (x, x[:1]), ValueError, "list of 2 sequences, or a pair of such lists, got 1"),
        (tuple, TypeError, "list of 2 sequences, or a pair of such lists, got ndarray"),
        (lambda x: [x[0], x[1][1:]], ValueError, r"sequence 1 must return an array of shape \("),
        (lambda x: [x[0], x[1] + 2], ValueError, r"update 3\[1\] must lie in \[0, 1\], got"),
        (lambda x: (x, [x[0], x[1] * np.nan]), ValueError, r"update 3\[1\] must be finite"),
    ],
)
def test_what_is_wrong_of_sequences_is_refused(change, kind, words):
    videos = np.random.default_rng(0).integers(0, 2, (8, 6, 5))
    with pytest.raises(kind, match=f"transform at update 3.*{words}|{words}"):
        tf.train_trbm(videos, **SHORT | {"epochs": 2}, transform=late(change), monitor=None)


def test_names():
    assert as_transform(None) is None
    assert as_transform(flipped).identity() == "flipped"
    assert as_transform(partial(partial(flipped, share=1), share=2)).identity() == "flipped"
    assert as_transform(np.random.default_rng(0).random).identity() == "Generator.random"
    assert not as_transform(np.sin).sees_model  # it has no signature


def test_what_is_learned_is_what_the_function_returns():
    """All rows are 0; the function returns pairs of pixels that agree, one in four of them lit."""

    def pairs(batch, generator, share):
        return np.repeat(generator.random((len(batch), 2)) < 0.25, 2, axis=1)

    X = np.zeros((400, 4))
    how = {"epochs": 200, "batch_size": 20, "learning_rate": (0.1, 0.001), "rng": 0}
    model = tf.train_rbm(X, 4, sampler=tf.training.PCD(5), transform=pairs, **how).model
    every = np.array([[a, a, b, b] for a in (0, 1) for b in (0, 1)], float)
    found = np.exp(tf.exact.log_likelihood(model, every))
    np.testing.assert_allclose(found, [9 / 16, 3 / 16, 3 / 16, 1 / 16], atol=0.04)


@pytest.mark.filterwarnings(
    "ignore::trug_fast.training.TrainingWarning"
)  # 40 rows are few to judge by
def test_new_draws_of_grey_images_in_each_update_spare_what_one_draw_learns_by_heart():
    rng = np.random.default_rng(0)
    grey = 1 / (1 + np.exp(-rng.normal(size=(40, 2)) @ rng.normal(size=(2, 12))))
    once = tf.datasets.binarize(grey, "sample", rng=0)
    tests = tf.datasets.binarize(np.repeat(grey, 50, axis=0), "sample", rng=1)
    how = {"n_hidden": 8, "epochs": 400, "batch_size": 20, "learning_rate": 0.1, "rng": 0}
    scores = [
        tf.exact.log_likelihood(tf.train_rbm(X, **how, **more).model, tests).mean()
        for X, more in ((once, {}), (grey, {"transform": redrawn, "visible": SOFT}))
    ]
    assert scores[1] > scores[0] + 0.5


@pytest.mark.filterwarnings(
    "ignore::trug_fast.training.TrainingWarning"
)  # linear forecasts are the best
@pytest.mark.parametrize("past_alone", [True, False])
def test_noise_on_the_past_weakens_what_is_learned_of_it_as_known(past_alone):
    """A regression on x + noise has the coefficients times var x / (var x + var noise)."""
    rng, x = np.random.default_rng(0), np.zeros((60, 80, 2))
    for t in range(1, 80):
        x[:, t] = 0.8 * x[:, t - 1] + 0.6 * rng.normal(size=(60, 2))
    x = x[:, 20:]

    def noisy(batch, generator, share):
        found = [y + generator.normal(size=y.shape) for y in batch]
        return (batch, found) if past_alone else found

    how = {
        "visible": "gaussian",
        "sampler": tf.training.SequenceCD(3),
        "batch_size": 10,
        "learning_rate": (0.05, 0.002),
        "rng": 0,
    }
    clean, weak = (
        tf.train_trbm(x, 2, epochs=60, optimizer="sgd", monitor=None, **how, **more).model
        for more in ({}, {"transform": noisy})
    )
    first, second = (m.predict(np.eye(2)[[0, 0]], method="mean_field", rng=0)[1, 0]
                     - m.predict(np.zeros((2, 2)), method="mean_field", rng=0)[1, 0]
                     for m in (clean, weak))  # fmt: skip
    assert abs(first - 0.8) < 0.05 and abs(second - 0.4) < 0.05
    errors = [
        tf.prediction_error(weak, x).mean(),
        np.square(x[:, 1:] - 0.4 * x[:, :-1]).sum(axis=2).mean(),
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.05)


def test_choices_of_a_cross_validation_may_have_one():
    ways = {"plain": {}, "past": {"transform": noisy_past}}
    ways = {name: {"n_hidden": 3, "epochs": 1} | way for name, way in ways.items()}
    found = tf.training.cross_validate(VIDEOS[:4], ways, n_folds=2, rng=0)
    assert np.isfinite(found.folds).all() and found.folds[0].tolist() != found.folds[1].tolist()
