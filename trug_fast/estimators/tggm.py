"""The TruG-TGGM as scikit-learn estimators: regressions, and classes by their signs.

Tested in tests/test_estimators.py and tests/test_classifier.py.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from trug_fast._common import checks
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.tggm.ensemble import EnsembleFit, train_ensemble
from trug_fast.training.tggm.train import TGGMFit, train_tggm

from .shared import Estimator, seed_of, weights_of

OWN = ("n_models", "n_jobs", "warm_start")  # parameters that no training has


class TGGMEstimator(Estimator):
    """One model or an ensemble, trained by parameters that are said where they are public."""

    def _several(self) -> bool:
        """Return whether there are several models; refuse threads for one."""
        if checks.count("n_models", self.n_models) > 1:
            return True
        if self.n_jobs is not None:
            raise ValueError(f"n_jobs={self.n_jobs} has no effect on one model")
        return False

    def _fitted(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        start: TruGTGGM | None = None,
        **changed: Any,
    ) -> TGGMFit | EnsembleFit:
        """Train by the parameters, some of them changed, in as many threads as are asked for."""
        given = self.get_params(deep=False)
        options = {name: value for name, value in given.items() if name not in OWN}
        options["progress"] = bool(options.pop("verbose"))
        options["rng"] = seed_of(check_random_state(options.pop("random_state")))
        options |= changed
        options["sample_weight"] = weights_of(sample_weight, X)
        fit: TGGMFit | EnsembleFit
        if not self._several():
            fit = train_tggm(X, y, start=start, **options)
        elif (jobs := effective_n_jobs(self.n_jobs)) == 1:
            fit = train_ensemble(X, y, self.n_models, **options)
        else:
            with ThreadPoolExecutor(jobs) as executor:
                fit = train_ensemble(X, y, self.n_models, executor=executor, **options)
        return fit._replace(model=self._named(fit.model))


class TGGMRegressor(MultiOutputMixin, RegressorMixin, TGGMEstimator):  # type: ignore[misc]
    """TruG-TGGM regression with standard deviations of its predictions.

    The parameters are those of :func:`trug_fast.train_tggm`, but for callbacks, checkpoints and
    ``start``; the size of an ensemble; and scikit-learn's own.

    Parameters
    ----------
    n_hidden, truncation, objective, noise, optimizer, learning_rate
        As in :func:`trug_fast.train_tggm`.
    batch_size, epochs, dtype, validation, monitor
        As there.
    n_models : int
        More than 1 train an ensemble, as :func:`trug_fast.train_ensemble` does.
    n_jobs : int, optional
        Threads that train the models of an ensemble; None is 1, and -1 as many as there are
        processors.  Results do not depend on it.
    warm_start : bool
        Go on from the model of the last fit, by a new run of so many epochs.
    verbose : bool or int
        Show a bar.
    random_state : None, int or numpy.random.RandomState

    Attributes
    ----------
    model_ : TruGTGGM or TGGMEnsemble
        The fitted model, in the units of the data.
    history_ : dict of arrays
        Of an ensemble a list of them.
    learning_rate_ : float, (start, end) or callable
        The chosen one; of an ensemble a list.
    n_iter_ : int
        Epochs that the model was trained for; of an ensemble the most.
    n_features_in_ : int

    Examples
    --------
    >>> import trug_fast as tf
    >>> from trug_fast.estimators import TGGMRegressor
    >>> X, y, X_test, y_test = tf.datasets.load_yacht().split(0)
    >>> regressor = TGGMRegressor(n_hidden=20, epochs=150, random_state=0).fit(X, y)
    >>> mean, std = regressor.predict(X_test, return_std=True)
    >>> regressor.score(X_test, y_test) > 0.95
    True
    """

    model_: Any
    history_: Any
    learning_rate_: Any

    def __init__(
        self,
        n_hidden: int = 50,
        *,
        truncation: Any = None,
        objective: Any = "ml",
        noise: Any = "shared",
        optimizer: Any = "adam",
        learning_rate: Any = None,
        batch_size: int = 50,
        epochs: int = 300,
        dtype: Any = "float32",
        validation: Any = 0.1,
        monitor: Any = "auto",
        n_models: int = 1,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> TGGMRegressor:
        """Train on X (rows, features) and y (rows,) or (rows, outputs), by the rows' weights."""
        return self._train(X, y, sample_weight, go_on=self.warm_start)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> TGGMRegressor:
        """Train on all of X and y for one epoch, from the model so far.

        Each call is a run of its own, from the first of its rates to the last, without rows held
        back: a :class:`RateSearch` has nothing to choose by, and is refused.
        """
        once = {"epochs": 1, "validation": None, "monitor": None}
        return self._train(X, y, sample_weight, go_on=True, **once)

    def _train(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        go_on: bool,
        **changed: Any,
    ) -> TGGMRegressor:
        if self._several() and go_on:
            raise ValueError(
                f"n_models={self.n_models} are trained anew each time: warm_start and partial_fit "
                "are for one model"
            )
        start = getattr(self, "model_", None) if go_on else None
        X, y = self._checked(
            X, y, ensure_min_samples=2, multi_output=True, y_numeric=True, reset=start is None
        )
        fit = self._fitted(X, y, sample_weight, start, **changed)
        self.model_ = fit.model
        if isinstance(fit, EnsembleFit):
            self.history_ = [each.history for each in fit.fits]
            self.learning_rate_ = [each.learning_rate for each in fit.fits]
            self.n_iter_ = max(each.best_epoch for each in fit.fits)
        else:
            self.history_, self.learning_rate_ = fit.history, fit.learning_rate
            self.n_iter_ = fit.best_epoch
        self._flat = np.ndim(y) == 1
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Mean of p(y | x) of each row, and its standard deviation if asked for."""
        rows = self._checked(X)
        mean, std = self.model_.predict(rows, return_std=True)
        mean, std = self._shaped(mean), self._shaped(std)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Quantiles of each row's predictive distribution, as those of the model."""
        rows = self._checked(X)
        found: NDArray[np.float64] = self.model_.predict_quantiles(rows, q)
        return found if self._flat or self.model_.n_outputs > 1 else found[..., None]

    def predict_interval(
        self, X: ArrayLike, level: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Interval of this probability of each row, as that of the model."""
        rows = self._checked(X)
        lower, upper = self.model_.predict_interval(rows, level)
        return self._shaped(lower), self._shaped(upper)

    def _shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return predictions with an axis for outputs if there was one in training."""
        return values if self._flat else values.reshape(len(values), -1)


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
        self._keep(locals())

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
        X, y = self._checked(X, y, ensure_min_samples=2, reset=True)
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
        rows = self._checked(X)
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
