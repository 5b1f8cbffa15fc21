"""What it is: the models as values, what they share, and how they are sampled."""

from trug_fast._common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
