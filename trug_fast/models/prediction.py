"""One-step forecasts of temporal machines, and their errors (math.md 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.trbm import frames as kernels

from .filter import Filtered, Parameters
from .sequences import Sequences, SequencesLike, as_sequences

if TYPE_CHECKING:
    from .trbm import TRBM

Method = Literal["gibbs", "mean_field", "last"]
ROWS = 8192  # frames predicted at a time, so that working arrays stay small
SWEEPS = {"gibbs": 100, "mean_field": 10, "last": 50}


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
    """
    from .trbm import TRBM  # here: it imports this module

    checks.kind("model", model, TRBM)
    checked = as_sequences("sequences", sequences, model.n_visible, visible=model.visible)
    if checked.lengths.min() < 2:
        k = int(checked.lengths.argmin())
        raise ValueError(f"sequences need two frames or more, got one frame in sequence {k}")
    difference = predict_all(model, checked, method, n_gibbs, rng) - checked.frames
    square = np.einsum("ti,ti->t", difference, difference, dtype=np.float64)
    return np.array([part[1:].mean() for part in checked.split(square)])


def predict_all(
    model: TRBM, sequences: Sequences, method: Method, n_gibbs: int | None, rng: RngLike
) -> FloatArray:
    """Predict the frames of checked sequences; shape (all frames, n_visible)."""
    checks.choice("method", method, tuple(SWEEPS))
    sweeps = checks.count("n_gibbs", SWEEPS[method] if n_gibbs is None else n_gibbs)
    seed, own = seed_from(rng, "predict"), model.parameters()
    sequences = sequences.astype(model.dtype)
    result = np.empty((sequences.frames.shape[0], model.n_visible), model.dtype)
    # Sequences at a time; the number fixes the streams, so it depends on nothing else.
    size = max(1, ROWS // int(sequences.lengths.max()))
    for number, start in enumerate(range(0, sequences.lengths.size, size)):
        chosen = np.arange(start, min(start + size, sequences.lengths.size))
        batch = sequences.batch(chosen)
        with computing(work(batch.rows.size, model.n_visible, model.n_hidden)):
            seen = own.filter(sequences, batch)
            result[batch.rows] = _predict(own, seen, batch.first, method, sweeps, seed, number)
    return result


def _predict(
    own: Parameters, seen: Filtered, first: int, method: str, sweeps: int, seed: int, number: int
) -> FloatArray:
    """Predict the frames of one batch from their own biases."""
    visible, mean = np.empty_like(seen.visible), np.empty_like(seen.visible)
    total, hidden, net = (np.zeros_like(a) for a in (seen.visible, seen.net, seen.net))
    visible[first:] = seen.past_visible
    noise = np.random.Generator(np.random.Philox(key=[seed, number]))
    fresh = visible[: None if method == "last" else first]
    fresh[:] = noise.random(fresh.shape)
    skip = sweeps // 5 if method == "gibbs" else sweeps
    kernels.predict_visible(
        seen.layers, own.visible_precision, sweeps, skip, method != "mean_field", seed,
        number * sweeps, visible, mean, hidden, net, total,
    )  # fmt: skip
    return total / (sweeps - skip) if method == "gibbs" else mean
