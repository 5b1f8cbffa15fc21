"""Distributions over arrays; of truncated normals, with the arguments of ``scipy.stats.truncnorm``.

What the package calls ``truncnorm`` is the object that is made in family.py.
"""

from trug_fast._common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
