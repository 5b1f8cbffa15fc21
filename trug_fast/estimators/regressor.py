"""The regression as a scikit-learn estimator.

Tested in tests/test_estimators.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from trug_fast.training.tggm.ensemble import EnsembleFit

from .shared import TGGMEstimator


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
        super().__init__(
            n_hidden,
            truncation=truncation,
            optimizer=optimizer,
            learning_rate=learning_rate,
            batch_size=batch_size,
            epochs=epochs,
            dtype=dtype,
            validation=validation,
            monitor=monitor,
            n_models=n_models,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.objective = objective
        self.noise = noise
        self.warm_start = warm_start

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
        """Train, anew or from the model so far, with some parameters changed."""
        if self._several() and go_on:
            raise ValueError(
                f"n_models={self.n_models} are trained anew each time: warm_start and partial_fit "
                "are for one model"
            )
        start = getattr(self, "model_", None) if go_on else None
        X, y = self._pair(X, y, multi_output=True, y_numeric=True, reset=start is None)
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
        rows = self._rows(X)
        mean, std = self.model_.predict(rows, return_std=True)
        mean, std = self._shaped(mean), self._shaped(std)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Quantiles of each row's predictive distribution, as those of the model."""
        rows = self._rows(X)
        found: NDArray[np.float64] = self.model_.predict_quantiles(rows, q)
        return found if self._flat or self.model_.n_outputs > 1 else found[..., None]

    def predict_interval(
        self, X: ArrayLike, level: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Interval of this probability of each row, as that of the model."""
        rows = self._rows(X)
        lower, upper = self.model_.predict_interval(rows, level)
        return self._shaped(lower), self._shaped(upper)

    def _shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return predictions with an axis for outputs if there was one in training."""
        return values if self._flat else values.reshape(len(values), -1)
