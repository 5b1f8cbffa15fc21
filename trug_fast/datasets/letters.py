"""Letters of aligned sequences as numbers, and back.

Tested in tests/datasets/test_fasta.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

ALPHABETS = {"protein": "-ACDEFGHIKLMNPQRSTVWY", "rna": "-ACGU", "dna": "-ACGT"}
ODD = {"protein": "BJOUXZ", "rna": "BDHKMNRSVWXY", "dna": "BDHKMNRSVWXY"}
GAP = "-"

Codes = NDArray[np.uint8]


class Alphabet(NamedTuple):
    """Letters, each of which stands for its own number, and what stands for several of them.

    name : how it was asked for
    letters : of the states 0, 1, ...
    odd : letters that leave open which one of the alphabet it is
    """

    name: str
    letters: str
    odd: str


def as_alphabet(alphabet: str) -> Alphabet:
    """Return the alphabet of that name, or of these letters.

    Raises
    ------
    TypeError, ValueError
        If it is no name, nor a text of two or more different letters in ASCII.
    """
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

    Raises
    ------
    TypeError, ValueError
        If there are none, they are of different lengths, or have other letters; the message says
        where.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.encode_sequences(["ACU-", "GGUA"], "rna")
    array([[1, 2, 4, 0],
           [3, 3, 4, 1]], dtype=uint8)
    """
    state = {letter: k for k, letter in enumerate(as_alphabet(alphabet).letters)}
    if isinstance(sequences, str):
        raise TypeError("sequences must be several texts, got a single one: put it into a list")
    rows: list[list[int]] = []
    for k, text in enumerate(sequences):
        checks.kind(f"sequence {k}", text, str)
        if strange := [letter for letter in text if letter not in state]:
            raise ValueError(
                f"sequence {k} has {strange[0]!r} at site {text.index(strange[0])}, which is no "
                f"letter of the alphabet {''.join(state)}"
            )
        rows.append([state[letter] for letter in text])
        if len(text) != len(rows[0]) or not text:
            raise ValueError(
                f"sequences must be aligned, each with as many letters: sequence {k} has "
                f"{len(text)}, sequence 0 has {len(rows[0])}"
            )
    if not rows:
        raise ValueError("sequences must not be empty")
    return np.array(rows, np.uint8)


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

    Raises
    ------
    TypeError, ValueError
        If X does not hold such numbers.

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
