"""Small models with Gaussian visible units whose exact results are cheap, and data for them."""

import numpy as np
from scipy.optimize import minimize

import trug_fast as tf
from trug_fast.evaluation.exact import gaussian as exact_gaussian

SHAPES = {
    "[0,1]": (1.0, 0.0, 1.0),
    "mixed": (np.array([1.5, 0.8]), np.array([0.0, -1.0]), np.array([np.inf, 1.5])),
    "[0,inf)": (1.0, 0.0, np.inf),
    "flat": (np.array([-1.0, 0.5]), -0.5, 1.0),
}
KINDS = (*SHAPES, "bernoulli")


def gaussian_model(kind, dtype=np.float64, n_visible=3, n_hidden=2, seed=0, norm=0.6):
    """Return a small model with Gaussian visible units whose exact results are cheap."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_visible, n_hidden))
    b, c = rng.normal(0, 0.5, n_visible), rng.normal(0, 0.5, n_hidden)
    a = rng.uniform(0.5, 2.0, n_visible)
    weights *= norm / np.linalg.norm(weights / np.sqrt(a)[:, None], 2)
    weights = weights.astype(dtype)
    if kind == "bernoulli":
        return tf.BernoulliRBM(2 * weights, b, c, visible_precision=a)
    shape = (np.resize(v, n_hidden) for v in SHAPES[kind])
    return tf.TruGRBM(weights, b, c, *shape, visible_precision=a)


def gaussian_draws(model, n, seed):
    """Return n independent visible vectors: hidden ones drawn exactly, then visible ones."""
    rng = np.random.default_rng(seed)
    a, w, b = exact_gaussian._visible(model)
    box = exact_gaussian.hidden_box(model)
    if isinstance(model, tf.BernoulliRBM):
        states = tf.exact.binary_states(model.n_hidden)
        log_p = states @ box.linear - 0.5 * ((states @ box.form) * states).sum(axis=1)
        p = np.exp(log_p - log_p.max())
        h = states[rng.choice(len(p), n, p=p / p.sum())]
    else:  # from a box, by rejection; infinite ends cut where less than 1e-20 of the mass is left
        low, high = np.array(model.lower), np.minimum(model.upper, 12.0)

        def log_p(h):
            return h @ box.linear - 0.5 * ((h @ box.form) * h).sum(axis=-1)

        starts = tf.exact.binary_states(len(low)) * (high - low) + low
        bounds = list(zip(low, high, strict=True))
        top = max(-minimize(lambda h: -log_p(h), s, bounds=bounds).fun for s in starts)
        h = np.empty((0, len(low)))
        while len(h) < n:
            fresh = rng.uniform(low, high, (500_000, len(low)))
            h = np.concatenate([h, fresh[rng.random(len(fresh)) < np.exp(log_p(fresh) - top)]])
        h = h[:n]
    x = (h @ w.T + b) / a + rng.normal(size=(n, len(a))) / np.sqrt(a)
    return x.astype(model.dtype)


def mixture(rows, seed):
    """Return draws of two standardised clusters in four dimensions."""
    rng = np.random.default_rng(seed)
    side = rng.choice([-1.0, 1.0], (rows, 1))
    x = 0.8 * side * [1, 1, -1, 1] + 0.6 * rng.normal(size=(rows, 4))
    return x / np.sqrt(0.8**2 + 0.6**2)
