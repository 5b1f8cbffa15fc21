"""Small temporal models."""

import numpy as np

import trug_fast as tf


def temporal_model(kind="mixed", n_visible=4, n_hidden=3, seed=0, dtype=np.float64, scale=0.7):
    """A small random machine."""
    rng = np.random.default_rng(seed)
    n, m = n_visible, n_hidden
    arrays = [rng.normal(0, scale, s) for s in ((n, m), (m, n), (n, n), (m, m), n, m, n, m)]
    arrays[0] = arrays[0].astype(dtype)
    if kind == "bernoulli":
        return tf.BernoulliTRBM(*arrays)
    if kind == "real":
        arrays[0] *= 0.3
        return tf.TruGTRBM(*arrays, 1.0, -0.5, 1.5, visible_precision=rng.uniform(0.5, 2, n))
    d, low = np.resize([1.0, 2.0, 0.5], m), np.resize([0, -1, -0.5], m)
    return tf.TruGTRBM(*arrays, d, low, np.resize([1, np.inf, 1.5], m))
