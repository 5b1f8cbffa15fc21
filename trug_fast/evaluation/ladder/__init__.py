"""Partition functions along a ladder of models, from one whose log Z is exact (mathematics 3.8)."""

from .ladder import Ladder

__all__ = ["Ladder"]
