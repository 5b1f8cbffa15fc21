"""Noise put on the frames that training sees, anew each time."""

from __future__ import annotations

import math

import numpy as np

from trug_fast.kernels.random.philox import ORDER
from trug_fast.models.sequences import Sequences

CORRUPTION = 1 << 50  # its stream's first counter: orders and starts of chains have lower ones
BRIDGES = 1 << 51
# Of what fills gaps: the disc's radius in pixels, and how much of that is added.  Of what was tried
# nothing keeps balls of 3.6 pixels apart for longer (notes/temporal.md).
RADIUS, AMOUNT = (1.5, 4.5), (0.3, 1.0)


def corrupt(data: Sequences, amount: float, *, real: bool, seed: int, number: int) -> Sequences:
    """Disturb frames, in place: coins in place of some pixels, or added Gaussian noise.

    number : of the update, which decides the noise together with the seed
    """
    generator, frames = _generator(seed, CORRUPTION + number), data.frames
    if real:
        frames += amount * generator.standard_normal(frames.shape, frames.dtype)
    else:
        chance = generator.random(frames.shape, np.float32)
        frames[chance < amount] = 0.0
        frames[chance < amount / 2] = 1.0
    return data


def add_bridges(data: Sequences, share: float, *, seed: int, number: int) -> Sequences:
    """Fill dark gaps between lit parts of square pictures, in place.

    To each chosen frame a part of what a morphological closing adds to it is added: where a dark
    disc does not fit between what is lit, there is light.  A single convex shape stays as it is.

    Parameters
    ----------
    share : float
        The probability of each frame.
    number : int
        Of the update, which decides all draws together with the seed; the disc has one radius.
    """
    from scipy.ndimage import grey_closing

    generator, frames = _generator(seed, BRIDGES + number), data.frames
    radius, chance = generator.uniform(*RADIUS), generator.random(len(frames))
    amount = generator.uniform(*AMOUNT, len(frames)).astype(frames.dtype)
    chosen = np.flatnonzero(chance < share)
    if not len(chosen):
        return data
    side, reach = math.isqrt(frames.shape[1]), int(radius)
    pictures = frames[chosen].reshape(-1, side, side)
    away = np.arange(-reach, reach + 1)
    disc = away[:, None] ** 2 + away**2 <= radius**2
    dark = np.pad(pictures, ((0, 0), (reach, reach), (reach, reach)))  # beyond the borders
    closed = grey_closing(dark, footprint=disc[None])[:, reach:-reach, reach:-reach]
    pictures += amount[chosen, None, None] * (closed - pictures)
    frames[chosen] = pictures.reshape(len(chosen), -1)
    return data


def _generator(seed: int, number: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, ORDER], counter=number << 128))
