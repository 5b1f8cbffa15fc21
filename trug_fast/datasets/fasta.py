"""Aligned sequences in files of the FASTA format, read into numbers and written back."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks, files

from .fasta_text import SPACES, Bytes, FastaText, Places, text_of
from .letters import (
    GAP,
    Alphabet,
    as_alphabet,
    codes_of,
    decode_sequences,
    require_names,
)

SUFFIXES = {".fasta", ".fa", ".fas", ".faa", ".fna", ".afa", ".a2m", ".a3m"}
# What a byte is that is no letter of the alphabet; those from ODD_LETTER on become no state.
ODD_LETTER, INSERT, PADDING, BLANK, UNKNOWN = 251, 252, 253, 254, 255
MANY = 50  # letters of which a protein has others than A, C, G, N, T and U

OddLetters = Literal["gap", "drop", "error"]
Inserts = Literal["drop", "keep"]


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
    n_inserts, n_odd_letters : int
        How many letters were left out as inserts, and how many odd ones became gaps.
    dropped : tuple of str
        Names of the sequences that were left out for odd letters.
    """

    X: Bytes
    names: tuple[str, ...]
    letters: str
    n_inserts: int = 0
    n_odd_letters: int = 0
    dropped: tuple[str, ...] = ()

    @property
    def n_states(self) -> int:
        """How many states a site may have."""
        return len(self.letters)

    @property
    def sequences(self) -> list[str]:
        """The sequences as texts."""
        return decode_sequences(self.X, self.letters)

    @property
    def left_out(self) -> str:
        """Which letters became no states, in words; empty if all did."""
        counts = (
            (self.n_inserts, "inserts left out"),
            (self.n_odd_letters, "odd letters taken for gaps"),
            (len(self.dropped), "sequences with odd letters left out"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count)

    def __repr__(self) -> str:
        rows, sites = self.X.shape
        words = f"Alignment({rows} sequences of {sites} sites, letters={self.letters!r}"
        return words + (f", {self.left_out}" if self.left_out else "") + ")"


def load_fasta(
    path: str | os.PathLike[str] | IO[Any],
    alphabet: str | None = None,
    *,
    odd_letters: OddLetters | None = None,
    inserts: Inserts = "drop",
    unique_names: bool = True,
) -> Alignment:
    r"""Read aligned sequences from a FASTA file, such as a multiple sequence alignment.

    Parameters
    ----------
    path : path or open file
        Plain or compressed by gzip, whatever it is called; each sequence a line that begins with
        ``>`` and names it, then its letters in any number of lines.
    alphabet : "protein", "rna", "dna" or str, optional
        The letters of the states 0, 1, ...: ``-ACDEFGHIKLMNPQRSTVWY`` of proteins, ``-ACGU`` of
        RNA, ``-ACGT`` of DNA, with the gap first; or letters of your own, such as
        ``ACDEFGHIKLMNPQRSTVWY`` where there are no gaps.  By default "protein", but for files whose
        letters look like RNA or DNA, which are refused.
    odd_letters : "gap", "drop" or "error", optional
        What to do with letters that leave open what they stand for, or are none of the twenty (of
        proteins B, J, O, U, X, Z; of RNA and DNA B, D, H, K, M, N, R, S, V, W, X, Y): take them
        for gaps, which is done by default; leave out their sequences; refuse them.  An alphabet of
        your own has none: each letter that it lacks is refused.
    inserts : "drop" or "keep"
        Lower-case letters are inserts between the aligned sites, and left out, in a file that has
        some together with the ``.`` that stand beside them in other sequences (formats A2M and
        A3M).  "keep" takes them for capital ones, and ``.`` for a gap.  In a file without
        lower-case letters ``.`` is a gap anyway.
    unique_names : bool
        Refuse two sequences of one name.

    Returns
    -------
    Alignment
        Its ``X`` holds the numbers, shape (rows, sites), uint8.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If it holds something else than aligned sequences of this alphabet; the message gives the
        line.

    Notes
    -----
    While it reads it takes up to eight times the size of the file in memory.

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
    >>> family.names
    ('first', 'second')
    """
    chosen = as_alphabet("protein" if alphabet is None else alphabet)
    if odd_letters is not None:
        checks.choice("odd_letters", odd_letters, ("gap", "drop", "error"))
        if not chosen.odd:
            raise ValueError(
                "odd_letters has no effect with an alphabet of your own: each letter that it lacks "
                "is refused"
            )
    checks.choice("inserts", inserts, ("drop", "keep"))
    checks.flag("unique_names", unique_names)
    text = text_of(path)
    if alphabet is None:
        _require_protein(text)
    names = _names(text, unique_names)
    return _aligned(text, names, chosen, odd_letters or "gap", inserts)


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
        Compressed by gzip if it ends with ``.gz``.
    X : array_like, shape (rows, sites)
        Whole numbers from 0, less than the alphabet has letters; samples of models too.
    alphabet : "protein", "rna", "dna" or str
        As of :func:`load_fasta`; ``model.letters`` of samples, ``letters`` of an Alignment.
    names : sequence of str, optional
        All different; 1, 2, ... by default.

    Raises
    ------
    TypeError, ValueError
        If X does not hold such numbers, or names are not as many or not different.  Nothing is
        written then.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.save_fasta("two.fasta", [[1, 2], [3, 0]], "rna")  # doctest: +SKIP
    """
    target = checks.file_path("path", path)
    sequences = decode_sequences(X, alphabet)
    own = require_names(names, len(sequences))
    lines = (f">{name}\n{letters}\n" for name, letters in zip(own, sequences, strict=True))
    content = "".join(lines).encode("utf-8")
    if target.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    with files.replacing(target) as stream:
        stream.write(content)


def is_fasta(path: Path) -> bool:
    """Tell by its name whether a file holds sequences of letters."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower() in SUFFIXES


def _names(text: FastaText, unique: bool) -> tuple[str, ...]:
    """Return the names of the sequences."""
    content, names = text.bytes.tobytes(), []
    spans = zip(text.starts[text.heads].tolist(), text.stops[text.heads].tolist(), strict=True)
    for start, stop in spans:
        try:
            names.append(content[start + 1 : stop].decode("utf-8").strip())
        except UnicodeDecodeError as error:
            raise text.error(start, f"the name is no text in UTF-8: {error.reason}") from error
        if not names[-1]:
            raise text.error(start, "a sequence without a name")
    if unique and len(set(names)) < len(names):
        seen: dict[str, int] = {}
        for name, head in zip(names, text.heads.tolist(), strict=True):
            if name in seen:
                raise ValueError(
                    f"{text.name}, line {head + 1}: the name {name!r} was given in line "
                    f"{seen[name]} already; unique_names=False lets both stand"
                )
            seen[name] = head + 1
    return tuple(names)


def _table(alphabet: Alphabet, inserts: Inserts, lower: bool) -> Bytes:
    """Return what each byte means: a state, or why it is none.

    lower : whether the file has lower-case letters
    """
    table = codes_of(alphabet.letters, UNKNOWN)
    known = set(alphabet.letters)
    meanings = [(alphabet.odd, ODD_LETTER)]
    if inserts == "drop":
        meanings.append(("abcdefghijklmnopqrstuvwxyz", INSERT))
    else:
        small = {letter.lower(): table[ord(letter)] for letter in known if letter.isupper()}
        meanings += list(small.items()) + [(alphabet.odd.lower(), ODD_LETTER)]
    dot = PADDING if lower and inserts == "drop" else table[ord(GAP)]
    for letters, code in [*meanings, (".", dot)]:
        for letter in set(letters) - known:
            table[ord(letter)] = code
    table[np.frombuffer(SPACES, np.uint8)] = BLANK
    return table


def _aligned(
    text: FastaText, names: tuple[str, ...], alphabet: Alphabet, odd: OddLetters, inserts: Inserts
) -> Alignment:
    """Return the letters of a file as states, or say what is wrong with them."""
    firsts = text.starts[text.heads]
    letters = text.letters()
    lower = bool(((letters >= ord("a")) & (letters <= ord("z"))).any())
    # Bytes translate themselves; an array as index would take eight bytes for each.
    table = _table(alphabet, inserts, lower).tobytes()
    codes = np.frombuffer(bytearray(letters.tobytes().translate(table)), np.uint8)
    _require_known(text, codes, alphabet)
    n_odd = 0
    strange = np.flatnonzero(codes == ODD_LETTER)
    if strange.size and odd == "error":
        letter = chr(text.bytes[strange[0]])
        raise text.error(
            strange[0], f"{letter!r} leaves open which letter it is; odd_letters='gap' takes it "
            "for a gap, odd_letters='drop' leaves its sequence out"
        )  # fmt: skip
    codes[strange] = alphabet.letters.find(GAP) if strange.size else 0
    kept = codes < ODD_LETTER
    # The bytes that are no letters are few: their places take less memory than sums over all.
    others = np.searchsorted(np.flatnonzero(~kept), np.append(firsts, kept.size))
    lengths = np.diff(np.append(firsts, kept.size)) - np.diff(others)
    _require_aligned(text, names, lengths, int((codes == INSERT).sum()))
    X = codes[kept].reshape(len(names), -1)
    dropped: tuple[str, ...] = ()
    if odd == "drop" and strange.size:
        left = np.zeros(len(names), bool)
        left[np.searchsorted(firsts, strange, side="right") - 1] = True
        if left.all():
            raise ValueError(f"{text.name}: each sequence has odd letters, none is left")
        dropped = tuple(n for n, out in zip(names, left, strict=True) if out)
        names = tuple(n for n, out in zip(names, left, strict=True) if not out)
        X = X[~left]
    else:
        n_odd = int(strange.size)
    return Alignment(X, names, alphabet.letters, int((codes == INSERT).sum()), n_odd, dropped)


def _require_known(text: FastaText, codes: Bytes, alphabet: Alphabet) -> None:
    """Refuse what is no letter of the alphabet, and no text."""
    wrong = np.flatnonzero(codes == UNKNOWN)
    if not wrong.size:
        return
    byte = int(text.bytes[wrong[0]])
    if not 32 <= byte < 127:
        raise text.error(wrong[0], f"the byte {byte:#04x} is no letter of a sequence")
    words = f"{chr(byte)!r} is no letter of the alphabet {alphabet.letters}"
    if chr(byte) in "TU" and alphabet.name in ("rna", "dna"):
        words += f"; perhaps it is {'DNA' if chr(byte) == 'T' else 'RNA'}: alphabet="
        words += repr("dna" if chr(byte) == "T" else "rna")
    elif chr(byte) in "-.":
        words += ", which has no gap"
    raise text.error(wrong[0], words)


def _require_protein(text: FastaText) -> None:
    """Refuse letters that are hardly those of proteins: many, but none beside those of RNA or DNA.

    All letters of DNA are letters of amino acids too, so that nothing else would tell.
    """
    counts = np.bincount(text.letters(), minlength=256)
    count = {letter: int(counts[[ord(letter), ord(letter.lower())]].sum()) for letter in "ACGTUN"}
    both = ord("A"), ord("a")
    letters = sum(int(counts[first : first + 26].sum()) for first in both)
    if letters == sum(count.values()) >= MANY:
        word = "rna" if count["U"] else "dna"
        raise ValueError(
            f"{text.name} seems to hold {word.upper()}: its letters are all of ACGTUN; say "
            f"alphabet={word!r}, or 'protein' if it does hold proteins"
        )


def _require_aligned(
    text: FastaText, names: tuple[str, ...], lengths: Places, n_inserts: int
) -> None:
    """Refuse sequences without letters, and ones of different lengths."""
    hint = ""
    if n_inserts:
        hint = (
            f" ({n_inserts} lower-case letters were left out as inserts; inserts='keep' takes them "
            "for capital ones)"
        )
    for k in np.flatnonzero(lengths == 0)[:1]:
        raise text.error(
            text.starts[text.heads[k]], f"the sequence {names[k]!r} has no letters{hint}"
        )
    for k in np.flatnonzero(lengths != lengths[0])[:1]:
        raise text.error(
            text.starts[text.heads[k]],
            f"the sequence {names[k]!r} has {lengths[k]} sites, the first one {lengths[0]}: "
            f"sequences must be aligned{hint}",
        )
