"""Stochastic neural networks with truncated Gaussian hidden units."""

from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from . import datasets, exact, kernels
from .diagnosis import TrainingWarning
from .forecasts import forecast_errors
from .likelihood import log_likelihood, pseudo_log_likelihood
from .partition import LogPartition, PartitionWarning, log_partition
from .rbm import BernoulliRBM, TruGRBM
from .temporal import BernoulliTRBM, TruGTRBM
from .temporal_forecast import prediction_error
from .temporal_training import TemporalFit, train_trbm
from .tggm import TruGTGGM
from .tggm_training import TGGMFit, train_tggm
from .training import Fit, train_rbm
from .truncation import Truncation
from .truncnorm import truncnorm

__version__ = version("trug-fast")

__all__ = [
    "BernoulliRBM",
    "BernoulliTRBM",
    "Fit",
    "LogPartition",
    "PartitionWarning",
    "TGGMFit",
    "TemporalFit",
    "TrainingWarning",
    "TruGRBM",
    "TruGTGGM",
    "TruGTRBM",
    "Truncation",
    "datasets",
    "estimators",
    "exact",
    "forecast_errors",
    "kernels",
    "log_likelihood",
    "log_partition",
    "plots",
    "prediction_error",
    "pseudo_log_likelihood",
    "train_rbm",
    "train_tggm",
    "train_trbm",
    "truncnorm",
]


def __getattr__(name: str) -> ModuleType:
    """Import the parts with dependencies of their own when they are first used."""
    if name in ("estimators", "plots"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
