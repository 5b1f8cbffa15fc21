"""``trug-fast sample`` and ``plot``: draws as the library's, and pictures."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast.cli import main

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with models and data, which commands run in."""
    monkeypatch.chdir(tmp_path)
    tf.BernoulliRBM(RNG.normal(size=(64, 5)), 0.0, 0.0).save("rbm.npz")
    tf.BernoulliRBM(RNG.normal(size=(6, 5)), 0.0, 0.0).save("odd.npz")
    tf.BernoulliRBM(np.zeros((2, 3, 5)), 0.0, 0.0, visible="categorical").save("states.npz")
    np.save("videos.npy", RNG.integers(0, 2, (3, 9, 16)))
    fit = tf.train_trbm(np.load("videos.npy"), 3, epochs=1, progress=False, rng=0)
    fit.model.save("trbm.npz")
    files.write("history.npz", "history", fit.history)
    return tmp_path


def test_rows(capsys):
    model = tf.BernoulliRBM.load("rbm.npz")
    digits = tf.datasets.load_digits(binarize="threshold")
    for more, start in (([], None), (["--start=digits"], digits.test[:5])):
        words = ["sample", "rbm.npz", "-n=5", "--n-gibbs=3", "--seed=2", "--out=d.npz"]
        assert main([*words, *more]) == 0
        expected = model.sample(5, n_gibbs=3, start=start, return_mean=True, rng=2)
        np.testing.assert_array_equal(np.load("d.npz")["samples"], expected)
    assert capsys.readouterr().out.startswith("5 rows written to d.npz\n")
    assert main(["sample", "odd.npz", "-n=2", "--n-gibbs=1"]) == 0  # no images: numbers
    assert np.load("odd-samples.npz")["samples"].shape == (2, 6)


def test_frames():
    model, words = tf.TruGTRBM.load("trbm.npz"), ["sample", "trbm.npz", "-n=3", "--n-gibbs=2"]
    for more, prefix in (([], None), (["--start=videos.npy"], np.load("videos.npy")[-1])):
        assert main([*words, *more, "--out=f.npy"]) == 0
        expected = model.generate(3, prefix=prefix, n_gibbs=2, return_mean=True, rng=0)
        np.testing.assert_array_equal(np.load("f.npy"), expected)


@pytest.mark.parametrize(
    ("words", "magic"),
    [
        ("sample rbm.npz -n 5 --n-gibbs 3 --out out.png", b"\x89PNG"),
        ("sample odd.npz -n 5 --n-gibbs 3 --size 2,3 --out out.png", b"\x89PNG"),
        ("sample trbm.npz -n 3 --n-gibbs 2 --out out.png", b"\x89PNG"),
        ("sample trbm.npz -n 3 --n-gibbs 2 --out out.gif", b"GIF8"),
        ("plot family out.png", b"\x89PNG"),
        ("plot units trbm.npz out.png", b"\x89PNG"),
        ("plot history history.npz out.png", b"\x89PNG"),
    ],
)
def test_pictures(words, magic, place):
    pytest.importorskip("matplotlib")
    assert main(words.split()) == 0
    assert (place / words.split()[-1]).read_bytes()[:4] == magic


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sample rbm.npz --out a.txt", "--out must end in .png or .npz or .npy or .csv, got a.txt"),
        ("sample rbm.npz --out a.gif", "--out must end in .png or .npz or .npy or .csv, got a.gif"),
        ("sample odd.npz --out a.png", "6 columns make no images of 2x2; give their size by --siz"),
        ("sample odd.npz --out a.png --size 3", "6 columns make no images of 3x3; give their size"),
        ("sample states.npz --out a.png", "categorical units make no images: write a .npz or .cs"),
        (
            "sample rbm.npz --length 3 --start videos.npy",
            "--length has no effect on BernoulliRBM(n",
        ),
        ("sample rbm.npz --key a", "--key has no effect without --start"),
        ("sample rbm.npz --start videos.npy", "rbm.npz is of 64 columns, videos.npy has "),
        ("plot family rbm.npz a.png", "plot family takes OUT.png, got rbm.npz a.png"),
        ("plot units a.png", "plot units takes FILE.npz OUT.png, got a.png"),
        ("plot history rbm.npz a.png", "rbm.npz holds a BernoulliRBM, expected a history"),
    ],
)
def test_what_does_not_fit_is_one_sentence(words, message, capsys, place):
    before = sorted(place.iterdir())
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trug-fast: {message}") and said.count("\n") == 1
    assert sorted(place.iterdir()) == before
