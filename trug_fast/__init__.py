"""Stochastic neural networks with truncated Gaussian hidden units."""

from importlib.metadata import version

__version__ = version("trug-fast")
