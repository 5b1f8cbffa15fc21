"""How probably sequences of 27 amino acids fold into a structure on the lattice of 3 x 3 x 3.

A structure is a walk that visits each place of the cube once; structures are the same that a
rotation or a reflection of the cube makes the same.  There are 103,346 (Shakhnovich and Gutin, J.
Chem. Phys. 93 (1990), 5967).  Tested in tests/reproduction/test_lattice.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contact_energies import contact_energies

SIDE = 3
LENGTH = SIDE**3
MOVES = {"x": (1, 0, 0), "X": (-1, 0, 0), "y": (0, 1, 0), "Y": (0, -1, 0), "z": (0, 0, 1)}
MOVES |= {"Z": (0, 0, -1)}
BLOCK = 200  # sequences whose energies are computed together

PLACES = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), -1).reshape(-1, 3)
TOUCHES = np.abs(PLACES[:, None] - PLACES).sum(axis=2) == 1
# Two may touch that are an odd number of steps apart; one step apart they always do.
PAIRS = np.array([(i, j) for i in range(LENGTH) for j in range(i + 3, LENGTH, 2)])

# From a corner all axes are alike and lead one way: they are taken in turn, x first.  From the
# middle of a side, y and z and their signs are alike.  Other starts have too few places of their
# own colour to end.  The values: moves that must have been made before.
STARTS = {
    (0, 0, 0): {"y": "x", "z": "y"},
    (0, 1, 1): {"Y": "y", "z": "y", "Z": "z"},
}

Maps = NDArray[np.bool_]


def walks() -> NDArray[np.int8]:
    """Return one walk of each structure: the places in turn, shape (103,346, 27)."""
    return np.concatenate([_walks_from(*each) for each in STARTS.items()])


def _walks_from(start: tuple[int, int, int], before: dict[str, str]) -> NDArray[np.int8]:
    """Return the walks from a place that make certain moves only after others."""
    moves = {name: 1 << (LENGTH + number) for number, name in enumerate(MOVES)}
    first = int(_place(np.array(start)))
    paths, seen = np.array([[first]], np.int8), np.array([1 << first])  # bits: places, then moves
    for _ in range(LENGTH - 1):
        longer = []
        for number, (name, bit) in enumerate(moves.items()):
            to = NEXT[number, paths[:, -1]]
            wanted = moves[before[name]] if name in before else 0
            good = np.flatnonzero((seen & ((1 << to) | wanted) == wanted) & (to < LENGTH))
            ends = to[good]
            path = np.empty((len(good), paths.shape[1] + 1), np.int8)
            path[:, :-1], path[:, -1] = paths[good], ends
            longer.append((path, seen[good] | (1 << ends) | bit))
        paths, seen = (np.concatenate(part) for part in zip(*longer, strict=True))
    return paths


def _place(at: NDArray[Any]) -> Any:
    """Return the numbers of places in the cube."""
    return at @ np.array([SIDE**2, SIDE, 1])


def _next() -> NDArray[np.int64]:
    """Return where each move leads from each place: 27 and more is outside of the cube."""
    ends = PLACES + np.array(list(MOVES.values()))[:, None]
    inside = ((ends >= 0) & (ends < SIDE)).all(axis=2)
    return np.where(inside, _place(ends), 2 * LENGTH)


NEXT = _next()


def contacts(paths: NDArray[Any]) -> Maps:
    """Return which of ``PAIRS`` touch, of each walk: 28 of 156."""
    return np.asarray(TOUCHES[paths[:, PAIRS[:, 0]], paths[:, PAIRS[:, 1]]])


@lru_cache(maxsize=1)
def structures() -> Maps:
    """Return the contacts of all structures, shape (103,346, 156)."""
    return contacts(walks())


def structure_of(walk: str) -> NDArray[np.bool_]:
    """Return the contacts of one walk, written as moves: "x" is a step ahead, "X" one back.

    Raises
    ------
    TypeError, ValueError
        If it does not visit each place of a cube once.
    """
    if not isinstance(walk, str):
        raise TypeError(f"sampling.native must be a text of moves, got {walk!r}")
    steps = [MOVES[move] for move in walk if move in MOVES]
    at = np.cumsum([(0, 0, 0), *steps], axis=0)
    at -= at.min(axis=0)
    if len(steps) != len(walk) or at.max() >= SIDE or len(np.unique(_place(at))) < LENGTH:
        raise ValueError(
            f"sampling.native must be {LENGTH - 1} of the moves {', '.join(MOVES)} that visit each "
            f"place of a cube of {LENGTH} once, got {walk!r}"
        )
    return np.asarray(contacts(_place(at)[None])[0])


def log_folding(
    X: NDArray[Any], native: NDArray[np.bool_], among: Maps | None = None
) -> NDArray[np.float64]:
    """Return the log-probability with which each sequence is found in a structure.

    log p = -E(native) - log(sum over structures of exp(-E)), where E is the sum of the energies
    of Miyazawa and Jernigan, in units of kT, over the pairs that touch.

    Parameters
    ----------
    X : ndarray of int, shape (rows, 27)
        States of the alphabet "protein"; a gap has no energy.
    native : ndarray of bool, shape (156,)
        Which pairs touch.
    among : ndarray of bool, shape (structures, 156), optional
        What it may fold into, itself included; all of them by default.
    """
    maps = (structures() if among is None else among).astype(np.float32).T
    energies, own = contact_energies(), native.astype(np.float32)
    found = np.empty(len(X))
    for first in range(0, len(X), BLOCK):
        rows = X[first : first + BLOCK]
        pairs = energies[rows[:, PAIRS[:, 0]], rows[:, PAIRS[:, 1]]]  # whole, so sums are exact
        total = pairs @ maps
        lowest = total.min(axis=1)
        norm = np.exp((lowest[:, None] - total) / 100).sum(axis=1, dtype=np.float64)
        found[first : first + BLOCK] = (lowest - pairs @ own) / 100 - np.log(norm)
    return found
