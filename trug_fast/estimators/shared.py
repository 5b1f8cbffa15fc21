"""What scikit-learn's users hand over, as the trainings take it.

Tested in tests/test_estimators.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        """Check arrays as later versions do."""
        return estimator._validate_data(*arrays, **options)


from trug_fast._common import checks

FLOATS = (np.float64, np.float32)


class Estimator(BaseEstimator):  # type: ignore[misc]
    """What all estimators do with their parameters, rows and weights."""

    _sparse: str | bool = False  # which sparse matrices are taken

    def _keep(self, given: dict[str, Any]) -> None:
        """Keep the parameters of a constructor, its ``locals()``, as they are."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:  # wanted beside the other
        return super().__sklearn_tags__()

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        # Its check shuffles rows: their batches are others then.
        words = "batches are drawn: equal on average only"
        return {"_xfail_checks": {"check_sample_weights_invariance": words}}

    def _checked(self, X: ArrayLike, *y: ArrayLike, reset: bool = False, **how: Any) -> Any:
        """Return rows, with their targets, checked as scikit-learn does."""
        if not reset:
            check_is_fitted(self)
        for name, given in zip("Xy", (X, *y), strict=False):
            checks.unmasked(name, given)
        return validate_data(
            self, X, *y, dtype=FLOATS, accept_sparse=self._sparse, reset=reset, **how
        )

    def _named(self, model: Any) -> Any:
        """Return a model that knows what the columns of the rows are called, if they have names."""
        names = getattr(self, "feature_names_in_", None)
        return model if names is None else model.with_columns(list(map(str, names)))


def seed_of(random: np.random.RandomState) -> int:
    """Return a seed that a generator of scikit-learn's kind draws."""
    return int(random.randint(2**31 - 1))


def weights_of(sample_weight: ArrayLike | None, X: Any) -> NDArray[Any] | None:
    """Return weights as scikit-learn takes them: a number stands for that of all rows."""
    if sample_weight is None:
        return None
    weights = checks.numbers("sample_weight", sample_weight)
    return np.full(X.shape[0], weights) if weights.ndim == 0 else weights
