"""What the functions of a distribution take and give, in words: once, for all docstrings.

Tested in tests/distributions/test_frozen.py.
"""

from __future__ import annotations

from functools import partial

from trug_fast.kernels.describing import described

FAMILY = {
    "a, b : array_like": """
        Ends of the interval, in standard deviations from loc: (lower - loc)/scale and
        (upper - loc)/scale; infinite ends are allowed.""",
    "loc, scale : array_like, optional": """
        Mean and standard deviation of the normal before truncation.""",
}
POINTS = {"x : array_like": "Points."} | FAMILY
PROBABILITIES = {"q : array_like": "Probabilities; NaN is returned outside [0, 1]."} | FAMILY

documented = partial(
    described,
    kind="numpy.ndarray or NumPy float",
    imports=">>> from trug_fast import truncnorm",
)
