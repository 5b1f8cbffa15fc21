"""Small trainings of an RBM, of every kind, that stop and go on."""

import numpy as np

import trug_fast as tf

ROWS = 130  # batches of 20: six whole ones and a half
BASE = {"n_hidden": 9, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}
BOTH = tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)
LOWER = tf.Truncation(-1.0, 1.0, learn="shared", learn_lower=True, learn_upper=False)
BENDING = tf.TruGUnits(learn_precision=True, precision_rate=5.0)
MODEL = tf.TruGRBM(np.random.default_rng(0).normal(0, 0.1, (64, 9)), 0, 0, 1, 0, 4)
OPTIONS = {
    "per unit": {},
    "shared": {"truncation": "c-learn", "optimizer": tf.training.SGD(truncation_rate=0.1)},
    "both ends": {"truncation": BOTH, "optimizer": tf.training.SGD(truncation_rate=0.1)},
    "lower end": {"truncation": LOWER, "optimizer": tf.training.SGD(truncation_rate=0.1)},
    "fixed": {"truncation": "relu", "dtype": "float64"},
    "bernoulli": {"hidden": "bernoulli"},
    "gaussian": {"visible": "gaussian", "truncation": "relu"},
    # Steps are ten times as long with momentum: at the usual rate, 0.2, weights grow beyond 50.
    "momentum": {
        "optimizer": tf.training.SGD(momentum=0.9, weight_decay=1e-3),
        "learning_rate": 0.02,
    },
    "penalties": {"optimizer": tf.training.Adam(l1=(1e-3, 0.1), l1_squared=0.1)},
    "rmsprop": {"optimizer": "rmsprop", "sampler": tf.training.PCD(n_gibbs=2)},
    "adam": {"optimizer": "adam", "sampler": tf.training.PCD(centred=False)},
    "cd": {"sampler": tf.training.CD(n_gibbs=(1, 4))},
    "tempering": {"sampler": tf.training.ParallelTempering(5, n_gibbs=(1, 2), n_chains=8)},
    "trajectory": {
        "sampler": tf.training.TrajectoryTempering(n_chains=11, reservoir=2, freeze=0.97, renew=1)
    },
    "rising": {
        "optimizer": tf.training.SGD(average=0.5),
        "sampler": tf.training.PCD(n_gibbs=(1, 3)),
    },
    "no average": {"optimizer": tf.training.SGD(average=0)},
    "precision": {"truncation": "sigmoid", "hidden": BENDING},
    "chains": {
        "sampler": tf.training.PCD(n_chains=7),
        "monitor": tf.training.Monitor("pseudo", every=2),
    },
    "function": {"learning_rate": lambda share: 0.1 - 0.09 * share},
    "model": {"start": MODEL},
}


def digits():
    """Return the rows on which these runs train."""
    return tf.datasets.load_digits(binarize="threshold").train[:ROWS]
