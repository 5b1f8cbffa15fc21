"""Stretches of a model's own frames in the past that training gives (mathematics 4.4).

Tested in tests/training/trbm/test_own_frames.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.models.continuations import continued, origin_after
from trug_fast.models.filter import TemporalLayers
from trug_fast.models.sequences import Batch, Sequences


def with_own_frames(
    own: TemporalLayers,
    sequences: Sequences,
    batch: Batch,
    *,
    share: float,
    stretch: int,
    n_gibbs: int,
    seed: int,
    number: int,
) -> Sequences:
    """Return sequences of which stretches are draws of how a model goes on from what is before.

    Each sequence falls into stretches with a given frame between each two; where they begin is
    random, and whether one is the model's own.

    Parameters
    ----------
    batch : Batch
        Of all sequences.
    share : float
        The probability of each stretch.
    stretch : int
        Frames of each, at most.
    number : int
        Of the update, which decides all draws together with the seed.
    """
    key = seed_from(seed, f"own frames of update {number}")
    generator = np.random.default_rng(key)
    last = _last_given(sequences, stretch, share, generator)
    if not last.size:
        return sequences
    rows = np.empty_like(batch.rows)
    rows[batch.rows] = np.arange(rows.size)
    with computing(work(rows.size, *own.layers.weights.shape)):
        seen = own.filter(sequences, batch)
    start = origin_after(own, seen, batch, rows[last])
    drawn = continued(own, start, stretch, n_gibbs=n_gibbs, seed=key)
    ends = np.repeat(sequences.offsets[1:], sequences.lengths)[last]
    places = last[:, None] + 1 + np.arange(stretch)
    inside, frames = places < ends[:, None], sequences.frames.copy()
    frames[places[inside]] = drawn[inside]
    return Sequences(frames, sequences.lengths, sequences.weights)


def _last_given(
    sequences: Sequences, stretch: int, share: float, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the places of the frames after which stretches begin."""
    firsts = generator.integers(stretch + 1, size=sequences.lengths.size)
    some = [
        np.arange(start + first, end - 1, stretch + 1)
        for start, end, first in zip(sequences.offsets, sequences.offsets[1:], firsts, strict=False)
    ]
    found = np.concatenate(some)
    return found[generator.random(found.size) < share]
