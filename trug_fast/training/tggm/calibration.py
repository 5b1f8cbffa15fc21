"""The noise of a regression by rows that it was not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.tggm import TruGTGGM

from .scaling import Examples


def calibrated(model: TruGTGGM, rows: Examples) -> NDArray[np.float64]:
    """Return each output's log noise variance of the highest likelihood of the rows.

    The likelihood is moment-matched, that of weighted rows weighted; ``model`` is one of
    standardised rows.
    """
    from scipy.optimize import minimize_scalar  # here, since its import takes a while

    mean, deviation = model.predict(rows.inputs, return_std=True)
    shape = (len(rows.inputs), -1)
    variance = deviation.reshape(shape) ** 2 - model.noise_variance
    square = (rows.targets - mean.reshape(shape)) ** 2
    result = np.empty(square.shape[1])
    for o in range(result.size):

        def loss(log_noise: float, o: int = o) -> float:
            spread = variance[:, o] + np.exp(log_noise)
            return rows.mean(np.log(spread) + square[:, o] / spread)

        found = minimize_scalar(loss, bounds=(-18.0, 5.0), method="bounded")
        result[o] = found.x
    return result
