"""What the functions of one unit take, in words: once, for all docstrings.

Tested in tests/test_docs.py.
"""

from functools import partial

from trug_fast.kernels.describing import described

UNIT = {
    "a, d : float": """
        Linear and quadratic coefficient; the normal before truncation has mean a/d, variance 1/d.
        d > 0, or any number on a finite interval.""",
    "lower, upper : float": "Truncation points; lower == upper is a point mass.",
}
UNIT_AND_X = {"x : float": "Any number, also outside of the interval."} | UNIT
UNIT_AND_P = {"p : float": "In [0, 1], else the result is NaN."} | UNIT

documented = partial(described, imports=">>> from trug_fast.kernels import {name}")
