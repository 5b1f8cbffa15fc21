"""Settings of all tests."""

import signal

import pytest
from hypothesis import settings

# The same examples in every run: a failure can be repeated, a pass is no luck.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")

# A shell starts what runs in the background with Ctrl-C ignored; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each of two processes a folder of kernels: one alone compiles those of RBMs.

    File by file both would compile the same kernels at the same time, for 40 to 90 s in all.
    """
    if config.getvalue("dist") != "loadfile" or config.getvalue("numprocesses") != 2:
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFolder(LoadFileScheduling):
        def _split_scope(self, nodeid):
            folders = ("tests/kernels/rbm/", "tests/kernels/")
            return next(filter(nodeid.startswith, folders), super()._split_scope(nodeid))

    return ByFolder(config, log)
