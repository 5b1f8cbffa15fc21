"""One-step forecasts of temporal models (mathematics 4.3)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs

from .filter import Filtered, TemporalLayers, filtered
from .sequences import Sequences

Method = Literal["gibbs", "mean_field", "last"]
N_GIBBS = {"gibbs": 100, "mean_field": 10, "last": 50}


def predict_all(
    own: TemporalLayers,
    sequences: Sequences,
    method: Method,
    n_gibbs: int | None = None,
    rng: RngLike = None,
) -> FloatArray:
    """Predict the frames of checked sequences; shape (all frames, n_visible)."""
    checks.choice("method", method, tuple(N_GIBBS))
    n_gibbs = checks.count("n_gibbs", N_GIBBS[method] if n_gibbs is None else n_gibbs)
    seed, weights = seed_from(rng, "predict"), own.layers.weights
    sequences = sequences.astype(weights.dtype)
    result = np.empty_like(sequences.frames)
    # The number of a batch fixes its streams.
    for number, (batch, seen) in enumerate(filtered(own, sequences)):
        with computing(work(batch.rows.size, *weights.shape)):
            result[batch.rows] = _predict(seen, batch.first, method, n_gibbs, seed, number)
    return result


def _predict(
    seen: Filtered, first: int, method: str, n_gibbs: int, seed: int, number: int
) -> FloatArray:
    """Predict the frames of one batch from their own biases."""
    visible, (layers, n_hidden) = np.empty_like(seen.visible), (seen.layers, seen.net.shape[1])
    visible[first:] = seen.past_visible[:, : visible.shape[1]]
    noise = np.random.Generator(np.random.Philox(key=[seed, number]))
    fresh = visible[: None if method == "last" else first]
    fresh[:] = noise.random(fresh.shape)
    if method == "mean_field":
        phase = gibbs.Phase.new(visible, n_hidden, statistics=False)
        gibbs.iterate_means(layers, phase, n_gibbs)
        return visible
    chains, step = gibbs.Chains.new(visible, n_hidden, statistics=False), number * n_gibbs
    if method == "last":
        gibbs.run_chains(layers, chains, n_gibbs, seed, step)
        return chains.visible_mean
    skip, total = n_gibbs // 5, np.zeros_like(visible)
    gibbs.run_chains(layers, chains, skip, seed, step)
    gibbs.sum_chains(layers, chains, total, n_gibbs - skip, seed, step + skip)
    return total / (n_gibbs - skip)
