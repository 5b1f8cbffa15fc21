"""Tables made anew: runs that are stopped, killed and continued."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from reproduction import results, table1
from reproduction.__main__ import main
from tests.support.tables import (
    CONTINUED,
    ONE,
    TINY,
    figures_of,
    interrupt,
    refuse,
    reproduce,
)
from trug_fast.evaluation.bridges.bridge import Bridge
from trug_fast.training.diagnosis import TrainingWarning
from trug_fast.training.rbm.learner import RBMLearner


def test_a_finished_table_is_printed_without_computing(config, done, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(table1, "train_rbm", refuse)
    monkeypatch.setattr(table1, "log_partition", refuse)
    kept = tmp_path / "new" / "kept.jsonl"
    for _ in range(2):  # the second adds nothing
        assert reproduce(config, done, f"--results={kept}") == 0
    assert kept.read_text() == (done / "results.jsonl").read_text()
    printed = capsys.readouterr().out
    assert "digits/relu: finished 20" in printed
    row = next(line for line in printed.splitlines() if "per-unit" in line and "|" in line)
    assert row.startswith("| small digits | per-unit | -9.5 ")
    line = results.read(kept)[0]
    low, high = (table1.test_score(line, name) for name in ("reverse", "forward"))
    assert f" | {low:.2f} " in row and f" | {line['test']:.2f} " in row and f" | {high:.2f} " in row
    assert reproduce("none.toml", tmp_path / "none", "--show", f"--results={kept}") == 0
    assert capsys.readouterr().out.count("| small digits |") == 4
    assert reproduce(config, tmp_path / "none", "--show") == 2
    assert "no results in" in capsys.readouterr().err


def test_quick_has_a_folder_of_its_own(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["table1", f"--config={config}", "--quick", *ONE]) == 0
    assert results.read(Path("table1-quick/results.jsonl"))[0]["epochs"] == 1


def test_other_annealing_trains_nothing_anew(config, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    assert reproduce(config, out, *ONE) == 0
    config.write_text(TINY.replace("n_temperatures = 30", "n_temperatures = 40"))
    with monkeypatch.context() as patch:
        rehearse = table1.TABLE.__dict__ | {"rehearse": lambda cell, session: None}
        patch.setattr(table1, "TABLE", type(table1.TABLE)(**rehearse))
        patch.setattr(RBMLearner, "update", refuse)
        assert reproduce(config, out, *ONE) == 0
    first, second = results.read(out / "results.jsonl")
    assert first["log_z"] != second["log_z"] and first["upper"] == second["upper"]
    config.write_text(TINY.replace("n_hidden = 8", "n_hidden = 9"))
    assert reproduce(config, out, *ONE) == 2
    assert "belongs to another run: n_hidden is 8 there, 9 here" in capsys.readouterr().err


@pytest.mark.parametrize("updates", [2, 7, 20])  # one rehearses; 15 make an epoch
def test_an_interrupted_training_continues(config, done, tmp_path, monkeypatch, updates, capsys):
    config.write_text(CONTINUED)  # ``done`` has not been kept so often
    update, calls = RBMLearner.update, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == updates:
            signal.raise_signal(signal.SIGINT)
        update(self, *args)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(RBMLearner, "update", counted)
        assert reproduce(config, out, *ONE) == 130
    assert "the same command continues" in capsys.readouterr().err
    assert not (out / "results.jsonl").exists()
    assert reproduce(config, out, *ONE) == 0
    assert figures_of(results.read(out / "results.jsonl")[0]) == figures_of(
        results.read(done / "results.jsonl")[1]
    )


def test_an_interrupt_before_the_first_cell_leaves_nothing(config, tmp_path, monkeypatch):
    monkeypatch.setattr(table1, "anneal", interrupt)
    assert reproduce(config, tmp_path / "out", *ONE) == 130
    assert not (tmp_path / "out").exists()


def test_an_interrupted_annealing_continues(config, done, tmp_path, monkeypatch):
    out = tmp_path / "out"
    travel, calls = Bridge.travel, []

    def counted(bridge, stop, first_chain=0):
        if bridge.steps == 30:  # not those of the rehearsal
            calls.append(stop)
            if len(calls) == 2:
                interrupt()
        return travel(bridge, stop, first_chain)

    with monkeypatch.context() as patch:
        patch.setattr(Bridge, "travel", counted)
        assert reproduce(config, out, *ONE) == 130
    folder = out / "digits" / "shared"
    assert (folder / "model.npz").exists() and (folder / "annealing.npz").exists()
    with monkeypatch.context() as patch:
        patch.setattr(Bridge, "travel", counted)
        assert reproduce(config, out, *ONE) == 0
    # Forward, then interrupted while mixing; mixing again, reverse.
    assert calls == [30] * 4 and not (folder / "annealing.npz").exists()
    assert figures_of(results.read(out / "results.jsonl")[0]) == figures_of(
        results.read(done / "results.jsonl")[1]
    )


def test_a_killed_run_continues(config, tmp_path):
    changes = "epochs = 40, every = 40, checkpoint_every = 0.05"
    config.write_text(TINY.replace("epochs = 3", changes))
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = ["table1", f"--config={config}", f"--out={out}", *ONE]
    program = f"import sys; from reproduction.__main__ import main; sys.exit(main({words!r}))"
    child = subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ))
    checkpoint, deadline = out / "digits" / "shared" / "checkpoint.npz", time.monotonic() + 120
    try:
        while not checkpoint.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert child.poll() is None, "it ended before it was killed"
    finally:
        child.kill()
        child.wait()
    assert checkpoint.exists() and not (out / "results.jsonl").exists()
    assert reproduce(config, out, *ONE) == 0
    assert reproduce(config, whole, *ONE) == 0
    one, other = (results.read(folder / "results.jsonl")[0] for folder in (out, whole))
    assert figures_of(one) == figures_of(other)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of overflow
def test_a_cell_that_diverges_does_not_keep_the_others(config, tmp_path, capsys):
    config.write_text(TINY.replace("relu = {", "relu = { train.learning_rate = 1e30,"))
    assert reproduce(config, tmp_path / "out", "--quiet") == 2
    printed = capsys.readouterr()
    assert "digits/relu: training diverged in epoch 1" in printed.err
    assert "| rbm" in printed.out and "relu" not in printed.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("epochs = 3", "epochs = 0"), "digits/shared: train.epochs must be at least 1, got 0"),
        (("n_hidden = 8, ", ""), "digits/shared: train.n_hidden is missing"),
        (("n_chains = 10", "n_chains = 1"), "annealing.n_chains must be at least 2"),
        (("annealing =", "bound.n_chains = 2\nannealing ="), "shared: bound.n_images is missing"),
        (("annealing =", "bound.n_images = 1\nannealing ="), "bound.n_images must be at least 2"),
        (('"c-learn"', '"c-lern"'), "digits/shared: truncation must be one of"),
        (('"c-learn"', "{ uper = 3 }"), "digits/shared: .*unexpected keyword argument 'uper'"),
        (('"epoch"', '"sometimes"'), "images.binarize must be one of 'fixed', 'epoch'"),
        (('set = "digits"', 'set = "cifar"'), "images.set must be one of"),
        (('set = "digits"', 'set = "caltech"'), "the silhouettes are binary"),
        (("epochs = 3", "epoch = 3"), "unknown key train.epoch"),
    ],
)
def test_wrong_options_are_found_before_anything_is_written(change, words, tmp_path, capsys):
    config = tmp_path / "wrong.toml"
    assert change[0] in TINY
    config.write_text(TINY.replace(*change))
    assert reproduce(config, tmp_path / "out", *ONE) == 2
    error = capsys.readouterr().err
    assert re.search(words, error) and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_rehearsal_is_not_judged_as_training(config, tmp_path, monkeypatch, capsys):
    begun = []

    def rehearse(cell, session):
        begun.append(cell.name)
        warnings.warn("has learned nothing", TrainingWarning, stacklevel=1)
        raise ValueError("enough")

    table = table1.TABLE.__dict__ | {"rehearse": rehearse}
    monkeypatch.setattr(table1, "TABLE", type(table1.TABLE)(**table))
    assert reproduce(config, tmp_path / "out", *ONE) == 2
    assert begun and "has learned nothing" not in capsys.readouterr().err
