"""Classes by the signs of a regression, as a scikit-learn estimator.

Tested in tests/test_classifier.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .shared import TGGMEstimator


class TGGMClassifier(ClassifierMixin, TGGMEstimator):  # type: ignore[misc]
    """Classes by the signs of what TruG-TGGM regressions predict (a probit readout).

    Two classes have one output, whose sign says which; of more each has an output, the layer of
    hidden units in common, and probabilities of being above 0 are divided by their sum.

    Parameters
    ----------
    n_hidden, truncation, optimizer, learning_rate
        As in :func:`trug_fast.train_tggm`, whose objective is "probit".
    batch_size, epochs, dtype, validation, monitor
        As there.
    n_models : int
        More than 1 train an ensemble, whose probabilities are means of its models'.
    n_jobs : int, optional
        Threads that train the models of an ensemble; None is 1, and -1 as many as there are
        processors.  Results do not depend on it.
    verbose : bool or int
        Show a bar.
    random_state : None, int or numpy.random.RandomState

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : TruGTGGM or TGGMEnsemble
        The fitted regression of +1 and -1.
    n_features_in_ : int

    Examples
    --------
    >>> import trug_fast as tf
    >>> from trug_fast.estimators import TGGMClassifier
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]] * 10
    >>> y = ["low", "low", "low", "high", "high", "high"] * 10
    >>> classifier = TGGMClassifier(n_hidden=5, epochs=100, random_state=0).fit(X, y)
    >>> classifier.predict([[0.1], [0.9]])
    array(['low', 'high'], dtype='<U4')
    """

    model_: Any
    classes_: NDArray[Any]

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> TGGMClassifier:
        """Train on X (rows, features) and the classes y (rows,), by the rows' weights.

        Raises
        ------
        ValueError
            If y has one class.
        """
        self._several()
        X, y = self._pair(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(f"y must have two classes or more, got only {self.classes_[0]}")
        signs = np.where(codes[:, None] == np.arange(self.classes_.size), 1.0, -1.0)
        if self.classes_.size == 2:
            signs = signs[:, 1:]
        self.model_ = self._fitted(X, signs, sample_weight, objective="probit").model
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, (rows, n_classes), in the order of ``classes_``."""
        rows = self._rows(X)
        above = self.model_.probability_above(rows, 0.0)
        if self.classes_.size == 2:
            return np.stack([1 - above, above], axis=1)
        above = np.maximum(above, 1e-300)  # where all are 0, they are alike
        found: NDArray[np.float64] = above / above.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        which = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[which]
        return found
