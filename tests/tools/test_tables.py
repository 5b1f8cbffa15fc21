"""Tables of numbers that kernels read are what their makers compute."""

from pathlib import Path

from tools import fit_coefficients, make_chopin_table
from trug_fast import kernels

KERNELS = Path(kernels.__file__).parent


def test_polynomials():
    text = (KERNELS / "special" / "coefficients.txt").read_text("ascii")
    assert text.splitlines() == list(fit_coefficients.lines())


def test_cells():
    text = (KERNELS / "random" / "chopin_edges.txt").read_text("ascii")
    assert list(map(float, text.split())) == make_chopin_table.table()
