"""One estimate of the training gradient, as an update makes it."""

import numpy as np

from trug_fast._common.threads import one_blas_thread
from trug_fast.training.rbm import gradients


def estimate(model, data, chains_visible, seed, *, k=1, persistent=False, offsets=None):
    """One gradient estimate with chains started at hidden draws given ``chains_visible``."""
    layers, dtype = model.layers(), model.dtype
    shape = (model.n_visible, model.n_hidden, dtype)
    phase, chains = (
        gradients.Phase(len(data), *shape),
        gradients.Chains(len(chains_visible), *shape),
    )
    gradient = gradients.Gradient(*shape)
    phase.visible[:] = data
    with one_blas_thread():
        gradients.data_phase(layers, phase)
        chains.hidden[:] = model.sample_hidden(chains_visible, rng=seed)
        gradients.model_phase(layers, chains, k, seed, 0, persistent=persistent)
        zero = np.zeros(model.n_visible), np.zeros(model.n_hidden)
        result = gradient.estimate(phase, chains, *(offsets or zero))
    return {name: np.array(result[name], float) for name in result}, phase, chains
