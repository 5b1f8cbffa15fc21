"""Settings of all tests."""

import os
import signal

from hypothesis import settings

# The same examples in every run: a failure can be repeated, a pass is no luck.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")

# Where kernels are not on disk yet, notices of compiling would stand among what tests expect.
os.environ.setdefault("TRUG_FAST_QUIET", "1")

# A shell starts what runs in the background with Ctrl-C ignored; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
