"""The RBM as a scikit-learn estimator.

Tested in tests/test_estimators.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.sparsefuncs import mean_variance_axis

from trug_fast.evaluation.likelihood import site_log_probability
from trug_fast.models.scaling import Scaling
from trug_fast.training.rbm.train import train_rbm
from trug_fast.training.units import WORDS, BernoulliUnits
from trug_fast.training.weighing import Weights, as_weights, mean_of

from .shared import Estimator, seed_of, weights_of

BLOCK = 2**22  # numbers that are taken at a time, for which those of a sparse matrix are made dense


class RBMTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):  # type: ignore[misc]
    """TruG-RBM (or ordinary RBM) whose hidden means are features.

    Parameters
    ----------
    n_hidden : int
        Hidden units, and features.
    truncation, hidden, sampler, optimizer, learning_rate
        As in :func:`trug_fast.train_rbm`.
    batch_size, epochs, dtype
        As there.
    visible : BernoulliUnits, GaussianUnits, SpinUnits, CategoricalUnits, word or list
        "bernoulli" is for columns in [0, 1], "gaussian" for any real numbers; see the notes.
        "spin", "categorical", "relu", :class:`trug_fast.TruncatedUnits` and a list of kinds take X
        as it is, as :func:`trug_fast.train_rbm` does.
    warm_start : bool
        Let ``fit`` go on from the model of the last one, by a new run of so many epochs.
    verbose : bool or int
        Show a bar.
    random_state : None, int or numpy.random.RandomState

    Notes
    -----
    Bernoulli visible units lie in [0, 1].  Training data that does is used as it is; of other data
    each column's range is scaled to [0, 1].  Later values outside are clipped, also in what
    ``partial_fit`` and ``warm_start`` go on with.  For Gaussian ones each column is divided by its
    standard deviation in the first training data; where means are large beside that, let
    scikit-learn's StandardScaler come first.  The model is one of the scaled columns.

    X may be sparse: only a part of it is dense at a time.  Results are those of the array: both are
    taken in the same blocks of rows, though of how many rows go to a call last digits may depend.

    Attributes
    ----------
    model_ : TruGRBM or BernoulliRBM
    history_ : dict of arrays
        Of the last run.
    components_ : array, shape (n_hidden, n_features)
        The weights, as scikit-learn's BernoulliRBM has them; of categorical units a column for each
        state of each feature.
    intercept_hidden_ : array, shape (n_hidden,)
    intercept_visible_ : array, shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : array, where the columns of X have names

    Examples
    --------
    >>> import trug_fast as tf
    >>> from trug_fast.estimators import RBMTransformer
    >>> digits = tf.datasets.load_digits()
    >>> features = RBMTransformer(20, epochs=2, random_state=0).fit_transform(digits.train)
    >>> features.shape
    (1437, 20)
    """

    _sparse = "csr"

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        truncation: Any = None,
        hidden: Any = "trug",
        visible: Any = "bernoulli",
        sampler: Any = "pcd",
        optimizer: Any = "sgd",
        learning_rate: Any = None,
        batch_size: int | None = None,
        epochs: int = 30,
        dtype: Any = "float32",
        warm_start: bool = False,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return super()._more_tags() | {"preserves_dtype": [np.float64, np.float32]}

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> RBMTransformer:
        """Train on X (rows, features), an array or a sparse matrix, by its rows' weights.

        y is ignored.
        """
        return self._train(X, sample_weight, self.epochs, go_on=self.warm_start)

    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> RBMTransformer:
        """Train on X for one epoch, from the model so far; y is ignored.

        Each call is a run of its own, from the first of its rates to the last.  Weights are
        relative to those of the same call.
        """
        return self._train(X, sample_weight, 1, go_on=True)

    def _train(
        self, X: ArrayLike, sample_weight: ArrayLike | None, epochs: int, *, go_on: bool
    ) -> RBMTransformer:
        start = getattr(self, "model_", None) if go_on else None
        array = self._checked(X, reset=start is None)
        weights = as_weights(weights_of(sample_weight, array), array.shape[0])
        if weights is not None and not weights.all():  # not there, for ranges too
            array, weights = array[weights > 0], weights[weights > 0]
        if start is None:
            self._low, self._range = self._ranges(array, weights)
            self._random = check_random_state(self.random_state)
        options = self.get_params(deep=False)
        for name in ("random_state", "warm_start"):
            del options[name]
        options |= {"epochs": epochs, "progress": bool(options.pop("verbose"))}
        if self.visible == "bernoulli":
            options["visible"] = BernoulliUnits(soft=True)
        self._draws = seed_of(self._random)
        fit = train_rbm(
            self._in_range(array),
            start=start,
            sample_weight=weights,
            monitor=None,
            rng=self._draws,
            **options,
        )
        self.model_, self.history_ = self._named(fit.model), fit.history
        self.components_ = fit.model.column_weights.T
        self.intercept_hidden_ = fit.model.hidden_bias
        self.intercept_visible_ = fit.model.column_bias
        self._n_features_out = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Mean of the hidden units given each row; shape (rows, n_hidden), not sparse."""
        array = self._checked(X)
        parts = [self.model_.hidden_moments(rows).mean for rows in self._visible(array)]
        return np.concatenate(parts).astype(array.dtype)

    def gibbs(self, X: ArrayLike) -> NDArray[Any]:
        """Take one Gibbs step: hidden units given each row, then new visible ones.

        Those of Bernoulli units are 0 or 1, those of others as X is.

        With an int as ``random_state``, later calls draw other numbers than the first, and a
        refitted estimator draws the same ones again.
        """
        visible = np.concatenate(list(self._visible(self._checked(X))))
        self._draws += 1
        hidden = self.model_.sample_hidden(visible, rng=self._draws)
        result: NDArray[Any] = self.model_.sample_visible(hidden, rng=self._draws)
        return result * self._range if self._kind == "gaussian" else result

    @available_if(lambda self: not self._real)  # type: ignore[untyped-decorator]
    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Pseudo-log-likelihood of each row: sum over visible units of log p(unit | all others).

        All units are flipped, where scikit-learn takes one at random: no noise, for as many free
        energies as there are features.  Gaussian visible units and truncated ones have none.
        """
        return np.concatenate([self._scores(rows) for rows in self._visible(self._checked(X))])

    @available_if(lambda self: not self._real)  # type: ignore[untyped-decorator]
    def score(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean of :meth:`score_samples`, by the rows' weights; y is ignored."""
        scores = self.score_samples(X)
        weights = as_weights(weights_of(sample_weight, scores), len(scores))
        return float(mean_of(scores, weights))

    def _scores(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        visible = np.asarray(rows, np.float64)
        if self._as_given:
            sites = np.arange(visible.shape[1])
            each = [
                site_log_probability(self.model_, visible, np.full(len(rows), i)) for i in sites
            ]
            return np.asarray(np.sum(each, axis=0))
        energy = self.model_.free_energy(visible)
        total = np.zeros(len(visible))
        for i in range(visible.shape[1]):
            flipped = visible.copy()
            flipped[:, i] = 1 - flipped[:, i]
            total -= np.logaddexp(0.0, energy - self.model_.free_energy(flipped))
        return total

    @property
    def _real(self) -> bool:
        """Whether visible units, or some of them, take real numbers."""
        some = self.visible if isinstance(self.visible, list | tuple) else [self.visible]
        return any(
            WORDS[each].real if each in WORDS else getattr(each, "real", False) for each in some
        )

    @property
    def _kind(self) -> str:
        """The kind of all visible units, or none of theirs."""
        kind = getattr(self.visible, "kind", self.visible)
        return kind if isinstance(kind, str) else ""

    @property
    def _as_given(self) -> bool:
        """Whether X holds states of visible units as it is."""
        return self._kind not in ("bernoulli", "gaussian")

    def _ranges(self, array: Any, weights: Weights | None) -> tuple[Any, Any]:
        """Return what is taken from each column, and by what it is divided then."""
        if self._as_given:
            return np.zeros(array.shape[1]), np.ones(array.shape[1])
        if self._real:
            deviation = _deviations(array, weights)
            return np.zeros_like(deviation), np.where(deviation > 0, deviation, 1.0)
        low, high = (_row(getattr(array, name)(axis=0)) for name in ("min", "max"))
        if low.min() >= 0 and high.max() <= 1:
            low, high = np.zeros_like(low), np.ones_like(high)
        elif hasattr(array, "tocsr") and low.any():
            raise ValueError(
                "X must lie in [0, 1], or have 0 as the least value of each column, to be used "
                f"sparse with Bernoulli visible units; it begins at {low[low != 0][0]:g}"
            )
        return low, np.where(high > low, high - low, 1.0)

    def _in_range(self, array: Any) -> Any:
        """Return rows as the visible units have them: for Bernoulli ones, in [0, 1]."""
        if self._as_given:
            return array
        if hasattr(array, "tocsr"):
            scaled = array.copy()
            scaled.data = array.data / self._range[array.indices]
            if not self._real:
                np.clip(scaled.data, 0.0, 1.0, out=scaled.data)
            return scaled
        if self._real:
            return array / self._range
        return np.clip((array - self._low) / self._range, 0.0, 1.0)

    def _visible(self, array: Any) -> Iterator[NDArray[Any]]:
        """Yield states of the visible units, of some rows at a time.

        Of an array too: products of other shapes are rounded otherwise, by some kinds of BLAS.
        """
        size = max(1, BLOCK // array.shape[1])
        for start in range(0, array.shape[0], size):
            rows = self._in_range(array[start : start + size])
            yield rows.toarray() if hasattr(rows, "toarray") else rows


def _deviations(array: Any, weights: Weights | None) -> NDArray[np.float64]:
    """Return the standard deviation of each column, exactly 0 of those that are constant."""
    if hasattr(array, "tocsr"):
        own = None if weights is None else weights.astype(array.dtype)
        return np.asarray(np.sqrt(mean_variance_axis(array, axis=0, weights=own)[1]), np.float64)
    deviation = array.std(axis=0, dtype=np.float64)
    if weights is not None:
        deviation = Scaling.of_rows(array, weights).deviation
    return np.where(np.ptp(array, axis=0) > 0, deviation, 0.0)


def _row(values: Any) -> NDArray[Any]:
    return np.ravel(values.toarray() if hasattr(values, "toarray") else values)
