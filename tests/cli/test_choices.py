"""Options that are the library's choices: their names, defaults, help and effects."""

import argparse
import inspect
import re

import pytest

import trug_fast as tf
from trug_fast.cli import choices, main
from trug_fast.training.choices import APART, GROUPS
from trug_fast.training.choices import choices as choices_of

TRAINS = {"rbm": tf.train_rbm, "trbm": tf.train_trbm, "tggm": tf.train_tggm}


def help_of(capsys, *words):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", TRAINS)
def test_every_choice_of_a_training_is_an_option_with_its_default(name, capsys):
    train, printed = TRAINS[name], help_of(capsys, "train", name)
    found = choices_of(train)
    grouped = {group.argument for group in GROUPS[train]}
    for parameter in inspect.signature(train).parameters:
        assert parameter in {*found, *grouped, *APART, "start"}
    for flat, choice in found.items():
        assert choices.option(flat) in printed
        assert choice.text or flat in choices.PLAIN, f"{flat} is not described"
    assert f"(default {inspect.signature(train).parameters['optimizer'].default})" in printed


@pytest.mark.parametrize(
    ("words", "default"),
    [
        (("train", "rbm"), r"--epochs N .*?\(default 30\)"),
        (
            ("train", "rbm"),
            r"--n-hidden N .*?\(default 100 for digits, 100 for FILE, 500 for other\)",
        ),
        (("train", "rbm"), r"--momentum X of sgd and adam: .*?\(default 0 for sgd, 0.9 for adam\)"),
        (("train", "rbm"), r"--ais-n-temperatures N .*?\(default 5000\)"),
        (("train", "rbm"), r"--truncation NAME.*?by default learned per unit from \[0, 4\]"),
        (
            ("train", "trbm"),
            r"--n-gibbs START\[:END\] .*?\(default 3:12 for balls, 3:25 for FILE\)",
        ),
        (("train", "tggm"), r"--validation X .*?\(default 0.1\)"),
        (("train", "tggm"), r"--n-cycles N of ml: .*?\(default 10\)"),
        (("evaluate",), r"--n-temperatures N .*?\(default 10000\)"),
        (("sample",), r"--n-gibbs N .*?\(default 1000 for images, 50 for each frame\)"),
        (("plot", "video"), r"--n-gibbs N .*?\(default 50\)"),
    ],
)
def test_help_prints_defaults(words, default, capsys):
    assert re.search(default, help_of(capsys, *words))


def test_penalties_are_typed_for_all_matrices_or_some():
    assert choices.penalty("0.1") == 0.1 and choices.penalty("0.001:0.1") == (0.001, 0.1)
    named = choices.penalty("hidden-to-hidden=0.001:0.1,weights=0.2")
    assert named == {"hidden_to_hidden": (0.001, 0.1), "weights": 0.2}
    with pytest.raises(argparse.ArgumentTypeError, match="expected MATRIX=RATE,"):
        choices.penalty("weights=0.1,0.2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rbm --betas 3", "betas is for sampler 'pt', not 'pcd'"),
        (
            "rbm --sampler cd --n-chains 5",
            "n_chains is for sampler 'pcd' or 'pt' or 'ptt', not 'cd'",
        ),
        ("rbm --momentum 0.5 --optimizer rmsprop", "momentum is for optimizer 'sgd' or 'adam'"),
        ("rbm --hidden bernoulli --learn-precision", "learn_precision is for hidden 'trug'"),
        ("rbm --precision-rate 1", "precision_rate has no effect without learn_precision"),
        ("rbm --learn shared", "--learn needs --truncation"),
        ("rbm --truncation relu --learn shared", "learning needs finite ends"),
        ("rbm --checkpoint-every 5", "--checkpoint-every needs --checkpoint"),
        (
            "rbm --l1 hidden_to_hidden=0.1",
            "l1 is for weights; this model has no 'hidden_to_hidden'",
        ),
        ("rbm --l1 -1", "l1 must be at least 0"),
        ("rbm --patience 3", "--patience needs --validation"),
        ("rbm --data binarized-mnist --soft", "--soft is for grey images"),
        ("rbm --score none --every 2", "every has no effect without scores"),
        ("tggm --objective bp --n-cycles 3", "n_cycles is for objective 'ml', not 'bp'"),
        ("trbm --validation 2", "--validation must be above 0 and below 1"),
    ],
)
def test_options_without_effect_are_errors(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("trug_fast.datasets.load_binarized_mnist", lambda folder: DATA)
    small = ["--n-hidden=3", "--epochs=1", "--quiet", f"--out={tmp_path / 'out'}"]
    assert main(["train", *words.split(), *small]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


DATA = tf.datasets.load_digits(binarize="threshold")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--truncation -1,1", tf.Truncation(-1.0, 1.0)),
        ("--truncation -1,1 --learn per_unit", tf.Truncation(-1.0, 1.0, learn="per_unit")),
        ("--truncation sigmoid --learn shared", tf.Truncation(0, 1, learn="shared")),
        ("--truncation c-learn --learn none", tf.Truncation(0, 1)),
        (
            "--truncation s-learn --learn-lower",
            tf.Truncation(0, 1, learn="per_unit", learn_lower=True),
        ),
    ],
)
def test_truncations_are_those_of_the_library(words, expected):
    parser = argparse.ArgumentParser()
    choices.add_training(parser, tf.train_rbm, {})
    parsed = parser.parse_args(words.replace("n -1", "n=-1").split())
    assert choices.chosen_training(parsed, tf.train_rbm)["truncation"] == expected


def test_rates_are_typed_in_every_form():
    assert choices.course("0.2") == 0.2
    assert choices.course("0.2:0.01") == (0.2, 0.01)
    assert choices.course("0.2:0.01:cosine") == (0.2, 0.01, "cosine")
    assert choices.penalty("weights=0.1:0:linear,past=0.1") == {
        "weights": (0.1, 0.0, "linear"),
        "past": 0.1,
    }
    for wrong in ("0.2:linear", "0.2:0.1:Cosine", "0.2:0.1:", "0.2:0.1:0.05:cosine", "cosine", ""):
        words = f"expected START, START:END, .*:cosine, got '{wrong}'$"
        with pytest.raises(argparse.ArgumentTypeError, match=words):
            choices.course(wrong)
    with pytest.raises(argparse.ArgumentTypeError, match="expected START, .* got '0.1:0:cos'"):
        choices.penalty("weights=0.1:0:cos")
    with pytest.raises(argparse.ArgumentTypeError, match="expected whole numbers, START or"):
        choices.pair_of(int)("1:5:linear")
