"""The command line: what it prints, what it writes, and what it says when something is wrong."""

import json

import numpy as np
import pytest
from machines import machine

import trug_fast as tf
from trug_fast.cli import main

SMALL = [
    "--hidden=8",
    "--epochs=2",
    "--temperatures=20",
    "--chains=10",
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
    for words in ("TruG-RBM", "ordinary RBM", "test log-prob.", "upper truncation points"):
        assert words in printed
    report = json.loads((folder / "result.json").read_text())
    assert -60 < report["results"]["trug"]["test_log_probability"] < -15
    assert report["results"]["trug"]["std_error"] > 0
    assert report["options"]["seed"] == 0
    assert isinstance(tf.TruGRBM.load(folder / "model.npz"), tf.TruGRBM)
    assert isinstance(tf.BernoulliRBM.load(folder / "baseline.npz"), tf.BernoulliRBM)
    history = np.load(folder / "model-history.npz")
    assert history["epoch"].tolist() == [1, 2]
    pytest.importorskip("matplotlib")
    assert (folder / "summary.png").read_bytes()[:4] == b"\x89PNG"


def test_a_second_run_replaces_the_first_but_no_foreign_folder(trained, tmp_path, capsys):
    assert main(["train", "rbm", *SMALL, "--no-baseline", f"--out={trained}"]) == 0
    (tmp_path / "mine.txt").write_text("kept")
    assert main(["train", "rbm", *SMALL, f"--out={tmp_path}"]) == 2
    assert "holds other files; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--truncation=relu", "--no-baseline"],
        ["--truncation=-1,1", "--learn=shared", "--no-baseline", "--optimizer=rmsprop"],
        ["--unit=bernoulli", "--method=cd", "--k=2", "--dtype=float64"],
        ["--binarize=epoch", "--no-baseline", "--learning-rate=0.1,0.01", "--threads=1"],
    ],
)
def test_train_options(options, tmp_path):
    assert main(["train", "rbm", *SMALL, *options, f"--out={tmp_path / 'out'}"]) == 0
    report = json.loads((tmp_path / "out" / "result.json").read_text())
    assert len(report["results"]) == 1


def test_evaluate(trained, capsys):
    arguments = ["evaluate", str(trained / "model.npz"), "--chains=10", "--temperatures=20"]
    assert main([*arguments, "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "log Z" in printed and "test" in printed and "nats per image" in printed


@pytest.mark.parametrize("start", ["noise", "data"])
def test_sample_numbers(trained, tmp_path, start):
    out = tmp_path / "draws.npz"
    arguments = ["sample", str(trained / "model.npz"), "-n", "5", "--gibbs=3", f"--out={out}"]
    assert main([*arguments, f"--start={start}"]) == 0
    draws = np.load(out)["samples"]
    assert draws.shape == (5, 64) and ((draws >= 0) & (draws <= 1)).all()


def test_figures(trained, tmp_path):
    pytest.importorskip("matplotlib")
    for command in (
        ["sample", str(trained / "model.npz"), "-n", "5", "--gibbs=3", "--out"],
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
    machine("mixed").save(odd)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"nonsense")
    out = f"--out={tmp_path / 'x'}"
    for arguments, words in (
        (["evaluate", str(tmp_path / "none.npz")], "no such file"),
        (["evaluate", str(broken)], "is no trug_fast file or is damaged"),
        (["evaluate", str(odd)], "must have 5 columns, got 64"),
        (["sample", str(odd), "--out=a.txt"], "--out must end in .png or .npz"),
        (["sample", str(odd), "--gibbs=1", f"--out={tmp_path / 'a.png'}"], "make no square image"),
        (["sample", str(odd), "--gibbs=0", f"--out={tmp_path / 'a.npz'}"], "n_gibbs must be at"),
        (["train", "rbm", "--hidden=0", out], "n_hidden must be at least 1, got 0"),
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
    for arguments in ([], ["train"], ["train", "cnn"], ["train", "rbm", "--data=cifar"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    with pytest.raises(SystemExit) as stop:
        main(["train", "rbm", "--help"])
    assert stop.value.code == 0
    assert "--truncation" in capsys.readouterr().out


def test_interrupts_end_with_130(monkeypatch, tmp_path, capsys):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("trug_fast.partition.log_partition", interrupt)
    assert main(["train", "rbm", *SMALL, f"--out={tmp_path / 'x'}"]) == 130
    assert "interrupted" in capsys.readouterr().err
