"""Stochastic neural networks with truncated Gaussian hidden units."""

from importlib.metadata import version

from . import datasets, exact, kernels
from .likelihood import log_likelihood, pseudo_log_likelihood
from .partition import LogPartition, log_partition
from .rbm import BernoulliRBM, TruGRBM
from .training import Fit, train_rbm
from .truncation import Truncation

__version__ = version("trug-fast")

__all__ = [
    "BernoulliRBM",
    "Fit",
    "LogPartition",
    "TruGRBM",
    "Truncation",
    "datasets",
    "exact",
    "kernels",
    "log_likelihood",
    "log_partition",
    "pseudo_log_likelihood",
    "train_rbm",
]
