"""What scikit-learn's users hand over, as the trainings take it.

Tested in tests/test_estimators.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        """Check arrays as later versions do."""
        return estimator._validate_data(*arrays, **options)


from trug_fast._common import checks

__all__ = ["FLOATS", "ON_AVERAGE", "named", "seed_of", "validate_data", "weights_of"]

FLOATS = (np.float64, np.float32)
# A check of scikit-learn before 1.6, which shuffles rows: their batches are others then.
ON_AVERAGE = {"check_sample_weights_invariance": "batches are drawn: equal on average only"}


def seed_of(random: np.random.RandomState) -> int:
    """Return a seed that a generator of scikit-learn's kind draws."""
    return int(random.randint(2**31 - 1))


def named(estimator: Any, model: Any) -> Any:
    """Return a model that knows what the columns of the rows are called, if they have names."""
    names = getattr(estimator, "feature_names_in_", None)
    return model if names is None else model.with_columns(list(map(str, names)))


def weights_of(sample_weight: ArrayLike | None, X: Any) -> NDArray[Any] | None:
    """Return weights as scikit-learn takes them: a number stands for that of all rows."""
    if sample_weight is None:
        return None
    weights = checks.numbers("sample_weight", sample_weight)
    return np.full(X.shape[0], weights) if weights.ndim == 0 else weights
