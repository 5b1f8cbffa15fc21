"""The models as scikit-learn estimators; needs scikit-learn, and is imported when first used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        """Check arrays as later versions do."""
        return estimator._validate_data(*arrays, **options)


from ._common import checks
from .training.rbm.train import train_rbm
from .training.tggm.train import train_tggm
from .training.units import BernoulliUnits

FLOATS = (np.float64, np.float32)


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


class TGGMRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """TruG-TGGM regression with standard deviations of its predictions.

    The parameters are those of :func:`trug_fast.train_tggm`, but for callbacks, checkpoints and
    ``start``; and ``random_state``.

    Attributes
    ----------
    model_ : TruGTGGM
        The fitted model, in the units of the data.
    history_ : dict of arrays
    learning_rate_ : float, (start, end) or callable
        The chosen one.
    n_iter_ : int
        Epochs that the model was trained for.
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

    def __init__(
        self,
        n_hidden: int = 50,
        *,
        truncation: Any = None,
        objective: Any = "ml",
        noise: Any = "shared",
        optimizer: Any = "adam",
        learning_rate: Any = None,
        search: Any = None,
        truncation_rate: Any = None,
        batch_size: int = 50,
        epochs: int = 300,
        dtype: Any = "float32",
        validation: Any = 0.1,
        monitor: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.truncation = truncation
        self.objective = objective
        self.noise = noise
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.search = search
        self.truncation_rate = truncation_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.dtype = dtype
        self.validation = validation
        self.monitor = monitor
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> TGGMRegressor:
        """Train on X (rows, features) and y (rows,) or (rows, outputs)."""
        checks.unmasked("X", X)
        checks.unmasked("y", y)
        X, y = validate_data(
            self, X, y, dtype=FLOATS, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        options = self.get_params(deep=False)
        options["rng"] = _seed(options.pop("random_state"))
        fit = train_tggm(X, y, **options, progress=False)
        self.model_, self.history_ = fit.model, fit.history
        self.learning_rate_, self.n_iter_ = fit.learning_rate, fit.best_epoch
        self._flat = np.ndim(y) == 1
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Mean of p(y | x) of each row, and its standard deviation if asked for."""
        check_is_fitted(self)
        checks.unmasked("X", X)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        mean, std = self.model_.predict(X, return_std=True)
        if not self._flat:
            mean, std = mean.reshape(len(mean), -1), std.reshape(len(std), -1)
        return (mean, std) if return_std else mean


class RBMTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """TruG-RBM (or ordinary RBM) whose hidden means are features.

    Parameters
    ----------
    n_components : int
        Hidden units.
    hidden : TruGUnits, "trug" or "bernoulli"
    truncation, sampler, optimizer, learning_rate, truncation_rate, batch_size
        As in :func:`trug_fast.train_rbm`.
    n_iter : int
        Epochs.
    random_state : None, int or numpy.random.RandomState

    Notes
    -----
    Visible units lie in [0, 1].  Training data that does is used as it is; of other data each
    column's range is scaled to [0, 1].  Later values outside are clipped.

    Attributes
    ----------
    model_ : TruGRBM or BernoulliRBM
    history_ : dict of arrays
    components_ : array, shape (n_components, n_features)
        The weights, as scikit-learn's BernoulliRBM has them.
    n_features_in_ : int

    Examples
    --------
    >>> import trug_fast as tf
    >>> from trug_fast.estimators import RBMTransformer
    >>> digits = tf.datasets.load_digits()
    >>> features = RBMTransformer(20, n_iter=2, random_state=0).fit_transform(digits.train)
    >>> features.shape
    (1437, 20)
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        hidden: Any = "trug",
        truncation: Any = None,
        sampler: Any = "pcd",
        optimizer: Any = "sgd",
        learning_rate: Any = None,
        truncation_rate: Any = None,
        batch_size: int | None = None,
        n_iter: int = 30,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.truncation = truncation
        self.sampler = sampler
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.truncation_rate = truncation_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> RBMTransformer:
        """Train on X (rows, features); y is ignored."""
        checks.unmasked("X", X)
        array = validate_data(self, X, dtype=FLOATS)
        low, high = array.min(axis=0), array.max(axis=0)
        if low.min() >= 0 and high.max() <= 1:
            low, high = np.zeros_like(low), np.ones_like(high)
        self._low, self._range = low, np.where(high > low, high - low, 1.0)
        options = self.get_params(deep=False)
        n_hidden, epochs = options.pop("n_components"), options.pop("n_iter")
        rng = _seed(options.pop("random_state"))
        fit = train_rbm(
            self._visible(array),
            n_hidden,
            epochs=epochs,
            visible=BernoulliUnits(soft=True),
            monitor=None,
            progress=False,
            rng=rng,
            **options,
        )
        self.model_, self.history_ = fit.model, fit.history
        self.components_ = fit.model.weights.T
        self._n_features_out = len(self.components_)
        self._draws = rng
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Mean of the hidden units given each row; shape (rows, n_components)."""
        array = self._checked(X)
        result: NDArray[Any] = self.model_.hidden_moments(self._visible(array)).mean
        return result.astype(array.dtype)

    def gibbs(self, X: ArrayLike) -> NDArray[Any]:
        """Take one Gibbs step: hidden units given each row, then new visible ones, 0 or 1.

        With an int as ``random_state``, later calls draw other numbers than the first, and a
        refitted estimator draws the same ones again.
        """
        visible = self._visible(self._checked(X))
        self._draws += 1
        hidden = self.model_.sample_hidden(visible, rng=self._draws)
        result: NDArray[Any] = self.model_.sample_visible(hidden, rng=self._draws)
        return result

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Pseudo-log-likelihood of each row: sum over visible units of log p(unit | all others).

        All units are flipped, where scikit-learn takes one at random: no noise, for as many free
        energies as there are features.
        """
        visible = np.asarray(self._visible(self._checked(X)), np.float64)
        energy = self.model_.free_energy(visible)
        total = np.zeros(len(visible))
        for i in range(visible.shape[1]):
            flipped = visible.copy()
            flipped[:, i] = 1 - flipped[:, i]
            total -= np.logaddexp(0.0, energy - self.model_.free_energy(flipped))
        return total

    def _checked(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        checks.unmasked("X", X)
        array: NDArray[Any] = validate_data(self, X, dtype=FLOATS, reset=False)
        return array

    def _visible(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return rows in [0, 1]."""
        visible: NDArray[Any] = np.clip((X - self._low) / self._range, 0.0, 1.0)
        return visible
