"""The command line: what it prints, what it writes, and what it says when something is wrong."""

import json
import sys

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from trug_fast.cli import main
from trug_fast.training.rbm import scores as scoring
from trug_fast.training.rbm.watch import RBMWatch

SMALL = [
    "--n-hidden=8",
    "--epochs=2",
    "--ais-n-temperatures=20",
    "--ais-n-chains=10",
    "--quiet",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with the results of a tiny default run."""
    folder = tmp_path_factory.mktemp("run") / "out"
    assert main(["train", "rbm", *SMALL, f"--out={folder}"]) == 0
    return folder


def test_train_prints_a_table_and_writes_its_files(tmp_path, capsys):
    folder = tmp_path / "out"
    assert main(["train", "rbm", *SMALL, f"--out={folder}"]) == 0
    printed = capsys.readouterr().out
    for words in ("TruG-RBM", "ordinary RBM", "test log-likelihood", "upper truncation points"):
        assert words in printed
    report = json.loads((folder / "result.json").read_text())
    assert -60 < report["results"]["TruG-RBM"]["test_log_likelihood"] < -15
    assert report["results"]["TruG-RBM"]["std_error"] > 0
    assert report["options"]["seed"] == 0
    assert isinstance(tf.TruGRBM.load(folder / "model.npz"), tf.TruGRBM)
    assert isinstance(tf.BernoulliRBM.load(folder / "baseline.npz"), tf.BernoulliRBM)
    history = np.load(folder / "model-history.npz")
    assert history["epoch"].tolist() == [1, 2]
    pytest.importorskip("matplotlib")
    for name in ("training", "samples", "weights"):
        assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_train_says_that_an_estimate_cannot_be_trusted(tmp_path, capsys):
    options = [*SMALL, "--ais-n-temperatures=2", "--no-baseline", f"--out={tmp_path / 'out'}"]
    assert main(["train", "rbm", *options]) == 0
    assert "do not trust the TruG-RBM's: weights collapsed" in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "result.json").read_text())
    assert "weights collapsed" in report["results"]["TruG-RBM"]["warnings"][0]


def test_a_second_run_replaces_the_first_but_no_foreign_folder(trained, tmp_path, capsys):
    assert main(["train", "rbm", *SMALL, "--no-baseline", f"--out={trained}"]) == 0
    assert not (trained / "baseline.npz").exists()  # it would be the first run's
    for name, content in (("mine.txt", "kept"), ("result.json", "{}"), ("result.json", "[")):
        (tmp_path / name).write_text(content)
        assert main(["train", "rbm", *SMALL, f"--out={tmp_path}"]) == 2
        assert "holds other files; choose another folder" in capsys.readouterr().err
        assert (tmp_path / name).read_text() == content


def test_wrong_options_leave_no_folder(tmp_path):
    assert main(["train", "rbm", *SMALL, "--ais-n-chains=1", f"--out={tmp_path / 'out'}"]) == 2
    assert not (tmp_path / "out").exists()


def test_infinite_ends_are_written_as_words(tmp_path):
    out = tmp_path / "out"
    assert (
        main(["train", "rbm", *SMALL, "--truncation=0,inf", "--no-baseline", f"--out={out}"]) == 0
    )
    ends = json.loads((out / "result.json").read_text())["results"]["TruG-RBM"]["truncation_points"]
    assert ends["upper"] == ["inf"] * 5 and ends["lower"] == [0.0] * 5


def test_rates_reach_every_optimizer(tmp_path):
    out = tmp_path / "out"
    options = ["--optimizer=adam", "--learning-rate=0.003:0.001", "--no-baseline", f"--out={out}"]
    assert main(["train", "rbm", *SMALL, *options]) == 0
    rates = np.load(out / "model-history.npz")["learning_rate"]
    assert 0.001 < rates[-1] < rates[0] < 0.003


def test_a_run_without_matplotlib_says_how_to_get_the_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert main(["train", "rbm", *SMALL, f"--out={tmp_path / 'out'}"]) == 0
    assert "pip install trug-fast[plot]" in capsys.readouterr().out
    assert (tmp_path / "out" / "model.npz").exists()
    assert not (tmp_path / "out" / "training.png").exists()


def test_the_number_of_threads_ends_with_the_command(trained, tmp_path):
    before = numba.get_num_threads()
    out = f"--out={tmp_path / 'a.npz'}"
    assert main(["sample", str(trained / "model.npz"), "--n-gibbs=1", out, "--threads=1"]) == 0
    assert numba.get_num_threads() == before


@pytest.mark.parametrize(
    "options",
    [
        ["--truncation=relu", "--no-baseline"],
        ["--truncation=-1,1", "--learn=shared", "--no-baseline", "--optimizer=rmsprop"],
        ["--hidden=bernoulli", "--sampler=cd", "--n-gibbs=2", "--dtype=float64"],
        ["--n-gibbs=1:3", "--average=0.2", "--learn-precision", "--no-baseline"],
        ["--sampler=pt", "--betas=0,0.5,1", "--optimizer=sgd", "--momentum=0.5", "--no-baseline"],
        ["--soft", "--validation=0.2", "--patience=2", "--no-baseline"],
        ["--score=none", "--start-scale=0.1", "--no-baseline"],
        ["--binarize=sample", "--no-baseline", "--learning-rate=0.1:0.01", "--threads=1"],
    ],
)
def test_train_options(options, tmp_path):
    assert main(["train", "rbm", *SMALL, *options, f"--out={tmp_path / 'out'}"]) == 0
    report = json.loads((tmp_path / "out" / "result.json").read_text())
    assert len(report["results"]) == 1


def test_options_of_a_start_beside_a_model(trained, tmp_path, capsys):
    words = [f"--start={trained / 'model.npz'}", "--start-scale=0.1", f"--out={tmp_path}"]
    assert main(["train", "rbm", *SMALL, *words]) != 0
    assert "with --start there is no effect of --start-scale" in capsys.readouterr().err


def test_evaluate(trained, capsys):
    arguments = ["evaluate", str(trained / "model.npz"), "--n-chains=10", "--n-temperatures=20"]
    assert main([*arguments, "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "log Z" in printed and "test" in printed and "nats per image" in printed


@pytest.mark.parametrize("start", ["noise", "data"])
def test_sample_numbers(trained, tmp_path, start):
    out = tmp_path / "draws.npz"
    arguments = ["sample", str(trained / "model.npz"), "-n", "5", "--n-gibbs=3", f"--out={out}"]
    assert main([*arguments, f"--start={start}"]) == 0
    draws = np.load(out)["samples"]
    assert draws.shape == (5, 64) and ((draws >= 0) & (draws <= 1)).all()


def test_figures(trained, tmp_path):
    pytest.importorskip("matplotlib")
    for command in (
        ["sample", str(trained / "model.npz"), "-n", "5", "--n-gibbs=3", "--out"],
        ["plot", "family"],
        ["plot", "units", str(trained / "model.npz")],
    ):
        out = tmp_path / "figure.png"
        assert main([*command, str(out)]) == 0
        assert out.read_bytes()[:4] == b"\x89PNG"
        out.unlink()


def test_errors_are_one_line_and_exit_code_2(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    odd = tmp_path / "odd.npz"
    model_of("mixed").save(odd)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"nonsense")
    out = f"--out={tmp_path / 'x'}"
    for arguments, words in (
        (["evaluate", str(tmp_path / "none.npz")], "no such file"),
        (["evaluate", str(broken)], "is no trug_fast file or is damaged"),
        (
            ["evaluate", str(odd)],
            "odd.npz has 5 visible units, --data digits has images of 64 pixels",
        ),
        (["sample", str(odd), "--out=a.txt"], "--out must end in .png or .npz"),
        (
            ["sample", str(odd), "--n-gibbs=1", f"--out={tmp_path / 'a.png'}"],
            "make no square image",
        ),
        (
            ["sample", str(odd), "--n-gibbs=0", f"--out={tmp_path / 'a.npz'}"],
            "--n-gibbs must be at least 1, got 0",
        ),
        (["train", "rbm", "--n-hidden=0", out], "--n-hidden must be at least 1, got 0"),
        (["train", "rbm", "--truncation=2,1", out], "lower must be below upper"),
        (["train", "rbm", "--truncation=wide", out], "--truncation must be one of sigmoid"),
        (
            ["train", "rbm", "--truncation=relu", "--learn=shared", out],
            "learning needs finite ends",
        ),
        (["train", "rbm", "--threads=0", out], "--threads must be from 1 to"),
        (
            ["train", "rbm", "--data=mnist", f"--data-dir={tmp_path}", out],
            "train-images-idx3-ubyte",
        ),
    ):
        assert main(arguments) == 2, arguments
        message = capsys.readouterr().err
        assert words in message and "Traceback" not in message


def test_unknown_words_are_refused_by_the_parser(capsys):
    for arguments in ([], ["train"], ["train", "cnn"], ["train", "rbm", "--hidden=relu"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    with pytest.raises(SystemExit) as stop:
        main(["train", "rbm", "--help"])
    assert stop.value.code == 0
    assert "--truncation" in capsys.readouterr().out


def interrupt(*args, **options):
    raise KeyboardInterrupt


def test_interrupts_end_with_130(trained, monkeypatch, capsys):
    monkeypatch.setattr("trug_fast.cli.options.anneal", interrupt)
    assert main(["evaluate", str(trained / "model.npz")]) == 130
    assert capsys.readouterr().err == "trug-fast: interrupted\n"


def test_interrupted_training_leaves_the_model_so_far(tmp_path, monkeypatch, capsys):
    score, calls = scoring.scores, []

    def score_twice(*args):
        calls.append(1)
        # The first is that of compiling.
        return score(*args) if len(calls) < 3 else interrupt()

    monkeypatch.setattr(scoring, "scores", score_twice)
    out = tmp_path / "out"
    assert main(["train", "rbm", *SMALL, f"--out={out}"]) == 130
    assert "interrupted; the models so far are in" in capsys.readouterr().err
    assert np.load(out / "model-history.npz")["epoch"].tolist() == [1]
    monkeypatch.undo()
    assert main(["train", "rbm", *SMALL, f"--out={out}"]) == 0  # the folder is still ours


def test_a_run_continues_from_its_checkpoints(tmp_path, monkeypatch, capsys):
    # Interrupted in the baseline's training: the first model is not trained again.
    whole, out, file = tmp_path / "whole", tmp_path / "out", tmp_path / "run.npz"
    assert main(["train", "rbm", *SMALL, f"--out={whole}"]) == 0
    score, calls = scoring.scores, []

    def score_four_times(*args):
        calls.append(1)
        return score(*args) if len(calls) < 5 else interrupt()

    options = ["train", "rbm", *SMALL, f"--out={out}", f"--checkpoint={file}"]
    with monkeypatch.context() as patch:
        patch.setattr(scoring, "scores", score_four_times)
        assert main(options) == 130
    assert "--resume continues" in capsys.readouterr().err
    assert main(options) == 2
    assert "run.npz exists; continue its run with --resume" in capsys.readouterr().err
    assert main([*options, "--resume"]) == 0
    for name in ("model", "baseline"):
        with np.load(whole / f"{name}.npz") as first, np.load(out / f"{name}.npz") as second:
            assert all(np.array_equal(first[key], second[key]) for key in first)
    assert (tmp_path / "run-baseline.npz").exists()
    earlier = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main([*options, "--resume", "--n-hidden=9"]) == 2
    assert "belongs to another run: n_hidden is 8 there, 9 here" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == earlier
    assert main(["train", "rbm", "--resume"]) == 2
    assert "--resume needs --checkpoint" in capsys.readouterr().err


@pytest.mark.parametrize("failure", ["verdict", "require_sound"])
def test_a_baseline_that_failed_is_no_comparison(tmp_path, monkeypatch, capsys, failure):
    own = getattr(RBMWatch, failure)

    def of_ordinary_units(watch, *args):
        if not watch.learner.units.bernoulli:
            return own(watch, *args)
        if failure == "verdict":
            return "it lies in ruins"
        raise FloatingPointError("it lies in ruins")

    monkeypatch.setattr(RBMWatch, failure, of_ordinary_units)
    out = tmp_path / "out"
    assert main(["train", "rbm", *SMALL, f"--out={out}"]) == 0
    printed = capsys.readouterr().out
    assert "no ordinary RBM beside it, whose training failed: it lies in ruins" in printed
    assert "ordinary RBM " not in printed.split("test log-likelihood")[1]
    assert list(json.loads((out / "result.json").read_text())["results"]) == ["TruG-RBM"]
