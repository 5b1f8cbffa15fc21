"""Estimates from log-weights of known distributions."""

import numpy as np
from scipy.stats import binom

from trug_fast.evaluation.bridges import weights


def test_bennett_on_normal_weights():
    # Crooks holds for two normal densities a variance apart: log Z = 0, and the interval is right
    # even where one direction alone is lost.
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(1000):
        forward, reverse = rng.normal(-4.5, 3.0, 100), rng.normal(4.5, 3.0, 300)
        log_z, error, overlap = weights.bennett(forward, reverse)
        inside.append(abs(log_z) < 1.96 * error)
        assert 0 < overlap < 400
    assert binom.ppf(1e-5, 1000, 0.94) <= sum(inside) <= binom.ppf(1 - 1e-5, 1000, 0.96)
