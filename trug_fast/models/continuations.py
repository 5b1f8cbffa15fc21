"""How sequences go on: draws of frames that follow others, and what many draws say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.threads import computing, work
from trug_fast.kernels import tiles
from trug_fast.kernels.trbm import continuation

from .filter import Filtered, Past, TemporalLayers, filtered
from .sequences import Batch, Sequences, SequencesLike, checked_frames, dimensions

STRETCH = 3e9  # multiply-adds between two looks at Ctrl-C, and at how busy the computer is
SAMPLES = -3  # the axis of draws over which statistics go


class ForecastWarning(UserWarning):
    """A forecast that cannot be trusted; its text says why."""


@dataclass(frozen=True)
class Forecast:
    """Draws of how one sequence goes on, or several, and what they say together.

    Attributes
    ----------
    draws : ndarray, shape (n_samples, n_frames, n_visible)
        Continuations; of several sequences (n, n_samples, n_frames, n_visible), and all results
        below have n rows too.
    prefix : ndarray, shape (T, n_visible), None, or tuple of such arrays
        The frames before; None if there were none.
    filled : ndarray, shape (n_samples, T, n_visible), None, or tuple of such arrays
        If values of the prefix were missing: those frames before each of the draws, with what was
        missing drawn.  Early gaps are filled by fewer draws than late ones: many share one.
    ess : float, None, or tuple of such
        If values were missing, the least effective number of draws at any frame: how many of
        ``n_samples`` counted for what was observed.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> model = tf.BernoulliTRBM(zero((3, 2)), zero((2, 3)), zero((3, 3)), zero((2, 2)), 0, 0, 0, 0)
    >>> ahead = model.forecast([[1, 0, 1]], 5, n_samples=50, rng=0)
    >>> ahead
    Forecast(n_samples=50, n_frames=5, n_visible=3)
    >>> ahead.quantiles([0.1, 0.9]).shape
    (2, 5, 3)
    """

    draws: FloatArray
    prefix: FloatArray | tuple[FloatArray | None, ...] | None = None
    filled: FloatArray | tuple[FloatArray | None, ...] | None = None
    ess: float | tuple[float | None, ...] | None = None

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the draws, shape (n_frames, n_visible)."""
        return np.asarray(self.draws.mean(axis=SAMPLES, dtype=np.float64))

    @property
    def std(self) -> NDArray[np.float64]:
        """Standard deviation of the draws, shape (n_frames, n_visible)."""
        return np.asarray(self.draws.std(axis=SAMPLES, dtype=np.float64, ddof=1))

    def quantiles(self, q: ArrayLike) -> NDArray[np.float64]:
        """Quantiles of the draws, of each frame and visible unit.

        Parameters
        ----------
        q : float or array_like
            Between 0 and 1.

        Returns
        -------
        ndarray, shape (n_frames, n_visible), behind the shape of ``q``

        Raises
        ------
        TypeError, ValueError
            If ``q`` does not hold such numbers.
        """
        share = checks.numbers("q", q).astype(np.float64)
        if not ((share >= 0) & (share <= 1)).all():
            raise ValueError(f"q must lie in [0, 1], got {q!r}")
        return np.asarray(np.quantile(self.draws.astype(np.float64), share, axis=SAMPLES))

    def plot(self, channels: int | Sequence[int] | None = None, **options: Any) -> Any:
        """Draw the forecast as a fan; see :func:`trug_fast.plots.forecast`."""
        from trug_fast import plots  # with Matplotlib

        return plots.forecast(self, channels, **options)

    def __getitem__(self, index: int) -> Forecast:
        """Return the forecast of one of several sequences."""
        if not isinstance(self.prefix, tuple):
            raise TypeError("this is the forecast of one sequence; its draws are in draws")
        own: list[Any] = [
            part[index] if isinstance(part, tuple) else None for part in (self.filled, self.ess)
        ]
        return Forecast(self.draws[index], self.prefix[index], *own)

    def __repr__(self) -> str:
        """Return the sizes."""
        sizes = dict(
            zip(("n_visible", "n_frames", "n_samples", "n"), self.draws.shape[::-1], strict=False)
        )
        return f"Forecast({', '.join(f'{k}={sizes[k]}' for k in reversed(sizes))})"


class Origin(NamedTuple):
    """Where continuations begin, a row each."""

    visible: FloatArray  # where the chains of the next frame start: the frame before, or noise
    biases: tuple[FloatArray, FloatArray]  # of the next frame
    past: Past  # what the next frame depends on
    begun: NDArray[np.bool_]  # whether it has a past

    def repeat(self, n: int) -> Origin:
        """Return the same with each row n times."""
        visible, begun = np.repeat(self.visible, n, axis=0), np.repeat(self.begun, n)
        visible_bias, hidden_bias = (np.repeat(part, n, axis=0) for part in self.biases)
        past = Past(*(np.repeat(part, n, axis=0) for part in self.past))
        return Origin(visible, (visible_bias, hidden_bias), past, begun)


def prefixes_of(
    value: ArrayLike | SequencesLike | None, n_visible: int, visible: str
) -> tuple[list[FloatArray | None], bool]:
    """Return the sequences to go on from, None for those without frames; and if it is a list."""
    if value is None:
        return [None], False
    several = isinstance(value, list | tuple) and any(dimensions(part) == 2 for part in value)
    many = dimensions(value) == 3 or several
    given: Any = value if many else [value]
    if many and not len(given):
        raise ValueError("prefix must hold sequences, got none")
    found: list[FloatArray | None] = []
    for index, part in enumerate(given):
        if _without_frames(part, n_visible):
            found.append(None)
            continue
        name = f"prefix[{index}]" if many else "prefix"
        found.append(checked_frames(visible, name, part, n_visible, missing=True))
    return found, many


def _without_frames(part: Any, n_visible: int) -> bool:
    """Tell whether a sequence has no frames; whether others are sequences is checked later."""
    if isinstance(part, list | tuple):
        return not part
    return part is None or (isinstance(part, np.ndarray) and part.shape == (0, n_visible))


def origin(own: TemporalLayers, prefixes: list[FloatArray | None], n: int, seed: int) -> Origin:
    """Return where n continuations of each prefix begin.

    Chains without a past start at noise.
    """
    dtype, (n_visible, n_hidden) = own.layers.weights.dtype, own.layers.weights.shape
    noise = np.random.default_rng(seed).random((n * len(prefixes), n_visible))
    visible, parts = np.asarray(noise, dtype), []
    for k, prefix in enumerate(prefixes):
        biases = own.initial_visible_bias[None], own.initial_hidden_bias[None]
        past = Past(*(np.zeros((1, own.n_lags * m), dtype) for m in (n_visible, n_hidden)))
        if prefix is not None:
            alone = Sequences(prefix, np.array([len(prefix)])).astype(dtype)
            ((batch, seen),) = filtered(own, alone)
            visible[n * k : n * (k + 1)] = seen.visible[-1]
            past = seen.past_after(batch.lagged(own.n_lags)[-1:])
            biases = own.next_biases(*past)
        parts.append((*biases, *past))
    both = (np.repeat(np.concatenate(part), n, axis=0) for part in zip(*parts, strict=True))
    visible_bias, hidden_bias, past_visible, past_hidden = both
    begun = np.repeat([prefix is not None for prefix in prefixes], n)
    return Origin(visible, (visible_bias, hidden_bias), Past(past_visible, past_hidden), begun)


def origin_after(
    own: TemporalLayers, seen: Filtered, batch: Batch, rows: NDArray[np.int64]
) -> Origin:
    """Return where continuations of some frames of a filtered batch begin, by their rows there."""
    past = seen.past_after(batch.lagged(own.n_lags)[rows])
    with computing(work(len(rows), *own.layers.weights.shape)):  # BLAS on one thread
        biases = own.next_biases(*past)
    return Origin(seen.visible[rows], biases, past, np.ones(len(rows), bool))


def continued(
    own: TemporalLayers,
    start: Origin,
    n_frames: int,
    *,
    n_gibbs: int,
    seed: int,
    return_mean: bool = False,
) -> FloatArray:
    """Draw the frames that come next, (rows, n_frames, n_visible)."""
    rows, n_visible = start.visible.shape
    result = np.empty((rows, n_frames, n_visible), start.visible.dtype)
    parts = start.visible, *start.past, start.begun, *start.biases
    present = continuation.Present(*(np.array(part, order="C") for part in parts))
    links, cost = own.links(), work(rows, *own.layers.weights.shape)
    stretch = max(1, int(STRETCH / (n_gibbs * cost)))
    together = n_gibbs * cost if rows >= tiles.SHARED else 0.0
    averaged = n_gibbs - n_gibbs // 2 if return_mean else 0
    for first in range(0, n_frames, stretch):
        sweeps = continuation.FrameSweeps(n_gibbs, averaged, seed, first * n_gibbs)
        some = result[:, first : first + stretch]
        with computing(together):
            continuation.continue_frames(own.layers, links, present, sweeps, some)
    return result
