"""Coefficients of polynomials, and rules of quadrature, from the file of tools/fit_coefficients.py.

Tested in tests/kernels/special/test_elementary.py, test_tails.py and test_valleys.py.
"""

from pathlib import Path

TABLES: dict[str, tuple[tuple[float, ...], ...]] = {}  # by name: for float64 and for float32

for _line in Path(__file__).with_suffix(".txt").read_text("ascii").splitlines():
    if not _line.startswith("#"):
        _name, _, *_numbers = _line.split()
        TABLES[_name] = (*TABLES.get(_name, ()), tuple(map(float, _numbers)))
