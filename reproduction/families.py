"""The families of aligned sequences that a cell is trained and tested on.

Tested in tests/reproduction/test_families.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast.datasets.downloads import Folder

OPTIONS = ("file", "letters", "test_share", "similarity", "split", "split_seed", "hold_out")
SPLITS = ("groups", "rows")
HOME = "github.com/jertubiana/PGM"

Letters = NDArray[np.uint8]
Weights = NDArray[np.float64]


class WeighedRows(NamedTuple):
    """Different sequences, and what each counts for."""

    X: Letters
    weights: Weights


class SplitFamily(NamedTuple):
    """What to train on and what to report on."""

    train: WeighedRows
    test: WeighedRows
    n_states: int


def load(
    directory: str | None,
    *,
    file: str,
    letters: str = "protein",
    test_share: float = 0.2,
    similarity: float = 0.8,
    split: str = "groups",
    split_seed: int = 0,
    hold_out: bool = False,
) -> SplitFamily:
    """Return the sequences that the section ``family`` of a configuration describes.

    Sequences that occur several times are taken once.

    Parameters
    ----------
    directory : str or None
        The folder of the data sets.
    file : str
        A FASTA file in it.
    letters : str
        The alphabet of :func:`datasets.load_fasta`.
    test_share : float
        The share of the sequences that is kept for testing.
    similarity : float
        The share of equal sites above which sequences count as one: of the weights and groups.
    split : {"groups", "rows"}
        Keep whole groups of similar sequences together, so that none of the sequences for testing
        is similar to one for training, or draw single ones.
    split_seed : int
    hold_out : bool
        Split the training sequences once more in this way and report on that part instead of the
        sequences for testing, to choose options by it.
    """
    if not isinstance(file, str) or not file:
        raise TypeError(f"family.file must be the name of a file, got {file!r}")
    checks.choice("family.split", split, SPLITS)
    share = checks.number("family.test_share", test_share, least=0.0, below=1.0)
    alike = checks.number("family.similarity", similarity, least=0.0, most=1.0)
    seed = checks.count("family.split_seed", split_seed, least=0)
    again = checks.flag("family.hold_out", hold_out)
    path = Folder(directory, ("proteins",), HOME).need(file)
    read = datasets.load_fasta(path, letters)
    X = np.unique(read.X, axis=0)
    own = similar_groups(X, alike) if split == "groups" else np.arange(len(X))
    held = held_out(own, share, seed)
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    if again:
        held = held_out(own[train], share, seed + 1)
        train, test = train[~held], train[held]
    return SplitFamily(_weighed(X[train], alike), _weighed(X[test], alike), read.n_states)


def _weighed(X: Letters, threshold: float) -> WeighedRows:
    return WeighedRows(X, datasets.similarity_weights(X, threshold))


def similar_groups(X: Letters, threshold: float) -> NDArray[np.int64]:
    """Return the group of each row: similar ones, those similar to these, and so on."""
    groups = np.full(len(X), -1)
    similar = np.flatnonzero(datasets.similarity_weights(X, threshold) < 1)
    columns = np.ascontiguousarray(X[similar].T)
    least = math.ceil(threshold * len(columns) * (1 - 1e-12))  # as the weights have it
    own = np.full(similar.size, -1)
    count = 0
    for first in range(similar.size):
        if own[first] >= 0:
            continue
        own[first], waiting = count, [first]
        while waiting:
            row = columns[:, waiting.pop(), None]
            found = np.flatnonzero(((columns == row).sum(axis=0) >= least) & (own < 0))
            own[found] = count
            waiting.extend(found)
        count += 1
    groups[similar] = own
    alone = groups < 0
    groups[alone] = count + np.arange(alone.sum())
    return groups


def held_out(groups: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Tell which rows are kept apart: groups in random order, as long as they fit into the share.

    Raises
    ------
    ValueError
        If none fits.
    """
    names, number, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    left, chosen = share * groups.size, np.zeros(names.size, bool)
    for group in np.random.default_rng(seed).permutation(names.size):
        if sizes[group] <= left:
            chosen[group] = True
            left -= sizes[group]
    if not chosen.any():
        raise ValueError(
            f"family.test_share must leave room for a group of similar sequences, got {share} of "
            f"{groups.size} sequences in {names.size} groups"
        )
    return np.asarray(chosen[number.reshape(-1)])
