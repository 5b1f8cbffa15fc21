"""``trug-fast train``: what it says and writes, Ctrl-C, and going on."""

import sys

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast.cli import main
from trug_fast.training.run import Loop

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (40, 16))
SMALL = ["--n-hidden=4", "--epochs=2", "--quiet", "--threads=1"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with data, which commands run in."""
    monkeypatch.chdir(tmp_path)
    np.save("bits.npy", BITS)
    np.savez("videos.npz", **{f"v{k}": RNG.integers(0, 2, (6, 5)) for k in range(5)})
    np.save("X.npy", RNG.normal(size=(40, 3)))
    np.save("y.npy", RNG.normal(size=40))
    return tmp_path


def same(first, second):
    with np.load(first) as one, np.load(second) as two:
        return all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.parametrize(
    ("words", "said", "score", "then"),
    [
        ("rbm digits", "1437 rows of digits", "score -", ["evaluate", "sample"]),
        ("rbm bits.npy --drop=0,1", "40 rows of bits.npy", "score -", ["evaluate", "sample"]),
        ("trbm videos.npz", "5 sequences of videos.npz", "score -", ["evaluate", "sample"]),
        ("tggm yacht", "277 rows of yacht", "validation_score -", ["predict"]),
        ("tggm X.npy y.npy", "40 rows of X.npy", "validation_score -", ["predict"]),
    ],
)
def test_it_says_what_where_and_what_next(words, said, score, then, capsys, place):
    before = {path.name for path in place.iterdir()}
    assert main(["train", *words.split(), *SMALL]) == 0
    printed = capsys.readouterr()
    kind, data, *_ = words.split()
    name = f"{data.partition('.')[0]}-{kind}"
    first, second, third, *rest = printed.out.splitlines()
    assert first == f"training on {said}" and second.endswith(f" is in {name}.npz")
    assert third.startswith(score) and printed.err == ""
    found = {path.name for path in place.iterdir()} - before
    assert found == {f"{name}.npz", f"{name}-history.npz"}
    assert np.load(f"{name}-history.npz")["epoch"].tolist() == [1, 2]
    for line, command in zip(rest, then, strict=True):  # they run as they stand
        typed = line.removeprefix("next:").split()
        assert typed[:3] == ["trug-fast", command, f"{name}.npz"]
        assert typed[3:4] == [data] * (command != "sample")
        more = ["--n-chains=5", "--n-temperatures=9"] * (command == "evaluate" and kind == "rbm")
        more += ["--n-gibbs=2"] * (command == "sample")
        assert main([*typed[1:], *more, "--quiet"]) == 0, capsys.readouterr().err


def test_the_same_model_as_in_python():
    rest = ["--truncation=-1,1", "--learning-rate=0.1,0.01,cosine", "--n-gibbs=1,3", "--seed=3"]
    assert main(["train", "rbm", "bits.npy", *SMALL, *rest, "--sampler=cd", "--out=a.npz"]) == 0
    how = {"truncation": (-1, 1), "learning_rate": (0.1, 0.01, "cosine"), "epochs": 2}
    model = tf.train_rbm(
        BITS.astype(np.uint8), 4, sampler=tf.training.CD((1, 3)), rng=3, **how
    ).model
    np.testing.assert_array_equal(model.weights, tf.TruGRBM.load("a.npz").weights)


def test_the_log_likelihood_is_estimated_where_it_is_asked_for(capsys):
    words = ["train", "rbm", "bits.npy", *SMALL, "--evaluate", "--validation=0.25"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "training on 30 rows" in printed and "\ntest     -" in printed
    assert main(["evaluate", "bits-rbm.npz", "bits.npy", "--quiet"]) == 0


def test_warnings_are_printed(capsys):
    words = ["train", "rbm", "bits.npy", "--epochs=30", "--n-hidden=4", "--quiet"]
    assert main([*words, "--learning-rate=1e-9"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("trug-fast: warning: ") and "learn" in said and said.count("\n") == 1


def test_an_ensemble():
    assert main(["train", "tggm", "X.npy", "y.npy", *SMALL, "--n-models=2"]) == 0
    assert len(tf.TGGMEnsemble.load("X-tggm.npz")) == 2


def stop_after(monkeypatch, epochs):
    """Let Ctrl-C come at the end of an epoch."""
    end, ended = Loop._end_epoch, []

    def stop(self, *arguments):
        end(self, *arguments)
        ended.append(1)
        if len(ended) == epochs:
            raise KeyboardInterrupt

    monkeypatch.setattr(Loop, "_end_epoch", stop)


@pytest.mark.parametrize(
    "words", ["rbm bits.npy", "trbm videos.npz --n-lags=2", "tggm X.npy y.npy"]
)
def test_interrupted_it_leaves_a_model_and_the_same_command_goes_on(words, monkeypatch, capsys):
    command = ["train", *words.split(), *SMALL]
    assert main([*command, "--out=whole.npz"]) == 0
    kept = [*command, "--out=part.npz", "--checkpoint=run.npz"]
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        assert main(kept) == 130
    said = capsys.readouterr().err
    words = "trug-fast: interrupted; the model so far is in part.npz; the same command goes on\n"
    assert said == words and not same("whole.npz", "part.npz")
    assert main(kept) == 0
    assert "part.npz will be replaced" in capsys.readouterr().out
    assert same("whole.npz", "part.npz")
    assert main(kept) == 0 and same("whole.npz", "part.npz")  # finished: nothing is trained
    kept[kept.index("--n-hidden=4")] = "--n-hidden=5"
    assert main(kept) == 2
    assert "belongs to another run: n_hidden is 4 there, 5 here" in capsys.readouterr().err
    assert same("whole.npz", "part.npz")


def test_without_a_checkpoint_nothing_goes_on(monkeypatch, capsys):
    stop_after(monkeypatch, 1)
    assert main(["train", "rbm", "bits.npy", *SMALL]) == 130
    said = capsys.readouterr().err
    assert said == "trug-fast: interrupted; the model so far is in bits-rbm.npz\n"
    assert tf.TruGRBM.load("bits-rbm.npz").n_hidden == 4


def test_going_on_from_a_model(capsys):
    assert main(["train", "rbm", "bits.npy", *SMALL]) == 0
    words = ["train", "rbm", "bits.npy", "--epochs=1", "--quiet", "--start=bits-rbm.npz"]
    assert main([*words, "--out=on.npz"]) == 0
    assert tf.TruGRBM.load("on.npz").n_hidden == 4
    assert main([*words, "--n-hidden=7"]) == 2
    assert "start must agree in the hidden units: 7 asked for, 4 in it" in capsys.readouterr().err
    assert main(["train", "tggm", "X.npy", "y.npy", "--start=bits-rbm.npz"]) == 2
    assert "bits-rbm.npz holds a TruGRBM, expected a TruGTGGM" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rbm", "name DATA: a file, a folder, or a set that --help names"),
        ("rbm bits.npy --out=model", "--out must end in .npz, got model"),
        ("rbm bits.npy --out=X.npz", "X.npz is no file of a training: name another one"),
        ("rbm bits.npy --out=Y.npz", "Y-history.npz is no file of a training: name another one"),
        ("rbm bits.npy --out=a.npz --checkpoint=a.npz", "--out and --checkpoint must be two files"),
        ("rbm bits.npy --threads=0", None),
        ("rbm bits.npy --threads=9999", "--threads must be from 1 to "),
        ("rbm bits.npy --truncation=2,1", "lower must be below upper, got lower=2, upper=1"),
        ("rbm bits.npy --truncation=wide", "truncation must be one of 'sigmoid', "),
        ("rbm bits.npy --learning-rate=-1", "learning_rate must be at least 0.0, got -1"),
        ("rbm bits.npy --start=none.npz", "no such file: none.npz"),
        ("rbm bits.npy --checkpoint=.", "checkpoint must name a file, got '.'"),
        (
            "tggm X.npy y.npy --n-models=2 --start=X.npz",
            "--start has no effect on an ensemble: its",
        ),
        ("tggm X.npy y.npy --validation=2", "validation must be below 1.0, got 2.0"),
    ],
)
def test_refusals_are_one_sentence_and_leave_nothing(words, message, capsys, place):
    for name in ("X.npz", "Y-history.npz"):
        (place / name).write_bytes(b"mine")
    before = sorted(place.iterdir())
    if message is None:
        with pytest.raises(SystemExit):
            main(["train", *words.split()])
    else:
        assert main(["train", *words.split(), "--quiet"]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"trug-fast: {message}") and said.count("\n") == 1
    assert sorted(place.iterdir()) == before


def test_without_matplotlib_it_trains_and_sample_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert main(["train", "rbm", "bits.npy", *SMALL]) == 0
    assert main(["sample", "bits-rbm.npz", "--n-gibbs=1"]) == 2
    assert 'pip install "trug-fast[plot]"' in capsys.readouterr().err


def test_mistakes_of_ours_are_not_hidden(monkeypatch):
    monkeypatch.setattr(files, "write", lambda *_: {}["nothing"])
    with pytest.raises(KeyError):
        main(["train", "rbm", "bits.npy", *SMALL])
