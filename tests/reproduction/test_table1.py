"""Table 1: the shipped protocol, and the numbers of its results."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import figures, results, table1, trainings
from reproduction.choices import arguments_of
from tests.support.tables import TINY, reproduce


def test_the_shipped_table_is_the_papers():
    cells = table1.TABLE.cells(None, (), quick=False)
    paper = {(cell.name.split("/")[0], cell.label): cell.paper for cell in cells if cell.paper}
    rows = ["[0, 1]", "[0, inf)", "[-1, 1]", "learned, common", "learned, per unit", "RBM"]
    assert [paper["mnist", row] for row in rows] == [-97.3, -83.2, -124.5, -82.9, -82.5, -86.3]
    numbers = [-127.9, -105.2, -141.5, -104.6, -104.3, -109.0]
    assert [paper["caltech", row] for row in rows] == numbers
    assert all(cell.options["train"]["n_hidden"] == 500 for cell in cells if cell.paper)
    assert len(paper) == 12 and {c.name for c in cells if c.paper is None} == {
        "mnist/zero-two",
        "mnist/per-unit-500",
        "mnist/per-unit-precision",
        "mnist/rbm-certified",
        "mnist/per-unit-long",
        "mnist/per-unit-1000",
        "mnist/per-unit-2000",
        "caltech/zero-two",
        "caltech/per-unit-moved",
        "caltech/rbm-moved",
    }


@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
@pytest.mark.parametrize("quick", [False, True])
def test_the_shipped_options_are_those_of_the_library(quick):
    for cell in table1.TABLE.cells(None, (), quick=quick):
        apart = ("score", "every", trainings.EVERY)
        options = {k: v for k, v in cell.options["train"].items() if k not in apart}
        options |= {"n_hidden": 4, "epochs": 1, "score": "none"}
        model = tf.train_rbm(np.eye(5), rng=0, **arguments_of(tf.train_rbm, options)).model
        assert isinstance(model, tf.BernoulliRBM) == ("/rbm" in cell.name)
        tf.log_partition(model, **(cell.options["annealing"] | {"n_temperatures": 3}))
    figures.settings(None, quick=quick)


def test_results_tell_what_was_done_and_where(done):
    lines = results.read(done / "results.jsonl")
    assert [line["cell"] for line in lines] == [
        "digits/per-unit",
        "digits/shared",
        "digits/relu",
        "digits/rbm",
    ]
    first = lines[0]
    assert first["table"] == "table1" and first["seed"] == 0 and first["paper"] == -9.5
    assert first["options"]["train"]["epochs"] == 3 == first["epochs"]
    assert lines[2]["options"]["train"]["truncation"] == [0, "inf"]
    assert first["training_seconds"] > 0 and first["annealing_seconds"] >= 0
    assert first["machine"]["cores"] >= 1 and first["machine"]["memory_gib"] > 0
    assert first["machine"]["processor"] and len(first["source"]) == 1
    assert len(first["upper"]) == 5 and "upper" not in lines[3]


def test_numbers_are_those_of_the_stored_model(done):
    line = results.read(done / "results.jsonl")[0]
    model = tf.TruGRBM.load(done / "digits" / "per-unit" / "model.npz")
    data = tf.datasets.load_digits(binarize="sample", rng=0)
    short = {"n_chains": 10, "n_temperatures": 30, "direction": "both"}
    estimate = tf.log_partition(model, **short, base=data.train, rng=0)
    assert line["log_z"] == estimate.log_z and line["std_error"] == estimate.std_error
    for side in (estimate.forward, estimate.reverse):
        assert line["directions"][side.direction]["log_z"] == side.log_z
        assert table1.test_score(line, side.direction) == pytest.approx(
            tf.log_likelihood(model, data.test, side).mean(), rel=1e-12
        )
    assert line["test"] == tf.log_likelihood(model, data.test, estimate).mean()
    assert line["train"] == tf.log_likelihood(model, data.train, estimate).mean()


def test_the_bound_is_that_of_evenly_spread_images_of_the_stored_model(done):
    lines = results.read(done / "results.jsonl")
    assert not any("bound" in line for line in lines[:3])
    bound, model = lines[3]["bound"], tf.BernoulliRBM.load(done / "digits" / "rbm" / "model.npz")
    data = tf.datasets.load_digits(binarize="sample", rng=0)
    some = data.test[:: len(data.test) // 30][:30]
    options = {"n_temperatures": 40, "base": data.train, "rng": 0}
    low = tf.evaluation.log_likelihood_bound(model, some, **options).value
    short = low - tf.log_likelihood(model, some, lines[3]["log_z"])
    assert bound["images"] == 30 and bound["difference"] == pytest.approx(short.mean())
    assert bound["std_error"] == pytest.approx(short.std(ddof=1) / 30**0.5)
    # Annealing that short is far from both ends of the truth, which enumeration tells.
    exact = tf.exact.log_likelihood(model, data.test).mean()
    assert table1.test_bound(lines[3]) < exact + 3 * bound["std_error"]


def test_a_ladder_gives_its_own_log_z(tmp_path):
    config = tmp_path / "tiny.toml"
    tempered = 'epochs = 3, sampler = "ptt", score = "log_likelihood", every = 1'
    config.write_text(TINY.replace("epochs = 3", tempered))
    assert reproduce(config, tmp_path / "out", "--only=digits/rbm") == 0
    (line,) = results.read(tmp_path / "out" / "results.jsonl")
    model = tf.BernoulliRBM.load(tmp_path / "out" / "digits" / "rbm" / "model.npz")
    off = line["ladder"]["log_z"] - tf.exact.log_partition(model)
    assert abs(off) < 5 * line["ladder"]["std_error"] < 0.5 and line["ladder"]["rungs"] >= 1
    assert line["ladder"]["warnings"] == []


@pytest.mark.filterwarnings("error")
def test_what_speaks_against_an_estimate_is_kept_and_marked(tmp_path, capsys):
    config = tmp_path / "tiny.toml"
    wild = TINY.replace("n_temperatures = 30", "n_temperatures = 1").replace(
        "epochs = 3", "epochs = 1, start_scale = 3.0"
    )
    config.write_text(wild)
    assert reproduce(config, tmp_path / "out", "--only=digits/per-unit") == 0
    (line,) = results.read(tmp_path / "out" / "results.jsonl")
    printed = capsys.readouterr().out
    assert line["warnings"] and f"digits/per-unit: {line['warnings'][0]}" in printed
    assert "| per-unit (!) |" in printed
