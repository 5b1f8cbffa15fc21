"""Folding on the lattice: structures, energies, and the probabilities of both."""

import os
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf
from reproduction import lattice, proteins
from reproduction.contact_energies import AMINO_ACIDS, contact_energies

LETTERS = "-ACDEFGHIKLMNPQRSTVWY"
STORED = Path(os.environ.get("TRUG_FAST_DATA", ".")) / "proteins"


@pytest.fixture(scope="module")
def native():
    (cell,) = proteins.TABLE.cells(None, ["lattice/rbm"], quick=False)
    return lattice.structure_of(cell.options["sampling"]["native"])


def energy(one, other):
    return contact_energies()[LETTERS.index(one), LETTERS.index(other)] / 100


def test_there_are_103346_structures_of_28_contacts_and_no_two_are_the_same():
    paths = lattice.walks()
    maps = lattice.contacts(paths)
    assert paths.shape == (103_346, 27) and maps.shape == (103_346, 156)
    np.testing.assert_array_equal(np.sort(paths[::1000], axis=1), np.arange(27) * np.ones((104, 1)))
    steps = np.abs(np.diff(lattice.PLACES[paths], axis=1)).sum(axis=2)
    assert (steps == 1).all() and (maps.sum(axis=1) == 28).all()
    assert len(np.unique(np.packbits(maps, axis=1), axis=0)) == 103_346


def test_a_walk_turned_and_reflected_is_the_same_structure(native):
    (cell,) = proteins.TABLE.cells(None, ["lattice/rbm"], quick=False)
    walk = cell.options["sampling"]["native"]
    for new in ("yzxYZX", "XyzxYZ", "zYXZyx"):
        turned = walk.translate(str.maketrans("xyzXYZ", new))
        np.testing.assert_array_equal(lattice.structure_of(turned), native)
    assert (lattice.structures() == native).all(axis=1).sum() == 1


@pytest.mark.parametrize("walk", ["xx", "x" * 26, "xXx" * 9, "u" * 26])
def test_what_is_no_walk_through_the_cube_is_refused(walk):
    with pytest.raises(ValueError, match=r"sampling.native must be 26 of the moves"):
        lattice.structure_of(walk)
    with pytest.raises(TypeError, match=r"sampling.native must be a text"):
        lattice.structure_of(3)


def test_energies_are_symmetric_and_those_of_the_table():
    table = contact_energies()
    assert sorted(AMINO_ACIDS) == sorted(LETTERS[1:])
    np.testing.assert_array_equal(table, table.T)
    assert (table[1:, 1:] < 0).all() and not table[0].any()
    assert np.unique(np.triu_indices(20)[0].size) == 210
    known = {"CC": -5.44, "LL": -7.37, "FL": -7.28, "KK": -0.12, "RK": -0.59, "PP": -1.75}
    known |= {"ED": -1.02, "HC": -3.60, "WG": -3.42}
    for (one, other), value in known.items():
        assert energy(one, other) == pytest.approx(value)


def test_probability_of_a_small_case_by_hand():
    # Two structures: one in which places 0 and 3 touch, one in which 1 and 4 do; all else alike.
    among = np.zeros((2, 156), bool)
    among[0, lattice.PAIRS.tolist().index([0, 3])] = True
    among[1, lattice.PAIRS.tolist().index([1, 4])] = True
    X = np.full((2, 27), LETTERS.index("A"))
    X[0, [0, 1, 3, 4]] = [LETTERS.index(letter) for letter in "LKLK"]
    expected = -np.log1p(np.exp(energy("L", "L") - energy("K", "K")))
    found = lattice.log_folding(X, among[0], among)
    np.testing.assert_allclose(found, [expected, -np.log(2)], rtol=1e-6)


def test_probabilities_are_those_of_plain_sums(native):
    X = np.random.default_rng(0).integers(0, 21, (3, 27))
    some = lattice.structures()[::50]
    some = np.concatenate([some, native[None]])
    for row, found in zip(X, lattice.log_folding(X, native, some), strict=True):
        pairs = contact_energies().astype(float)[row[lattice.PAIRS[:, 0]], row[lattice.PAIRS[:, 1]]]
        total = some @ pairs / 100
        expected = -pairs[native].sum() / 100 - np.logaddexp.reduce(-total)
        assert found == pytest.approx(expected, rel=1e-5)
    both = lattice.log_folding(np.tile(X, (150, 1)), native, some)  # in three blocks
    np.testing.assert_array_equal(both[-3:], lattice.log_folding(X, native, some))


@pytest.mark.skipif(not STORED.is_dir(), reason="needs the files of lattice proteins")
def test_stored_sequences_fold_into_the_native_structure(native):
    X = tf.datasets.load_fasta(STORED / "Lattice_Proteins_MSA.fasta", "protein").X[::231]
    stored = np.log(np.loadtxt(STORED / "Lattice_Proteins_pnat.txt")[::231])
    found = lattice.log_folding(X, native)
    # The stored ones sum over 10,000 of the structures: each term is one of ours.
    assert (found < stored).all() and (found > np.log(0.5)).mean() > 0.8
    assert np.corrcoef(found, stored)[0, 1] > 0.05
