"""Densities along a path of annealing, and short runs of it."""

import numpy as np

import trug_fast as tf

from .models import model_of

# 130 chains: two blocks and a part of one.
OPTIONS = {"n_chains": 130, "n_temperatures": 23, "direction": "both", "n_gibbs": 4, "rng": 3}


def tiled_model():
    """Return a model with several tiles of units in each layer."""
    return model_of("[0,4]", np.float32, n_visible=140, n_hidden=150)


def run(model, **options):
    """Return the log-weights of a short run."""
    return tf.log_partition(model, **OPTIONS | options).log_weights


def log_intermediate(model, path, k, X):
    """Return log p_k*(x) of each row, up to the constant that the paper's path drops."""
    t, s, q = path.hidden_scale[k], path.bias_scale[k], path.precision_scale[k]
    fields = {name: getattr(model, name).astype(np.float64) for name in model.names}
    fields["visible_bias"] = (1 - s) * path.base_bias + s * fields["visible_bias"]
    if t == 0.0 and q == 0.0:
        return X @ fields["visible_bias"] - model.visible_units.energy(X)
    fields["weights"], fields["hidden_bias"] = t * fields["weights"], t * fields["hidden_bias"]
    if "precision" in fields:
        fields["precision"] = q * fields["precision"]
    return -type(model)(**fields).free_energy(X)
