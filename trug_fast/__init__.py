"""Stochastic neural networks with truncated Gaussian hidden units.

Each name is imported when it is first used, so that truncated normals do not wait for models, nor a
command's help for Numba.
"""

from importlib import import_module
from importlib.metadata import version
from sys import modules
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, estimators, kernels, plots
    from ._common.checkpoints import Checkpoint
    from ._common.config import show_config
    from ._common.threads import computing
    from .distributions import truncnorm
    from .distributions.multivariate.chains import TruncMVNChains
    from .distributions.multivariate.family import truncmvn
    from .distributions.multivariate.gibbs import truncmvn_gibbs
    from .distributions.multivariate.hmc import truncmvn_hmc
    from .evaluation import exact
    from .evaluation.conditionals import LogProbability, frame_log_likelihood, log_conditional
    from .evaluation.correlations import (
        CorrelationAgreement,
        compare_correlations,
        pair_correlations,
        site_frequencies,
    )
    from .evaluation.distances import nearest_distances
    from .evaluation.forecasts import forecast_errors, forecast_horizon_errors
    from .evaluation.horizons import HorizonErrors, horizon_errors
    from .evaluation.ladder import Ladder
    from .evaluation.likelihood import log_likelihood, pseudo_log_likelihood
    from .evaluation.partition import LogPartition, PartitionWarning, log_partition
    from .evaluation.prediction import prediction_error
    from .evaluation.regimes import UnitRegimes, unit_regimes
    from .evaluation.regression import RegressionScores, regression_scores
    from .evaluation.reverse import log_likelihood_bound
    from .models.continuations import Forecast, ForecastWarning
    from .models.ensemble import TGGMEnsemble
    from .models.rbm import BernoulliRBM, TruGRBM
    from .models.rbms_files import load_rbms, rbms_updates, save_rbms
    from .models.scaling import Scaling
    from .models.tggm import TruGTGGM
    from .models.trbm import BernoulliTRBM, TruGTRBM
    from .models.truncation import Truncation
    from .models.visible_kinds import CategoricalUnits, SpinUnits
    from .training.chunks import Chunks
    from .training.diagnosis import TrainingWarning
    from .training.epochs import EpochEnd, EpochLog
    from .training.options import SGD, Adam, Monitor, RandomWeights, RMSprop
    from .training.rbm.train import RBMFit, train_rbm
    from .training.samplers import CD, PCD, ParallelTempering, TrajectoryTempering
    from .training.tggm.ensemble import EnsembleFit, train_ensemble
    from .training.tggm.options import HoldOut, MeanField, Noise, RateSearch
    from .training.tggm.train import TGGMFit, train_tggm
    from .training.trbm.cross_validation import CrossValidation, cross_validate
    from .training.trbm.options import LinearStart, SequenceCD
    from .training.trbm.train import TRBMFit, train_trbm
    from .training.units import BernoulliUnits, GaussianUnits, TruGUnits, TruncatedUnits
    from .warming import warm

__all__ = [
    "Adam",
    "BernoulliRBM",
    "BernoulliTRBM",
    "BernoulliUnits",
    "CD",
    "CategoricalUnits",
    "Checkpoint",
    "Chunks",
    "CorrelationAgreement",
    "CrossValidation",
    "EnsembleFit",
    "EpochEnd",
    "EpochLog",
    "Forecast",
    "ForecastWarning",
    "GaussianUnits",
    "HoldOut",
    "HorizonErrors",
    "Ladder",
    "LinearStart",
    "LogPartition",
    "LogProbability",
    "MeanField",
    "Monitor",
    "Noise",
    "PCD",
    "ParallelTempering",
    "PartitionWarning",
    "RMSprop",
    "RBMFit",
    "RandomWeights",
    "RateSearch",
    "RegressionScores",
    "SGD",
    "Scaling",
    "SequenceCD",
    "SpinUnits",
    "TGGMEnsemble",
    "TGGMFit",
    "TRBMFit",
    "TrainingWarning",
    "TrajectoryTempering",
    "TruGRBM",
    "TruGTGGM",
    "TruGTRBM",
    "TruGUnits",
    "TruncMVNChains",
    "TruncatedUnits",
    "UnitRegimes",
    "Truncation",
    "compare_correlations",
    "computing",
    "cross_validate",
    "datasets",
    "estimators",
    "exact",
    "forecast_errors",
    "forecast_horizon_errors",
    "frame_log_likelihood",
    "horizon_errors",
    "kernels",
    "load_rbms",
    "log_conditional",
    "log_likelihood",
    "log_likelihood_bound",
    "log_partition",
    "nearest_distances",
    "pair_correlations",
    "plots",
    "prediction_error",
    "pseudo_log_likelihood",
    "rbms_updates",
    "save_rbms",
    "show_config",
    "site_frequencies",
    "regression_scores",
    "train_ensemble",
    "train_rbm",
    "train_tggm",
    "train_trbm",
    "truncmvn",
    "truncmvn_gibbs",
    "truncmvn_hmc",
    "truncnorm",
    "unit_regimes",
    "warm",
]

_HOMES = {
    "Adam": "training.options",
    "BernoulliRBM": "models.rbm",
    "BernoulliTRBM": "models.trbm",
    "BernoulliUnits": "training.units",
    "CD": "training.samplers",
    "CategoricalUnits": "models.visible_kinds",
    "Checkpoint": "_common.checkpoints",
    "Chunks": "training.chunks",
    "CorrelationAgreement": "evaluation.correlations",
    "CrossValidation": "training.trbm.cross_validation",
    "EnsembleFit": "training.tggm.ensemble",
    "EpochEnd": "training.epochs",
    "EpochLog": "training.epochs",
    "Forecast": "models.continuations",
    "ForecastWarning": "models.continuations",
    "GaussianUnits": "training.units",
    "HoldOut": "training.tggm.options",
    "HorizonErrors": "evaluation.horizons",
    "Ladder": "evaluation.ladder",
    "LinearStart": "training.trbm.options",
    "LogPartition": "evaluation.partition",
    "LogProbability": "evaluation.conditionals",
    "MeanField": "training.tggm.options",
    "Monitor": "training.options",
    "Noise": "training.tggm.options",
    "PCD": "training.samplers",
    "ParallelTempering": "training.samplers",
    "PartitionWarning": "evaluation.partition",
    "RBMFit": "training.rbm.train",
    "RMSprop": "training.options",
    "RandomWeights": "training.options",
    "RateSearch": "training.tggm.options",
    "RegressionScores": "evaluation.regression",
    "SGD": "training.options",
    "Scaling": "models.scaling",
    "SequenceCD": "training.trbm.options",
    "SpinUnits": "models.visible_kinds",
    "TGGMEnsemble": "models.ensemble",
    "TGGMFit": "training.tggm.train",
    "TRBMFit": "training.trbm.train",
    "TrainingWarning": "training.diagnosis",
    "TrajectoryTempering": "training.samplers",
    "TruGRBM": "models.rbm",
    "TruGTGGM": "models.tggm",
    "TruGTRBM": "models.trbm",
    "TruGUnits": "training.units",
    "TruncMVNChains": "distributions.multivariate.chains",
    "TruncatedUnits": "training.units",
    "UnitRegimes": "evaluation.regimes",
    "Truncation": "models.truncation",
    "compare_correlations": "evaluation.correlations",
    "computing": "_common.threads",
    "cross_validate": "training.trbm.cross_validation",
    "datasets": "datasets",
    "estimators": "estimators",
    "exact": "evaluation.exact",
    "forecast_errors": "evaluation.forecasts",
    "forecast_horizon_errors": "evaluation.forecasts",
    "frame_log_likelihood": "evaluation.conditionals",
    "horizon_errors": "evaluation.horizons",
    "kernels": "kernels",
    "load_rbms": "models.rbms_files",
    "log_conditional": "evaluation.conditionals",
    "log_likelihood": "evaluation.likelihood",
    "log_likelihood_bound": "evaluation.reverse",
    "log_partition": "evaluation.partition",
    "nearest_distances": "evaluation.distances",
    "pair_correlations": "evaluation.correlations",
    "plots": "plots",
    "prediction_error": "evaluation.prediction",
    "pseudo_log_likelihood": "evaluation.likelihood",
    "rbms_updates": "models.rbms_files",
    "save_rbms": "models.rbms_files",
    "show_config": "_common.config",
    "site_frequencies": "evaluation.correlations",
    "regression_scores": "evaluation.regression",
    "train_ensemble": "training.tggm.ensemble",
    "train_rbm": "training.rbm.train",
    "train_tggm": "training.tggm.train",
    "train_trbm": "training.trbm.train",
    "truncmvn": "distributions.multivariate.family",
    "truncmvn_gibbs": "distributions.multivariate.gibbs",
    "truncmvn_hmc": "distributions.multivariate.hmc",
    "truncnorm": "distributions",
    "unit_regimes": "evaluation.regimes",
    "warm": "warming",
}


_IMPORTING = RLock()
IMPORTING_SECONDS = 10.0


def __getattr__(name: str) -> Any:
    """Import what has not been used before."""
    if name == "__version__":
        value: Any = version("trug-fast")
    elif name in _HOMES:
        value = _imported(name, _HOMES[name])
    else:
        # Name and object are what Python's "Did you mean" goes by.
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=modules[__name__])
    globals()[name] = value
    return value


def _imported(name: str, home: str) -> Any:
    """Import a name from the module it lives in, one thread at a time.

    Threads that import parts of one package at once see some of them half made, or wait for each
    other until Python ends that by an error.  The wait here is bounded, since a thread that imports
    a part by its full name may hold what this one needs.
    """
    held = _IMPORTING.acquire(timeout=IMPORTING_SECONDS)
    try:
        module = import_module(f".{home}", __name__)
        return module if home.rpartition(".")[2] == name else getattr(module, name)
    finally:
        if held:
            _IMPORTING.release()


def __dir__() -> list[str]:
    """Return what a notebook completes: no imports of this file."""
    return sorted({*__all__, "__version__", *(name for name in globals() if name.startswith("__"))})
