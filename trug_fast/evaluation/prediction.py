"""How good the one-step forecasts of temporal models are (mathematics 4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences
from trug_fast.models.trbm import TRBM, Method, predict_all


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
    own = model.by_name("sequences", sequences)
    checked = as_sequences("sequences", own, model.n_visible, visible=model.visible)
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
