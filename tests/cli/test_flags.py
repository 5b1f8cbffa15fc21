"""Help: quick, short, without Numba, and true to the signatures of the library."""

import inspect
import os
import re
import subprocess
import sys
from typing import get_args

import pytest

import trug_fast as tf
from tests.support.data import ROOT
from trug_fast.cli import flags, main
from trug_fast.evaluation.bridges import log_partition
from trug_fast.training.options import OPTIMIZERS
from trug_fast.training.samplers import SAMPLERS, SequenceCD
from trug_fast.training.units import Words

HELP = "import sys; from trug_fast.__main__ import main\ntry: main()\nfinally: print(*sys.modules)"
TRAINS = {"rbm": tf.train_rbm, "trbm": tf.train_trbm, "tggm": tf.train_tggm}


def help_of(*words):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    run = [sys.executable, "-c", HELP, *words, "--help"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    printed, _, modules = done.stdout.rstrip("\n").rpartition("\n")
    return printed, modules.split()


@pytest.mark.parametrize("command", ["", "train", *flags.COMMANDS])
def test_help_fits_on_a_screen_and_imports_nothing_that_computes(command):
    printed, modules = help_of(*command.split())
    assert printed.startswith("usage: trug-fast") and printed.count("\n") < 60
    assert not {"numba", "numpy", "trug_fast.training", "trug_fast.kernels"} & set(modules)
    assert len(re.findall(r"^  --?\w", printed, re.M)) <= 28


def test_help_is_quick():
    resource = pytest.importorskip("resource")
    least = 9.0
    for _ in range(5):  # the least of five: others compute beside it
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        help_of("train", "rbm")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        least = min(least, spent)
    assert least < 0.2


@pytest.mark.parametrize("name", TRAINS)
def test_flags_are_arguments_of_the_library_with_its_defaults(name):
    signature = inspect.signature(TRAINS[name]).parameters
    known = {"n_models", "n_gibbs", *flags.READING}
    known |= {"out", "seed", "threads", "quiet", "evaluate", "config", "print_config"}
    said = {"n_hidden": {"rbm": 100, "trbm": 400, "tggm": 50}[name], "n_lags": 1, "n_models": 1}
    said |= {"hidden": "trug", "visible": "bernoulli", "alphabet": "protein", "seed": 0}
    said |= {"n_gibbs": "3,25" if name == "trbm" else 1, "threads": "all", "out": "DATA-MODEL.npz"}
    assert SequenceCD().n_gibbs == (3, 25) and tf.training.PCD().n_gibbs == 1
    for each in flags.COMMANDS[f"train {name}"][3].split():
        flag, _, default = each.partition("=")
        argument = flag.replace("-", "_")
        assert argument in {*signature, *known}
        if default:
            own = signature[argument].default if argument in signature else None
            assert default == str(said.get(argument, own)), argument


def test_words_and_numbers_are_those_of_the_library():
    assert flags.FLAGS["visible"][0] == get_args(Words)
    assert flags.FLAGS["sampler"][0] == tuple(SAMPLERS)
    assert flags.FLAGS["optimizer"][0] == tuple(OPTIMIZERS)
    signature = inspect.signature(log_partition).parameters
    for name in ("n_chains", "n_temperatures", "path"):
        assert (
            f" {name.replace('_', '-')}={signature[name].default} " in flags.COMMANDS["evaluate"][3]
        )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("3,25", (3, 25)),
        ("-1,inf", (-1, float("inf"))),
        ("0.1,0,cosine", (0.1, 0, "cosine")),
        ("relu", "relu"),
    ],
)
def test_values_are_typed_as_in_python_without_brackets(text, value):
    assert flags.values(text) == value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("train cnn", "invalid choice: 'cnn'"),
        ("train rbm digits --hidden relu", "argument --hidden: invalid choice: 'relu'"),
        ("train rbm digits --epochs 0", "argument --epochs: must be a whole number from 1 on, got"),
        ("train rbm digits --seed -1", "argument --seed: must be a whole number from 0 on, got -1"),
        ("train rbm digits --out=", "argument --out: must not be empty"),
        ("train rbm digits --epo 3", "unrecognized arguments: --epo"),
        ("sample m.npz -n 1.5", "argument -n: must be a whole number from 1 on, got 1.5"),
        ("evaluate m.npz", "the following arguments are required: DATA"),
        ("plot pie out.png", "argument FIGURE: invalid choice: 'pie'"),
    ],
)
def test_what_the_parser_refuses(words, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    assert stop.value.code == 2 and message in capsys.readouterr().err


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"trug-fast {tf.__version__}\n"
