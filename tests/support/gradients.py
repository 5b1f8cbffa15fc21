"""One estimate of the training gradient, as an update makes it."""

import numpy as np

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm import gibbs
from trug_fast.training.rbm import gradients


def estimate(model, data, chains_visible, seed, *, k=1, persistent=False, offsets=None):
    """One gradient estimate with chains started at hidden draws given ``chains_visible``."""
    layers, dtype = model.layers(), model.dtype
    phase = gibbs.Phase.new(np.array(data, dtype), model.n_hidden)
    chains = gibbs.Chains.new(np.zeros(np.shape(chains_visible), dtype), model.n_hidden)
    gradient = gradients.Gradient(model.n_visible, model.n_hidden, dtype)
    with one_blas_thread():
        gibbs.hidden_statistics(layers, phase)
        chains.hidden[:] = model.sample_hidden(chains_visible, rng=seed)
        gibbs.model_phase(layers, chains, k, persistent, seed, 0)
        zero = np.zeros(model.n_visible), np.zeros(model.n_hidden)
        result = gradient.estimate(phase, chains.phase, *(offsets or zero))
    return {name: np.array(result[name], float) for name in result}, phase, chains
