"""Magnets: rows with two phases, whose true log-probability is known.

Spins on a square lattice that closes on itself, drawn by Metropolis' rule.  Below the temperature
2.27 nearly all of a row points one way: half of the rows have one sign, half the other, and a
model that has lost one of them, or the shares, is wrong by the log of what it gave too little.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

BURN, BETWEEN = 1000, 5  # sweeps before the first row and between two


@njit(cache=False)
def _sweep(spins: NDArray[np.int8], temperature: float, draws: NDArray[np.float64]) -> None:
    """Visit each spin once, in order."""
    side = spins.shape[0]
    for i in range(side):
        for j in range(side):
            around = spins[i - 1, j] + spins[(i + 1) % side, j]
            around += spins[i, j - 1] + spins[i, (j + 1) % side]
            if draws[i, j] < np.exp(-2.0 * spins[i, j] * around / temperature):
                spins[i, j] = -spins[i, j]


def magnet(side: int, temperature: float, rows: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return rows of side x side spins, -1 and 1, five sweeps apart, half of them turned over."""
    spins = np.ones((side, side), np.int8)
    found = np.empty((rows, side * side), np.int8)
    for _ in range(BURN):
        _sweep(spins, temperature, rng.random((side, side)))
    for row in found:
        for _ in range(BETWEEN):
            _sweep(spins, temperature, rng.random((side, side)))
        row[:] = spins.reshape(-1)
    found[rng.permutation(rows)[: rows // 2]] *= -1
    return found


def log_partition(side: int, temperature: float) -> float:
    """Return log Z of the lattice (Kaufman, Phys. Rev. 76 (1949), 1232)."""
    coupling = 1.0 / temperature
    ways = np.arange(2 * side)
    cosh = np.cosh(2 * coupling) / np.tanh(2 * coupling) - np.cos(np.pi * ways / side)
    gamma = np.arccosh(np.maximum(cosh, 1.0))
    gamma[0] = 2 * coupling + np.log(np.tanh(coupling))  # below 0 above the critical temperature
    half = side * gamma / 2
    size, sign = np.abs(half), np.sign(half)
    log_cosh = size + np.log1p(np.exp(-2 * size))
    log_sinh = size + np.log1p(-np.exp(-2 * size))
    odd, even = slice(1, None, 2), slice(0, None, 2)
    logs = [log_cosh[odd].sum(), log_sinh[odd].sum(), log_cosh[even].sum(), log_sinh[even].sum()]
    signs = [1.0, sign[odd].prod(), 1.0, sign[even].prod()]
    top = max(logs)
    total = sum(s * np.exp(each - top) for s, each in zip(signs, logs, strict=True))
    return float(side**2 / 2 * np.log(2 * np.sinh(2 * coupling)) + np.log(total / 2) + top)


def log_probability(rows: NDArray[np.int8], temperature: float) -> NDArray[np.float64]:
    """Return the true log-probability of each row of such a magnet."""
    side = round(rows.shape[1] ** 0.5)
    spins = rows.reshape(-1, side, side).astype(np.float64)
    bonds = (spins * (np.roll(spins, 1, 1) + np.roll(spins, 1, 2))).sum(axis=(1, 2))
    return np.asarray(bonds / temperature - log_partition(side, temperature))
