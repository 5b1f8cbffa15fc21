"""How it is trained: one driver, and a room for what each model needs of its own."""

from trug_fast._common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
