"""From a user's ``rng`` to the 64-bit key of the counter-based streams."""

from __future__ import annotations

import zlib

import numpy as np

RngLike = int | np.integer | np.random.Generator | None


def seed_from(rng: RngLike, purpose: str) -> int:
    """Return a 63-bit key for the streams of one call.

    Parameters
    ----------
    rng : None, int or numpy.random.Generator
        None takes fresh entropy; an int always gives the same key; a Generator is advanced.
    purpose : str
        Name of the caller, so that ``rng=0`` in training and in sampling are unrelated.

    Raises
    ------
    TypeError, ValueError
        If ``rng`` is of another kind, or a negative int.
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int | np.integer)):
        raise TypeError(
            f"rng must be None, an int or a numpy.random.Generator, got {type(rng).__name__}"
        )
    if rng is not None and rng < 0:
        raise ValueError(f"rng must not be negative, got {rng}")
    entropy = None if rng is None else int(rng)
    sequence = np.random.SeedSequence(entropy, spawn_key=(zlib.crc32(purpose.encode()),))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
