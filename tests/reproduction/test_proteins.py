"""Families of proteins: the shipped protocol, and the numbers of its results."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import families, lattice, proteins, results, trainings
from reproduction.choices import arguments_of
from tests.support.sequences import FAMILY, folder_of, reproduce_proteins
from tests.support.tables import figures_of, interrupt, refuse

WALK = "xxyXXyxxzXXYxxYXXzxxyXXyxx"  # to and fro


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = folder_of(tmp_path_factory.mktemp("family"))
    assert reproduce_proteins(folder, folder / "out") == 0
    return folder


@pytest.mark.filterwarnings(
    "ignore::trug_fast.evaluation.PartitionWarning", "ignore::trug_fast.training.TrainingWarning"
)
@pytest.mark.parametrize("quick", [False, True])
def test_the_shipped_options_are_those_of_the_library(quick):
    cells = proteins.TABLE.cells(None, (), quick=quick)
    assert {cell.name for cell in cells} == {
        f"{family}/{units}"
        for family in ("ww", "kunitz", "lattice")
        for units in ("per-unit", "relu", "rbm")
    }
    X = np.random.default_rng(0).integers(0, 3, (20, 4))
    for cell in cells:
        options = {k: v for k, v in cell.options["train"].items() if k != trainings.EVERY}
        options |= {"n_hidden": 2, "epochs": 1}
        given = arguments_of(tf.train_rbm, options) | {"visible": "categorical"}
        model = tf.train_rbm(X, rng=0, **given).model
        assert isinstance(model, tf.BernoulliRBM) == ("/rbm" in cell.name)
        tf.log_partition(model, base=X, **(cell.options["annealing"] | {"n_temperatures": 3}))


def test_units_of_one_family_are_trained_alike():
    cells = proteins.TABLE.cells(None, (), quick=False)
    for family in {cell.data for cell in cells}:
        own = [dict(cell.options["train"]) for cell in cells if cell.data == family]
        for each in own:
            each.pop("truncation", None), each.pop("hidden", None)
        assert own[0] == own[1] == own[2]


def test_numbers_are_those_of_the_stored_model(done):
    first, second = results.read(done / "out" / "results.jsonl")
    assert [first["cell"], second["cell"]] == ["made-up/per-unit", "made-up/rbm"]
    model = tf.TruGRBM.load(done / "out" / "made-up" / "per-unit" / "model.npz")
    data = families.load(str(done), **first["options"]["family"])
    sites = data.test.X.shape[1]
    assert model.n_states == data.n_states == 5
    estimate = tf.log_partition(
        model, base=data.train.X, n_chains=10, n_temperatures=30, direction="both", rng=0
    )
    assert first["log_z"] == estimate.log_z
    assert first["std_error"] == estimate.std_error / sites
    for name, part in (("test", data.test), ("train", data.train)):
        scores = tf.log_likelihood(model, part.X, estimate)
        assert first[name] == pytest.approx(np.average(scores, weights=part.weights) / sites)
    assert first["sequences"] == [len(data.train.X), len(data.test.X)]
    assert first["effective"][0] == pytest.approx(data.train.weights.sum())
    assert first["test_error"] > 0 and len(first["upper"]) == 5 and "upper" not in second
    assert first["best_agreement"] == second["best_agreement"]  # of the data alone
    assert first["agreement"] != second["agreement"]


def test_folding_is_that_of_held_out_sequences_and_of_samples(tmp_path):
    rng = np.random.default_rng(0)
    made = rng.integers(1, 21, (60, 27))
    tf.datasets.save_fasta(tmp_path / "made_up.fasta", made, "protein")
    protocol = FAMILY.replace('"-ACDE"', '"protein"').replace(
        "n = 50", f'native = "{WALK}", n = 50'
    )
    (tmp_path / "family.toml").write_text(protocol)
    assert reproduce_proteins(tmp_path, tmp_path / "out", "--only=made-up/rbm") == 0
    (line,) = results.read(tmp_path / "out" / "results.jsonl")
    data = families.load(str(tmp_path), **line["options"]["family"])
    log_p = lattice.log_folding(data.test.X, lattice.structure_of(WALK))
    found = line["folding"]
    assert found["test_p"] == pytest.approx(np.exp(log_p).mean())
    assert found["test_log_p"] == pytest.approx(log_p.mean())
    assert found["test_log_p_error"] == pytest.approx(log_p.std() / np.sqrt(log_p.size))
    assert all(found[f"{part}_log_p"] < -5 for part in ("samples", "sites_alone"))  # of no lattice


def test_sites_alone_is_what_a_model_without_weights_says(done):
    line = results.read(done / "out" / "results.jsonl")[0]
    data = families.load(str(done), **line["options"]["family"])
    shares = np.zeros((data.test.X.shape[1], 5))
    for row, weight in zip(data.train.X, data.train.weights, strict=True):
        shares[np.arange(len(row)), row] += weight
    shares = (shares + 0.2) / (shares.sum(axis=1, keepdims=True) + 1)  # one more, of no letter
    model = tf.BernoulliRBM(
        np.zeros((*shares.shape, 1)), np.log(shares), 0.0, visible="categorical"
    )
    scores = tf.exact.log_likelihood(model, data.test.X) / len(shares)
    assert line["sites_alone"] == pytest.approx(np.average(scores, weights=data.test.weights))


def test_finished_cells_are_shown_and_not_computed_again(done, capsys, monkeypatch):
    monkeypatch.setattr(proteins, "trained", refuse)
    assert reproduce_proteins(done, done / "out") == 0
    printed = capsys.readouterr().out
    assert "| made up | per-unit" in printed and "Pearson" in printed
    assert reproduce_proteins(done, done / "out", "--show") == 0


def test_interrupted_and_continued_is_the_same(done, tmp_path, monkeypatch):
    only = ["--only=made-up/rbm"]
    with monkeypatch.context() as stopped:
        stopped.setattr(proteins.table1, "anneal", interrupt)
        stopped.setattr(proteins, "rehearse", lambda *args: None)
        assert reproduce_proteins(done, tmp_path / "out", *only) != 0
    assert not (tmp_path / "out" / "results.jsonl").exists()
    assert reproduce_proteins(done, tmp_path / "out", *only) == 0
    (line,) = results.read(tmp_path / "out" / "results.jsonl")
    apart = ("sampling_seconds",)
    both = [figures_of(each) for each in (line, results.read(done / "out" / "results.jsonl")[1])]
    for each in both:
        each.pop(*apart)
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('start = "data"', 'start = "anywhere"', "sampling.start"),
        ("n = 50", "n = 1", "sampling.n "),
        ("n_hidden = 4, ", "", "train.n_hidden"),
        ("n = 50", 'n = 50, native = "xx"', "sampling.native must be 26"),
        ("n = 50", f'n = 50, native = "{WALK}"', "sampling.native is for proteins of 27"),
        ('family.file = "made_up.fasta"', "train.epochs = 2", "family.file"),
        ('score = "none"', 'visible = "spin"', "train.visible"),
        ('score = "none"', "epochs_ = 2", "epochs_"),
    ],
)
def test_wrong_options_are_named_before_anything_is_computed(tmp_path, capsys, old, new, words):
    folder = folder_of(tmp_path)
    assert old in FAMILY
    (folder / "family.toml").write_text(FAMILY.replace(old, new))
    assert reproduce_proteins(folder, folder / "out", "--only=made-up/rbm") != 0
    assert words in capsys.readouterr().err
    assert not (folder / "out").exists()
