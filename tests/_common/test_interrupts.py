"""Signals that wait for the end of an update."""

import signal

import pytest

from tests.support.fits import with_interrupts
from trug_fast._common.interrupts import Interrupts

interruptible = pytest.fixture(autouse=True)(with_interrupts)


def test_signals_wait_for_the_end_and_handlers_come_back():
    seen = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with Interrupts(terminate=True) as interrupts:
            with interrupts.held():
                signal.raise_signal(signal.SIGTERM)
                assert seen == []
            assert seen == [signal.SIGTERM]
            signal.raise_signal(signal.SIGTERM)
            assert len(seen) == 2
            with pytest.raises(KeyboardInterrupt), interrupts.held():
                signal.raise_signal(signal.SIGINT)
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)  # the second does not wait
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, former)
