"""``--config``: keyword arguments in the words of Python, options built, wrong ones refused."""

import json
import sys

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import config, flags, main

TRAINS = {"rbm": tf.train_rbm, "trbm": tf.train_trbm, "tggm": tf.train_tggm}
VALUES = [
    ("sampler", {"PCD": {"n_gibbs": 5}}, tf.training.PCD(5)),
    (
        "sampler",
        {"ParallelTempering": {"betas": [0, 0.5, 1]}},
        tf.training.ParallelTempering((0, 0.5, 1)),
    ),
    (
        "optimizer",
        {"SGD": {"l1": {"weights": [0.1, 0.2]}}},
        tf.training.SGD(l1={"weights": (0.1, 0.2)}),
    ),
    ("truncation", [0, float("inf")], (0, float("inf"))),
    (
        "truncation",
        {"Truncation": {"upper": 4, "learn": "per_unit"}},
        tf.Truncation(0, 4, learn="per_unit"),
    ),
    ("visible", ["spin", {"CategoricalUnits": {"n_states": 3}}], ("spin", tf.CategoricalUnits(3))),
    ("learning_rate", [0.1, 0.01, "cosine"], (0.1, 0.01, "cosine")),
    (
        "learning_rate",
        {"RateSearch": {"rates": [0.1, [0.2, 0.1]]}},
        tf.training.RateSearch([0.1, (0.2, 0.1)]),
    ),
    ("start", {"RandomWeights": {"scale": 0.1}}, tf.training.RandomWeights(0.1)),
    (
        "hidden",
        {"TruGUnits": {"learn_precision": True, "precision_rate": [0.1, 0.01, "linear"]}},
        tf.TruGUnits(learn_precision=True, precision_rate=(0.1, 0.01, "linear")),
    ),
    (
        "validation",
        {"HoldOut": {"fraction": 0.2, "calibrate": None}},
        tf.training.HoldOut(0.2, calibrate=None),
    ),
    ("monitor", None, None),
]


@pytest.mark.parametrize(("name", "written", "value"), VALUES)
def test_values_are_built_and_printed(name, written, value):
    assert config.built(name, written) == value
    printed = json.loads(config.printed(tf.train_rbm, {name: value}))[name]
    assert config.built(name, printed) == value


@pytest.mark.parametrize("name", TRAINS)
def test_a_printed_config_gives_what_the_defaults_give(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save(
        "x.npy", rng.integers(0, 2, (20, 6, 4)) if name == "trbm" else rng.integers(0, 2, (20, 4))
    )
    np.save("y.npy", rng.normal(size=20))
    data = ["x.npy", "y.npy"] if name == "tggm" else ["x.npy"]
    small = ["--n-hidden=3", "--epochs=2", "--quiet"]
    assert main(["train", name, "--print-config", "--epochs=7"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["epochs"] == 7 and json.loads(printed)["rng"] == 0
    (tmp_path / "c.json").write_text(printed)
    assert main(["train", name, *data, *small, "--out=a.npz"]) == 0
    assert main(["train", name, *data, *small, "--config=c.json", "--out=b.npz"]) == 0
    with np.load("a.npz") as first, np.load("b.npz") as second:
        assert all(np.array_equal(first[key], second[key]) for key in first)


def chosen(*words):
    """Return what a command would train with, as its config has it."""
    assert main(["train", *words, "--print-config"]) == 0


def test_flags_go_before_the_file(tmp_path, capsys):
    path = tmp_path / "c.json"
    path.write_text('{"epochs": 3, "n_hidden": 4, "rng": 5, "sampler": {"CD": {"centred": false}}}')
    chosen("rbm", f"--config={path}", "--epochs=2", "--n-gibbs=1,4", "--truncation", "-1,1")
    found = json.loads(capsys.readouterr().out)
    assert (found["epochs"], found["n_hidden"], found["rng"]) == (2, 4, 5)
    assert found["sampler"] == {"CD": {"n_gibbs": [1, 4], "centred": False}}
    assert found["truncation"] == [-1, 1]
    chosen("rbm", f"--config={path}", "--sampler=pt", "--seed=1")
    found = json.loads(capsys.readouterr().out)
    assert "ParallelTempering" in found["sampler"] and found["rng"] == 1
    chosen("tggm", "--n-models=3")
    assert json.loads(capsys.readouterr().out)["n_models"] == 3


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.11 brings tomllib")
def test_toml(tmp_path, capsys):
    path = tmp_path / "c.toml"
    path.write_text("epochs = 3\nsampler.PCD.n_gibbs = 5\n[optimizer.Adam]\nl1 = 0.01\n")
    chosen("rbm", f"--config={path}")
    found = json.loads(capsys.readouterr().out)
    assert found["epochs"] == 3 and found["sampler"]["PCD"]["n_gibbs"] == 5
    assert found["optimizer"]["Adam"]["l1"] == 0.01
    path.write_text("epochs = ")
    assert main(["train", "rbm", "digits", f"--config={path}"]) == 2
    assert f"--config {path} cannot be read: " in capsys.readouterr().err


def test_toml_on_an_older_python(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tomllib", None)
    (tmp_path / "c.toml").write_text("epochs = 3")
    assert main(["train", "rbm", "digits", f"--config={tmp_path / 'c.toml'}"]) == 2
    assert "TOML needs Python 3.11; write JSON instead" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"epoch": 3}', "c.json has no 'epoch' (is it 'epochs'?); there are n_hidden, "),
        ('{"X": 3}', "c.json has no 'X'; there are n_hidden, "),
        ('{"sampler": {"PDC": {}}}', "sampler has no 'PDC' (is it 'PCD'?); there are "),
        ('{"sampler": {"PCD": {"n_gibs": 1}}}', "PCD has no 'n_gibs' (is it 'n_gibbs'?); there"),
        ('{"sampler": {"PCD": 5}}', 'sampler must be written {"PCD": {NAME: VALUE, ...}}, got {'),
        ('{"sampler": {"PCD": {}, "CD": {}}}', 'sampler must be one option, as {"PCD": {"n_gibbs"'),
        ('{"sampler": {"PCD": {"n_gibbs": 0}}}', "n_gibbs must be at least 1, got 0"),
        ('{"sampler": 3}', "sampler must be one of 'pcd', 'cd', 'pt', 'ptt', or made by "),
        ('{"learning_rate": "0.1:0.01"}', "learning_rate must be a number"),
        (
            '{"epochs": 1, "epochs": 2}',
            "cannot be read: a name is there twice among epochs, epochs",
        ),
        ('{"epochs": }', "cannot be read: Expecting value: line 1 column 12"),
        ("[1]", 'must hold names and values, as {"epochs": 5}'),
        (None, "No such file or directory: "),
    ],
)
def test_what_is_wrong_is_one_sentence(text, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "c.json").write_text(text)
    assert main(["train", "rbm", "digits", "--config=c.json", "--out=x.npz"]) == 2
    said = capsys.readouterr().err
    assert message in said and said.startswith("trug-fast: ") and said.count("\n") == 1
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize("name", TRAINS)
def test_every_flag_of_a_training_reaches_it(name, capsys):
    chosen(name)
    default = capsys.readouterr().out
    apart = {*flags.READING, "out", "threads", "quiet", "evaluate", "config", "print_config"}
    for each in flags.COMMANDS[f"train {name}"][3].split():
        flag, _, usual = each.partition("=")
        how, *_ = flags.FLAGS.get(f"{name}:{flag}", flags.FLAGS[flag])
        if flag.replace("-", "_") not in apart:
            words = how if isinstance(how, tuple) else ["0.7" if how is float else "7"]
            value = next(word for word in words if word != usual)
            chosen(name, f"--{flag}={value}")
            assert capsys.readouterr().out != default, flag
