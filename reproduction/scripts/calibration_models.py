"""Trained models whose log Z can be enumerated: what log_partition is calibrated on.

Model ``index`` of a seed is always the same.  Good and bad learning rates, short and long runs,
CD and PCD, SGD and RMSprop; images with few ordinary hidden units, and few pixels with any units.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from reproduction.choices import arguments_of
from reproduction.datasets import load_binarized_mnist

ROWS = 2000  # of training data at most
KINDS = ("mnist", "digits", "small digits", "patches", "small digits", "patches")
UNITS: dict[str, dict[str, Any]] = {
    "bernoulli": {"hidden": "bernoulli"},
    "[0,1]": {"truncation": (0.0, 1.0)},
    "[-1,1]": {"truncation": (-1.0, 1.0)},
    "[0,4]": {"truncation": (0.0, 4.0)},
    "[0,inf)": {"truncation": (0.0, np.inf)},
}
ATTEMPTS = 20  # trainings of one index, of which some diverge at the highest rates


class Trained(NamedTuple):
    """A model, the data it was trained on, its log Z, and in a few words what it is."""

    model: tf.BernoulliRBM | tf.TruGRBM
    data: NDArray[Any]
    log_z: float
    words: str


@cache
def images(kind: str) -> NDArray[np.uint8]:
    """Return binary images of this kind; MNIST's where they are installed, else the digits."""
    if kind in ("mnist", "patches"):
        try:
            rows = load_binarized_mnist().train[: 2 * ROWS]
        except FileNotFoundError:
            rows = np.kron(images("digits").reshape(-1, 8, 8), np.ones((1, 3, 3), np.uint8))
        return np.ascontiguousarray(rows.reshape(len(rows), -1), dtype=np.uint8)
    if kind == "digits":
        return np.asarray(tf.datasets.load_digits(binarize="threshold").train, np.uint8)
    grey = tf.datasets.load_digits().train.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return (grey > 0.5 * grey.max()).reshape(-1, 16).astype(np.uint8)


def training_data(kind: str, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return up to ROWS images, or patches of 12 to 18 pixels from one place of each."""
    rows = images(kind)
    if kind == "patches":
        side = int(np.sqrt(rows.shape[1]))
        height, width = ((3, 4), (4, 4), (3, 6))[rng.integers(3)]
        top, left = rng.integers(side // 4, side // 2, 2)
        cut = rows.reshape(-1, side, side)[:, top : top + height, left : left + width]
        rows = cut.reshape(len(rows), -1)
    return np.ascontiguousarray(rows[rng.permutation(len(rows))[:ROWS]])


def trained(index: int, seed: int) -> Trained:
    """Return model ``index``; a training that diverges is drawn anew."""
    for attempt in range(ATTEMPTS):
        try:
            return _trained(index, np.random.default_rng([seed, index, attempt]))
        except FloatingPointError:
            continue
    raise RuntimeError(f"no training of model {index} ended")


def _trained(index: int, rng: np.random.Generator) -> Trained:
    kind = KINDS[index % len(KINDS)]
    large = kind in ("mnist", "digits")
    units = "bernoulli" if large else tuple(UNITS)[index // 2 % len(UNITS)]
    data = training_data(kind, rng)
    hidden = int(rng.integers(6, 17)) if large else int(rng.integers(4, 41))
    sgd = rng.random() < 0.5
    settings: dict[str, Any] = {
        "optimizer": "sgd" if sgd else "rmsprop",
        "learning_rate": float(10 ** (rng.uniform(-2, 0.5) if sgd else rng.uniform(-3.5, -0.5))),
        "sampler": ("cd", "pcd")[rng.integers(2)],
        "epochs": (2, 5, 15, 40)[rng.integers(4)],
        "batch_size": (20, 100)[rng.integers(2)],
        "average": (0.0, 0.1)[rng.integers(2)],
    }
    own = {"start_scale": 0.1, "score": "none"} | UNITS[units]
    choices = arguments_of(tf.train_rbm, own | settings)
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", tf.training.TrainingWarning
        )  # bad rates are drawn on purpose
        fit = tf.train_rbm(data, hidden, **choices, progress=False, rng=seed)
    words = f"{kind} {data.shape[1]}x{hidden} {units} " + " ".join(
        f"{value:.3g}" if isinstance(value, float) else str(value) for value in settings.values()
    )
    return Trained(fit.model, data, tf.exact.log_partition(fit.model), words)
