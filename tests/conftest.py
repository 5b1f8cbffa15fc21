"""Settings of all tests."""

import signal

from hypothesis import settings

# The same examples in every run: a failure can be repeated, a pass is no luck.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")

# A shell starts what runs in the background with Ctrl-C ignored; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
