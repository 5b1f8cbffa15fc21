"""Compute the table of the cell sampler (Chopin 2011) from its definition and print it.

Run ``python -m tools.make_chopin_table > trug_fast/kernels/random/chopin_edges.txt``; the output is
deterministic.

Cells of equal area A cover exp(-z**2/2) for z >= 0: cell k spans [x_k, x_(k+1)] up to the curve's
height at x_k, so x_(k+1) = x_k + A exp(x_k**2/2).  Beyond the last edge X lies one more cell, again
of area A: the exponential exp(-X**2/2 - X (z - X)), above the curve.  A is what makes both agree.
"""

import mpmath as mp

mp.mp.dps = 40
CELLS = 256


def edges(area):
    """Edges of the cells, until all are placed or the next would leave the curve far behind."""
    x = [mp.mpf(0)]
    while len(x) <= CELLS and x[-1] < 20:
        x.append(x[-1] + area * mp.exp(x[-1] ** 2 / 2))
    return x


def surplus(area):
    """Area of the exponential beyond the last edge, minus ``area``; falls as ``area`` grows."""
    x = edges(area)
    return (mp.exp(-(x[-1] ** 2) / 2) / x[-1] if len(x) > CELLS else mp.mpf(0)) - area


def table():
    """Find the area by bisection and return the edges."""
    low, high = mp.mpf(1) / 1000, mp.mpf(1) / 100
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return [float(mp.nstr(x, 20)) for x in edges(low)]


if __name__ == "__main__":
    print(*table(), sep="\n")
