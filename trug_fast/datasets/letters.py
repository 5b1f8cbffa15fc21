"""Letters of aligned sequences as numbers, and back.

Tested in tests/datasets/test_fasta.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

ALPHABETS = {"protein": "-ACDEFGHIKLMNPQRSTVWY", "rna": "-ACGU", "dna": "-ACGT"}
ODD = {"protein": "BJOUXZ", "rna": "BDHKMNRSVWXY", "dna": "BDHKMNRSVWXY"}
GAP = "-"

Codes = NDArray[np.uint8]


class Alphabet(NamedTuple):
    """Letters of the states 0, 1, ..., and odd ones that leave open which of them they are."""

    name: str
    letters: str
    odd: str


def as_alphabet(alphabet: str) -> Alphabet:
    """Return the alphabet of that name, or of these letters: two or more different ones."""
    checks.kind("alphabet", alphabet, str)
    for name, letters in ALPHABETS.items():
        if alphabet in (name, letters):
            return Alphabet(name, letters, ODD[name])
    good = all("!" <= letter <= "~" and letter != ">" for letter in alphabet)
    if not good or not 1 < len(set(alphabet)) == len(alphabet):
        raise ValueError(
            f"alphabet must be {', '.join(map(repr, ALPHABETS))}, or two or more different letters "
            f"in ASCII without blanks or '>', got {alphabet!r}"
        )
    return Alphabet(alphabet, alphabet, "")


def names_of(letters: str) -> tuple[str, ...]:
    """Return what an alphabet of these letters may be called: by them, and by its name."""
    return (letters, *(name for name, own in ALPHABETS.items() if own == letters))


def encode_sequences(sequences: Iterable[str], alphabet: str) -> Codes:
    """Return aligned sequences as numbers: the state of a letter is its place in the alphabet.

    Parameters
    ----------
    sequences : iterable of str
        All of one length.
    alphabet : "protein", "rna", "dna" or str
        As of :func:`load_fasta`.  Here each letter must be one of it: no lower case, no odd ones.

    Returns
    -------
    ndarray, shape (rows, sites), uint8

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.encode_sequences(["ACU-", "GGUA"], "rna")
    array([[1, 2, 4, 0],
           [3, 3, 4, 1]], dtype=uint8)
    """
    if isinstance(sequences, str):
        raise TypeError("sequences must be several texts, got a single one: put it into a list")
    texts = list(sequences)
    return encoded(texts, as_alphabet(alphabet).letters, range(len(texts)))


def encoded(texts: Sequence[str], letters: str, names: Sequence[object]) -> Codes:
    """Return texts of these letters as numbers; ValueError with the name of one that is none."""
    if not texts:
        raise ValueError("there are no sequences")
    for name, text in zip(names, texts, strict=True):
        checks.kind(f"sequence {name!r}", text, str)
        if strange := set(text).difference(letters):
            site = min(map(text.index, strange))
            raise ValueError(
                f"sequence {name!r} has {text[site]!r} at site {site}, which is no letter of the "
                f"alphabet {letters}"
            )
        if len(text) != len(texts[0]) or not text:
            raise ValueError(
                f"sequences must be aligned: {name!r} has {len(text)} letters, the first one "
                f"{len(texts[0])}"
            )
    table = bytes(max(0, letters.find(chr(byte))) for byte in range(256))
    codes = "".join(texts).encode("ascii").translate(table)
    return np.frombuffer(bytearray(codes), np.uint8).reshape(len(texts), -1)


def decode_sequences(X: ArrayLike, alphabet: str) -> list[str]:
    """Return sequences of numbers as texts.

    Parameters
    ----------
    X : array_like, shape (rows, sites)
        Whole numbers from 0, less than the alphabet has letters; samples of models too.
    alphabet : "protein", "rna", "dna" or str
        As of :func:`load_fasta`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.decode_sequences([[1, 2, 4, 0], [3, 3, 4, 1]], "rna")
    ['ACU-', 'GGUA']
    """
    letters = as_alphabet(alphabet).letters
    matrix = states("X", X, len(letters))
    table = np.frombuffer(letters.encode("ascii"), np.uint8)
    width, text = matrix.shape[1], table[matrix].tobytes().decode("ascii")
    return [text[k : k + width] for k in range(0, len(text), width)]


def states(name: str, value: ArrayLike, n_states: int) -> NDArray[np.integer]:
    """Return ``value`` as a matrix of integers from 0, less than ``n_states``."""
    matrix = checks.matrix(name, value)
    wrong = (matrix < 0) | (matrix >= n_states)
    if matrix.dtype.kind == "f":
        wrong |= matrix != np.round(matrix)
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        raise ValueError(
            f"{name} must hold whole numbers from 0 to {n_states - 1}, got {matrix[row, column]} "
            f"at row {row}, column {column}"
        )
    return matrix.astype(np.intp if matrix.dtype.kind in "fb" else matrix.dtype, copy=False)
