"""Small models whose every state can be enumerated, one for each kind of hidden unit."""

import numpy as np

import trug_fast as tf
from trug_fast.evaluation.exact import binary_states as states_of


def _trug(rng, n_visible, n_hidden, precision, lower, upper, dtype, scale=0.8):
    return tf.TruGRBM(
        rng.normal(0, scale, (n_visible, n_hidden)).astype(dtype),
        rng.normal(0, 0.5, n_visible),
        rng.normal(0, 0.5, n_hidden),
        precision,
        lower,
        upper,
    )


def model_of(kind, dtype=np.float64, n_visible=5, n_hidden=4, seed=0):
    """Return a model of this kind with random weights."""
    rng = np.random.default_rng(seed)
    size = (rng, n_visible, n_hidden)
    if kind == "bernoulli":
        return tf.BernoulliRBM(
            rng.normal(0, 0.8, (n_visible, n_hidden)).astype(dtype),
            rng.normal(0, 0.5, n_visible),
            rng.normal(0, 0.5, n_hidden),
        )
    if kind == "mixed":
        d, low = np.resize([1.0, 2.0, 0.5, 3.0], n_hidden), np.resize([0, -1, 0.2, -0.5], n_hidden)
        return _trug(*size, d, low, np.resize([1, 1, 3.0, np.inf], n_hidden), dtype)
    if kind == "flat":  # precision zero and negative, on finite intervals
        return _trug(*size, np.resize([-2.0, 0.0, 1.0, -0.3], n_hidden), -0.5, 1.0, dtype)
    ends = {"[0,1]": (0, 1), "[-1,1]": (-1, 1), "[0,inf)": (0, np.inf), "[0,4]": (0, 4)}[kind]
    return _trug(*size, 1.0, *ends, dtype, scale=0.5)


KINDS = ("[0,1]", "[-1,1]", "[0,inf)", "[0,4]", "mixed", "flat", "bernoulli")


def exact_states(model):
    """Return all visible states and their exact probabilities."""
    states = states_of(model.n_visible)
    return states, np.exp(-model.free_energy(states) - tf.exact.log_partition(model))


def exact_draws(model, n, seed):
    """Return n independent visible vectors from the exact distribution."""
    states, probability = exact_states(model)
    rows = np.random.default_rng(seed).choice(len(states), n, p=probability / probability.sum())
    return states[rows].astype(model.dtype)


def strong_model():
    """A model of 8 pixels whose three hidden units make distinct patterns."""
    weights = np.random.default_rng(4).normal(0, 3, (8, 3))
    return tf.BernoulliRBM(weights, -weights.sum(axis=1) / 2, -weights.sum(axis=0) / 2)
