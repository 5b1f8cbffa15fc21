"""Sequences with gaps: what is missing is drawn given what is there (mathematics 4.6).

Each particle is a sequence without gaps.  How well its past foretells what is observed of a frame
is a ratio of partition functions, which annealing estimates without bias: along biases that lead
from those of the particle to those of the mean particle, which are near.  So the more particles
there are, the nearer they come to the model's own conditional distribution, whatever the number of
sweeps that annealing takes.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.units.kinds import log_norms

from .continuations import Beginning, ForecastWarning, origin
from .filter import Past, TemporalLayers
from .gibbs_sampling import run_held

Floats = NDArray[np.float64]
Biases = tuple[Floats, Floats]  # of the visible units and the hidden ones; one row, or one each
FEW = 0.5  # particles are drawn anew where the effective number falls below this share
FEWEST, LEAST = 10.0, 0.1  # effective particles, and share of all, below which a warning comes


class Gain(NamedTuple):
    """What particles say of one frame: log p(observed | observed before), but for a number.

    That number is log Z_o - log Z of the frame under the mean particle's biases, Z_o its partition
    function while what is observed is held; 0 where nothing is, and -log Z where all is.
    """

    biases: tuple[Floats, Floats]  # of the mean particle; (visible,) and (hidden,)
    log_mean: float
    error: float  # of log_mean, by the spread of the particles


class Particles(NamedTuple):
    """Draws of a sequence whose gaps are filled, and what their next frames depend on."""

    frames: Floats  # (n, T, visible)
    past: Past  # (n rows) what follows the last frame depends on
    ess: float  # the least effective number of particles at any frame
    gains: list[Gain]  # of each frame from the first gap on


def beginnings(
    own: TemporalLayers, prefixes: list[FloatArray | None], n: int, n_gibbs: int, seed: int
) -> Beginning:
    """Return where n continuations of each prefix begin, some of which may have NaN for gaps.

    Warns
    -----
    ForecastWarning
        If few particles count for what is observed.
    """
    dtype = own.layers.weights.dtype
    gaps = [prefix is not None and bool(np.isnan(prefix).any()) for prefix in prefixes]
    whole = [None if gap else prefix for gap, prefix in zip(gaps, prefixes, strict=True)]
    start = origin(own, whole, n, seed)
    filled: list[FloatArray | None] = [None] * len(prefixes)
    ess: list[float | None] = [None] * len(prefixes)
    double = precise(own)
    for k in np.flatnonzero(gaps):
        key = seed_from(seed, f"gaps of sequence {k}")
        found = particles(double, np.asarray(prefixes[k], np.float64), n, n_gibbs, key)
        rows = slice(n * k, n * (k + 1))
        with computing(work(n, *own.layers.weights.shape)):
            after = double.next_biases(*found.past)
        start.visible[rows], start.begun[rows] = found.frames[:, -1], True
        for target, source in zip((*start.biases, *start.past), (*after, *found.past), strict=True):
            target[rows] = source
        filled[k], ess[k] = found.frames.astype(dtype), found.ess
    low = min((one for one in ess if one is not None), default=float(n))
    if low < min(FEWEST, LEAST * n):
        warnings.warn(
            f"what is observed leaves {low:.1f} effective draws of n_samples={n}: take more",
            ForecastWarning,
            stacklevel=3,
        )
    return Beginning(start, filled, ess)


def precise(own: TemporalLayers) -> TemporalLayers:
    """Return the model in float64, in which weights are added up."""
    if own.layers.weights.dtype == np.float64:
        return own
    fields: Any = own.layers
    each: list[Any] = [v.astype(np.float64) if isinstance(v, np.ndarray) else v for v in fields]
    kinds = own.layers.visible_kinds
    kinds = kinds._replace(precision=kinds.precision.astype(np.float64))
    layers = gibbs.Layers(*each)._replace(weights=read_only(each[0]), visible_kinds=kinds)
    return TemporalLayers(layers, *(part.astype(np.float64) for part in own[1:]))


def particles(own: TemporalLayers, prefix: Floats, n: int, n_gibbs: int, seed: int) -> Particles:
    """Draw n sequences given what is observed of one; NaN marks what is not.

    own : in float64
    n_gibbs : sweeps of each frame's chains, and of the annealing of each weight
    """
    start = int(np.argmax(np.isnan(prefix).any(axis=1)))
    begin: Any = origin(own, [prefix[:start] if start else None], n, seed)
    visible, biases, past, _ = begin
    frames = np.repeat(prefix[None], n, axis=0)
    log_weights, least, gains = np.zeros(n), float(n), []
    for t in range(start, len(prefix)):
        key = seed_from(seed, f"frame {t}")
        middle = _mean(biases, log_weights)
        gained, visible = _next(own, visible, biases, middle, prefix[t], n_gibbs, key)
        gains.append(_gain(middle, log_weights, gained))
        hidden = _filtered(own, visible, biases)
        past = past.then(visible, hidden) if t else Past.of_first(visible, hidden, own.n_lags)
        frames[:, t] = visible
        log_weights += gained
        weights = np.exp(log_weights - log_weights.max())
        ess = float(weights.sum() ** 2 / (weights**2).sum())
        least = min(least, ess)
        # At the last frame all become equally probable, as those who use them take them to be.
        if ess < FEW * n or (t + 1 == len(prefix) and np.ptp(log_weights) > 0):
            chosen = _resampled(weights, seed_from(key, "ancestors"))
            frames, visible, past = frames[chosen], visible[chosen], past.take(chosen)
            log_weights = np.zeros(n)
        with computing(work(n, *own.layers.weights.shape)):
            biases = own.next_biases(*past)
    return Particles(frames, past, least, gains)


def _mean(biases: Biases, log_weights: Floats) -> Biases:
    """Return the biases of the mean particle, each in one row."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return (weights @ biases[0])[None], (weights @ biases[1])[None]


def _gain(middle: Biases, log_weights: Floats, gained: Floats) -> Gain:
    """Return the log of the mean of exp(gained) over weighted particles, with its error."""
    weights, top = np.exp(log_weights - log_weights.max()), gained.max()
    weights /= weights.sum()
    share = np.exp(gained - top)
    mean = float(weights @ share)
    error = float(np.sqrt((weights**2 * (share / mean - 1) ** 2).sum()))
    return Gain((middle[0][0], middle[1][0]), float(top) + float(np.log(mean)), error)


def _next(
    own: TemporalLayers,
    visible: Floats,
    biases: Biases,
    middle: Biases,
    row: Floats,
    n_gibbs: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Draw the next frame of each particle given what is observed of it.

    Returns
    -------
    log_weights : ndarray, shape (n,)
        What each particle gains, up to a number that all have in common.
    visible : ndarray, shape (n, n_visible)
    """
    n, known = len(visible), ~np.isnan(row)
    held = np.repeat(row[None], n, axis=0) if known.any() else None
    free_seed, held_seed = (seed_from(seed, part) for part in ("free", "held"))
    alike = all((part == part[:1]).all() for part in biases)
    gained = np.zeros(n)
    if held is not None and not alike:
        free = _swept(own, visible, biases, None, n_gibbs, free_seed)
        gained, _ = _annealed(own, free, biases, middle, None, (n_gibbs, n_gibbs), free_seed)
    if held is not None and known.all():
        return gained + _log_density(own, held, biases), held
    if held is None or alike:
        return gained, _swept(own, visible, biases, held, n_gibbs, held_seed)
    drawn = _swept(own, visible, middle, held, n_gibbs, held_seed)
    more, drawn = _annealed(own, drawn, middle, biases, held, (n_gibbs, n_gibbs), held_seed)
    return gained + more, drawn


def _annealed(
    own: TemporalLayers,
    visible: Floats,
    start: Biases,
    end: Biases,
    held: Floats | None,
    steps: tuple[int, int],
    seed: int,
) -> tuple[Floats, Floats]:
    """Lead chains from biases to others; return log weights and states.

    steps : how many, and the number of the first in the streams

    A weight is on average the ratio of the partition functions, and weighted states are of the
    distribution at the end (mathematics 3).
    """
    count, first = steps
    total, before = np.zeros(len(visible)), start
    for k in range(1, count + 1):
        share = k / count
        after = tuple((1 - share) * a + share * b for a, b in zip(start, end, strict=True))
        here: Biases = (after[0], after[1]) if k < count else end
        total += _log_density(own, visible, here) - _log_density(own, visible, before)
        visible = _swept(own, visible, here, held, 1, seed, first + k)
        before = here
    return total, visible


def _swept(
    own: TemporalLayers,
    visible: Floats,
    biases: Biases,
    held: Floats | None,
    n_gibbs: int,
    seed: int,
    first_step: int = 0,
) -> Floats:
    """Return the chains' visible states after some sweeps; units are held where ``held`` says."""
    layers = own.layers._replace(visible_bias=biases[0], hidden_bias=biases[1])
    visible = visible.copy()
    if held is not None:
        np.copyto(visible, held, where=~np.isnan(held))
    chains = gibbs.Chains.new(visible, layers.weights.shape[1], statistics=False)
    with computing(work(len(visible), *layers.weights.shape)):
        if held is None:
            gibbs.run_chains(layers, chains, n_gibbs, seed, first_step)
        else:
            run_held(layers, chains, held, n_gibbs, seed, first_step)
    return visible


def _log_density(own: TemporalLayers, visible: Floats, biases: Biases) -> Floats:
    """Return log p*(x) of each row, without what does not depend on the biases."""
    layers = own.layers._replace(visible_bias=biases[0], hidden_bias=biases[1])
    with computing(work(len(visible), *layers.weights.shape)):
        return np.asarray((visible * biases[0]).sum(axis=1) + log_norms(layers, visible))


def _filtered(own: TemporalLayers, visible: Floats, biases: Biases) -> Floats:
    """Return the means of the hidden units of each frame given its past."""
    layers = own.layers._replace(visible_bias=biases[0], hidden_bias=biases[1])
    phase = gibbs.Phase.new(visible, layers.weights.shape[1], statistics=False)
    with computing(work(len(visible), *layers.weights.shape)):
        gibbs.hidden_statistics(layers, phase)
    return phase.mean


def _resampled(weights: Floats, seed: int) -> NDArray[np.int64]:
    """Return which particle each new one is a copy of: n w of each, rounded up or down by chance.

    Systematic resampling, with one random number.
    """
    n = weights.size
    points = (np.random.default_rng(seed).random() + np.arange(n)) / n
    sums = np.cumsum(weights)
    chosen: NDArray[np.int64] = np.searchsorted(sums, points * sums[-1])
    return np.minimum(chosen, n - 1)
