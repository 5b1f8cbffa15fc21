"""Short hashes by which a model, or a run, is known again."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.rbm import RBM


def digest(*arrays: NDArray[Any]) -> str:
    """Return a short hash of arrays: their types, shapes and numbers."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:16]


def fingerprint(model: RBM) -> str:
    """Return the class of a model and a hash of its parameters, whatever float type holds them."""
    parameters = (np.asarray(getattr(model, name), np.float64) for name in model.names)
    return f"{type(model).__name__} {digest(*parameters)}"
