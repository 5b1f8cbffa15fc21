"""Families of sequences: groups that are kept together, and what is held out."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import families
from reproduction.families import held_out, similar_groups
from tests.support.sequences import LETTERS, SITES, made_up


@pytest.fixture
def folder(tmp_path):
    rows = made_up()
    tf.datasets.save_fasta(tmp_path / "f.fasta", np.concatenate([rows, rows[:50]]), LETTERS)
    return tmp_path


def load(folder, **options):
    given = {"file": "f.fasta", "letters": LETTERS, "similarity": 0.8} | options
    return families.load(str(folder), **given)


def rows_of(*parts):
    return {tuple(row) for part in parts for row in part.X.tolist()}


def test_groups_are_the_connected_parts_of_the_graph_of_similar_rows():
    X = np.random.default_rng(1).integers(0, 3, (120, 6)).astype(np.uint8)
    alike = (X[:, None] == X[None]).mean(axis=2) >= 5 / 6 - 1e-9
    for _ in range(8):  # paths of up to 2^8 steps
        alike = (alike.astype(int) @ alike.astype(int)) > 0
    groups = similar_groups(X, 5 / 6)
    np.testing.assert_array_equal(groups[:, None] == groups[None], alike)
    assert 5 < np.unique(groups).size < 120


def test_no_held_out_sequence_is_similar_to_one_for_training(folder):
    data = load(folder)
    all_ = {tuple(row) for row in made_up().tolist()}
    assert rows_of(data.train, data.test) == all_ and data.n_states == len(LETTERS)
    assert len(data.train.X) + len(data.test.X) == len(all_)  # each once
    distances = tf.evaluation.nearest_distances(data.test.X, data.train.X)
    assert distances.min() > 0.2 * SITES
    assert len(data.test.X) <= 0.2 * len(all_)
    for part in (data.train, data.test):
        np.testing.assert_array_equal(part.weights, tf.datasets.similarity_weights(part.X, 0.8))
    assert data.train.weights.min() < 1


def test_rows_are_split_by_the_seed_to_the_share(folder):
    data, same, other = (load(folder, split="rows", split_seed=seed) for seed in (0, 0, 1))
    count = len(data.train.X) + len(data.test.X)
    assert len(data.test.X) == int(0.2 * count)
    np.testing.assert_array_equal(data.test.X, same.test.X)
    assert rows_of(data.test) != rows_of(other.test)
    assert tf.evaluation.nearest_distances(data.test.X, data.train.X).min() <= 1


@pytest.mark.parametrize("split", ["groups", "rows"])
def test_validation_sequences_are_none_of_those_for_testing(folder, split):
    data, chosen = load(folder, split=split), load(folder, split=split, hold_out=True)
    assert rows_of(chosen.train, chosen.test) == rows_of(data.train)
    assert not rows_of(chosen.test) & (rows_of(data.test) | rows_of(chosen.train))


def test_held_groups_are_whole_and_fit():
    groups = np.random.default_rng(0).integers(0, 30, 500)
    held = held_out(groups, 0.3, 4)
    assert 0 < held.sum() <= 150
    assert all(np.unique(held[groups == group]).size == 1 for group in range(30))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test_share": 1.0}, "family.test_share"),
        ({"test_share": 0.0}, "room for a group"),
        ({"similarity": 1.5}, "family.similarity"),
        ({"split": "halves"}, "family.split"),
        ({"hold_out": 1}, "family.hold_out"),
        ({"split_seed": -1}, "family.split_seed"),
        ({"file": 3}, "family.file"),
        ({"file": "none.fasta"}, "none.fasta"),
    ],
)
def test_wrong_options_are_named(folder, options, words):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=words):
        load(folder, **options)
