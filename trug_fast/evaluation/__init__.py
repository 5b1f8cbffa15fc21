"""How good it is: likelihoods, exact and estimated, and the simple forecasts to compare with."""

from trug_fast._common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
