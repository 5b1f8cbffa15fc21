"""``trug-fast evaluate`` and ``predict``: their numbers are the library's."""

import json

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import evaluate as module
from trug_fast.cli import main

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(50, 3))
FEW = ["--n-chains=10", "--n-temperatures=20", "--quiet"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with models and data, which commands run in."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("t.csv", TABLE, delimiter=",", header="a,b,y", comments="")
    np.save("bits.npy", RNG.integers(0, 2, (30, 8)))
    tf.BernoulliRBM(RNG.normal(size=(8, 2)), 0.0, 0.0).save("rbm.npz")
    tf.BernoulliRBM(0.1 * RNG.normal(size=(64, 2)), 0.0, 0.0).save("digits.npz")
    one = tf.TruGTGGM([[1.0, 0.5]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
    one.with_columns(("a", "b")).save("tggm.npz")
    two = [one, tf.TruGTGGM(**one.arrays() | {"output_bias": 1.0})]
    tf.TGGMEnsemble([each.with_columns(("a", "b")) for each in two]).save("two.npz")
    fit = tf.train_trbm(RNG.integers(0, 2, (4, 9, 5)), 3, epochs=1, progress=False, rng=0)
    fit.model.save("trbm.npz")
    np.save("video.npy", RNG.integers(0, 2, (4, 9, 5)))
    np.save("levels.npy", RNG.random((5, 64)))
    np.save("real.npy", np.full((5, 64), 0.5) - 1.5 * np.eye(5, 64))
    return tmp_path


def test_log_likelihoods(capsys, place):
    assert main(["evaluate", "rbm.npz", "bits.npy", *FEW]) == 0
    X, model = np.load("bits.npy"), tf.BernoulliRBM.load("rbm.npz")
    how = {"n_chains": 10, "n_temperatures": 20, "direction": "both", "base": X, "rng": 0}
    estimate = tf.log_partition(model, **how)
    nats = tf.log_likelihood(model, X, estimate).mean()
    printed = capsys.readouterr().out
    assert f"data     {nats:.3f} +- {estimate.std_error:.3f} nats per row" in printed
    assert f"log Z    {estimate.log_z:.3f} +- " in printed
    (place / "c.json").write_text(json.dumps({"schedule": "adaptive", "direction": "forward"}))
    assert main(["evaluate", "rbm.npz", "bits.npy", *FEW, "--config=c.json", "--seed=1"]) == 0
    assert "forward, low on average" in capsys.readouterr().out
    (place / "c.json").write_text('{"schedul": "adaptive"}')
    assert main(["evaluate", "rbm.npz", "bits.npy", *FEW, "--config=c.json"]) == 2
    assert "has no 'schedul' (is it 'schedule'?)" in capsys.readouterr().err


def test_a_named_set_has_two_parts_and_doubts_are_told(capsys):
    few = ["--n-chains=10", "--n-temperatures=2", "--quiet"]
    model = tf.BernoulliRBM(3 * RNG.normal(size=(64, 20)), 0.0, 0.0)
    model.save("digits.npz")
    assert main(["evaluate", "digits.npz", "digits", *few]) == 0
    said = capsys.readouterr()
    assert "\ntest     -" in said.out and "\ntraining -" in said.out
    assert "trug-fast: warning: " in said.err and "weights collapsed" in said.err


def test_an_annealing_goes_on_and_ctrl_c_is_told(capsys, monkeypatch):
    words = ["evaluate", "rbm.npz", "bits.npy", *FEW]
    assert main(words) == 0
    first = capsys.readouterr().out
    for _ in range(2):
        assert main([*words, "--checkpoint=run.npz"]) == 0
        assert capsys.readouterr().out == first

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "log_partition", interrupt)
    monkeypatch.setattr(module.config, "chosen", lambda *_: {"rng": 0})
    assert main(words) == 130
    assert capsys.readouterr().err == "trug-fast: interrupted\n"


def test_forecasts(capsys):
    assert main(["evaluate", "trbm.npz", "video.npy", "--quiet"]) == 0
    model, videos = tf.TruGTRBM.load("trbm.npz"), np.load("video.npy")
    error = tf.prediction_error(model, videos, rng=0).mean()
    assert f"error of its forecasts      {error:.3f}, squared" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["tggm", "two"])
def test_regressions(name, capsys):
    kind = tf.TruGTGGM if name == "tggm" else tf.TGGMEnsemble
    model, X, y = kind.load(f"{name}.npz"), TABLE[:, :2], TABLE[:, 2]
    assert main(["evaluate", f"{name}.npz", "t.csv", "--target=y", "--level=0.5", "--quiet"]) == 0
    scores, printed = tf.regression_scores(model, X, y, levels=0.5), capsys.readouterr().out
    assert f"RMSE            {scores.rmse:.4g} +- " in printed
    assert f"50 % interval   {100 * scores.coverage[0.5]:.0f} % of the rows inside" in printed
    words = ["predict", f"{name}.npz", "t.csv", "--quiet"]
    assert main([*words, "--quantiles=0.25,0.9", "--level=0.5", "--target=2", "--out=p.csv"]) == 0
    found = np.genfromtxt("p.csv", delimiter=",", names=True)
    assert found.dtype.names == ("observed", "mean", "std", "lower", "upper", "q025", "q09")
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(
        np.column_stack([found["mean"], found["std"]]), np.c_[mean, std], 1e-7
    )
    np.testing.assert_allclose(found["observed"], y, 1e-7)
    np.testing.assert_array_equal(found["lower"], found["q025"])
    np.testing.assert_allclose(found["q09"], model.predict_quantiles(X, 0.9), 1e-7)
    assert main(words) == 0  # its default is beside the model; a target is not needed
    assert np.loadtxt("t-predictions.csv", delimiter=",", skiprows=1).shape == (50, 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate none.npz bits.npy", "no such file: none.npz"),
        ("evaluate t.csv bits.npy", "t.csv is no trug_fast file or is damaged"),
        (
            "evaluate digits.npz levels.npy",
            "levels.npy has grey levels: make them 0 and 1 with --b",
        ),
        (
            "evaluate digits.npz real.npy",
            "real.npy has values from -1 to 0.5: digits.npz is of 0 an",
        ),
        ("evaluate digits.npz bits.npy", "digits.npz is of 64 columns, bits.npy has 8; leave out"),
        ("evaluate rbm.npz bits.npy --target=0", "--target has no effect on a BernoulliRBM"),
        ("evaluate rbm.npz bits.npy y.npy", "Y has no effect on a BernoulliRBM"),
        ("evaluate rbm.npz bits.npy --length=3", "--length has no effect on a BernoulliRBM"),
        ("evaluate tggm.npz t.csv", "name the targets of t.csv: a file after it, or --target COLU"),
        ("evaluate tggm.npz t.csv --target=y --path=quad", "--path has no effect on a TruGTGGM"),
        ("evaluate trbm.npz video.npy --level=0.5", "--level has no effect on a TruGTRBM"),
        (
            "predict rbm.npz t.csv",
            "rbm.npz holds a BernoulliRBM, expected a TruGTGGM or TGGMEnsemb",
        ),
        ("predict tggm.npz bits.npy", "tggm.npz is of 2 columns, bits.npy has 8; leave out some"),
        ("predict tggm.npz t.csv --level=2", "level must be below 1.0, got 2"),
        ("predict tggm.npz t.csv --quantiles=a", "q must hold real numbers"),
        ("predict tggm.npz t.csv --out=p.txt", "--out must end in .csv, got p.txt"),
    ],
)
def test_what_does_not_fit_is_one_sentence(words, message, capsys):
    assert main([*words.split(), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trug-fast: {message}") and said.count("\n") == 1
