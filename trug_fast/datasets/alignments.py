"""Aligned sequences of letters: as numbers, in FASTA files, and weights of those that are alike.

Tested in tests/datasets/test_fasta.py and tests/datasets/test_similarity.py.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import archives, checks, files
from trug_fast._common.threads import computing
from trug_fast.kernels.datasets import count_similar

ALPHABETS = {"protein": "-ACDEFGHIKLMNPQRSTVWY", "rna": "-ACGU", "dna": "-ACGT"}
ODD = {"protein": "BJOUXZ", "rna": "BDHKMNRSVWXY", "dna": "BDHKMNRSVWXY"}
GAP = "-"
SUFFIXES = {".fasta", ".fa", ".fas", ".faa", ".fna", ".afa", ".a2m", ".a3m"}
GZIP = b"\x1f\x8b"
CATEGORIES = 256  # in a column at most
MANY = 50  # letters of which a protein has others than A, C, G, N, T and U

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


@dataclass(frozen=True, eq=False)
class Alignment:
    """Aligned sequences; made by `load_fasta`.

    Attributes
    ----------
    X : ndarray, shape (rows, sites), uint8
        The state of each letter: its place in ``letters``, from 0.
    names : tuple of str
        What stands behind the ``>`` of each sequence.
    letters : str
        Of the states 0, 1, ...; what other functions take as ``alphabet``.
    left_out : str
        Which letters became no states, in words; empty if all did.
    """

    X: Codes
    names: tuple[str, ...]
    letters: str
    left_out: str = ""

    @property
    def n_states(self) -> int:
        """How many states a site may have."""
        return len(self.letters)

    @property
    def sequences(self) -> list[str]:
        """The sequences as texts."""
        return decode_sequences(self.X, self.letters)

    def __repr__(self) -> str:
        rows, sites = self.X.shape
        words = f"Alignment({rows} sequences of {sites} sites, letters={self.letters!r}"
        return words + (f", {self.left_out}" if self.left_out else "") + ")"


def load_fasta(
    path: str | os.PathLike[str] | IO[Any],
    alphabet: str | None = None,
    *,
    odd_letters: Literal["gap", "drop"] = "gap",
) -> Alignment:
    r"""Read aligned sequences from a FASTA file, such as a multiple sequence alignment.

    Lower-case letters are inserts between the aligned sites, and left out, together with the ``.``
    that stand beside them in other sequences (formats A2M and A3M).  In a file without lower-case
    letters ``.`` is a gap.

    Parameters
    ----------
    path : path or open file
        Plain or compressed by gzip, whatever it is called.
    alphabet : "protein", "rna", "dna" or str, optional
        The letters of the states 0, 1, ...: ``-ACDEFGHIKLMNPQRSTVWY`` of proteins, ``-ACGU`` of
        RNA, ``-ACGT`` of DNA, with the gap first; or letters of your own, such as
        ``ACDEFGHIKLMNPQRSTVWY`` where there are no gaps.  By default "protein", but for files whose
        letters look like RNA or DNA, which are refused.
    odd_letters : "gap" or "drop"
        Take letters that leave open what they stand for, or are none of the twenty (of proteins
        B, J, O, U, X, Z; of RNA and DNA B, D, H, K, M, N, R, S, V, W, X, Y), for gaps; or leave out
        their sequences.  An alphabet of your own has none: each letter that it lacks is refused.

    Returns
    -------
    Alignment
        Its ``X`` holds the numbers, shape (rows, sites), uint8.

    Raises
    ------
    TypeError, ValueError
        If it holds something else than aligned sequences of this alphabet, of which it names one.

    Examples
    --------
    >>> import io, trug_fast as tf
    >>> file = io.StringIO(">first\nAC-\nU\n>second\nGGXU\n")
    >>> family = tf.datasets.load_fasta(file, "rna")
    >>> family
    Alignment(2 sequences of 4 sites, letters='-ACGU', 1 odd letters taken for gaps)
    >>> family.X
    array([[1, 2, 0, 4],
           [3, 3, 0, 4]], dtype=uint8)
    """
    chosen = as_alphabet("protein" if alphabet is None else alphabet)
    checks.choice("odd_letters", odd_letters, ("gap", "drop"))
    file, text = _text(path)
    before, *records = re.split("^>", StringIO(text, newline=None).read(), flags=re.MULTILINE)
    if before.strip() or not records:
        raise ValueError(f"{file} is no FASTA file: it does not begin with '>' and a name")
    parts = (record.partition("\n") for record in records)
    named = [(name.rstrip(), "".join(lines.split())) for name, _, lines in parts]
    seen, known = Counter("".join(letters for _, letters in named)), set(chosen.letters)
    if alphabet is None:
        _require_protein(file, seen)
    inserts, odd = (set(seen).intersection(x) - known for x in (ascii_lowercase, chosen.odd))
    dropped = [name for name, x in named if odd_letters == "drop" and odd.intersection(x)]
    changed = (
        (sum(seen[each] for each in inserts), "inserts left out"),
        (0 if dropped else sum(seen[each] for each in odd), "odd letters taken for gaps"),
        (len(dropped), "sequences with odd letters left out"),
    )
    left_out = ", ".join(f"{count} {what}" for count, what in changed if count)
    dot = None if inserts else GAP if GAP in known else "."
    becomes = {".": dot} | dict.fromkeys(inserts) | dict.fromkeys(odd, GAP)
    table = str.maketrans({each: becomes[each] for each in becomes.keys() & seen.keys() - known})
    if dropped:
        named = [(name, letters) for name, letters in named if not odd.intersection(letters)]
    names = tuple(name for name, _ in named)
    try:
        texts = [letters.translate(table) if table else letters for _, letters in named]
        X = encoded(texts, chosen.letters, names)
    except ValueError as error:
        raise ValueError(f"{file}: {error}" + (f" ({left_out})" if left_out else "")) from None
    return Alignment(X, names, chosen.letters, left_out)


def save_fasta(
    path: str | os.PathLike[str],
    X: ArrayLike,
    alphabet: str,
    names: Sequence[str] | None = None,
) -> None:
    """Write sequences of numbers as a FASTA file, which :func:`load_fasta` reads back.

    Parameters
    ----------
    path : path
    X : array_like, shape (rows, sites)
        Whole numbers from 0, less than the alphabet has letters; samples of models too.
    alphabet : "protein", "rna", "dna" or str
        As of :func:`load_fasta`; ``model.letters`` of samples, ``letters`` of an Alignment.
    names : sequence of str, optional
        One for each row; 1, 2, ... by default.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.save_fasta("two.fasta", [[1, 2], [3, 0]], "rna")  # doctest: +SKIP
    """
    target = checks.file_path("path", path)
    sequences = decode_sequences(X, alphabet)
    own = [str(k + 1) for k in range(len(sequences))] if names is None else list(names)
    good = all(isinstance(name, str) and len(name.strip().splitlines()) == 1 for name in own)
    if not good or len(own) != len(sequences):
        raise ValueError(
            f"names must be {len(sequences)} texts of one line, one for each row, got {own!r:.60}"
        )
    lines = (f">{name}\n{letters}\n" for name, letters in zip(own, sequences, strict=True))
    with files.replacing(target) as stream:
        stream.write("".join(lines).encode("utf-8"))


def is_fasta(path: Path) -> bool:
    """Tell by its name whether a file holds sequences of letters."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower() in SUFFIXES


def _text(path: Any) -> tuple[str, str]:
    opened = hasattr(path, "read")
    name = str(getattr(path, "name", "the file")) if opened else str(path)
    content = path.read() if opened else checks.file_path("path", path).read_bytes()
    if isinstance(content, str):
        return name, content
    try:
        if content.startswith(GZIP):
            most = max(archives.ROOM, archives.PACKED * len(content))
            with gzip.open(BytesIO(content)) as stream:
                unpacked = stream.read(most + 1)
            archives.require_modest(name, len(unpacked), len(content))
            content = unpacked
        return name, content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is damaged, or no text in UTF-8: {error}") from error


def _require_protein(file: str, counts: Counter[str]) -> None:
    """Refuse letters that are hardly those of proteins: many, but none beside those of RNA or DNA.

    All letters of DNA are letters of amino acids too, so that nothing else would tell.
    """
    letters = {each.upper() for each in counts} & set(ascii_uppercase)
    if letters <= set("ACGTUN") and sum(counts[a] + counts[a.lower()] for a in letters) >= MANY:
        word = "rna" if "U" in letters else "dna"
        raise ValueError(
            f"{file} seems to hold {word.upper()}: its letters are all of ACGTUN; say "
            f"alphabet={word!r}, or 'protein' if it does hold proteins"
        )


def similarity_weights(X: ArrayLike, threshold: float = 0.8) -> NDArray[np.float64]:
    """Weights by which a crowd of similar rows counts as one.

    The weight of a row is one over the number of rows, itself among them, that agree with it in at
    least this share of the columns: what is usual for sequences of proteins, of which some families
    have been sequenced far more often than others.  The sum of the weights is the effective number
    of rows.  Pass them as ``sample_weight`` to a training.

    Parameters
    ----------
    X : array_like, shape (rows, columns)
        Categories, such as the letters of aligned sequences as numbers: up to 256 different ones in
        a column.  One column for each letter, not one for each letter that there might be: zeros
        and ones of the latter agree mostly.
    threshold : float
        Share of the columns, above 0 and at most 1.

    Returns
    -------
    ndarray, shape (rows,), float64

    Raises
    ------
    TypeError, ValueError
        If X is no matrix of finite numbers, has too many categories in a column, or the threshold
        is out of bounds.

    Notes
    -----
    All pairs of rows are compared, in all threads (mathematics 2.10; the weights are those of
    Morcos et al., PNAS 108, 2011, E1293).

    Examples
    --------
    >>> import trug_fast as tf
    >>> letters = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 0], [4, 3, 2, 1, 0]]
    >>> tf.datasets.similarity_weights(letters)
    array([0.5, 0.5, 1. ])
    """
    matrix = checks.matrix("X", X)
    share = checks.number("threshold", threshold, least=0.0, most=1.0)
    if share == 0.0:
        raise ValueError("threshold must be positive, got 0: all rows are alike")
    rows, columns = _coded(matrix), matrix.shape[1]
    least = math.ceil(share * columns * (1 - 1e-12))  # 0.8 * 5 may be a little above 4
    found = np.empty(len(rows), np.int64)
    with computing(float(len(rows)) ** 2 * columns / 16):
        count_similar(rows, np.ascontiguousarray(rows.T), least, found)
    return np.asarray(1.0 / found)


def _coded(matrix: NDArray[np.generic]) -> Codes:
    """Return categories as bytes: those of each column by their own numbers."""
    if matrix.dtype in (np.dtype(np.uint8), np.dtype(bool)):
        return np.ascontiguousarray(matrix, np.uint8)
    codes = np.empty(matrix.shape, np.uint8)
    for c in range(matrix.shape[1]):
        kinds, code = np.unique(matrix[:, c], return_inverse=True)
        if kinds.size > CATEGORIES:
            raise ValueError(
                f"X must hold categories, up to {CATEGORIES} different ones in a column, got "
                f"{kinds.size} in column {c}"
            )
        codes[:, c] = code.reshape(-1)
    return codes
