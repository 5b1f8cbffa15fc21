"""Data sets that defaults are chosen and verdicts calibrated by, and a training on one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from reproduction.choices import arguments_of
from reproduction.datasets import load_binarized_mnist, load_caltech101_silhouettes, load_uci

Array = NDArray[Any]
Options = dict[str, Any]

# Defaults of former times, by which tables can be compared whatever today's are.
FORMER: dict[str, Any] = {"batch_size": 100, "n_chains": 100, "start_scale": 0.01}
FORMER_RATES = {False: (0.2, 0.01), True: (0.05, 0.0025)}  # by whether data are real numbers


class Rows(NamedTuple):
    """A data set: rows to train on, rows to choose by, hidden units, whether it is real."""

    train: Array
    held_out: Array
    n_hidden: int
    real: bool = False


def split(rows: Array, n_hidden: int, real: bool = False) -> Rows:
    """Hold every fifth row out; standardise real numbers."""
    order = np.random.default_rng(0).permutation(len(rows))
    held, kept = rows[order[::5]], rows[np.delete(order, np.s_[::5])]
    if real:
        mean, deviation = kept.mean(axis=0), kept.std(axis=0)
        vary = deviation > 1e-9
        kept, held = (((x - mean) / np.where(vary, deviation, 1))[:, vary] for x in (kept, held))
    return Rows(kept, held, n_hidden, real)


def made(make: Callable[[int, np.random.Generator], Array], rows: int, n_hidden: int) -> Rows:
    """Draw rows to train on, and 2,000 others."""
    return Rows(
        make(rows, np.random.default_rng(0)), make(2000, np.random.default_rng(1)), n_hidden
    )


def flipped(rows: Array, share: float, rng: np.random.Generator) -> Array:
    """Flip a share of the bits."""
    return np.asarray(rows ^ (rng.random(rows.shape) < share)).astype(np.uint8)


def clusters(rows: int, rng: np.random.Generator) -> Array:
    """Return four patterns of 20 bits, a tenth of them flipped."""
    patterns = np.random.default_rng(99).random((4, 20)) < 0.5
    return flipped(patterns[rng.integers(4, size=rows)], 0.1, rng)


def steps(rows: int, rng: np.random.Generator) -> Array:
    """Return 20 bits in a row, each with a chance of 1 in 10 of differing from the one before."""
    changes = rng.random((rows, 20)) < np.r_[0.5, np.full(19, 0.1)]
    return (changes.cumsum(axis=1) % 2).astype(np.uint8)


def bars(rows: int, rng: np.random.Generator) -> Array:
    """Return 8x8 images of bars across and down."""
    images = (rng.random((rows, 8, 1)) < 0.2) | (rng.random((rows, 1, 8)) < 0.2)
    return flipped(images.reshape(rows, -1), 0.02, rng)


def mixture(rows: int, rng: np.random.Generator) -> Array:
    """Return two clusters in four dimensions."""
    side = rng.choice([-1.0, 1.0], (rows, 1))
    return np.asarray(side * [1, 1, -1, 1] + 0.6 * rng.normal(size=(rows, 4)))


def images(data: tf.datasets.ImageData, limit: int) -> Rows:
    """Return some images, and others held out for validation."""
    assert data.valid is not None
    return Rows(data.train[:limit], data.valid, 100)


def proteins(directory: Path) -> Rows:
    """Return the WW domain's sequences, a bit for each site and letter."""
    records = (directory / "proteins/WW_domain_MSA.fasta").read_text().split(">>")[1:]
    letters = np.array([list("".join(record.split("\n")[1:])) for record in records])
    bits = letters[:, :, None] == np.unique(letters)
    return split(bits.reshape(len(bits), -1).astype(np.uint8), 50)


def load(name: str, directory: Path) -> Rows:
    """Return a data set."""
    sets: dict[str, Callable[[], Rows]] = {
        "clusters": lambda: made(clusters, 200, 30),
        "steps": lambda: made(steps, 200, 30),
        "bars": lambda: made(bars, 2000, 30),
        "digits": lambda: split(tf.datasets.load_digits(binarize="threshold").train, 100),
        "silhouettes": lambda: images(load_caltech101_silhouettes(directory), 10**6),
        "mnist-5000": lambda: images(load_binarized_mnist(directory), 5000),
        "mnist": lambda: images(load_binarized_mnist(directory), 10**6),
        "proteins": lambda: proteins(directory),
        "mixture": lambda: split(mixture(1000, np.random.default_rng(0)), 10, real=True),
        "yachts": lambda: split(tf.datasets.load_yacht().X, 10, real=True),
        "concrete": lambda: split(load_uci("concrete", directory).X, 10, real=True),
        "wine": lambda: split(load_uci("wine", directory).X, 10, real=True),
        "grey digits": lambda: split(tf.datasets.load_digits().train, 30, real=True),
    }
    return sets[name]()


def train(rows: Rows, seed: int, options: Options) -> tf.TruGRBM | tf.BernoulliRBM:
    """Train on a set with choices written flat, without recording scores."""
    own = {"visible": "gaussian" if rows.real else "bernoulli", "score": "none"}
    settings = arguments_of(tf.train_rbm, own | options)
    return tf.train_rbm(rows.train, rows.n_hidden, **settings, progress=False, rng=seed).model
