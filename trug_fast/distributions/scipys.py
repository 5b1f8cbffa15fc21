"""An adapter: SciPy's own distribution, whose numbers are ours.

SciPy's functions that ask for ``scipy.stats.rv_continuous``, or call methods that it does not
document, take ``scipy_truncnorm``.  This module imports ``scipy.stats``, which takes a second.
Tested in tests/distributions/test_scipys.py.
"""

from __future__ import annotations

from typing import Any

from scipy import stats

from .family import truncnorm


class ScipyTruncnorm(type(stats.truncnorm)):  # type: ignore[misc]
    """The class of ``scipy_truncnorm``: SciPy's, of which all that computes is replaced.

    Examples
    --------
    >>> from scipy import stats
    >>> from trug_fast.distributions import scipy_truncnorm
    >>> isinstance(scipy_truncnorm, stats.rv_continuous)
    True
    >>> print(f"{scipy_truncnorm(8.0, 9.0).sf(8.5):.9f}")
    0.015059371
    """

    _pdf, _logpdf = staticmethod(truncnorm.pdf), staticmethod(truncnorm.logpdf)
    _cdf, _logcdf = staticmethod(truncnorm.cdf), staticmethod(truncnorm.logcdf)
    _sf, _logsf = staticmethod(truncnorm.sf), staticmethod(truncnorm.logsf)
    _ppf, _isf = staticmethod(truncnorm.ppf), staticmethod(truncnorm.isf)
    _entropy = staticmethod(truncnorm.entropy)
    fit = staticmethod(truncnorm.fit)

    def _munp(self, n: Any, a: Any, b: Any) -> Any:
        return truncnorm.moment(int(n), a, b)

    def _stats(self, a: Any, b: Any) -> Any:
        return truncnorm.stats(a, b, moments="mvsk")

    def _rvs(self, a: Any, b: Any, size: Any = None, random_state: Any = None) -> Any:
        return truncnorm.rvs(a, b, size=size, random_state=random_state)


scipy_truncnorm = ScipyTruncnorm(name="truncnorm", shapes="a, b")
