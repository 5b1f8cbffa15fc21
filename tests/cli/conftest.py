"""Commands that draw figures, which other tests look at."""

from tests.support.figures import small_figures  # noqa: F401
