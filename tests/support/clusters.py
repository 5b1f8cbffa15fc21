"""Real data of two clusters."""

import numpy as np


def columns(rows=500, scale=1.0):
    """Real data of two clusters."""
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], (rows, 1))
    return scale * (side * [1, 1, -1, 1] + 0.5 * rng.normal(size=(rows, 4)))
