"""Training of temporal models: what it learns, and what its loop promises."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same


@pytest.fixture(scope="module")
def videos():
    return tf.datasets.bouncing_balls(14, 12, size=8, rng=0)


ARGUMENTS = {"n_hidden": 12, "epochs": 2, "batch_size": 4, "monitor": None, "rng": 0}


def noisy(batch, generator, share):
    """Return sequences with coins in place of some pixels, fewer as the run goes on."""
    amount = 0.2 - 0.1 * share
    return [np.where((u := generator.random(x.shape)) < amount, u < amount / 2, x) for x in batch]


def noisy_past(batch, generator, share, model):
    """Return sequences, and a past that is the model's forecast in part."""
    ahead = [np.clip(model.predict(x, method="mean_field", rng=0), 0, 1) for x in batch]
    return batch, [x + generator.random() * (p - x) for x, p in zip(batch, ahead, strict=True)]


SETTINGS = [
    {},
    {
        "hidden": "bernoulli",
        "optimizer": tf.training.SGD(momentum=0.9, l1={"weights": 0.1}, l1_squared=(0.01, 0.1)),
        "sampler": tf.training.SequenceCD(n_gibbs=(1, 3), begin="past"),
        "transform": noisy,
    },
    {
        "sampler": tf.training.SequenceCD(begin="data", gradient="paper-draws"),
        "truncation": "c-learn",
        "optimizer": tf.training.Adam(average=0.5),
    },
    {
        "visible": tf.GaussianUnits(learn_precision=True),
        "transform": noisy,
        "truncation": "relu",
        "dtype": "float64",
    },
    {"n_lags": 3},
    {"transform": noisy_past, "n_lags": 2},
]


@pytest.mark.parametrize("options", SETTINGS)
def test_one_thread_equals_all(videos, options):
    sequences = [x[: 5 + k] for k, x in enumerate(videos[:7])]
    models = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        models.append(tf.train_trbm(sequences, **(ARGUMENTS | options)).model)
    assert same(*models)


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
    rest = tf.train_trbm(videos, **arguments, checkpoint=tf.training.Checkpoint(path, resume=True))
    assert same(whole.model, rest.model)
    with pytest.raises(ValueError, match="belongs to another run"):
        tf.train_trbm(
            videos[:-1], **arguments, checkpoint=tf.training.Checkpoint(path, resume=True)
        )


@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_training_learns_to_predict(hidden):
    videos = tf.datasets.bouncing_balls(60, 30, size=10, n_balls=1, radius=2.0, rng=0)
    train, test = videos[:50], videos[50:]
    fit = tf.train_trbm(
        train, 40, hidden=hidden, epochs=20, batch_size=2, learning_rate=(5e-3, 5e-4),
        validation=test, monitor=tf.training.Monitor(every=20), rng=0,
    )  # fmt: skip
    error = tf.prediction_error(fit.model, test, method="mean_field", rng=0).mean()
    # It starts near the error of a linear forecast, 1.19; the frame before has 1.36.
    assert error < {"trug": 1.13, "bernoulli": 1.25}[hidden]
    assert abs(fit.history["validation_score"][-1] + error) < 1e-5


def test_gaussian_training_beats_its_linear_start():
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
        data[:60], 30, visible=tf.GaussianUnits(learn_precision=True), epochs=30, batch_size=4,
        learning_rate=(1e-2, 1e-3), monitor=None, rng=0,
    )  # fmt: skip
    error = tf.prediction_error(fit.model, data[60:], method="mean_field").mean()
    simple = tf.evaluation.forecast_errors(data[:60], data[60:])
    assert error < 0.9 * simple["linear, order 2"].mean() < simple["linear, order 1"].mean()


def test_training_goes_on_from_a_model(videos):
    for options in SETTINGS:
        still = ARGUMENTS | options | {"learning_rate": 1e-9, "epochs": 1}
        if options.get("truncation") != "relu" and options.get("hidden") != "bernoulli":
            still["optimizer"] = replace(
                still.get("optimizer", tf.training.Adam()), truncation_rate=1e-9
            )
        if isinstance(options.get("visible"), tf.GaussianUnits):
            still["visible"] = replace(options["visible"], precision_rate=1e-9)
        first = tf.train_trbm(videos, **(ARGUMENTS | options)).model
        again = tf.train_trbm(videos, **still, start=first).model
        assert not same(first, again)
        for name in first.names:
            if getattr(first, name) is not None:
                close = {"rtol": 1e-5, "atol": 1e-6, "err_msg": name}
                np.testing.assert_allclose(getattr(again, name), getattr(first, name), **close)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_hidden": 5}, "start must agree in the hidden units: 5 asked for, 12 in it"),
        (
            {"hidden": "bernoulli"},
            "start must agree in the kind of hidden units: bernoulli asked for, trug in it",
        ),
        (
            {"visible": "gaussian"},
            "start must agree in the kind of visible units: gaussian asked for, bernoulli in",
        ),
        ({"truncation": (0.0, 1.0)}, "truncation keeps lower=0.0, but start has units with"),
        ({"start": 3}, "start must be"),
    ],
)
def test_models_that_cannot_be_gone_on_from(videos, options, words):
    first = tf.train_trbm(videos, **ARGUMENTS).model
    with pytest.raises((TypeError, ValueError), match=words):
        tf.train_trbm(videos, **(ARGUMENTS | {"start": first} | options))


def test_a_checkpoint_belongs_to_its_start_and_its_rates(videos, tmp_path):
    path, first = tmp_path / "run.npz", tf.train_trbm(videos, **ARGUMENTS).model
    tf.train_trbm(videos, **ARGUMENTS, start=first, checkpoint=path)
    go_on = tf.training.Checkpoint(path, resume=True)
    with pytest.raises(ValueError, match="belongs to another run: start is"):
        tf.train_trbm(videos, **ARGUMENTS, checkpoint=go_on)
    with pytest.raises(ValueError, match="belongs to another run: truncation_rate is"):
        tf.train_trbm(
            videos,
            **ARGUMENTS,
            start=first,
            checkpoint=go_on,
            optimizer=tf.training.Adam(truncation_rate=lambda share: 1e-4),
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hidden": "bernoulli", "truncation": "relu"}, "truncation is for hidden='trug'"),
        ({"visible": tf.BernoulliUnits(soft=True)}, "soft has no effect in train_trbm"),
        ({"monitor": tf.training.Monitor(patience=3)}, "patience needs validation"),
        ({"monitor": None, "validation": [np.zeros((3, 64))]}, "validation has no effect"),
        ({"monitor": "ais"}, "monitor must be one of"),
        ({"truncation": "relu", "hidden": tf.TruGUnits(-1.0)}, "precision must be positive"),
        (
            {"truncation": "relu", "optimizer": tf.training.Adam(truncation_rate=0.1)},
            "truncation_rate has no effect",
        ),
        (
            {"hidden": "bernoulli", "optimizer": tf.training.Adam(truncation_rate=0.1)},
            "truncation_rate has no effect",
        ),
        ({"visible": tf.BernoulliUnits(missing=3)}, "missing has no effect in train_trbm"),
    ],
)
def test_bad_options(videos, options, words):
    with pytest.raises(ValueError, match=words):
        tf.train_trbm(videos, **(ARGUMENTS | options))
