"""What the regression and the classifier of TruG-TGGMs share as scikit-learn estimators.

Tested in tests/test_estimators.py and tests/test_classifier.py.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from trug_fast._common import checks
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.tggm.ensemble import EnsembleFit, train_ensemble
from trug_fast.training.tggm.train import TGGMFit, train_tggm

from .given import FLOATS, ON_AVERAGE, named, seed_of, validate_data, weights_of

OWN = ("n_models", "n_jobs", "warm_start")  # parameters that no training has


class TGGMEstimator(BaseEstimator):  # type: ignore[misc]
    """One model or an ensemble, trained by parameters that are said where they are public."""

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

    def _several(self) -> bool:
        """Return whether there are several models; refuse threads for one."""
        if checks.count("n_models", self.n_models) > 1:
            return True
        if self.n_jobs is not None:
            raise ValueError(f"n_jobs={self.n_jobs} has no effect on one model")
        return False

    def _pair(self, X: ArrayLike, y: ArrayLike, **how: Any) -> tuple[Any, Any]:
        """Return rows and targets, checked as scikit-learn does."""
        checks.unmasked("X", X)
        checks.unmasked("y", y)
        found: tuple[Any, Any] = validate_data(
            self, X, y, dtype=FLOATS, ensure_min_samples=2, **how
        )
        return found

    def _rows(self, X: ArrayLike) -> Any:
        """Return rows to predict, checked likewise."""
        check_is_fitted(self)
        checks.unmasked("X", X)
        return validate_data(self, X, dtype=FLOATS, reset=False)

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
        return fit._replace(model=named(self, fit.model))
