"""``--data FILE``: from data of one's own to models, samples and forecasts in their units."""

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import ROOT
from trug_fast.cli import main, options
from trug_fast.cli.choices import chosen_training
from trug_fast.cli.train import TrainRBM, TrainTGGM, TrainTRBM

RNG = np.random.default_rng(0)
RBM = ["--n-hidden=4", "--epochs=2", "--ais-n-temperatures=20", "--ais-n-chains=10"]
ALONE = ["--no-baseline", "--quiet", "--threads=1"]
GREY = RNG.random((40, 4, 4)).astype(np.float32)
BOTH = RNG.normal(size=(60, 1))
PEOPLE = np.hstack([170 + 10 * BOTH, 70 + 8 * BOTH + RNG.normal(size=(60, 1)), np.full((60, 1), 5)])
WAVES = [np.outer(np.sin(np.arange(n) / 3), [20.0, 5.0]) + [100.0, 0.0] for n in (30, 20, 25, 15)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with data of many kinds, and nothing else, which commands run in."""
    monkeypatch.chdir(tmp_path)
    np.save("grey.npy", GREY)
    np.save("bytes.npy", (GREY * 255).astype(np.uint8))
    np.save("bits.npy", GREY.reshape(40, 16) > 0.5)
    np.save("counts.npy", RNG.integers(0, 8, (40, 5)))
    np.savetxt("people.csv", PEOPLE, delimiter=",", header="height,weight,shoes", comments="")
    np.savez("waves.npz", **{f"w{k}": wave for k, wave in enumerate(WAVES)})
    np.save("long.npy", np.concatenate(WAVES))
    (tmp_path / "family.fasta").write_text(">a\nACD\n>b\nAC-\n>c\nWWW\n")
    return tmp_path


def run(*words):
    assert main([*words, *ALONE[1:]]) == 0


def test_an_ensemble_of_own_tables(files, capsys):
    words = ["--data=people.csv", "--target=weight", "--n-hidden=4", "--epochs=3", "--out=several"]
    run("train", "tggm", *words, "--n-models=2", "--workers=2", "--no-baseline")
    assert "TruG-TGGM" in capsys.readouterr().out
    several = tf.TGGMEnsemble.load("several/model.npz")
    assert len(several) == 2 and several.columns == ("height", "shoes")
    assert len(np.load("several/model-history.npz")["epoch"]) == 3
    run("evaluate", "several/model.npz", "--data=people.csv", "--target=weight")
    assert "TGGMEnsemble(n_models=2" in capsys.readouterr().out
    assert main(["train", "tggm", *words, "--workers=2"]) == 2
    assert "--workers has no effect without --n-models" in capsys.readouterr().err
    assert main(["train", "tggm", *words, "--n-models=0"]) == 2
    assert "--n-models must be at least 1, got 0" in capsys.readouterr().err
    assert main(["train", "tggm", *words, "--n-models=2", "--workers=0"]) == 2
    assert "--workers must be at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--data=bits.npy", "--size=2x8"],
        ["--data=grey.npy", "--binarize=sample"],
        ["--data=grey.npy", "--soft"],
        ["--data=bytes.npy", "--binarize=sample"],
        ["--data=bits.npy", "--test=bits.npy", "--validation=0.2"],
    ],
)
def test_own_images(options, files, capsys):
    run("train", "rbm", *options, *RBM, "--no-baseline", "--out=out")
    words = capsys.readouterr().out
    images = "--size=2x8" in options or "bits.npy" not in options[0]
    assert f"test {'images' if images else 'rows'}\n" in words
    count = 40 if "--test=bits.npy" in options else 36
    if "--validation=0.2" not in options:
        assert f": {count} training and " in words
    model = tf.TruGRBM.load("out/model.npz")
    assert model.n_visible == 16 and model.scaling is None


def test_bits_and_grey_levels_that_become_the_same_bits_give_the_same_model(files):
    np.save("same.npy", GREY.reshape(40, 16) > 0.5)
    run("train", "rbm", "--data=same.npy", *RBM, "--no-baseline", "--out=a")
    run("train", "rbm", "--data=grey.npy", "--binarize=threshold", *RBM, "--no-baseline", "--out=b")
    models = [tf.TruGRBM.load(f"{name}/model.npz") for name in "ab"]
    np.testing.assert_array_equal(models[0].weights, models[1].weights)


def test_real_rows_come_back_in_their_units(files, capsys):
    train = ["train", "rbm", "--data=people.csv", "--visible=gaussian", *RBM]
    run(*train, "--epochs=20", "--learning-rate=0.01", "--out=out")
    assert "nats per row of standardised columns" in capsys.readouterr().out
    model = tf.TruGRBM.load("out/model.npz")
    scaling = tf.BernoulliRBM.load("out/baseline.npz").scaling
    np.testing.assert_array_equal(scaling.mean, model.scaling.mean)
    assert 165 < scaling.mean[0] < 175 and scaling.deviation[2] == 0
    run("sample", "out/model.npz", "-n=200", "--n-gibbs=30", "--out=out/s.csv")
    assert tf.datasets.read("out/s.csv").columns == model.columns == ("height", "weight", "shoes")
    draws = tf.datasets.read("out/s.csv").rows()
    assert draws.shape == (200, 3) and (draws[:, 2] == 5).all()
    assert abs(draws[:, 0].mean() - 170) < 5 and 6 < draws[:, 0].std() < 15
    # The default is beside the model.
    run("sample", "out/model.npz", "-n=4", "--n-gibbs=3", "--start=data", "--data=people.csv")
    assert np.load("out/samples.npz")["samples"].shape == (4, 3)
    capsys.readouterr()
    words = ["--data=people.csv", "--n-temperatures=30", "--n-chains=10"]
    run("evaluate", "out/model.npz", *words)
    found = json.loads((files / "out" / "result.json").read_text())["results"]["TruG-RBM"]
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("test"))
    assert float(line.split()[1]) == pytest.approx(found["test_log_likelihood"], abs=0.3)
    # Going on keeps the units of the model, whatever the new data are.
    np.savetxt("tall.csv", PEOPLE + 50, delimiter=",")
    run(*train, "--data=tall.csv", "--start=out/model.npz", "--no-baseline", "--out=on")
    np.testing.assert_array_equal(tf.TruGRBM.load("on/model.npz").scaling.mean, scaling.mean)


def test_columns_are_found_by_their_names(files, capsys):
    small = ["--n-hidden=4", "--epochs=2", "--no-baseline"]
    tggm = ["train", "tggm", "--target=weight", *small]
    run(*tggm, "--data=people.csv", "--test=people.csv", "--out=a")
    names, other = "shoes,more,weight,height", PEOPLE[:, [2, 0, 1, 0]]
    np.savetxt("other.csv", other, delimiter=",", header=names, comments="")
    run("predict", "a/model.npz", "--data=people.csv", "--out=1.csv")
    run("predict", "a/model.npz", "--data=other.csv", "--out=2.csv")
    run("predict", "a/model.npz", "--data=other.csv", "--target=2", "--out=3.csv")
    found = [np.genfromtxt(f"{k}.csv", delimiter=",", names=True)["mean"] for k in (1, 2, 3)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    run(*tggm, "--data=people.csv", "--test=other.csv", "--out=b")
    tested = [np.loadtxt(f"{name}/predictions.csv", delimiter=",", skiprows=1) for name in "ab"]
    np.testing.assert_array_equal(*tested)
    rbm = ["train", "rbm", "--visible=gaussian", *RBM, "--no-baseline", "--data=people.csv"]
    run(*rbm, "--out=c")
    outputs = []
    for name in ("people", "other"):
        capsys.readouterr()
        run("evaluate", "c/model.npz", f"--data={name}.csv", "--n-temperatures=20")
        outputs.append(capsys.readouterr().out.splitlines()[1:])
    assert outputs[0] == outputs[1]
    np.savetxt("less.csv", PEOPLE[:, :2], delimiter=",", header="height,weight", comments="")
    assert main(["predict", "a/model.npz", "--data=less.csv"]) == 2
    assert "less.csv lacks the columns shoes; it has height, weight" in capsys.readouterr().err


def test_text_in_columns_that_a_model_never_used_does_no_harm(files, capsys):
    pytest.importorskip("pandas")
    rows = [",".join(map(str, [h, "Rome", s, w, ""])) for h, w, s in PEOPLE[:, [0, 1, 2]]]
    Path("homes.csv").write_text("\n".join(["height,town,shoes,weight,note", *rows]))
    small = ["--n-hidden=4", "--epochs=2", "--no-baseline"]
    run("train", "tggm", "--target=weight", *small, "--data=people.csv", "--out=a")
    run("predict", "a/model.npz", "--data=people.csv", "--out=1.csv")
    run("predict", "a/model.npz", "--data=homes.csv", "--out=2.csv")
    run("predict", "a/model.npz", "--data=homes.csv", "--target=3", "--out=3.csv")
    found = [np.genfromtxt(f"{k}.csv", delimiter=",", names=True)["mean"] for k in (1, 2, 3)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6)
    run("evaluate", "a/model.npz", "--data=homes.csv", "--target=weight")
    rbm = ["train", "rbm", "--visible=gaussian", *RBM, "--no-baseline", "--data=people.csv"]
    run(*rbm, "--out=c")
    run("evaluate", "c/model.npz", "--data=homes.csv", "--n-temperatures=20")
    Path("less.csv").write_text("\n".join(["Height,town", *["1,Rome"] * 30]))
    capsys.readouterr()
    assert main(["predict", "a/model.npz", "--data=less.csv"]) == 2
    words = "less.csv lacks the columns height (is it 'Height'?), shoes; it has Height, town"
    assert words in capsys.readouterr().err
    assert main(["predict", "a/model.npz", "--data=homes.csv", "--target=Weight"]) == 2
    assert "has no column 'Weight' for target" in capsys.readouterr().err


def test_own_sequences(files, capsys):
    words = ["--visible=gaussian", "--n-hidden=4", "--epochs=2", "--no-baseline"]
    run("train", "trbm", "--data=waves.npz", *words, "--out=out")
    assert "waves: 3 training and 1 test sequences" in capsys.readouterr().out
    model = tf.TruGTRBM.load("out/model.npz")
    np.testing.assert_allclose(model.scaling.mean, np.concatenate(WAVES[:3]).mean(axis=0))
    on = ["sample", "out/model.npz", "-n=3", "--start=data", "--data=waves.npz", "--n-gibbs=20"]
    run(*on, "--out=next.csv")
    found = np.loadtxt("next.csv", delimiter=",")
    last = model.scaling.apply(WAVES[-1])
    right = model.generate(3, prefix=last, n_gibbs=20, return_mean=True, rng=0)
    np.testing.assert_allclose(found, model.scaling.undo(right), rtol=1e-6)
    assert np.abs(found[0] - WAVES[-1][-1]).max() < 15  # not far from the frame before
    run("evaluate", "out/model.npz", "--data=waves.npz")
    printed = capsys.readouterr().out
    every = [model.scaling.apply(wave) for wave in WAVES]
    assert f"forecasts      {tf.prediction_error(model, every, rng=0).mean():.3f}" in printed
    run("train", "trbm", "--data=long.npy", "--length=20", *words, "--out=cut")
    assert "long: 4 training and 1 test sequences" in capsys.readouterr().out


def test_own_videos(files):
    np.save("video.npy", (tf.datasets.bouncing_balls(3, 8, size=5, rng=0) * 255).astype(np.uint8))
    np.save("video.npy", np.load("video.npy").reshape(3, 8, 5, 5))
    pytest.importorskip("matplotlib")
    run("train", "trbm", "--data=video.npy", "--n-hidden=3", "--epochs=1", "--no-baseline")
    assert (files / "trug-trbm-video" / "strips.png").exists()
    model = "trug-trbm-video/model.npz"
    seen = ["--n-seen=3", "--n-frames=4", "--n-gibbs=2"]
    run("plot", "video", model, "own.png", "--data=video.npy", *seen)
    run("sample", model, "-n=2", "--n-gibbs=2", "--start=data", "--data=video.npy", "--out=a.gif")
    assert (files / "own.png").stat().st_size > 500 and (files / "a.gif").stat().st_size > 100


def test_own_tables(files, capsys):
    words = ["--data=people.csv", "--target=weight"]
    run("train", "tggm", *words, "--n-hidden=4", "--epochs=3", "--no-baseline", "--out=out")
    assert "people: 54 training and 6 test rows" in capsys.readouterr().out
    written = np.loadtxt("out/predictions.csv", delimiter=",", skiprows=1)
    assert written.shape == (6, 5)
    assert set(written[:, 0]) <= {float(f"{w:.9g}") for w in PEOPLE[:, 1]}
    model, inputs = tf.TruGTGGM.load("out/model.npz"), PEOPLE[:, [0, 2]]
    run("predict", "out/model.npz", "--data=people.csv", "--drop=weight")
    found = np.genfromtxt("out/people-predictions.csv", delimiter=",", names=True)
    mean, std = model.predict(inputs, return_std=True)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-8)
    np.testing.assert_allclose(found["upper"] - found["lower"], 2 * 1.6448536 * std, rtol=1e-6)
    run("evaluate", "out/model.npz", *words)
    rmse = np.sqrt(np.mean((mean - PEOPLE[:, 1]) ** 2))
    assert f"RMSE            {rmse:.4g} +- " in capsys.readouterr().out
    two = [model, tf.TruGTGGM(**model.arrays() | {"output_bias": 1.0})]
    two = tf.TGGMEnsemble([each.with_columns(model.columns) for each in two])
    two.save("two.npz")
    asked = ["--level=0.5", "--quantiles=0.25,0.9,0.90000001", "--out=two.csv"]
    run("predict", "two.npz", "--data=people.csv", "--drop=weight", *asked)
    found = np.genfromtxt("two.csv", delimiter=",", names=True)
    assert found.dtype.names == ("mean", "std", "lower", "upper", "q025", "q09", "q090000001")
    np.testing.assert_array_equal(found["lower"], found["q025"])
    np.testing.assert_allclose(found["q09"], two.predict_quantiles(inputs, 0.9), rtol=1e-8)
    capsys.readouterr()
    run("evaluate", "two.npz", *words, "--level=0.5")
    scores = tf.regression_scores(two, inputs, PEOPLE[:, 1], levels=0.5)
    printed = capsys.readouterr().out
    assert f"CRPS            {scores.crps:.4g} +- {scores.crps_error:.2g}\n" in printed
    assert f"50 % interval   {100 * scores.coverage[0.5]:.0f} % of the rows inside" in printed
    pytest.importorskip("matplotlib")
    assert (files / "out" / "predictions.png").read_bytes()[:4] == b"\x89PNG"
    run("plot", "units", "out/model.npz", "units.png")
    run("plot", "history", "out/model-history.npz", "history.png")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train rbm --data none.npy", "or a file or folder of your own; there is no none.npy"),
        ("train rbm --data cifar", "--data must be digits, mnist, binarized-mnist, or"),
        ("train rbm --data grey.npy", "grey.npy has grey levels: make them 0 and 1 with --binari"),
        ("train rbm --data people.csv", "values from 5 to .*: real numbers need --visible gaussi"),
        ("train rbm --data counts.npy --binarize sample", "values from 0 to 7: real numbers need"),
        ("train rbm --data people.csv --visible gaussian --binarize sample", "--binarize has no"),
        ("train rbm --data grey.npy --soft --binarize sample", "--binarize sample has no effect"),
        ("train rbm --data waves.npz", "waves.npz holds the arrays w0, .*; choose one with --key "),
        ("train rbm --data grey.npy --key a", "grey.npy has no array --key a: it is no .npz"),
        ("train rbm --data bits.npy --size 5", "has 16 columns, --size 5x5 needs 25"),
        ("train rbm --data bits.npy --size 0", "--size must be a number of pixels, or HEIGHTxWID"),
        ("train rbm --data bits.npy --data-dir x", "--data-dir has no effect on a file of your"),
        ("train rbm --data bits.npy --test-share 1", "--test-share must be above 0 and below 1"),
        ("train rbm --data bits.npy --test bits.npy --test-share .5", "--test-share has no effec"),
        (
            "train rbm --data bits.npy --test people.csv",
            "people.csv has 3 columns, bits.npy has 16",
        ),
        (
            "train rbm --data family.fasta",
            "family.fasta holds letters.* need --visible categorical",
        ),
        ("train rbm --data bits.npy --alphabet rna", "--alphabet rna has no effect on bits.npy"),
        ("train rbm --alphabet rna", "--alphabet is for data of your own, not digits"),
        ("train rbm --test bits.npy", "--test is for data of your own, not digits"),
        ("train rbm --drop 1", "--drop is for data of your own, not digits"),
        ("train trbm --data waves.npz", "values from .* real numbers need --visible gaussian"),
        ("train trbm --data long.npy", "long.npy holds 1 of the sequences .* cut it with --length"),
        ("train trbm --data waves.npz --videos 3", "--videos has no effect on a file of your own"),
        ("train trbm --data waves.npz --length 1", "--length must be at least 2, got 1"),
        ("train tggm --data people.csv", "--target must say which .*; it has height, weight, sho"),
        ("train tggm --data people.csv --target age", "no column 'age' for target; its columns a"),
        ("train tggm --data people.csv --target 0 --split 1", "--split has no effect on a file"),
        ("train tggm --data people.csv --target shoes", "the same target 5 in all rows: there is "),
        ("train tggm --target 0", "--target is for data of your own, not yacht"),
    ],
)
def test_wrong_data_get_one_sentence_and_nothing_is_written(words, message, files, capsys):
    if "fasta" in words:
        pytest.importorskip("Bio", reason="Biopython reads alignments")
    before = sorted(files.iterdir())
    given = ["--n-hidden=3"] if words.startswith("train") else []
    assert main([*words.split(), *given, *ALONE]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said), said
    assert said.startswith("trug-fast: ") and said.count("\n") == 1
    assert sorted(files.iterdir()) == before


def test_letters_become_the_numbers_of_their_states(files):
    pytest.importorskip("Bio", reason="Biopython reads alignments")
    family = np.random.default_rng(1).integers(0, 5, (40, 6))
    tf.datasets.save_fasta("family.fasta", family, "rna")
    parser = argparse.ArgumentParser()
    options.add_data(parser)
    arguments = parser.parse_args(["--data=family.fasta", "--alphabet=rna"])
    arguments.seed = 0
    rows = options.load_data(arguments, "categorical")
    assert rows.train.shape == (36, 6) and rows.letters == "-ACGU" and rows.columns is None
    np.testing.assert_array_equal(
        np.unique(np.vstack([rows.train, rows.test]), axis=0), np.unique(family, axis=0)
    )
    arguments.binarize = "threshold"
    with pytest.raises(ValueError, match="no effect on --visible categorical"):
        options.load_data(arguments, "categorical")


@pytest.mark.parametrize("command", [TrainRBM(), TrainTRBM(), TrainTGGM()])
def test_defaults_for_a_file_are_the_library_s(command):
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    arguments = parser.parse_args([command.name, "--data=x.npy"])
    command._settle(arguments)
    # train_rbm has no number of hidden units of its own.
    expected = {"n_hidden": 100} if command.name == "rbm" else {}
    assert chosen_training(arguments, command.train) == expected


def test_data_that_do_not_fit_a_model(files, capsys):
    scaling = tf.Scaling.fit(PEOPLE)
    real = tf.BernoulliRBM(np.zeros((3, 2)), 0, 0, visible_precision=1.0).with_scaling(scaling)
    real.save("real.npz")
    tf.TruGTGGM([[1.0, 1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0).save("tggm.npz")
    for words, message in (
        ("evaluate real.npz --data bits.npy", "bits.npy has 16 columns, the model is of 3; name"),
        ("evaluate real.npz --data people.csv --target 1", "--target has no effect on a Berno"),
        ("evaluate tggm.npz --data people.csv", "--target must name the column"),
        ("evaluate tggm.npz --data people.csv --target 1 --paper", "--paper has no effect on a"),
        (
            "evaluate tggm.npz --target 1",
            "--data must name a file or folder of your own, got digits",
        ),
        ("sample real.npz --data people.csv", "--data has no effect without --start data"),
        ("predict tggm.npz --data people.csv --level 2", "--level must be below 1.0, got 2"),
        ("predict tggm.npz --data people.csv --quantiles a", "--quantiles must be numbers such as"),
        (
            "predict tggm.npz --data people.csv --quantiles .5,0.9,0.50",
            "--quantiles must have each share once, got 0.5 twice",
        ),
        ("evaluate real.npz --data people.csv --level .5", "--level has no effect on a Bernoulli"),
        ("predict tggm.npz", "--data must name a file or folder of your own, got None"),
        ("predict tggm.npz --data people.csv", "takes 2 inputs, people.csv has 3; name the colu"),
        (
            "predict real.npz --data people.csv",
            "holds a BernoulliRBM, expected a TruGTGGM or",
        ),
        ("sample real.npz --out a.png", "3 pixels make no square image; give its size by --size"),
        ("sample real.npz --out a.png --size 2", "--size 2 does not fit a model of 3 pixels"),
        ("sample real.npz --out a.txt", "--out must end in .png or .npz or .npy or .csv"),
    ):
        assert main([*words.split(), "--quiet"]) == 2
        said = capsys.readouterr().err
        assert message in said, said


def test_the_commands_of_the_page_run_as_they_stand(files, capsys):
    page = (ROOT / "docs" / "your_data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    commands = [line.split()[1:] for block in blocks for line in block.splitlines()]
    np.save("images.npy", GREY)
    names = {"header": "size,age,price", "comments": "", "delimiter": ","}
    np.savetxt("houses.csv", PEOPLE[:, [0, 2, 1]], **names)
    np.savez("series.npz", **{f"day{k}": wave for k, wave in enumerate(WAVES)})
    small = {
        "train": ["--no-baseline", "--epochs=1", "--n-hidden=3"],
        "rbm": ["--ais-n-temperatures=9", "--ais-n-chains=5"],
        "sample": ["--n-gibbs=2"],
    }
    ran = [words for words in commands if words[0] != "datasets"]
    for words in ran:
        more = [each for word in words[:2] for each in small.get(word, [])]
        more += ["--n-temperatures=9"] if words[:2] == ["evaluate", "images/model.npz"] else []
        assert main([*words, *more, "--quiet"]) == 0, capsys.readouterr().err
    assert len(ran) == 9
    for name in ("samples.png", "predictions.csv", "next.csv"):
        assert (files / name).exists()
