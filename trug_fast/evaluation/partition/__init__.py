"""Partition functions by annealed importance sampling (mathematics 3)."""

from .estimate import PAPER, log_partition
from .result import LogPartition, PartitionWarning

__all__ = ["PAPER", "LogPartition", "PartitionWarning", "log_partition"]
