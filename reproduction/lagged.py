"""Moments in time: whether what a model generates goes together, frame by frame, as the data do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.evaluation.moments import (
    GROUPS,
    CorrelationAgreement,
    jackknife,
    line_of,
    moment_sums,
)
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences

Floats = NDArray[np.float64]


class LaggedAgreement(NamedTuple):
    """How generated sequences agree with data, each with slope, Pearson and their errors."""

    means: CorrelationAgreement  # of the mean of each visible unit
    lagged: dict[int, CorrelationAgreement]  # of the covariances of frames so far apart, by lag


class _Grouped(NamedTuple):
    """Sums over pairs of frames, in groups of sequences."""

    pairs: Floats  # (groups,) how many
    first: Floats  # (groups, n_visible) of the earlier frames
    second: Floats  # (groups, n_visible) of the later ones
    product: Floats  # (groups, n_visible, n_visible), earlier by later

    def covariances(self) -> Iterator[Floats]:
        """Yield those of all groups, then without each, one row each."""
        for left in (None, *range(len(self.pairs))):
            pairs, first, second, product = (
                part.sum(axis=0) - (0.0 if left is None else part[left]) for part in self
            )
            yield (product / pairs - np.multiply.outer(first, second) / pairs**2).reshape(1, -1)

    def means(self) -> Iterator[Floats]:
        """Yield the means of the earlier frames, as covariances are."""
        for left in (None, *range(len(self.pairs))):
            pairs, first = (
                part.sum(axis=0) - (0.0 if left is None else part[left]) for part in self[:2]
            )
            yield (first / pairs).reshape(1, -1)


def compare_lagged_moments(
    sequences: SequencesLike,
    generated: SequencesLike,
    lags: tuple[int, ...] = (0, 1, 2, 5),
    *,
    rng: RngLike = None,
) -> LaggedAgreement:
    """Return how well generated sequences show the moments in time of data.

    Compared are the means of all visible units, and the covariances of each at one frame with each
    at a later frame, as those of rows are by :func:`trug_fast.evaluation.compare_correlations`.  A
    perfect model has slopes of 1; noise takes something off slopes and Pearson coefficients: what
    can be reached is seen by comparing one half of the data with the other.

    Parameters
    ----------
    sequences, generated : array_like, shape (n, T, n_visible), or lists of (T_i, n_visible)
        Two sequences or more of each.
    lags : tuple of int
        How many frames apart, from 0.
    rng : None, int or numpy.random.Generator
        Of the groups of sequences that the standard errors are from.

    Returns
    -------
    LaggedAgreement
        ``means``, and ``lagged`` by lags.  Standard errors are of sequences that were drawn
        independently, from a jackknife over up to twenty random groups of each.

    Raises
    ------
    TypeError, ValueError
        If they are no sequences of the same units, less than two, too short for a lag, or do not
        vary.

    Examples
    --------
    >>> import trug_fast as tf
    >>> from reproduction.lagged import compare_lagged_moments
    >>> videos = tf.datasets.bouncing_balls(8, 50, size=8, rng=0)
    >>> found = compare_lagged_moments(videos, videos, (0, 3), rng=0)
    >>> round(found.lagged[3].slope, 6), round(found.means.pearson, 6)
    (1.0, 1.0)
    """
    ours = as_sequences("sequences", sequences, visible="gaussian")
    theirs = as_sequences("generated", generated, ours.shape[1], visible="gaussian")
    if not isinstance(lags, tuple | list) or not lags:
        raise TypeError(f"lags must be a tuple of ints, got {lags!r}")
    apart = [checks.count("lags", lag, least=0) for lag in lags]
    for name, own in (("sequences", ours), ("generated", theirs)):
        if own.shape[0] < 2:
            raise ValueError(f"{name} must be two or more, got {own.shape[0]}")
    if ours.shape[1] < 2:
        raise ValueError("sequences must have two visible units or more to compare, got 1")
    generator = np.random.default_rng(seed_from(rng, "compare_lagged_moments"))
    groups = [generator.permutation(each.shape[0]) % GROUPS for each in (ours, theirs)]
    sums = [_grouped(each, own, 0) for each, own in zip((ours, theirs), groups, strict=True)]
    means = _agreement("means", sums[0].means, sums[1].means)
    lagged = {}
    for lag in apart:
        for name, own in (("sequences", ours), ("generated", theirs)):
            if np.sort(own.lengths)[-2] <= lag:
                raise ValueError(f"two of {name} must be longer than the lag, {lag}")
        sums = [_grouped(each, own, lag) for each, own in zip((ours, theirs), groups, strict=True)]
        lagged[lag] = _agreement(f"lag {lag}", sums[0].covariances, sums[1].covariances)
    return LaggedAgreement(means, lagged)


def _grouped(sequences: Sequences, groups: NDArray[np.int64], lag: int) -> _Grouped:
    """Return the sums over all pairs of frames so far apart."""
    n, width = int(groups.max()) + 1, sequences.shape[1]
    shapes = ((n,), (n, width), (n, width), (n, width, width))
    sums = _Grouped(*(np.zeros(shape) for shape in shapes))
    for x, group in zip(sequences.split(sequences.frames), groups, strict=True):
        first, second = (part.astype(np.float64) for part in (x[: max(0, len(x) - lag)], x[lag:]))
        sums.pairs[group] += len(first)
        sums.first[group] += first.sum(axis=0)
        sums.second[group] += second.sum(axis=0)
        sums.product[group] += first.T @ second
    return sums


def _agreement(name: str, ours: Any, theirs: Any) -> CorrelationAgreement:
    """Compare what two functions yield, of all and without each group."""
    x, y = next(ours()), next(theirs())
    of_all = line_of(moment_sums(x, y))
    if not np.isfinite(of_all).all():
        raise ValueError(f"sequences and generated must vary: there is nothing to compare ({name})")
    without_ours = [line_of(moment_sums(each, y))[:, 0] for each in ours()][1:]
    without_theirs = [line_of(moment_sums(x, each))[:, 0] for each in theirs()][1:]
    errors = np.sqrt(sum(jackknife(np.array(each).T) for each in (without_ours, without_theirs)))
    (slope, pearson), (slope_error, pearson_error) = of_all[:, 0], errors
    return CorrelationAgreement(*map(float, (slope, pearson, slope_error, pearson_error)))
