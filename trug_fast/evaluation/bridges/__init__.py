"""Chains along distributions: partition functions and what needs them (mathematics 3).

A `Bridge` is the way of some chains from one distribution to another (bridge.py, paths.py).
Annealing in either direction (estimate.py, annealer.py), from rows of data (reverse.py) and of
conditional distributions (conditionals.py) are crossings of it; a ladder (ladder.py, climbing.py)
exchanges states between neighbours instead.  Weights are read in weights.py and
judged in judgement.py.
"""

from .estimate import PAPER, log_partition
from .judgement import LogPartition, PartitionWarning

__all__ = ["PAPER", "LogPartition", "PartitionWarning", "log_partition"]
