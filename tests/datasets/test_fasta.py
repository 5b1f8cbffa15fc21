"""Aligned sequences: what is read of files, what is written, and what is said of wrong ones."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.datasets import (
    decode_sequences,
    encode_sequences,
    load_fasta,
    read,
    save_fasta,
)

PROTEIN = "-ACDEFGHIKLMNPQRSTVWY"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "proteins"


def loaded(text, *arguments, **options):
    """Return what is read of a text, or of bytes."""
    stream = io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text)
    return load_fasta(stream, *arguments, **options)


@pytest.mark.parametrize(
    "text",
    [
        ">a b\nAC-DY\n>c\nWWWWW",
        "\n>a b\n AC\n-D\n\nY\n\n>c \nWW W WW\n\n",
        b"\xef\xbb\xbf>a b\r\nAC-DY\r\n>c\r\nWWWWW\r\n",
        b">a b\rAC.D\rY\r>c\rWWWWW",
        gzip.compress(b">a b\nAC-DY\n>c\nWWWWW\n", mtime=0),
    ],
)
def test_texts_of_one_meaning(text):
    family = loaded(text)
    assert family.X.dtype == np.uint8 and family.X.flags.writeable
    assert family.X.tolist() == [[1, 2, 0, 3, 20], [19] * 5]
    assert (family.names, family.letters, family.n_states) == (("a b", "c"), PROTEIN, 21)
    assert family.sequences == ["AC-DY", "WWWWW"]
    assert repr(family) == f"Alignment(2 sequences of 5 sites, letters='{PROTEIN}')"


def test_there_and_back(tmp_path):
    X = np.random.default_rng(0).integers(0, 21, (300, 23))
    names = [f"é{k} of many" for k in range(300)]
    save_fasta(tmp_path / "x.fasta", X, "protein", names)
    (tmp_path / "x.fa.gz").write_bytes(gzip.compress((tmp_path / "x.fasta").read_bytes()))
    for name in ("x.fasta", "x.fa.gz"):
        family = load_fasta(tmp_path / name)
        np.testing.assert_array_equal(family.X, X)
        assert list(family.names) == names
        np.testing.assert_array_equal(encode_sequences(family.sequences, PROTEIN), X)
        np.testing.assert_array_equal(read(tmp_path / name).rows(), X)
    save_fasta(tmp_path / "y.fasta", X.astype(np.float32), "protein")
    assert load_fasta(tmp_path / "y.fasta").names[:2] == ("1", "2")


def test_inserts_are_left_out_with_what_stands_beside_them():
    for text in (">a\nAc.C-\n>b\nA..CD\n", ">a\nAcC-\n>b\nACD\n"):  # A2M, A3M
        family = loaded(text)
        assert family.sequences == ["AC-", "ACD"] and family.left_out == "1 inserts left out"
    assert "1 inserts left out" in repr(family)
    assert loaded(">a\nA.C\n>b\nACD\n").sequences == ["A-C", "ACD"]


@pytest.mark.parametrize(
    ("alphabet", "odd"), [("protein", "BJOUXZ"), ("rna", "BDHKMNRSVWXY"), ("-ACGT", "BDHKMNRSVWXY")]
)
def test_odd_letters(alphabet, odd):
    text = f">a\n{odd}A\n>b\n{'A' * (len(odd) + 1)}\n"
    family = loaded(text, alphabet)
    assert family.sequences == ["-" * len(odd) + "A", "A" * (len(odd) + 1)]
    assert family.left_out == f"{len(odd)} odd letters taken for gaps"
    left = loaded(text, alphabet, odd_letters="drop")
    assert left.names == ("b",) and left.sequences == ["A" * (len(odd) + 1)]
    assert left.left_out == "1 sequences with odd letters left out"
    with pytest.raises(ValueError, match="no sequences .1 sequences with odd letters left out"):
        loaded(">a\nAX\n", alphabet, odd_letters="drop")


def test_an_alphabet_of_ones_own():
    family = loaded(">a\n(.)\n>b\n...\n", ".()")
    assert family.X.tolist() == [[1, 0, 2], [0, 0, 0]] and family.sequences == ["(.)", "..."]
    assert loaded(">a\nab\n>b\nBb\n", "abB").X.tolist() == [[0, 1], [2, 1]]
    with pytest.raises(
        ValueError, match="'b' has '-' at site 1, which is no letter of the alphabet"
    ):
        loaded(">a\nAC\n>b\nA-\n", "ACD")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n \n", "the file is no FASTA file: it does not begin with '>' and a name"),
        ("\nhello\n>a\nAC\n", "it does not begin with '>'"),
        (" >a\nAC\n", "it does not begin with '>'"),
        (">a\nAC\n>b\nA\nCD\n", "must be aligned: 'b' has 3 letters, the first one 2"),
        (">a\nAC\n>b\n\n>c\nAD\n", "must be aligned: 'b' has 0 letters, the first one 2"),
        (">a\nAC\n>b\nA1\n", "sequence 'b' has '1' at site 1, which is no letter of the alphabet"),
        (">a\nAé\n", "sequence 'a' has 'é' at site 1, which is no letter"),
        (b">a\nA\xffC\n", "is damaged, or no text in UTF-8"),
        (b"\x1f\x8bbroken", "the file is damaged"),
        (">a\nac\n>b\nad\n", "'a' has 0 letters, the first one 0 .4 inserts left out"),
    ],
)
def test_what_is_wrong_is_said_with_its_sequence(text, words):
    with pytest.raises(ValueError, match=words):
        loaded(text)


def test_arguments():
    for alphabet in ("A", "AA", "A C", "A>", "Aé", ""):
        with pytest.raises(ValueError, match="alphabet must be 'protein', 'rna', 'dna', or two"):
            loaded(">a\nAC\n", alphabet)
    with pytest.raises(TypeError, match="alphabet must be a str"):
        loaded(">a\nAC\n", 21)
    with pytest.raises(TypeError, match="path must be a path"):
        load_fasta(3)
    with pytest.raises(FileNotFoundError):
        load_fasta("nowhere.fasta")


def test_sequences_and_numbers():
    with pytest.raises(ValueError, match="sequence 1 has 'é' at site 1"):
        encode_sequences(["ACD", "AéD"], PROTEIN)
    with pytest.raises(ValueError, match="must be aligned: 1 has 2 letters, the first one 3"):
        encode_sequences(["ACD", "AC"], PROTEIN)
    with pytest.raises(TypeError, match="put it into a list"):
        encode_sequences("ACD", PROTEIN)
    with pytest.raises(ValueError, match="there are no sequences"):
        encode_sequences([], PROTEIN)
    for X in ([[0, 5]], [[-1, 0]], [[0.5, 1]]):
        with pytest.raises(ValueError, match="X must hold whole numbers from 0 to 4, got"):
            decode_sequences(X, "rna")
    assert decode_sequences(np.array([[True, False]]), "rna") == ["A-"]


def test_nothing_is_written_of_what_is_wrong(tmp_path):
    for names in (["a"], ["a\nb", "c"], ["", "c"], [1, 2]):
        with pytest.raises(ValueError, match="names must be 2 texts of one line"):
            save_fasta(tmp_path / "x.fasta", [[1], [2]], "rna", names)
    assert not list(tmp_path.iterdir())


def test_read_knows_alignments_by_their_names(tmp_path):
    path = tmp_path / "family.A3M"
    path.write_text(">a\nACG\n>b\nGxUU\n")
    data = read(path, alphabet="rna", drop=[0])
    assert data.rows().tolist() == [[2, 3], [4, 4]] and data.letters == "-ACGU"
    np.save(tmp_path / "x.npy", np.eye(2))
    assert read(tmp_path / "x.npy").letters is None
    with pytest.raises(ValueError, match="alphabet='rna' has no effect"):
        read(tmp_path / "x.npy", alphabet="rna")


def test_weights_of_an_alignment():
    family = loaded(">a\nACDEF\n>b\nACDE-\n>c\nWWWWW\n")
    np.testing.assert_array_equal(tf.datasets.similarity_weights(family.X), [0.5, 0.5, 1.0])


@pytest.mark.skipif(not SHARED.exists(), reason="the files of three families are not here")
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("WW_domain_MSA", (17233, 31)),
        ("Kunitz_domain_MSA", (11819, 53)),
        ("Lattice_Proteins_MSA", (46265, 27)),
    ],
)
def test_published_families(name, shape, tmp_path):
    family = load_fasta(SHARED / f"{name}.fasta")
    assert family.X.shape == shape and family.left_out == ""
    save_fasta(tmp_path / "again.fasta", family.X, family.letters, family.names)
    assert (tmp_path / "again.fasta").read_bytes() == (SHARED / f"{name}.fasta").read_bytes()


@pytest.mark.parametrize(("letters", "word"), [("ACGTN-", "dna"), ("ACGUN.", "rna")])
def test_rna_and_dna_are_not_taken_for_proteins(letters, word):
    text = f">a\n{letters * 20}\n"
    with pytest.raises(ValueError, match=f"seems to hold {word.upper()}: .* alphabet='{word}'"):
        loaded(text)
    assert loaded(text, "protein").X.shape == (1, 20 * len(letters))
    assert loaded(text, word).n_states == 5
    assert loaded(text + f">b\n{letters * 19}{'L' * len(letters)}\n").n_states == 21
