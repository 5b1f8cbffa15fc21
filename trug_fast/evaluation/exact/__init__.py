"""Likelihoods and gradients by enumeration, for small models."""

from .rbm import gradient, log_likelihood, log_partition

__all__ = ["gradient", "log_likelihood", "log_partition"]
