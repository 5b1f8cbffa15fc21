"""Classes by the signs of a regression, as a scikit-learn estimator.

Tested in tests/test_classifier.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from trug_fast._common import checks
from trug_fast.training.tggm.train import train_tggm

from .given import FLOATS, ON_AVERAGE, seed_of, validate_data, weights_of
from .regressor import ensemble_of


class TGGMClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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

    def __init__(
        self,
        n_hidden: int = 50,
        *,
        truncation: Any = None,
        optimizer: Any = "adam",
        learning_rate: Any = None,
        batch_size: int = 50,
        epochs: int = 300,
        dtype: Any = "float32",
        validation: Any = 0.1,
        monitor: Any = "auto",
        n_models: int = 1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.truncation = truncation
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.dtype = dtype
        self.validation = validation
        self.monitor = monitor
        self.n_models = n_models
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:  # wanted beside the other
        return super().__sklearn_tags__()

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"_xfail_checks": ON_AVERAGE}

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> TGGMClassifier:
        """Train on X (rows, features) and the classes y (rows,), by the rows' weights.

        Raises
        ------
        ValueError
            If y has one class.
        """
        n_models = checks.count("n_models", self.n_models)
        if n_models == 1 and self.n_jobs is not None:
            raise ValueError(f"n_jobs={self.n_jobs} has no effect on one model")
        checks.unmasked("X", X)
        checks.unmasked("y", y)
        X, y = validate_data(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(f"y must have two classes or more, got only {self.classes_[0]}")
        signs = np.where(codes[:, None] == np.arange(self.classes_.size), 1.0, -1.0)
        if self.classes_.size == 2:
            signs = signs[:, 1:]
        options = self.get_params(deep=False) | {"objective": "probit"}
        del options["n_models"], options["n_jobs"]
        options["progress"] = bool(options.pop("verbose"))
        options["rng"] = seed_of(check_random_state(options.pop("random_state")))
        options["sample_weight"] = weights_of(sample_weight, X)
        if n_models > 1:
            self.model_ = ensemble_of(X, signs, n_models, self.n_jobs, options).model
        else:
            self.model_ = train_tggm(X, signs, **options).model
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, (rows, n_classes), in the order of ``classes_``."""
        check_is_fitted(self)
        checks.unmasked("X", X)
        rows = validate_data(self, X, dtype=FLOATS, reset=False)
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
