"""The object ``truncnorm``: all functions of truncated normals under one name, as in SciPy.

Tested in tests/distributions/test_frozen.py.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from trug_fast._common.randomness import RngLike

from . import draws, functions, scipys
from .draws import Source, Sourced
from .expectations import expect
from .fit import fit
from .frozen import Frozen
from .moments import moment, stats


class Family(Sourced):
    """Truncated normal distributions over arrays, with the arguments of ``scipy.stats.truncnorm``.

    ``from trug_fast import truncnorm`` in place of ``from scipy.stats import truncnorm`` is meant
    to be all it takes.  ``a`` and ``b`` are the ends in standard deviations from ``loc``: a normal
    of mean mu and standard deviation sigma, cut to [lower, upper], has
    ``a = (lower - mu) / sigma``, ``b = (upper - mu) / sigma``, ``loc=mu``, ``scale=sigma``.
    ``truncnorm(a, b, loc, scale)`` is a distribution with these parameters; the functions take them
    as arguments.

    All arguments broadcast.  Numbers give a NumPy number; float32 arrays alone, or with Python
    numbers, give float32, everything else float64.  Where a < b or scale > 0 fails the value is NaN
    (``rvs`` raises instead), and so it is for an interval that begins more than 1e100 (float32:
    1e12) standard deviations out.

    Unlike SciPy's, these stay accurate for any interval: 1e8 standard deviations out, 1e-12 wide,
    or both.  Large arrays are spread over ``numba.get_num_threads()`` threads; results do not
    depend on how many.

    SciPy takes it for one of its own: ``isinstance(truncnorm, scipy.stats.rv_continuous)`` holds,
    and so does it for ``rv_frozen``; ``scipy.stats.fit`` and ``goodness_of_fit`` work.
    """

    name = "truncnorm"
    shapes = "a, b"
    numargs = 2

    cdf = staticmethod(functions.cdf)
    entropy = staticmethod(functions.entropy)
    expect = staticmethod(expect)
    fit = staticmethod(fit)
    interval = staticmethod(functions.interval)
    isf = staticmethod(functions.isf)
    log_mass = staticmethod(functions.log_mass)
    logcdf = staticmethod(functions.logcdf)
    logpdf = staticmethod(functions.logpdf)
    logsf = staticmethod(functions.logsf)
    mean = staticmethod(functions.mean)
    median = staticmethod(functions.median)
    moment = staticmethod(moment)
    nnlf = staticmethod(functions.nnlf)
    pdf = staticmethod(functions.pdf)
    ppf = staticmethod(functions.ppf)
    sf = staticmethod(functions.sf)
    stats = staticmethod(stats)
    std = staticmethod(functions.std)
    support = staticmethod(functions.support)
    var = staticmethod(functions.var)

    def __call__(
        self, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
    ) -> Frozen:
        """Return the distribution with these parameters; they are those of :func:`rvs`.

        Examples
        --------
        >>> from trug_fast import truncnorm
        >>> truncnorm.freeze(8.0, 9.0, loc=1)
        Frozen(a=8.0, b=9.0, loc=1, scale=1)
        """
        return Frozen(a, b, loc, scale)

    freeze = __call__

    def rvs(
        self,
        a: ArrayLike,
        b: ArrayLike,
        loc: ArrayLike = 0,
        scale: ArrayLike = 1,
        size: int | tuple[int, ...] | None = None,
        random_state: Source = None,
        *,
        rng: RngLike = None,
        out: NDArray[Any] | None = None,
    ) -> Any:
        """Draw random numbers."""
        source = self.random_state if rng is None and random_state is None else random_state
        return draws.rvs(a, b, loc, scale, size, source, rng=rng, out=out)

    rvs.__doc__ = draws.rvs.__doc__

    def __repr__(self) -> str:
        return "trug_fast.truncnorm"

    def __dir__(self) -> list[str]:
        return dir(type(self))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What ``isinstance`` asks besides the type: SciPy's as well, once that is imported."""
        return scipys.distribution_class(Family) if scipys.imported() else Family

    def __getattr__(self, name: str) -> Any:
        """Return what SciPy's functions need of SciPy's class beyond what is written above."""
        if name.startswith("__") or not scipys.imported():
            raise AttributeError(f"truncnorm has no attribute {name!r}")
        return getattr(scipys.adapter(), name)


truncnorm = Family()
Frozen.dist = truncnorm
