"""One estimate of the training gradient, as an update makes it."""

import numpy as np

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.optimizer import GRADIENT
from trug_fast.kernels.rbm import gibbs, updates, weighing


def estimate(
    model, data, chains_visible, seed, *, k=1, persistent=False, offsets=None, weights=None
):
    """One gradient estimate with chains started at hidden draws given ``chains_visible``."""
    layers, dtype = model.layers(), model.dtype
    n_visible, n_hidden = model.n_visible, model.n_hidden
    phase = gibbs.Phase.new(np.array(data, dtype), n_hidden)
    weights = np.empty(0) if weights is None else np.asarray(weights, float)
    chains = gibbs.Chains.new(np.zeros(np.shape(chains_visible), dtype), n_hidden)
    trained = updates.Stacked(
        np.zeros((4, n_visible, n_hidden), dtype),
        np.zeros((updates.VISIBLE_ROWS, n_visible), dtype),
        np.zeros((updates.HIDDEN_ROWS, n_hidden), dtype),
        np.zeros((8, n_hidden)),
    )
    if offsets is not None:
        trained.visible[updates.OFFSET], trained.hidden[updates.OFFSET] = offsets
    with one_blas_thread():
        if weights.size:
            weighing.weighted_statistics(layers, phase, weights)
        else:
            gibbs.hidden_statistics(layers, phase)
        chains.hidden[:] = model.sample_hidden(chains_visible, rng=seed)
        gibbs.model_phase(layers, chains, k, persistent, seed, 0)
        updates.write_gradient(trained, phase, chains.phase, weights)
    result = {
        "weights": trained.weights[GRADIENT],
        "visible_bias": trained.visible[GRADIENT],
        "hidden_bias": trained.hidden[GRADIENT],
    }
    result |= dict(zip(("precision", "lower", "upper"), trained.statistics[1:4], strict=True))
    return {name: np.array(values, float) for name, values in result.items()}, phase, chains
