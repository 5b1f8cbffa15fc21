"""Frames of the past that a model has made its own (mathematics 4.4).

Tested in tests/training/trbm/test_past.py.
"""

from __future__ import annotations

import numpy as np

from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.filter import TemporalLayers
from trug_fast.models.sequences import Batch, Sequences


def with_own_frames(
    own: TemporalLayers,
    sequences: Sequences,
    batch: Batch,
    *,
    share: float,
    most: int,
    seed: int,
    number: int,
) -> Sequences:
    """Return sequences of which some frames are what a few sweeps of the model make of them.

    These are the conditional means of the visible units after sweeps that start at the frame, given
    its past as it is: the model's own errors of shape, where the frame is.  What the model
    forecasts from the frames before errs in place too, and the speeds that follow from it
    contradict the frames that are to be learned (notes/temporal.md).

    Parameters
    ----------
    batch : Batch
        Of all sequences.
    share : float
        The probability of each frame but the first of its sequence.
    most : int
        Sweeps at most; each update has a number of its own, from 1 on.
    number : int
        Of the update, which decides all draws together with the seed.
    """
    key = seed_from(seed, f"own frames of update {number}")
    generator = np.random.default_rng(key)
    n_gibbs = int(generator.integers(1, most + 1))
    chosen = generator.random(batch.rows.size) < share
    chosen[: batch.first] = False
    if not chosen.any():
        return sequences
    with computing(work(batch.rows.size, *own.layers.weights.shape)):
        seen = own.filter(sequences, batch)
        layers = seen.layers._replace(
            visible_bias=seen.layers.visible_bias[chosen],
            hidden_bias=seen.layers.hidden_bias[chosen],
        )
        chains = gibbs.Chains.new(seen.visible[chosen], seen.net.shape[1], statistics=False)
        gibbs.run_chains(layers, chains, n_gibbs, key, 0)
    frames = sequences.frames.copy()
    frames[batch.rows[chosen]] = chains.visible_mean
    return Sequences(frames, sequences.lengths, sequences.weights)
