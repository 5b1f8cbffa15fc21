"""Simple forecasts of the next frame, beside which a model of sequences should be seen."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences

Floats = NDArray[np.float64]


class LinearFit(NamedTuple):
    """A regression of a frame on those before it."""

    coefficients: Floats  # (1 + order * n_visible, n_visible), constants first
    mean_square: Floats  # (n_visible,) of the residuals


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
    mean = ours.frames.mean(axis=0, dtype=np.float64)
    result = {
        "copy last": _errors(parts, [x[:-1] for x in parts]),
        "mean frame": _errors(parts, [np.broadcast_to(mean, x[1:].shape) for x in parts]),
    }
    fits = _fits(ours, orders, penalty)
    for order in orders:
        result[f"linear, order {order}"] = _errors(parts, [_linear(fits, order, x) for x in parts])
    return result


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
    ahead, step = checks.count("n_frames", n_frames), checks.count("every", every)
    if theirs.lengths.max() <= ahead:
        raise ValueError(
            f"n_frames must be less than the longest sequence of test has, {theirs.lengths.max()}, "
            f"got {ahead}"
        )
    still = np.eye(ours.shape[1])
    fits = _fits(ours, orders, penalty)
    mean = ours.frames.mean(axis=0, dtype=np.float64)
    rules = {
        "copy last": (1, {1: np.concatenate([0 * still[:1], still])}),
        "mean frame": (1, {1: np.concatenate([mean[None], 0 * still])}),
    } | {f"linear, order {order}": (order, fits) for order in orders}
    sums, known = {name: np.zeros(ahead) for name in rules}, np.zeros(ahead)
    for x in theirs.split(theirs.frames.astype(np.float64)):
        last = np.arange(0, len(x) - 1, step)
        places = last[:, None] + 1 + np.arange(ahead)
        there = places < len(x)
        known += there.sum(axis=0)
        for name, (order, own) in rules.items():
            off = _ahead(own, order, x, last, ahead) - x[np.minimum(places, len(x) - 1)]
            sums[name] += np.where(there, (off**2).sum(axis=2), 0.0).sum(axis=0)
    return {name: np.sqrt(each / (known * ours.shape[1])) for name, each in sums.items()}


def _checked(
    train: SequencesLike, test: SequencesLike, orders: tuple[int, ...], ridge: float
) -> tuple[Sequences, Sequences, tuple[int, ...], float]:
    ours = as_sequences("train", train, visible="gaussian")
    theirs = as_sequences("test", test, ours.shape[1], visible="gaussian")
    penalty = checks.number("ridge", ridge, least=0.0)
    if not isinstance(orders, tuple | list):
        raise TypeError(f"orders must be a tuple of ints, got {orders!r}")
    return ours, theirs, tuple(checks.count("orders", order) for order in orders), penalty


def _fits(sequences: Sequences, orders: tuple[int, ...], ridge: float) -> dict[int, Floats]:
    """Return the coefficients of all orders up to the highest."""
    highest = max(orders, default=0)
    return {p: linear_fit(sequences, p, ridge).coefficients for p in range(1, highest + 1)}


def _ahead(
    fits: dict[int, Floats], order: int, x: Floats, last: NDArray[np.int64], n_frames: int
) -> Floats:
    """Return forecasts that begin after some frames of a sequence; (rows, n_frames, n_visible).

    Where there are fewer frames than ``order``, by the regression of as many as there are.
    """
    path = np.empty((last.size, order + n_frames, x.shape[1]))
    path[:, :order] = x[np.maximum(last[:, None] - np.arange(order - 1, -1, -1), 0)]
    for k in range(n_frames):
        seen = np.minimum(last + 1 + k, order)
        for p in np.unique(seen):
            rows = seen == p
            past = path[rows, order + k - p : order + k][:, ::-1].reshape(rows.sum(), -1)
            path[rows, order + k] = fits[p][0] + past @ fits[p][1:]
    return path[:, order:]


def linear_fit(
    sequences: Sequences,
    order: int,
    ridge: float,
    *,
    whole: bool = False,
) -> LinearFit:
    """Fit each frame to the ``order`` frames before it, by least squares with a penalty.

    Squares of sequences that have weights are weighted.

    whole : from second frames on, the first one of a sequence standing for those before it, with
        the penalty on what is forecast of the difference to the frame before, from that frame,
        its own difference to the one before it, and so on

    Raises
    ------
    ValueError
        If no sequence is longer than ``order`` frames.
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
            yield _past(x.astype(np.float64), order), x[order:].astype(np.float64), float(weight)


def _on_steps(order: int, n_visible: int) -> Floats:
    """Return the quadratic form, of coefficients of frames, that sums squares of those of steps.

    A step is the difference of two frames, of two such differences, and so on.
    """
    signs = [[(-1.0) ** j * comb(k, j) for j in range(order)] for k in range(order)]
    inverse = np.linalg.inv(np.array(signs))  # of what makes steps of frames
    return np.kron(inverse @ inverse.T, np.eye(n_visible))


def _errors(parts: list[NDArray[Any]], forecasts: list[NDArray[Any]]) -> Floats:
    """Return the mean squared error of each sequence."""
    return np.array(
        [((f - x[1:]) ** 2).sum(axis=1).mean() for x, f in zip(parts, forecasts, strict=True)]
    )


def _past(x: NDArray[Any], order: int) -> Floats:
    """Return, for each frame from number ``order`` on, a one and the frames before it."""
    columns = [x[order - lag : len(x) - lag] for lag in range(1, order + 1)]
    return np.concatenate([np.ones((max(0, len(x) - order), 1)), *columns], axis=1)


def _linear(fits: dict[int, Floats], order: int, x: Floats) -> Floats:
    """Return forecasts of all frames of a sequence but the first."""
    order = min(order, len(x) - 1)
    first = [_past(x[: p + 1], p) @ fits[p] for p in range(1, order)]
    return np.concatenate([*first, _past(x, order) @ fits[order]])
