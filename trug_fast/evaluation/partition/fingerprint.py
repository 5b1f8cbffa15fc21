"""A short hash by which a model is known again.  Tests: tests/evaluation/test_likelihood.py.

Tested in tests/evaluation/partition/test_judgement.py.
"""

from __future__ import annotations

import hashlib

import numpy as np

from trug_fast.models.rbm import RBM
from trug_fast.models.visible_kinds import BERNOULLI, GAUSSIAN, has_ends


def fingerprint(model: RBM) -> str:
    """Return the class of a model and a hash of its parameters, whatever float type holds them."""
    sha = hashlib.sha256()
    if model.visible not in (BERNOULLI, GAUSSIAN):  # which parameters do not tell
        ends = 5 if has_ends(model.runs) else 3
        sha.update(str([tuple(run)[:ends] for run in model.runs]).encode())
    for name in model.names:
        parameter = np.ascontiguousarray(getattr(model, name), dtype=np.float64)
        sha.update(f"{parameter.dtype.str}{parameter.shape}".encode())
        sha.update(parameter.tobytes())
    return f"{type(model).__name__} {sha.hexdigest()[:16]}"
