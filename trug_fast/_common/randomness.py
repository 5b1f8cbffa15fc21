"""From a user's ``rng`` to the 64-bit key of the counter-based streams.

Tested in tests/test_bad_input.py.
"""

from __future__ import annotations

import zlib

import numpy as np

RngLike = int | np.integer | np.random.Generator | None


def checked_rng(rng: RngLike) -> int | np.random.Generator | None:
    """Give ``rng`` back, an int as a Python int, or say what is wrong with it."""
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(
            f"rng must be None, an int or a numpy.random.Generator, got {type(rng).__name__}"
        )
    if rng < 0:
        raise ValueError(f"rng must not be a negative int, got {rng}")
    return int(rng)


def seed_from(rng: RngLike, purpose: str) -> int:
    """Return a 63-bit key for the streams of one call.

    None takes fresh entropy; an int always gives the same key; a Generator is advanced.  The
    purpose is the name of the caller, so that ``rng=0`` in training and sampling are unrelated.
    """
    source = checked_rng(rng)
    if isinstance(source, np.random.Generator):
        return int(source.integers(2**63))
    sequence = np.random.SeedSequence(source, spawn_key=(zlib.crc32(purpose.encode()),))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
