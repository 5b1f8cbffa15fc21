"""Small temporal models: of the exact cases, and random ones; exact predictions."""

import numpy as np

import trug_fast as tf
from tests.support.data import exact_cases
from trug_fast.evaluation.exact import trbm as temporal_exact

CASES = {case["name"]: case for case in exact_cases() if case["kind"].startswith("trbm")}
BINARY = [name for name in CASES if "binary" in name]
GAUSS = [name for name in CASES if "gauss" in name]
NAMES = {
    "W1": "weights",
    "W2": "visible_to_hidden",
    "W3": "visible_to_visible",
    "W4": "hidden_to_hidden",
    "b": "visible_bias",
    "c": "hidden_bias",
    "b_init": "initial_visible_bias",
    "c_init": "initial_hidden_bias",
    "d": "precision",
    "xi1": "lower",
    "xi2": "upper",
    "a": "visible_precision",
}


def read(values):
    """Return numbers, "inf" and null as an array; null becomes 0, the derivative at infinity."""
    if isinstance(values, list):
        return np.array([read(value) for value in values])
    return 0.0 if values is None else float(values)


def of_case(case):
    """Return the model of an exact case."""
    return tf.TruGTRBM(
        **(
            {"initial_visible_bias": 0, "initial_hidden_bias": 0}
            | {NAMES[k]: read(v) for k, v in case["params"].items()}
        )
    )


def temporal_model(
    kind="mixed", n_visible=4, n_hidden=3, seed=0, dtype=np.float64, scale=0.7, n_lags=1
):
    """Return a small random model."""
    rng = np.random.default_rng(seed)
    n, m = n_visible, n_hidden
    past = [(m, n), (n, n), (m, m)]
    past = past if n_lags == 1 else [(n_lags, *shape) for shape in past]
    arrays = [rng.normal(0, scale, s) for s in ((n, m), *past, n, m, n, m)]
    arrays[0] = arrays[0].astype(dtype)
    if kind == "bernoulli":
        return tf.BernoulliTRBM(*arrays)
    if kind == "gaussian":
        arrays[0] *= 0.3
        return tf.TruGTRBM(*arrays, 1.0, -0.5, 1.5, visible_precision=rng.uniform(0.5, 2, n))
    d, low = np.resize([1.0, 2.0, 0.5], m), np.resize([0, -1, -0.5], m)
    return tf.TruGTRBM(*arrays, d, low, np.resize([1, np.inf, 1.5], m))


def biases_after(model, x, hidden=None):
    """Return the biases of the frame that follows others, term by term."""
    if not len(x):
        return model.initial_visible_bias, model.initial_hidden_bias
    hidden = model.filter(x) if hidden is None else hidden
    names = "visible_to_visible", "visible_to_hidden", "hidden_to_hidden"
    w3, w2, w4 = (np.reshape(w := getattr(model, name), (-1, *w.shape[-2:])) for name in names)
    b, c = model.visible_bias.astype(float), model.hidden_bias.astype(float)
    for lag in range(1, model.n_lags + 1):
        past, state = x[max(len(x) - lag, 0)], hidden[max(len(x) - lag, 0)]
        b = b + w3[lag - 1] @ past
        c = c + w2[lag - 1] @ past + w4[lag - 1] @ state
    return b, c


def exact_predictions(model, x):
    """Return E[x_t | past] of a small binary model, by enumeration."""
    rows, hidden = [], model.filter(x)
    states = tf.exact.binary_states(model.n_visible)
    for t in range(len(x)):
        b, c = biases_after(model, x[:t], hidden[:t])
        p = [np.exp(temporal_exact.frame(model, b, c, s).log_likelihood) for s in states]
        rows.append(p @ states)
    return np.array(rows)
