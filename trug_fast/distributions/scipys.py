"""What makes SciPy take ``truncnorm`` and its frozen distributions for its own.

SciPy's functions ask for instances of ``rv_continuous`` and call methods that it does not document.
Both are answered by a subclass of SciPy's own distribution, whose numbers are ours.  It is made
once ``scipy.stats`` is imported, by others: who asks has done so, and its import takes a second.

Tested in tests/distributions/test_scipys.py.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from . import functions
from .moments import moment, stats


def imported() -> bool:
    """Tell whether scipy.stats has been imported, so that its classes cost nothing."""
    return hasattr(sys.modules.get("scipy.stats"), "truncnorm")


@cache
def adapter() -> Any:
    """Return SciPy's distribution with our numbers."""
    from scipy.stats import truncnorm as theirs

    class Adapter(type(theirs)):  # type: ignore[misc]
        """SciPy's class, of which all that computes is replaced."""

        _pdf = staticmethod(functions.pdf)
        _logpdf = staticmethod(functions.logpdf)
        _cdf = staticmethod(functions.cdf)
        _sf = staticmethod(functions.sf)
        _logcdf = staticmethod(functions.logcdf)
        _logsf = staticmethod(functions.logsf)
        _ppf = staticmethod(functions.ppf)
        _isf = staticmethod(functions.isf)
        _entropy = staticmethod(functions.entropy)

        def _munp(self, n: Any, a: Any, b: Any) -> Any:
            return moment(int(n), a, b)

        def _stats(self, a: Any, b: Any) -> Any:
            return stats(a, b, moments="mvsk")

    return Adapter(name="truncnorm", shapes="a, b")


@cache
def distribution_class(ours: type) -> Any:
    """Return a class that is ours and SciPy's: what ``truncnorm`` says that it is."""
    return type(ours.__name__, (ours, type(adapter())), {})


@cache
def frozen_class(ours: type) -> Any:
    """Return the same for distributions with fixed parameters."""
    from scipy.stats import truncnorm as theirs

    return type(ours.__name__, (ours, type(theirs(0, 1))), {})
