"""Tables made anew: protocols, results that can be continued, figures."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import DATA as REAL
from trug_fast.cli import main
from trug_fast.evaluation.partition import runs
from trug_fast.reproduce import figures, images, protocol, results, table1
from trug_fast.training.rbm.learner import Learner

SECTIONS = {"images": ("set",), "train": ("epochs", "k")}
TINY = """
train = { n_hidden = 8, epochs = 3, checkpoint_every = 0.0 }
annealing = { n_chains = 10, n_temperatures = 30, direction = "both" }
quick.train.epochs = 1
data.digits = { label = "small digits", images = { set = "digits" } }

[cells.digits]
per-unit = { paper = -9.5, train.truncation = { lower = 0, upper = 4, learn = "per_unit" } }
shared = { label = "common", train.truncation = "c-learn", images.binarize = "epoch" }
relu = { train.truncation = [0, inf] }
rbm = { train.hidden = "bernoulli" }
"""
ONE = ["--only=digits/shared", "--quiet"]


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder in which all cells of the tiny table are finished."""
    folder = tmp_path_factory.mktemp("table")
    (folder / "tiny.toml").write_text(TINY)
    assert reproduce(folder / "tiny.toml", folder / "out", "--quiet") == 0
    return folder / "out"


def reproduce(config, out, *more):
    return main(["reproduce", "table1", f"--config={config}", f"--out={out}", *more])


def refuse(*args, **options):
    raise AssertionError("is computed again")


def interrupt(*args, **options):
    raise KeyboardInterrupt


def figures_of(line):
    """Return what must not depend on when and in how many parts it was computed."""
    when = ("finished", "training_seconds", "annealing_seconds", "machine", "source")
    return {name: value for name, value in line.items() if name not in when}


# ---- protocols


def test_the_shipped_table_is_the_papers():
    cells = table1.TABLE.cells(None, (), quick=False)
    paper = {(cell.name.split("/")[0], cell.label): cell.paper for cell in cells if cell.paper}
    rows = ["[0, 1]", "[0, inf)", "[-1, 1]", "learned, common", "learned, per unit", "RBM"]
    assert [paper["mnist", row] for row in rows] == [-97.3, -83.2, -124.5, -82.9, -82.5, -86.3]
    numbers = [-127.9, -105.2, -141.5, -104.6, -104.3, -109.0]
    assert [paper["caltech", row] for row in rows] == numbers
    assert all(cell.options["train"]["n_hidden"] == 500 for cell in cells)
    assert len(paper) == 12 and {c.name for c in cells if c.paper is None} == {
        "mnist/zero-two",
        "caltech/zero-two",
    }


@pytest.mark.filterwarnings("ignore::trug_fast.PartitionWarning")
@pytest.mark.parametrize("quick", [False, True])
def test_the_shipped_options_are_those_of_the_library(quick):
    for cell in table1.TABLE.cells(None, (), quick=quick):
        options = cell.options["train"] | {"n_hidden": 4, "epochs": 1, "score": None}
        options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
        if isinstance(options.get("truncation"), dict):
            options["truncation"] = tf.Truncation(**options["truncation"])
        model = tf.train_rbm(np.eye(5), rng=0, **options).model
        assert isinstance(model, tf.BernoulliRBM) == cell.name.endswith("/rbm")
        tf.log_partition(model, **(cell.options["annealing"] | {"n_temperatures": 3}))
    figures.settings(None, quick=quick)


def test_later_layers_win_option_by_option(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(
        "train = { epochs = 1, k = 1 }\n"
        "data.a.train = { epochs = 2 }\n"
        "cells.a.x.train.k = 3\n"
        "cells.a.y.train.epochs = 4\n"
        "cells.b.z = { paper = -3, label = 'Z' }\n"
        "quick.train.epochs = 9\n"
    )
    cells = protocol.read("t", path, SECTIONS, quick=False)
    assert [cell.options["train"] for cell in cells] == [
        {"epochs": 2, "k": 3},
        {"epochs": 4, "k": 1},
        {"epochs": 1, "k": 1},
    ]
    assert [(cell.name, cell.data, cell.label, cell.paper) for cell in cells] == [
        ("a/x", "a", "x", None),
        ("a/y", "a", "y", None),
        ("b/z", "b", "Z", -3.0),
    ]
    fast = protocol.read("t", path, SECTIONS, quick=True)
    assert {cell.options["train"]["epochs"] for cell in fast} == {9}
    assert [cell.name for cell in protocol.select(cells, ["b", "a/y"])] == ["a/y", "b/z"]
    with pytest.raises(ValueError, match="no cell 'a/w'; there are a/x, a/y, b/z"):
        protocol.select(cells, ["a/w"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trian.epochs = 1", "unknown key trian; expected one of data, cells, quick"),
        ("train.epoch = 1", "unknown key train.epoch; expected one of epochs, k"),
        ("data.a.name = 1", "unknown key data.a.name"),
        ("data.a.train.batch = 1", "unknown key data.a.train.batch"),
        ("cells.a.x.papers = 1", "unknown key cells.a.x.papers"),
        ("cells.a.x.train.l = 1", "unknown key cells.a.x.train.l"),
        ("quick.train.epoch = 1", "unknown key quick.train.epoch"),
        ("quick.cells = {}", "unknown key quick.cells"),
        ("data.b.label = 'B'", r"data.b is used by no cell"),
        ("cells.a.x.paper = 'good'", "cells.a.x.paper must be a number, got 'good'"),
        ("cells.a.x = 1", "cells.a.x must be a table, got 1"),
        ("train = 5", "train must be a table, got 5"),
        ("cells.a.'../x' = {}", "cell 'a/../x' must be named by letters"),
        ("train = ", "is no valid TOML"),
    ],
)
def test_mistakes_in_a_configuration_are_named(text, words, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(f"{text}\n" + ("" if "cells.a.x" in text else "cells.a.x = {}\n"))
    with pytest.raises((ValueError, TypeError), match=re.escape(str(path)) + ".*" + words):
        protocol.read("t", path, SECTIONS, quick=False)


def test_a_configuration_without_cells_is_refused(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("")
    with pytest.raises(ValueError, match="holds no cells"):
        protocol.read("t", path, SECTIONS, quick=False)


# ---- a run


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
    assert main(["reproduce", "table1", f"--config={config}", "--quick", *ONE]) == 0
    assert results.read(Path("table1-quick/results.jsonl"))[0]["epochs"] == 1


def test_other_annealing_trains_nothing_anew(config, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    assert reproduce(config, out, *ONE) == 0
    config.write_text(TINY.replace("n_temperatures = 30", "n_temperatures = 40"))
    with monkeypatch.context() as patch:
        rehearse = table1.TABLE.__dict__ | {"rehearse": lambda cell, session: None}
        patch.setattr(table1, "TABLE", type(table1.TABLE)(**rehearse))
        patch.setattr(Learner, "update", refuse)
        assert reproduce(config, out, *ONE) == 0
    first, second = results.read(out / "results.jsonl")
    assert first["log_z"] != second["log_z"] and first["upper"] == second["upper"]
    config.write_text(TINY.replace("n_hidden = 8", "n_hidden = 9"))
    assert reproduce(config, out, *ONE) == 2
    assert "belongs to another run: n_hidden is 8 there, 9 here" in capsys.readouterr().err


@pytest.mark.parametrize("updates", [2, 7, 20])  # one rehearses; 15 make an epoch
def test_an_interrupted_training_continues(config, done, tmp_path, monkeypatch, updates, capsys):
    step, calls = Learner._step, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == updates:
            signal.raise_signal(signal.SIGINT)
        step(self, *args)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_step", counted)
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
    advance, calls = runs.advance, []

    def counted(leg, state, first_chain, stop):
        if leg.steps == 30:  # not those of the rehearsal
            calls.append(stop)
            if len(calls) == 2:
                interrupt()
        return advance(leg, state, first_chain, stop)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "advance", counted)
        assert reproduce(config, out, *ONE) == 130
    folder = out / "digits" / "shared"
    assert (folder / "model.npz").exists() and (folder / "annealing.npz").exists()
    with monkeypatch.context() as patch:
        patch.setattr(runs, "advance", counted)
        assert reproduce(config, out, *ONE) == 0
    # Forward, then interrupted while mixing; mixing again, reverse.
    assert calls == [30] * 4 and not (folder / "annealing.npz").exists()
    assert figures_of(results.read(out / "results.jsonl")[0]) == figures_of(
        results.read(done / "results.jsonl")[1]
    )


def test_a_killed_run_continues(config, tmp_path):
    config.write_text(
        TINY.replace("epochs = 3", "epochs = 40, score_every = 40").replace("0.0", "0.05")
    )
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = ["reproduce", "table1", f"--config={config}", f"--out={out}", *ONE]
    program = f"import sys; from trug_fast.cli import main; sys.exit(main({words!r}))"
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


def test_the_configuration_can_be_printed_and_used(tmp_path, capsys):
    for what in ("table1", "figures"):
        assert main(["reproduce", what, "--print-config"]) == 0
        printed = capsys.readouterr().out
        assert printed == protocol.text(what)
    (tmp_path / "copy.toml").write_text(printed)
    assert figures.settings(str(tmp_path / "copy.toml"), quick=False)["samples"]["n"] == 100


# ---- files of results


def test_half_a_line_is_passed_over(tmp_path):
    path = tmp_path / "r.jsonl"
    results.append(path, {"a": 1, "b": float("inf")})
    with path.open("a") as stream:
        stream.write('{"a": 2, "b"')
    assert results.read(path) == [{"a": 1, "b": "inf"}]
    results.append(path, {"a": 3})
    results.append(path, {"a": 3})
    assert results.read(path) == [{"a": 1, "b": "inf"}, {"a": 3}]


def test_the_source_is_a_commit_only_in_a_checkout(tmp_path, monkeypatch):
    module = tmp_path / "trug_fast" / "reproduce" / "results.py"
    module.parent.mkdir(parents=True)
    module.write_text("# one\n")
    monkeypatch.setattr(results, "__file__", str(module))
    assert results.source() == f"version {tf.__version__}"

    def git(*words):
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        run = subprocess.run(["git", *names, *words], cwd=tmp_path, capture_output=True, check=True)
        return run.stdout.decode().strip()

    try:
        git("init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (tmp_path / "other").write_text("x")
    git("add", "other")
    git("commit", "-m", "a")
    assert results.source() == f"version {tf.__version__}"  # lies in a checkout of something else
    git("add", ".")
    git("commit", "-m", "b")
    assert results.source() == git("rev-parse", "HEAD")
    (tmp_path / "other").write_text("y")  # not of the package
    assert results.source() == git("rev-parse", "HEAD")
    module.write_text("# two\n")
    assert results.source() == git("rev-parse", "HEAD") + ", with changes"


def test_lines_are_json_for_everybody(done):
    for text in (done / "results.jsonl").read_text().splitlines():
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


# ---- images


@pytest.mark.parametrize("hold_out", [False, True])
def test_digits(hold_out):
    held = 287 if hold_out else 0
    kinds = {
        kind: images.load("digits", kind, hold_out, directory=None, seed=3)
        for kind in ("fixed", "epoch")
    }
    for kind, data in kinds.items():
        assert data.train.shape == data.fixed.shape == (1437 - held, 64)
        assert (data.valid is None) == (not hold_out)
        assert data.valid is None or data.valid.shape == (held, 64)
        assert (kind == "fixed") == (data.train is data.fixed)
        assert set(np.unique(data.fixed)) == {0, 1}
    np.testing.assert_array_equal(kinds["fixed"].test, kinds["epoch"].test)
    drawn = kinds["epoch"].train
    assert not np.array_equal(drawn.epoch(0), drawn.epoch(1))
    other = images.load("digits", "epoch", hold_out, directory=None, seed=4)
    assert not np.array_equal(drawn.epoch(0), other.train.epoch(0))


@pytest.mark.skipif(not REAL.is_dir(), reason="the large data sets are not here")
@pytest.mark.parametrize(
    ("kind", "binarize", "hold_out", "rows", "held", "tests"),
    [
        ("mnist", "epoch", False, 60_000, None, 10_000),
        ("mnist", "epoch", True, 50_000, 10_000, 10_000),
        ("mnist", "fixed", False, 60_000, None, 10_000),
        ("mnist", "fixed", True, 50_000, 10_000, 10_000),
        ("caltech", "fixed", False, 6364, None, 2307),
        ("caltech", "fixed", True, 4100, 2264, 2307),
    ],
)
def test_the_papers_images(kind, binarize, hold_out, rows, held, tests):
    data = images.load(kind, binarize, hold_out, directory=str(REAL), seed=0)
    assert data.train.shape == (rows, 784) and data.test.shape == (tests, 784)
    assert (data.valid is None) == (held is None)
    assert held is None or data.valid.shape == (held, 784)
    assert data.shape == (28, 28)


def test_what_grey_images_would_save_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(images.datasets, "load_binarized_mnist", lambda directory: None)
    with pytest.raises(FileNotFoundError, match=r"images.binarize = 'fixed' needs none of them"):
        images.load("mnist", "epoch", directory=str(tmp_path), seed=0)


# ---- figures


def test_figures_of_a_finished_table(done, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    config = tmp_path / "figures.toml"
    config.write_text(
        "samples = { n = 4, n_gibbs = 3 }\ndictionary = { n = 3 }\n"
        "convergence = { n_temperatures = [10, 20], n_chains = 10 }\n"
    )
    words = ["reproduce", "figures", f"--out={done}", f"--config={config}"]
    assert main(words) == 0
    drawn = {path.name: path.read_bytes() for path in (done / "figures").iterdir()}
    cells = ["digits-per-unit", "digits-shared", "digits-relu", "digits-rbm"]
    assert drawn.keys() == {
        *(f"{what}-{cell}.png" for what in ("samples", "dictionary") for cell in cells),
        "nonlinearities.png",
        "truncation-points.png",
        "convergence.png",
    }
    assert all(content[:4] == b"\x89PNG" for content in drawn.values())
    assert "digits/per-unit: 20 temperatures" in capsys.readouterr().out
    found = results.read(done / "digits" / "per-unit" / "convergence.jsonl")
    assert [line["n_temperatures"] for line in found] == [10, 20]
    monkeypatch.setattr(table1, "log_partition", refuse)  # estimates are kept
    assert main([*words, "--only=digits/per-unit", "--quiet"]) == 0
    assert capsys.readouterr().out.count("written to") == 5
    assert main([*words, "--only=digits/rbm", "--quiet"]) == 0
    assert capsys.readouterr().out.count("written to") == 2


def test_curves_hold_what_they_should(done):
    pytest.importorskip("matplotlib")
    session = figures.Session(done, progress=False)
    machines = figures.finished(session, ())
    assert [machine.learns for machine in machines] == ["per_unit", "shared", None, None]
    shapes = figures.nonlinearities(machines)
    assert len(shapes.axes) == 2 and sum(bar.get_height() for bar in shapes.axes[1].patches) == 8
    points = figures.truncation_points(machines).axes[0]
    assert [line.get_xdata().tolist() for line in points.lines] == [[1, 2, 3]] * 2
    options = {"n_chains": 10, "n_temperatures": [30], "direction": "both"}
    curves = figures.convergence(machines, session, options).axes[0].get_legend_handles_labels()
    assert curves[1] == ["per-unit, forward", "per-unit, reverse"]
    for curve, direction in zip(curves[0], ("forward", "reverse"), strict=True):
        # As many temperatures as in the table give its number.
        wanted = table1.test_score(machines[0].line, direction)
        assert curve[0].get_ydata() == pytest.approx([wanted], rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_what_speaks_against_an_estimate_is_kept_and_marked(tmp_path, capsys):
    config = tmp_path / "tiny.toml"
    wild = TINY.replace("n_temperatures = 30", "n_temperatures = 1").replace(
        "epochs = 3", "epochs = 1, init_scale = 3.0"
    )
    config.write_text(wild)
    assert reproduce(config, tmp_path / "out", "--only=digits/per-unit") == 0
    (line,) = results.read(tmp_path / "out" / "results.jsonl")
    printed = capsys.readouterr().out
    assert line["warnings"] and f"digits/per-unit: {line['warnings'][0]}" in printed
    assert "| per-unit (!) |" in printed


def test_figures_need_a_finished_cell(tmp_path, capsys):
    assert main(["reproduce", "figures", f"--out={tmp_path}"]) == 2
    assert "no finished cells with seed 0" in capsys.readouterr().err
    config = tmp_path / "figures.toml"
    for text, words in (
        ("samples.n = 0", "samples.n must be at least 1"),
        ("samples.m = 0", "unknown key samples.m"),
        (
            "samples = { n = 1, n_gibbs = 1 }\ndictionary.n = 1\nconvergence.n_temperatures = 5",
            "n_temperatures must be a list of ints, got 5",
        ),
    ):
        config.write_text(text)
        assert main(["reproduce", "figures", f"--config={config}", f"--out={tmp_path}"]) == 2
        assert words in capsys.readouterr().err
