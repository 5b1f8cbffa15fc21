"""Settings of all tests."""

from hypothesis import settings

# The same examples in every run: a failure can be repeated, a pass is no luck.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")
