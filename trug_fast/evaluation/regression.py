"""How good normal predictions are: their error, density and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

Z_90 = 1.6448536269514722  # half width of a normal's 90 % interval


def prediction_scores(y: Any, mean: Any, std: Any) -> dict[str, float]:
    """Return error, mean log-density and coverage of normal predictions.

    Parameters
    ----------
    y, mean : arrays of one shape
        What was observed, and the means that were predicted.
    std : array of that shape, or number
        The standard deviations that were predicted.

    Returns
    -------
    dict
        ``rmse``, root mean square error; ``log_likelihood``, mean log-density in nats;
        ``coverage``, the share of rows inside the 90 % interval.

    Examples
    --------
    >>> import numpy as np
    >>> prediction_scores(np.array([0.0, 2.0]), np.zeros(2), np.ones(2))["coverage"]
    0.5
    """
    z = (y - mean) / std
    density = -0.5 * (np.log(2 * np.pi * std**2) + z**2)
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "log_likelihood": float(np.mean(density * np.ones_like(z))),
        "coverage": float(np.mean(abs(z) <= Z_90)),
    }
