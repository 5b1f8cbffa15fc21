"""Simple forecasts of the next frame, beside which a model of sequences should be seen."""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences

Floats = NDArray[np.float64]


class LinearFit(NamedTuple):
    """A regression of a frame on those before it."""

    coefficients: Floats  # (1 + order * n_visible, n_visible), the constants first
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
    >>> sorted(tf.forecast_errors(videos[:4], videos[4:], orders=(1,)))
    ['copy last', 'linear, order 1', 'mean frame']
    """
    ours = as_sequences("train", train, visible="gaussian")
    theirs = as_sequences("test", test, ours.shape[1], visible="gaussian")
    penalty = checks.number("ridge", ridge, least=0.0)
    if not isinstance(orders, tuple | list):
        raise TypeError(f"orders must be a tuple of ints, got {orders!r}")
    orders = tuple(checks.count("orders", order) for order in orders)
    if theirs.lengths.min() < 2:
        raise ValueError("test must hold sequences of two frames or more, got one of one frame")
    parts = theirs.split(theirs.frames.astype(np.float64))
    mean = ours.frames.mean(axis=0, dtype=np.float64)
    result = {
        "copy last": _errors(parts, [x[:-1] for x in parts]),
        "mean frame": _errors(parts, [np.broadcast_to(mean, x[1:].shape) for x in parts]),
    }
    fits = {
        p: linear_fit(ours, p, penalty).coefficients for p in range(1, max(orders, default=0) + 1)
    }
    for order in orders:
        result[f"linear, order {order}"] = _errors(parts, [_linear(fits, order, x) for x in parts])
    return result


def linear_fit(sequences: Sequences, order: int, ridge: float, *, whole: bool = False) -> LinearFit:
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
    size, n_visible = 1 + order * sequences.shape[1], sequences.shape[1]
    square, product = np.zeros((size, size)), np.zeros((size, n_visible))
    total, count = np.zeros(n_visible), 0.0
    each = np.ones(sequences.shape[0]) if sequences.weights is None else sequences.weights
    for x, weight in zip(sequences.split(sequences.frames), each, strict=True):
        if whole and len(x) > 1:
            x = np.concatenate([np.repeat(x[:1], order - 1, axis=0), x])
        if len(x) > order:
            past, present = _past(x.astype(np.float64), order), x[order:].astype(np.float64)
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
