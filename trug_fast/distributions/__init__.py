"""Distributions over arrays; of truncated normals, with the arguments of ``scipy.stats.truncnorm``.

What the package calls ``truncnorm`` is the object that is made in family.py.
"""

from .family import Family, truncnorm
from .frozen import Frozen

__all__ = ["Family", "Frozen", "truncnorm"]
