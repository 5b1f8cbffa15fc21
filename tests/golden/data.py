"""What golden cases are computed of: small data of each kind, and models trained on it."""

import itertools
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trug_fast as tf

_rng = np.random.default_rng(7)
Z = _rng.normal(size=(120, 3)) @ _rng.normal(size=(3, 12)) + 0.3 * _rng.normal(size=(120, 12))
PROBABILITIES = 1 / (1 + np.exp(-Z))
WEIGHTS = np.random.default_rng(2).random(120)
WEIGHTS[5] = 0.0
MIXED = [
    Z[:, :3] > 0,
    np.digitize(Z[:, 3], [-0.5, 0.5]),
    Z[:, 4] / 2,
    abs(Z[:, 5]),
    np.sign(Z[:, 6]),
]
DATA = {
    "bernoulli": ((Z > 0).astype(np.uint8), "bernoulli"),
    "spin": (np.where(Z > 0, 1, -1), "spin"),
    "categorical": (np.digitize(Z, [-0.7, 0.7])[:, :6], "categorical"),
    "gaussian": ((Z - Z.mean(0)) / Z.std(0), "gaussian"),
    "relu": (abs(Z), "relu"),
    "mixed": (
        np.column_stack(MIXED),
        ["bernoulli"] * 3
        + [tf.CategoricalUnits(3), tf.GaussianUnits(learn_precision=True), "relu", "spin"],
    ),
}
HIDDEN = {
    "slearn": {},
    "relu": {"truncation": "relu"},
    "tanh": {"truncation": "tanh"},
    "bend": {"truncation": "sigmoid", "hidden": tf.TruGUnits(learn_precision=True)},
    "shared": {"truncation": tf.Truncation(-1, 2, "shared", learn_lower=True)},
    "bernoulli": {"hidden": "bernoulli"},
}
SAMPLERS = {
    "pcd": "pcd",
    "cd": tf.training.CD(2),
    "pt": tf.training.ParallelTempering(4),
    "ptt": tf.training.TrajectoryTempering(n_chains=20),
}
OPTIMIZERS = ("sgd", "rmsprop", "adam")
DTYPES = ("float32", "float64")

VIDEOS = (np.random.default_rng(0).random((6, 15, 10)) < 0.4) * 1.0
CURVES = np.random.default_rng(1).normal(size=(6, 15, 5)).cumsum(axis=1)
CURVES /= CURVES.std()
INPUTS = np.random.default_rng(3).normal(size=(80, 4))
TARGET = INPUTS[:, 0] ** 2 + 0.1 * INPUTS[:, 1] * INPUTS[:, 2]


def missing(kind: str) -> np.ndarray:
    """Return data with a tenth of the values missing."""
    X = DATA[kind][0].astype(float)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X


def train(kind, hidden="slearn", sampler="pcd", optimizer="sgd", dtype="float32", **more):
    """Train an RBM for two epochs."""
    X, visible = DATA[kind]
    options = {"X": X, "n_hidden": 8, "visible": visible, "sampler": SAMPLERS.get(sampler, sampler)}
    options |= {"optimizer": optimizer, "dtype": dtype, "epochs": 2, "batch_size": 10, "rng": 3}
    options |= {"progress": False} | HIDDEN[hidden] | more
    return tf.train_rbm(**options)


@cache
def trained(*case):
    """Return the fit of a case of ``grid``."""
    return train(*case)


def redrawn(batch, generator, share):
    """Return zeros and ones with these probabilities, fewer ones at first."""
    return generator.random(batch.shape, batch.dtype) < batch * (0.5 + 0.5 * share)


def moved(batch, generator, share, model):
    """Return sequences that are a bit nearer to what the model makes of them."""
    return [x + 0.1 * (model.predict(x, method="mean_field", rng=0) - x) for x in batch]


def noisy_past(batch, generator, share):
    """Return frames, and what later ones know of them: coins in place of a fifth of the pixels."""
    past = [x.copy() for x in batch]
    for x in past:
        chance = generator.random(x.shape, np.float32)
        x[chance < 0.2] = 0.0
        x[chance < 0.1] = 1.0
    return batch, past


@cache
def sequences(kind: str, **more):
    """Return the fit of a small temporal model."""
    own = {"real": {"visible": tf.GaussianUnits(learn_precision=True)}}.get(kind, {})
    return tf.train_trbm(
        CURVES if kind == "real" else VIDEOS, 6, epochs=2, rng=0, progress=False, **own, **more
    )


@cache
def regression(**more):
    """Return the fit of a small regression."""
    return tf.train_tggm(INPUTS, TARGET, n_hidden=6, epochs=3, rng=0, progress=False, **more)


def grid():
    """Yield kinds, units, samplers, optimizers and dtypes: each pair of the first three meets."""
    steps = list(itertools.product(OPTIMIZERS, DTYPES))
    for (i, sampler), (j, kind), (k, hidden) in itertools.product(
        enumerate(SAMPLERS), enumerate(DATA), enumerate(HIDDEN)
    ):
        if sampler == "ptt" and (kind == "mixed" or hidden not in ("slearn", "bernoulli")):
            continue
        optimizer, dtype = steps[(i + 2 * j + k + j // 3) % len(steps)]
        yield kind, hidden, sampler, "sgd" if sampler == "ptt" else optimizer, dtype
    for kind, (optimizer, dtype) in itertools.product(DATA, steps):
        yield kind, "slearn", "pcd", optimizer, dtype


def resumed(make, longer=True):
    """Train with a file: stopped after an epoch, continued, then made longer; the file's arrays."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")

        def stop(event):
            if event.epoch == 1:
                raise KeyboardInterrupt

        first = make(callbacks=[stop], checkpoint=path)
        assert first.interrupted
        second = make(checkpoint=tf.training.Checkpoint(path, resume=True))
        third = (
            make(checkpoint=tf.training.Checkpoint(path, resume=True), epochs=3) if longer else None
        )
        with np.load(path) as file:
            own = {
                name: file[name]
                for name in file.files
                if name not in ("identity", "digest") and "seconds" not in name
            }
    return first, second, third, own
