"""Noise put on the frames that training sees, anew each time."""

from __future__ import annotations

import numpy as np

from trug_fast.kernels.random.philox import ORDER
from trug_fast.models.sequences import Sequences

CORRUPTION = 1 << 50  # its stream's first counter: orders and starts of chains have lower ones


def corrupt(data: Sequences, amount: float, *, real: bool, seed: int, number: int) -> Sequences:
    """Disturb frames, in place: coins in place of some pixels, or added Gaussian noise.

    number : of the update, which decides the noise together with the seed
    """
    stream = np.random.Philox(key=[seed, ORDER], counter=(CORRUPTION + number) << 128)
    generator, frames = np.random.Generator(stream), data.frames
    if real:
        frames += amount * generator.standard_normal(frames.shape, frames.dtype)
    else:
        chance = generator.random(frames.shape, np.float32)
        frames[chance < amount] = 0.0
        frames[chance < amount / 2] = 1.0
    return data
