"""What later frames of a video know of it: noisy, with gaps filled, or partly the model's own.

Tested in tests/reproduction/test_past.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.sequences import Sequences
from trug_fast.training.rates import Schedule, as_schedule

OPTIONS = ("past_noise", "past_bridges", "own_frames")  # numbers or pairs (start, end), as rates
# Of what fills gaps: the disc's radius in pixels, and how much of that is added.  Of what was tried
# nothing keeps balls of 3.6 pixels apart for longer (notes/temporal.md).
RADIUS, AMOUNT = (1.5, 4.5), (0.3, 1.0)
SWEEPS = 6  # that make a frame the model's own, at most

Frames = NDArray[Any]


@dataclass(frozen=True)
class Past:
    """A ``transform`` of train_trbm: the frames to be learned stay as they are (mathematics 4.4).

    Attributes
    ----------
    past_noise : Schedule
        The share of pixels that a coin replaces.
    past_bridges : Schedule
        The share of frames in which dark gaps between lit parts are filled.
    own_frames : Schedule
        The share of frames that are what a few sweeps of the model make of them.
    epochs : int
    """

    past_noise: Schedule
    past_bridges: Schedule
    own_frames: Schedule
    epochs: int = field(repr=False)

    def __call__(
        self, videos: list[Frames], generator: np.random.Generator, share: float, model: Any
    ) -> tuple[list[Frames], list[Frames]]:
        """Return the videos, and what later frames know of them."""
        data = Sequences(np.concatenate(videos), np.array([len(x) for x in videos]))
        known = Sequences(data.frames.copy(), data.lengths)
        epoch = 1 + int(share * self.epochs)
        own, bridges, noise = (getattr(self, n).at(share, epoch) for n in OPTIONS[::-1])
        if own:
            redraw(known.frames, data, own, generator, model)
        if bridges:
            add_bridges(known.frames, bridges, generator)
        if noise:
            chance = generator.random(known.frames.shape, np.float32)
            known.frames[chance < noise] = 0.0
            known.frames[chance < noise / 2] = 1.0
        return videos, data.split(known.frames)


def transform_of(train: Mapping[str, Any], real: bool) -> Past | None:
    """Return what options of training, as a file has them, say of the past, if they do.

    Raises
    ------
    TypeError, ValueError
        If there is no such past.
    """
    given = {name: train.get(name, 0.0) for name in OPTIONS}
    if not given.keys() & train.keys():
        return None
    if real:
        raise ValueError(f"train: {' and '.join(OPTIONS)} are for videos of the balls")
    epochs = checks.count("train.epochs", train.get("epochs", 30))
    found = {name: as_schedule(name, value, epochs=epochs) for name, value in given.items()}
    for name, rate in found.items():
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            checks.number(name, rate.at(share, 1), most=1.0)
    return Past(**found, epochs=epochs)


def add_bridges(frames: Frames, share: float, generator: np.random.Generator) -> None:
    """Fill dark gaps between lit parts of some square pictures, in place.

    A part of what a morphological closing adds to a frame is added: where a dark disc does not fit
    between what is lit, there is light.  A single convex shape stays as it is.
    """
    from scipy.ndimage import grey_closing

    radius, chance = generator.uniform(*RADIUS), generator.random(len(frames))
    amount = generator.uniform(*AMOUNT, len(frames)).astype(frames.dtype)
    chosen = np.flatnonzero(chance < share)
    if not len(chosen):
        return
    side, reach = math.isqrt(frames.shape[1]), int(radius)
    pictures = frames[chosen].reshape(-1, side, side)
    away = np.arange(-reach, reach + 1)
    disc = away[:, None] ** 2 + away**2 <= radius**2
    dark = np.pad(pictures, ((0, 0), (reach, reach), (reach, reach)))  # beyond the borders
    closed = grey_closing(dark, footprint=disc[None])[:, reach:-reach, reach:-reach]
    pictures += amount[chosen, None, None] * (closed - pictures)
    frames[chosen] = pictures.reshape(len(chosen), -1)


def redraw(
    known: Frames, data: Sequences, share: float, generator: np.random.Generator, model: Any
) -> None:
    """Put in place of some frames what a few sweeps of the model make of them.

    These are the conditional means of the visible units after sweeps that start at the frame, given
    its past as it is: the model's own errors of shape, where the frame is.  What the model
    forecasts from the frames before errs in place too, and the speeds that follow from it
    contradict the frames that are to be learned (notes/temporal.md).
    """
    own, batch = model.parameters(), data.batch(np.arange(data.shape[0]))
    key, n_gibbs = int(generator.integers(2**63)), int(generator.integers(1, SWEEPS + 1))
    chosen = generator.random(batch.rows.size) < share
    chosen[: batch.first] = False
    if not chosen.any():
        return
    with computing(work(batch.rows.size, *own.layers.weights.shape)):
        seen = own.filter(data, batch)
        layers = seen.layers._replace(
            visible_bias=seen.layers.visible_bias[chosen],
            hidden_bias=seen.layers.hidden_bias[chosen],
        )
        chains = gibbs.Chains.new(seen.visible[chosen], seen.net.shape[1], statistics=False)
        gibbs.run_chains(layers, chains, n_gibbs, key, 0)
    known[batch.rows[chosen]] = chains.visible_mean
