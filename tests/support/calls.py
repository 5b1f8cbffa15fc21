"""Small calls that run every parallel kernel of the package."""

import numpy as np

import trug_fast as tf


def small(units=3):
    """Return a model of a few units."""
    weights = np.random.default_rng(0).normal(size=(6, units))
    return tf.TruGRBM(weights, 0.0, 0.0, 1.0, 0.0, 1.0)


def small_temporal():
    """Return a temporal model of a few units."""
    rng = np.random.default_rng(1)
    w = (rng.normal(size=shape) for shape in ((6, 3), (3, 6), (6, 6), (3, 3)))
    return tf.TruGTRBM(*w, 0, 0, 0, 0, 1.0, 0.0, 1.0)


def small_regression():
    """Return a regression of a few units."""
    rng = np.random.default_rng(2)
    return tf.TruGTGGM(rng.normal(size=(3, 2)), 0.0, rng.normal(size=(1, 3)), 0.0, 1.0, 0.0, 1.0)


BITS = (np.random.default_rng(3).random((30, 6)) < 0.5).astype(np.uint8)
REAL = np.random.default_rng(4).normal(size=(30, 2))
VIDEO = BITS.reshape(3, 10, 6)
SHORT = {"epochs": 1, "batch_size": 10, "rng": 0}
CALLS = {
    "train_rbm": lambda: tf.train_rbm(BITS, 3, **SHORT),
    "tempering": lambda: tf.train_rbm(BITS, 3, sampler=tf.training.ParallelTempering(3), **SHORT),
    "trajectory": lambda: tf.train_rbm(BITS, 3, sampler="ptt", **SHORT),
    "log_likelihood_bound": lambda: tf.evaluation.log_likelihood_bound(
        small(), BITS, n_chains=2, n_temperatures=5, rng=0
    ),
    "train_trbm": lambda: tf.train_trbm(VIDEO, 3, **SHORT),
    "log_partition": lambda: tf.log_partition(small(), n_temperatures=5, n_chains=3, rng=0),
    "reverse": lambda: tf.log_partition(
        small(), n_temperatures=5, n_chains=3, direction="both", schedule="adaptive", rng=0
    ),
    "free_energy": lambda: small().free_energy(BITS),
    "hidden_moments": lambda: small().hidden_moments(BITS),
    "sample_hidden": lambda: small().sample_hidden(BITS, rng=0),
    "sample_visible": lambda: small().sample_visible(BITS[:, :3], rng=0),
    "sample": lambda: small().sample(2, n_gibbs=60, rng=0),
    "clamped": lambda: small().sample(2, n_gibbs=60, clamp=[1.0] + [np.nan] * 5, rng=0),
    "gradient": lambda: tf.exact.gradient(small(), BITS),
    "filter": lambda: small_temporal().filter(VIDEO[0]),
    "generate": lambda: small_temporal().generate(2, n_gibbs=2, rng=0),
    "prediction_error": lambda: tf.prediction_error(small_temporal(), VIDEO, rng=0),
    "predict": lambda: small_regression().predict(REAL, return_std=True),
    "posterior": lambda: small_regression().posterior(REAL, REAL[:, 0]),
    "log_likelihood": lambda: small_regression().log_likelihood(REAL, REAL[:, 0], n_samples=2),
    "sample_tggm": lambda: small_regression().sample(REAL, rng=0),
    "bouncing_balls": lambda: tf.datasets.bouncing_balls(2, 2, size=5, rng=0),
    "similarity_weights": lambda: tf.datasets.similarity_weights(BITS),
}
