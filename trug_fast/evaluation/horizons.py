"""How good forecasts of several frames ahead are, and how sure they should be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.models.continuations import Origin, continued, origin_after
from trug_fast.models.filter import TemporalLayers, filtered
from trug_fast.models.sequences import SequencesLike, as_sequences
from trug_fast.models.trbm import TRBM

Rows = NDArray[np.int64]
ROWS = 1024  # chains at a time, so that working arrays stay small


class HorizonErrors(NamedTuple):
    """Root mean squares over visible units and forecasts; each of shape (n_frames,), float64.

    ``model`` is the error of the mean of what the model forecasts, without what few draws add to
    it; ``last_frame`` that of the last frame seen; ``spread`` the standard deviation of the
    forecasts.  A model that is as sure as it should be has a spread as large as its error.
    """

    model: NDArray[np.float64]
    last_frame: NDArray[np.float64]
    spread: NDArray[np.float64]


class _Sums(NamedTuple):
    """Sums of squares over forecasts, and their number; each (n_frames,)."""

    model: NDArray[np.float64]
    last_frame: NDArray[np.float64]
    spread: NDArray[np.float64]
    known: NDArray[np.float64]


def horizon_errors(
    model: TRBM,
    sequences: SequencesLike,
    n_frames: int,
    *,
    n_samples: int = 20,
    n_gibbs: int = 50,
    every: int = 1,
    rng: RngLike = None,
) -> HorizonErrors:
    """Errors of forecasts of one frame ahead, two, and so on, beside those of the last frame.

    Formulas: mathematics 4.3.

    Parameters
    ----------
    model : TruGTRBM or BernoulliTRBM
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
    n_frames : int
        Frames ahead, less than the longest sequence has.
    n_samples, n_gibbs : int
        Continuations of each beginning and sweeps of each frame, as in :meth:`TruGTRBM.forecast`.
    every : int
        Forecasts begin after frames 1, 1 + ``every``, 1 + 2 ``every`` ... of each sequence.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    HorizonErrors
        ``model``, ``last_frame`` and ``spread``; entry k is of k + 1 frames ahead, over all
        beginnings after which so many frames are known.

    Raises
    ------
    TypeError, ValueError
        If ``model`` is no temporal model, frames are not of its kind, or no sequence is longer
        than ``n_frames``.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> model = tf.BernoulliTRBM(zero((3, 2)), zero((2, 3)), zero((3, 3)), zero((2, 2)), 0, 0, 0, 0)
    >>> alternating = np.arange(40).reshape(1, 40, 1) % 2 * np.ones(3)
    >>> tf.evaluation.horizon_errors(model, alternating, 2, n_samples=100, rng=0).last_frame
    array([1., 0.])
    """
    checks.kind("model", model, TRBM)
    own = model.by_name("sequences", sequences)
    checked = as_sequences("sequences", own, model.n_visible, visible=model.visible)
    ahead = checks.count("n_frames", n_frames)
    if checked.lengths.max() <= ahead:
        raise ValueError(
            f"n_frames must be less than the longest sequence has, {checked.lengths.max()}, "
            f"got {ahead}"
        )
    samples = checks.count("n_samples", n_samples, least=2)
    sweeps, step = checks.count("n_gibbs", n_gibbs), checks.count("every", every)
    seed, total = seed_from(rng, "horizon_errors"), _Sums(*np.zeros((4, ahead)))
    own, checked = model.parameters(), checked.astype(model.dtype)
    ends = np.repeat(checked.offsets[1:], checked.lengths)
    positions = np.arange(len(ends)) - np.repeat(checked.offsets[:-1], checked.lengths)
    size = max(1, ROWS // samples)
    for batch, seen in filtered(own, checked):
        rows = batch.rows
        chosen = np.flatnonzero((positions[rows] % step == 0) & (rows + 1 < ends[rows]))
        for first in range(0, len(chosen), size):
            some = chosen[first : first + size]
            key = seed_from(seed, f"forecasts after frame {rows[some[0]]}")
            start = origin_after(own, seen, batch, some)
            draws = _draws(own, start, (samples, ahead), sweeps, key)
            _add(total, checked.frames, rows[some], ends[rows[some]], draws)
    scale = total.known * model.n_visible
    return HorizonErrors(*(np.sqrt(np.maximum(sums, 0.0) / scale) for sums in total[:3]))


def _draws(
    own: TemporalLayers, start: Origin, shape: tuple[int, int], n_gibbs: int, seed: int
) -> FloatArray:
    """Return so many continuations of so many frames; (beginnings, samples, frames, visible)."""
    samples, ahead = shape
    drawn = continued(own, start.repeat(samples), ahead, n_gibbs=n_gibbs, seed=seed)
    return drawn.reshape(len(start.visible), samples, ahead, -1)


def _add(total: _Sums, frames: FloatArray, last: Rows, ends: Rows, draws: FloatArray) -> None:
    """Add the squares of some forecasts to the sums.

    last : the place of the last frame that each has seen
    ends : where its sequence ends
    """
    _, samples, ahead, _ = draws.shape
    places = last[:, None] + 1 + np.arange(ahead)
    known = places < ends[:, None]
    truth = frames[np.minimum(places, ends[:, None] - 1)].astype(np.float64)
    mean = draws.mean(axis=1, dtype=np.float64)
    variance = draws.var(axis=1, dtype=np.float64, ddof=1)
    # The mean of few draws is off by variance / samples.
    total.model[:] += _known((mean - truth) ** 2 - variance / samples, known)
    total.last_frame[:] += _known((frames[last][:, None] - truth) ** 2, known)
    total.spread[:] += _known(variance, known)
    total.known[:] += known.sum(axis=0)


def _known(squares: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the sum over visible units and those forecasts whose frame is known."""
    return np.asarray(np.where(known, squares.sum(axis=2), 0.0).sum(axis=0))
