"""How good forecasts of sequences are: those of models, and simple ones to see beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.models.continuations import continued, origin_after
from trug_fast.models.filter import filtered
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences
from trug_fast.models.trbm import TRBM, Method, predict_all

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Rule = Callable[[Floats], Floats]  # frames by those before, (rows, some, n_visible), latest first

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


class LinearFit(NamedTuple):
    """A regression of a frame on those before it."""

    coefficients: Floats  # (1 + order * n_visible, n_visible), constants first
    mean_square: Floats  # (n_visible,) of the residuals


def prediction_error(
    model: TRBM,
    sequences: SequencesLike,
    *,
    method: Method = "gibbs",
    n_gibbs: int | None = None,
    rng: RngLike = None,
) -> NDArray[np.float64]:
    """Squared error of one-step prediction, as the literature reports it.

    Parameters
    ----------
    model : TruGTRBM or BernoulliTRBM
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
        Each of two frames or more.
    method, n_gibbs, rng
        As in :meth:`TruGTRBM.predict`.

    Returns
    -------
    ndarray, shape (n,)
        Of each sequence, the mean over frames from the second on of the sum over visible units.

    Raises
    ------
    TypeError, ValueError
        If ``model`` is no temporal model, a sequence has one frame, or frames are not of its kind.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> model = tf.BernoulliTRBM(zero((3, 2)), zero((2, 3)), zero((3, 3)), zero((2, 2)), 0, 0, 0, 0)
    >>> tf.prediction_error(model, zero((1, 4, 3)), rng=0)
    array([0.75])
    """
    checks.kind("model", model, TRBM)
    checked = model.checked_sequences(sequences)
    if checked.lengths.min() < 2:
        k = int(checked.lengths.argmin())
        raise ValueError(f"sequences need two frames or more, got one frame in sequence {k}")
    errors = frame_errors(model, checked, method, n_gibbs, rng)
    return np.array([part.mean() for part in errors])


def frame_errors(
    model: TRBM, sequences: Sequences, method: Method, n_gibbs: int | None, rng: RngLike
) -> list[NDArray[np.float64]]:
    """Return, of each checked sequence, the squared error of each frame from the second on."""
    found = predict_all(model.parameters(), sequences, method, n_gibbs, rng)
    difference = found - sequences.frames
    square = np.einsum("ti,ti->t", difference, difference, dtype=np.float64)
    return [part[1:] for part in sequences.split(square)]


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
    checked = model.checked_sequences(sequences)
    ahead = _frames_ahead(n_frames, checked, "sequence")
    samples = checks.count("n_samples", n_samples, least=2)
    sweeps, step = checks.count("n_gibbs", n_gibbs), checks.count("every", every)
    seed, total = seed_from(rng, "horizon_errors"), np.zeros((4, ahead))
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
            drawn = continued(own, start.repeat(samples), ahead, n_gibbs=sweeps, seed=key)
            draws = drawn.reshape(len(some), samples, ahead, -1)
            total += _sums(checked.frames, rows[some], ends[rows[some]], draws)
    *squares, known = total
    return HorizonErrors(
        *(np.sqrt(np.maximum(sums, 0.0) / (known * model.n_visible)) for sums in squares)
    )


def _sums(frames: FloatArray, last: Rows, ends: Rows, draws: FloatArray) -> Floats:
    """Return sums of squares over some forecasts, as of `HorizonErrors`, and their number.

    last : the place of the last frame that each has seen
    ends : where its sequence ends
    """
    samples, ahead = draws.shape[1:3]
    places = last[:, None] + 1 + np.arange(ahead)
    known = places < ends[:, None]
    truth = frames[np.minimum(places, ends[:, None] - 1)].astype(np.float64)
    mean = draws.mean(axis=1, dtype=np.float64)
    variance = draws.var(axis=1, dtype=np.float64, ddof=1)
    # The mean of few draws is off by variance / samples.
    model = (mean - truth) ** 2 - variance / samples
    last_frame = (frames[last][:, None] - truth) ** 2
    each = [np.where(known, part.sum(axis=2), 0.0) for part in (model, last_frame, variance)]
    return np.array([part.sum(axis=0) for part in (*each, known)])


def _frames_ahead(n_frames: int, sequences: Sequences, which: str) -> int:
    """Return how many frames ahead, checked: after some frame of a sequence they are known."""
    ahead, most = checks.count("n_frames", n_frames), int(sequences.lengths.max())
    if most <= ahead:
        raise ValueError(f"n_frames must be less than the longest {which} has, {most}, got {ahead}")
    return ahead


def forecast_errors(
    train: SequencesLike,
    test: SequencesLike,
    *,
    orders: tuple[int, ...] = (1, 2),
    ridge: float = 1.0,
) -> dict[str, Floats]:
    """Squared errors of simple forecasts, as :func:`trug_fast.prediction_error` measures them.

    Parameters
    ----------
    train, test : array_like, shape (n, T, n_visible), or lists of (T_i, n_visible)
    orders : tuple of int
        Linear autoregressions: from how many frames before.
    ridge : float
        Penalty on their squared coefficients; the constant is free.

    Returns
    -------
    dict of arrays, shape (sequences in test,)
        "copy last" repeats the frame before, "mean frame" the mean of the training frames;
        "linear, order p" is fitted to them.  Frames with less than p before them are forecast by
        the regression of as many as there are.

    Raises
    ------
    TypeError, ValueError
        If sequences do not fit each other, those to train on are too short for an order, or one to
        test on has a single frame.

    Examples
    --------
    >>> import trug_fast as tf
    >>> videos = tf.datasets.bouncing_balls(6, 20, size=8, rng=0)
    >>> sorted(tf.evaluation.forecast_errors(videos[:4], videos[4:], orders=(1,)))
    ['copy last', 'linear, order 1', 'mean frame']
    """
    ours, theirs, orders, penalty = _checked(train, test, orders, ridge)
    if theirs.lengths.min() < 2:
        raise ValueError("test must hold sequences of two frames or more, got one of one frame")
    parts = theirs.split(theirs.frames.astype(np.float64))
    rules = _rules(ours, orders, penalty)
    return {name: np.array([_one_ahead(*rule, x) for x in parts]) for name, rule in rules.items()}


def forecast_horizon_errors(
    train: SequencesLike,
    test: SequencesLike,
    n_frames: int,
    *,
    orders: tuple[int, ...] = (1, 2),
    ridge: float = 1.0,
    every: int = 1,
) -> dict[str, Floats]:
    """Errors of simple forecasts of one frame ahead, two, and so on.

    They are measured as :func:`trug_fast.evaluation.horizon_errors` measures those of a model, over
    the same beginnings.

    Parameters
    ----------
    train, test, orders, ridge
        As in :func:`forecast_errors`.  A regression goes on from its own forecasts.
    n_frames : int
        Frames ahead, less than the longest sequence of ``test`` has.
    every : int
        Forecasts begin after frames 1, 1 + ``every``, 1 + 2 ``every`` ... of each sequence.

    Returns
    -------
    dict of arrays, shape (n_frames,)
        Root mean squares over visible units and forecasts, by the names of
        :func:`forecast_errors`.

    Raises
    ------
    TypeError, ValueError
        As of :func:`forecast_errors`, or if no sequence of ``test`` is longer than ``n_frames``.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> circle = np.cos(0.3 * np.arange(100)[:, None] + [0.0, 1.0, 2.0])
    >>> found = tf.evaluation.forecast_horizon_errors([circle], [circle], 3, ridge=0.0)
    >>> found["copy last"].round(2), found["linear, order 2"].round(2)
    (array([0.21, 0.42, 0.62]), array([0., 0., 0.]))
    """
    ours, theirs, orders, penalty = _checked(train, test, orders, ridge)
    ahead = _frames_ahead(n_frames, theirs, "sequence of test")
    step, rules = checks.count("every", every), _rules(ours, orders, penalty)
    sums, known = {name: np.zeros(ahead) for name in rules}, np.zeros(ahead)
    for x in theirs.split(theirs.frames.astype(np.float64)):
        last = np.arange(0, len(x) - 1, step)
        places = last[:, None] + 1 + np.arange(ahead)
        there = places < len(x)
        known += there.sum(axis=0)
        for name, rule in rules.items():
            off = _ahead(*rule, x, last, ahead) - x[np.minimum(places, len(x) - 1)]
            sums[name] += np.where(there, (off**2).sum(axis=2), 0.0).sum(axis=0)
    return {name: np.sqrt(each / (known * theirs.shape[1])) for name, each in sums.items()}


def _checked(
    train: SequencesLike, test: SequencesLike, orders: tuple[int, ...], ridge: float
) -> tuple[Sequences, Sequences, tuple[int, ...], float]:
    ours = as_sequences("train", train, visible="gaussian")
    theirs = as_sequences("test", test, ours.shape[1], visible="gaussian")
    penalty = checks.number("ridge", ridge, least=0.0)
    if not isinstance(orders, tuple | list):
        raise TypeError(f"orders must be a tuple of ints, got {orders!r}")
    return ours, theirs, tuple(checks.count("orders", order) for order in orders), penalty


def _rules(
    sequences: Sequences, orders: tuple[int, ...], ridge: float
) -> dict[str, tuple[int, Rule]]:
    """Return simple rules by their names: how many frames they look at, and what they say."""
    lengths = range(1, max(orders, default=0) + 1)
    fits = {p: linear_fit(sequences, p, ridge).coefficients for p in lengths}
    mean = sequences.frames.mean(axis=0, dtype=np.float64)

    def linear(past: Floats) -> Floats:
        own = fits[past.shape[1]]
        return np.asarray(own[0] + past.reshape(len(past), -1) @ own[1:])

    rules: dict[str, tuple[int, Rule]] = {
        "copy last": (1, lambda past: past[:, 0]),
        "mean frame": (1, lambda past: mean),
    }
    return rules | {f"linear, order {order}": (order, linear) for order in orders}


def _one_ahead(order: int, rule: Rule, x: Floats) -> float:
    """Return the mean squared error over the frames of a sequence from the second on."""
    found = _ahead(order, rule, x, np.arange(len(x) - 1), 1)[:, 0]
    return float(((found - x[1:]) ** 2).sum(axis=1).mean())


def _ahead(order: int, rule: Rule, x: Floats, last: Rows, n_frames: int) -> Floats:
    """Return forecasts that begin after some frames of a sequence; (rows, n_frames, n_visible).

    Where there are fewer frames than ``order``, by as many as there are.
    """
    path = np.empty((last.size, order + n_frames, x.shape[1]))
    path[:, :order] = x[np.maximum(last[:, None] - np.arange(order - 1, -1, -1), 0)]
    for k in range(n_frames):
        seen = np.minimum(last + 1 + k, order)
        for p in np.unique(seen):
            rows = seen == p
            path[rows, order + k] = rule(path[rows, order + k - p : order + k][:, ::-1])
    return path[:, order:]


def linear_fit(
    sequences: Sequences,
    order: int,
    ridge: float,
    *,
    whole: bool = False,
) -> LinearFit:
    """Fit each frame to the ``order`` frames before it, by weighted least squares with a penalty.

    whole : from second frames on, the first one of a sequence standing for those before it, with
        the penalty on what is forecast of the difference to the frame before, from that frame,
        its own difference to the one before it, and so on
    """
    n_visible = sequences.shape[1]
    size = 1 + order * n_visible
    square, product = np.zeros((size, size)), np.zeros((size, n_visible))
    total, count = np.zeros(n_visible), 0.0
    for past, present, weight in past_and_present(sequences, order, whole=whole):
        square += weight * (past.T @ past)
        product += weight * (past.T @ present)
        total += weight * (present**2).sum(axis=0)
        count += weight * len(present)
    if count == 0:
        raise ValueError(f"no sequence is longer than {order} frames")
    penalty = np.zeros((size, size))
    penalty[1:, 1:] = ridge * (_on_steps(order, n_visible) if whole else np.eye(size - 1))
    regular = square + penalty + 1e-12 * np.trace(square) / size * np.eye(size)
    last = np.zeros((size, n_visible))  # the forecast that nothing changes, if that is free
    last[1 : 1 + n_visible] = np.eye(n_visible) if whole else 0.0
    fit = np.linalg.solve(regular, product + penalty @ last)
    left = total - 2 * (fit * product).sum(axis=0) + (fit * (square @ fit)).sum(axis=0)
    return LinearFit(fit, np.maximum(left, 0.0) / count)


def past_and_present(
    sequences: Sequences, order: int, *, whole: bool
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield of each sequence the rows and frames of a regression, as above, and its weight."""
    each = np.ones(sequences.shape[0]) if sequences.weights is None else sequences.weights
    for x, weight in zip(sequences.split(sequences.frames), each, strict=True):
        if whole and len(x) > 1:
            x = np.concatenate([np.repeat(x[:1], order - 1, axis=0), x])
        if len(x) > order:
            x = x.astype(np.float64)
            lags = [x[order - lag : len(x) - lag] for lag in range(1, order + 1)]
            past = np.concatenate([np.ones((len(x) - order, 1)), *lags], axis=1)
            yield past, x[order:], float(weight)


def _on_steps(order: int, n_visible: int) -> Floats:
    """Return the quadratic form, of coefficients of frames, that sums squares of those of steps.

    A step is the difference of two frames, of two such differences, and so on.
    """
    signs = [[(-1.0) ** j * comb(k, j) for j in range(order)] for k in range(order)]
    inverse = np.linalg.inv(np.array(signs))  # of what makes steps of frames
    return np.kron(inverse @ inverse.T, np.eye(n_visible))
