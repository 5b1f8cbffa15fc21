"""Stochastic neural networks with truncated Gaussian hidden units."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from . import datasets, kernels
from ._common.checkpoints import Checkpoint
from ._common.threads import computing
from .distributions import truncnorm
from .evaluation import exact
from .evaluation.forecasts import forecast_errors
from .evaluation.likelihood import log_likelihood, pseudo_log_likelihood
from .evaluation.partition import LogPartition, PartitionWarning, log_partition
from .evaluation.prediction import prediction_error
from .models.rbm import BernoulliRBM, TruGRBM
from .models.tggm import TruGTGGM
from .models.trbm import BernoulliTRBM, TruGTRBM
from .models.truncation import Truncation
from .training.diagnosis import TrainingWarning
from .training.options import CD, PCD, SGD, Adam, Monitor, ParallelTempering, RandomWeights, RMSprop
from .training.rbm.train import RBMFit, train_rbm
from .training.tggm.options import HoldOut, MeanField, Noise
from .training.tggm.train import TGGMFit, train_tggm
from .training.trbm.options import LinearStart, SequenceCD
from .training.trbm.train import TRBMFit, train_trbm
from .training.units import BernoulliUnits, GaussianUnits, TruGUnits

__version__ = version("trug-fast")

__all__ = [
    "Adam",
    "BernoulliRBM",
    "BernoulliTRBM",
    "BernoulliUnits",
    "CD",
    "Checkpoint",
    "GaussianUnits",
    "HoldOut",
    "LinearStart",
    "LogPartition",
    "MeanField",
    "Monitor",
    "Noise",
    "PCD",
    "ParallelTempering",
    "PartitionWarning",
    "RMSprop",
    "RBMFit",
    "RandomWeights",
    "SGD",
    "SequenceCD",
    "TGGMFit",
    "TRBMFit",
    "TrainingWarning",
    "TruGRBM",
    "TruGTGGM",
    "TruGTRBM",
    "TruGUnits",
    "Truncation",
    "computing",
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
    "warm",
]


def __getattr__(name: str) -> Any:
    """Import what few need, or what has dependencies of its own, when it is first used."""
    if name == "warm":
        return import_module(".warming", __name__).warm
    if name in ("estimators", "plots"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
