"""Sequences with gaps: what is missing is drawn given what is there (mathematics 4.6).

Each particle is a sequence without gaps.  How well its past foretells what is observed of a frame
is a ratio of partition functions, which annealing estimates without bias, along biases that lead
from those of the particle to those of the mean particle, which are near.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import effective_size, read_only, resampled
from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.units.kinds import log_norms

from .continuations import ForecastWarning, Origin, origin
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
) -> tuple[Origin, list[FloatArray | None], list[float | None]]:
    """Return where n continuations of each prefix begin, some of which may have NaN for gaps.

    Also, of those, the frames before and the least effective number of draws.  Warns if few
    particles count for what is observed.
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
    return start, filled, ess


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
        shares = np.exp(log_weights - log_weights.max())
        shares /= shares.sum()
        middle = (shares @ biases[0])[None], (shares @ biases[1])[None]
        gained, visible = _next(own, visible, biases, middle, prefix[t], n_gibbs, key)
        gains.append(_gain(middle, shares, gained))
        hidden = _filtered(_under(own, biases), visible)
        past = past.then(visible, hidden) if t else Past.of_first(visible, hidden, own.n_lags)
        frames[:, t] = visible
        log_weights += gained
        ess = effective_size(log_weights)
        least = min(least, ess)
        # At the last frame all become equally probable, as those who use them take them to be.
        if ess < FEW * n or (t + 1 == len(prefix) and np.ptp(log_weights) > 0):
            generator = np.random.default_rng(seed_from(key, "ancestors"))
            chosen = resampled(log_weights, generator)
            frames, visible, past = (
                frames[chosen],
                visible[chosen],
                Past(*(part[chosen] for part in past)),
            )
            log_weights = np.zeros(n)
        with computing(work(n, *own.layers.weights.shape)):
            biases = own.next_biases(*past)
    return Particles(frames, past, least, gains)


def _gain(middle: Biases, shares: Floats, gained: Floats) -> Gain:
    """Return the log of the mean of exp(gained) over weighted particles, with its error."""
    top = gained.max()
    share = np.exp(gained - top)
    mean = float(shares @ share)
    error = float(np.sqrt((shares**2 * (share / mean - 1) ** 2).sum()))
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
    """Return what each particle gains, up to a common number, and draws of its next frame."""
    n, known = len(visible), ~np.isnan(row)
    held = np.repeat(row[None], n, axis=0) if known.any() else None
    free_seed, held_seed = (seed_from(seed, part) for part in ("free", "held"))
    alike = all((part == part[:1]).all() for part in biases)
    there, gained = _under(own, biases), np.zeros(n)
    if held is not None and not alike:
        free = _swept(there, visible, None, n_gibbs, free_seed)
        gained, _ = _annealed(own, free, biases, middle, None, n_gibbs, free_seed)
    if held is not None and known.all():
        return gained + _log_density(there, held), held
    if held is None or alike:
        return gained, _swept(there, visible, held, n_gibbs, held_seed)
    drawn = _swept(_under(own, middle), visible, held, n_gibbs, held_seed)
    more, drawn = _annealed(own, drawn, middle, biases, held, n_gibbs, held_seed)
    return gained + more, drawn


def _annealed(
    own: TemporalLayers,
    visible: Floats,
    start: Biases,
    end: Biases,
    held: Floats | None,
    steps: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Lead chains, after so many sweeps, from biases to others; return log weights and states.

    A weight is on average the ratio of the partition functions, and weighted states are of the
    distribution at the end (mathematics 3).
    """
    total, before = np.zeros(len(visible)), _under(own, start)
    for k in range(1, steps + 1):
        share = k / steps
        after = ((1 - share) * a + share * b for a, b in zip(start, end, strict=True))
        here = _under(own, end if k == steps else tuple(after))
        total += _log_density(here, visible) - _log_density(before, visible)
        visible = _swept(here, visible, held, 1, seed, steps + k)
        before = here
    return total, visible


def _under(own: TemporalLayers, biases: Any) -> gibbs.Layers:
    """Return the layers of frames with these biases, in one row or one each."""
    return own.layers._replace(visible_bias=biases[0], hidden_bias=biases[1])


def _swept(
    layers: gibbs.Layers,
    visible: Floats,
    held: Floats | None,
    n_gibbs: int,
    seed: int,
    first_step: int = 0,
) -> Floats:
    """Return the chains' visible states after some sweeps; units are held where ``held`` says."""
    visible = visible.copy()
    if held is not None:
        np.copyto(visible, held, where=~np.isnan(held))
    chains = gibbs.Chains.new(visible, layers.weights.shape[1], statistics=False)
    with computing(work(len(visible), *layers.weights.shape)):
        run_held(layers, chains, held, n_gibbs, seed, first_step)
    return visible


def _log_density(layers: gibbs.Layers, visible: Floats) -> Floats:
    """Return log p*(x) of each row, without what does not depend on the biases."""
    with computing(work(len(visible), *layers.weights.shape)):
        linear = (visible * layers.visible_bias).sum(axis=1)
        return np.asarray(linear + log_norms(layers, visible))


def _filtered(layers: gibbs.Layers, visible: Floats) -> Floats:
    """Return the means of the hidden units of each frame given its past."""
    phase = gibbs.Phase.new(visible, layers.weights.shape[1], statistics=False)
    with computing(work(len(visible), *layers.weights.shape)):
        gibbs.hidden_statistics(layers, phase)
    return phase.mean
