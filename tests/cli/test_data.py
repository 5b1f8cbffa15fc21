"""Data of one's own: what is made of them, what is refused, and the commands of the page."""

import argparse
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import ROOT
from tests.support.kinds import sequences_of_classes
from trug_fast.cli import config, data, flags, main, train

RNG = np.random.default_rng(0)
GREY = RNG.random((40, 4, 4)).astype(np.float32)
BITS = GREY.reshape(40, 16) > 0.5
BOTH = RNG.normal(size=(60, 1))
PEOPLE = np.hstack([170 + 10 * BOTH, 70 + 8 * BOTH + RNG.normal(size=(60, 1)), np.full((60, 1), 5)])
WAVES = [np.outer(np.sin(np.arange(n) / 3), [20.0, 5.0]) + [100.0, 0.0] for n in (30, 20, 25, 15)]
SMALL = ["--n-hidden=3", "--epochs=1", "--quiet", "--threads=1"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with data of many kinds, and nothing else, which commands run in."""
    monkeypatch.chdir(tmp_path)
    np.save("grey.npy", GREY)
    np.save("bytes.npy", (GREY * 255).astype(np.uint8))
    np.save("bits.npy", BITS)
    np.save("counts.npy", RNG.integers(0, 8, (40, 5)))
    np.savetxt("people.csv", PEOPLE, delimiter=",", header="height,weight,shoes", comments="")
    np.savetxt("other.csv", PEOPLE[:, [2, 0, 1]], delimiter=",", header="shoes,height,weight",
               comments="")  # fmt: skip
    np.savez("waves.npz", **{f"w{k}": wave for k, wave in enumerate(WAVES)})
    np.save("long.npy", np.concatenate(WAVES))
    (tmp_path / "family.fasta").write_text(">a\nACD\n>b\nAC-\n>c\nWWW\n")
    return tmp_path


@pytest.fixture
def given(monkeypatch):
    """What trainings are given, which train nothing."""
    seen = []
    for name, (function, kinds) in train.TRAINS.items():

        def kept(*_, function=function, **settings):
            seen.append(settings)
            return function(**settings)

        kept.__signature__ = train.config.inspect.signature(function)
        monkeypatch.setitem(train.TRAINS, name, (kept, kinds))
    return seen


def run(*words):
    assert main([*words, *SMALL[2:]]) == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["bits.npy"], BITS),
        (["grey.npy", "--binarize=threshold"], BITS),
        (
            ["bytes.npy", "--binarize=threshold"],
            (GREY * 255).astype(np.uint8).reshape(40, 16) > 127,
        ),
        (["grey.npy", "--visible=truncated"], GREY.reshape(40, 16)),
        (["bits.npy", "--drop=0,15"], BITS[:, 1:15]),
    ],
)
def test_rows(options, expected, given):
    run("train", "rbm", *options, *SMALL)
    np.testing.assert_array_equal(given[0]["X"], expected)


def test_grey_levels_that_are_drawn_and_soft_ones(given, place):
    run("train", "rbm", "grey.npy", "--binarize=sample", *SMALL)
    drawn = given[0]["X"]
    assert set(np.unique(drawn)) == {0, 1} and 0.3 < (drawn == BITS).mean() < 0.9
    (place / "soft.json").write_text('{"visible": {"BernoulliUnits": {"soft": true}}}')
    run("train", "rbm", "bytes.npy", "--config=soft.json", *SMALL)
    assert abs(given[1]["X"] - GREY.reshape(40, 16)).max() < 0.01


def test_validation_and_weights_stay_with_their_rows(given):
    np.save("weights.npy", np.arange(40.0))
    run("train", "rbm", "bits.npy", "--sample-weight=weights.npy", "--validation=0.25", *SMALL)
    found = given[0]
    assert found["X"].shape == (30, 16) and found["validation"].shape == (10, 16)
    for row, weight in zip(found["X"], found["sample_weight"], strict=True):
        np.testing.assert_array_equal(row, BITS[int(weight)])
    both = np.vstack([found["X"], found["validation"]])
    assert sorted(map(bytes, both)) == sorted(map(bytes, BITS.astype(np.uint8)))
    run("train", "rbm", "bits.npy", "--validation=bits.npy", *SMALL)
    np.testing.assert_array_equal(given[1]["validation"], BITS)
    np.save("four.npy", np.arange(4.0))
    run("train", "trbm", "waves.npz", "--visible=gaussian", "--sample-weight=four.npy",
        "--validation=0.25", *SMALL)  # fmt: skip
    assert [len(each) for each in given[2]["sequences"]] == [30, 20, 25]
    assert given[2]["sample_weight"].tolist() == [0, 1, 2] and len(given[2]["validation"]) == 1
    run("train", "rbm", "digits", *SMALL)
    assert "validation" not in given[3]
    digits = tf.datasets.load_digits(binarize="threshold")
    np.testing.assert_array_equal(given[3]["X"], digits.train)


def test_real_numbers_are_standardised_and_come_back_in_their_units(given):
    run("train", "rbm", "people.csv", "--visible=gaussian", *SMALL, "--epochs=20")
    np.testing.assert_allclose(given[0]["X"].mean(axis=0), 0, atol=1e-6)
    model = tf.TruGRBM.load("people-rbm.npz")
    assert model.columns == ("height", "weight", "shoes") and model.scaling.deviation[2] == 0
    run("sample", "people-rbm.npz", "-n=200", "--n-gibbs=30", "--out=s.csv")
    drawn = tf.datasets.read("s.csv")
    assert drawn.columns == model.columns and abs(drawn.rows()[:, 0].mean() - 170) < 5
    # Going on keeps the units of the model, whatever the new data are; so it does without any.
    np.savetxt("tall.csv", PEOPLE + 50, delimiter=",")
    on = ["train", "rbm", "tall.csv", "--epochs=1", "--out=on.npz"]
    run(*on, "--start=people-rbm.npz")
    np.testing.assert_array_equal(tf.TruGRBM.load("on.npz").scaling.mean, model.scaling.mean)
    fit = tf.train_rbm(given[0]["X"], 3, visible="gaussian", epochs=1, rng=0)
    fit.model.save("raw.npz")
    run("train", "rbm", "people.csv", "--epochs=1", "--start=raw.npz", "--learning-rate=1e-9")
    np.testing.assert_array_equal(given[-1]["X"], PEOPLE)


def test_sequences(given):
    run("train", "trbm", "waves.npz", "--visible=gaussian", *SMALL)
    model = tf.TruGTRBM.load("waves-trbm.npz")
    np.testing.assert_allclose(model.scaling.mean, np.concatenate(WAVES).mean(axis=0))
    run("train", "trbm", "long.npy", "--length=20", "--visible=gaussian", *SMALL)
    assert [len(each) for each in given[1]["sequences"]] == [20, 20, 20, 20, 10]
    video = (tf.datasets.bouncing_balls(3, 8, size=5, rng=0) * 255).astype(np.uint8)
    np.save("video.npy", video.reshape(3, 8, 5, 5))
    run("train", "trbm", "video.npy", *SMALL)
    np.testing.assert_array_equal(np.stack(given[2]["sequences"]), video / 255)


def test_tables(given):
    run("train", "tggm", "people.csv", "--target=weight", *SMALL)
    run("train", "tggm", "other.csv", "--target=2", *SMALL)
    np.save("x.npy", PEOPLE[:, [0, 2]])
    np.save("y.npy", PEOPLE[:, 1])
    run("train", "tggm", "x.npy", "y.npy", *SMALL)
    np.savez("both.npz", X=PEOPLE[:, [0, 2]], y=PEOPLE[:, 1])
    run("train", "tggm", "both.npz", "--target=y", *SMALL)
    for found, order in zip(given, ([0, 2], [2, 0], [0, 2], [0, 2]), strict=True):
        np.testing.assert_array_equal(found["X"], PEOPLE[:, order])
        np.testing.assert_array_equal(found["y"], PEOPLE[:, 1])
    names = [tf.TruGTGGM.load(f"{name}-tggm.npz").columns for name in ("people", "other", "x")]
    assert names == [("height", "shoes"), ("shoes", "height"), None]


def test_columns_are_found_by_their_names_and_others_do_no_harm(capsys):
    rows = [",".join(map(str, [s, "Rome", w, h, ""])) for h, w, s in PEOPLE]
    Path("homes.csv").write_text("\n".join(["shoes,town,weight,height,note", *rows]))
    run("train", "tggm", "people.csv", "--target=weight", *SMALL)
    for name, more in (("people", []), ("homes", []), ("homes", ["--target=2"])):
        run("predict", "people-tggm.npz", f"{name}.csv", *more, f"--out={len(more)}{name}.csv")
    found = [
        np.genfromtxt(f"{name}.csv", delimiter=",", names=True)["mean"]
        for name in ("0people", "0homes", "1homes")
    ]
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)
    run("train", "rbm", "people.csv", "--visible=gaussian", *SMALL)
    outputs = []
    for name in ("people", "homes"):
        capsys.readouterr()
        run("evaluate", "people-rbm.npz", f"{name}.csv", "--n-temperatures=20", "--n-chains=9")
        outputs.append(capsys.readouterr().out.splitlines()[1:])
    assert outputs[0] == outputs[1]
    Path("less.csv").write_text("\n".join(["Height,town", *["1,Rome"] * 30]))
    assert main(["predict", "people-tggm.npz", "less.csv"]) == 2
    words = "less.csv lacks the columns height (is it 'Height'?), shoes; it has Height, town"
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("visible", ["categorical", "spin"])
def test_states_are_trained_on_evaluated_and_drawn(visible, capsys):
    rows = sequences_of_classes(100)
    rows = rows if visible == "categorical" else 2 * (rows > 1) - 1
    np.savetxt("s.csv", rows, delimiter=",", fmt="%d", header="a,b,c,d,e,f", comments="")
    run("train", "rbm", "s.csv", f"--visible={visible}", *SMALL)
    model = tf.TruGRBM.load("s-rbm.npz")
    assert model.visible == visible and model.columns == tuple("abcdef")
    run("evaluate", "s-rbm.npz", "s.csv", "--n-temperatures=20", "--n-chains=9")
    assert "nats per row" in capsys.readouterr().out
    run("sample", "s-rbm.npz", "-n=5", "--n-gibbs=3", "--start=s.csv", "--out=drawn.csv")
    drawn = np.loadtxt("drawn.csv", delimiter=",", skiprows=1)
    assert drawn.shape == (5, 6) and np.isin(drawn, np.unique(rows)).all()


def test_sequences_of_letters(capsys):
    rows = np.array([1, 2, 4])[sequences_of_classes(100) % 3]  # neither gaps nor all letters
    tf.datasets.save_fasta("family.fasta", rows, "rna")
    words = ["train", "rbm", "family.fasta", "--visible=categorical", *SMALL]
    assert main(words) == 2
    assert "seems to hold RNA" in capsys.readouterr().err
    run(*words, "--alphabet=rna")
    model = tf.TruGRBM.load("family-rbm.npz")
    assert model.letters == "-ACGU" and model.n_states == 5
    run("evaluate", "family-rbm.npz", "family.fasta", "--n-temperatures=20", "--n-chains=9")
    run("sample", "family-rbm.npz", "-n=5", "--n-gibbs=3")
    drawn = tf.datasets.load_fasta("family-rbm-samples.fasta", model.letters)
    assert np.array_equal(drawn.X, model.sample(5, n_gibbs=3, rng=0))
    again = ["--start=family-rbm.npz", "--alphabet=ACGU", "--epochs=1", "--quiet"]
    assert main(["train", "rbm", "family.fasta", *again]) == 2
    assert "--start has the letters -ACGU, the data have ACGU" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rbm none.npy", "DATA must be digits, mnist, or a file or folder; there is no none.npy"),
        ("rbm yacht", "DATA must be digits, mnist, or a file or folder; there is no yacht"),
        ("rbm grey.npy", "grey.npy has grey levels: make them 0 and 1 with --binarize threshold"),
        ("rbm people.csv", "people.csv has values from 5 to .*: real numbers need --visible gauss"),
        ("rbm counts.npy --binarize sample", "values from 0 to 7: real numbers need --visible gau"),
        ("rbm people.csv --visible gaussian --binarize sample", "--binarize has no effect on gaus"),
        ("rbm waves.npz", "waves.npz holds the arrays w0, .*; choose one with --key w0"),
        ("rbm grey.npy --key a", "grey.npy has no array --key a: it is no .npz or .h5 file"),
        ("rbm bits.npy --validation 1.5", r"--validation must be a share in \(0, 1\), or a file"),
        ("rbm bits.npy --validation people.csv", "people.csv has 3 columns, bits.npy 16"),
        ("rbm bits.npy --sample-weight waves.npz", "sample_weight must .*40"),
        ("rbm bits.npy --sample-weight long.npy --validation 0.1", "weight must have 40 num"),
        ("trbm balls --validation balls", "no such file or folder: balls"),
        ("rbm family.fasta", "family.fasta holds letters: they need --visible categorical"),
        ("rbm bits.npy --alphabet rna", "--alphabet rna has no effect on bits.npy"),
        ("rbm digits --drop 1", "--drop is for files, not for digits"),
        ("rbm digits --visible spin", "X must be -1 or 1"),
        ("trbm waves.npz", "values from .* real numbers need --visible gaussian"),
        ("trbm long.npy --visible gaussian --validation 0.1", "long.npy holds 1, of which none"),
        ("trbm family.fasta", "holds letters, which are no numbers"),
        ("tggm people.csv", "name the targets of people.csv: a file after it, or --target COLUMN; "
         "it has height, weight, shoes"),
        ("tggm people.csv --target age", "no column 'age' for --target; its columns are"),
        ("tggm people.csv bits.npy --target 0", "--target has no effect beside the targets in bi"),
        ("tggm family.fasta --target 0", "holds letters, which are no numbers"),
        ("tggm yacht --target 0", "--target is for files, not for yacht"),
    ],
)  # fmt: skip
def test_wrong_data_get_one_sentence_and_nothing_is_written(words, message, place, capsys):
    before = sorted(place.iterdir())
    assert main(["train", *words.split(), *SMALL]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said), said
    assert said.startswith("trug-fast: ") and said.count("\n") == 1
    assert sorted(place.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    "words",
    [
        "train rbm pipe.csv",
        "train trbm pipe.csv",
        "train tggm pipe.csv --target=0",
        "train tggm bits.npy pipe.csv",
        "train rbm bits.npy --sample-weight=pipe.csv",
        "train rbm people.csv --visible=gaussian --validation=pipe.csv",
        "train rbm bits.npy --config=pipe.csv",
        "predict model.npz pipe.csv",
    ],
)
def test_pipes_are_refused_unread(words, capsys):
    os.mkfifo("pipe.csv")
    model = tf.TruGTGGM([[1.0, 0.5]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
    model.with_columns(("a", "b")).save("model.npz")
    assert main([*words.split(), "--quiet"]) == 2
    assert "pipe.csv is a pipe or a device: " in capsys.readouterr().err


def test_mnist_is_looked_for_where_the_variable_says(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("TRUG_FAST_DATA", str(tmp_path))
    assert main(["train", "rbm", "mnist", *SMALL]) == 2
    said = capsys.readouterr().err
    assert "train-images-idx3-ubyte" in said and "TRUG_FAST_DATA" in said


def test_models_are_evaluated_on_other_rows_than_they_were_trained_on(given):
    run("train", "tggm", "yacht", *SMALL)
    run("train", "trbm", "balls", *SMALL)
    model = tf.TruGTGGM.load("yacht-tggm.npz")
    arguments = flags.parser().parse_args(["evaluate", "yacht-tggm.npz", "yacht"])
    arguments.seed = 0
    held_out = data.regression(arguments, model)
    split = tf.datasets.load_yacht().split(0)
    np.testing.assert_array_equal(given[0]["X"], split.X_train)
    np.testing.assert_array_equal(held_out.train, split.X_test)
    arguments = flags.parser().parse_args(["evaluate", "balls-trbm.npz", "balls"])
    arguments.seed = 0
    videos = data.of_model(arguments, "trbm", tf.TruGTRBM.load("balls-trbm.npz")).train
    trained = {video.tobytes() for video in given[1]["sequences"]}
    assert len(trained) == 200 and len(videos) == 20
    assert not trained & {video.tobytes() for video in videos}


def test_evaluation_reads_as_training_did():
    arguments = flags.parser().parse_args(["evaluate", "m.npz", "grey.npy", "--binarize=threshold"])
    assert isinstance(arguments, argparse.Namespace)
    arguments.seed = 0
    model = tf.BernoulliRBM(np.zeros((16, 2)), 0.0, 0.0)
    np.testing.assert_array_equal(data.of_model(arguments, "rbm", model).train, BITS)


def test_the_commands_of_the_page_run_as_they_stand(place, capsys):
    page = (ROOT / "docs" / "your_data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if "datasets" not in line]
    np.save("images.npy", GREY)
    names = {"header": "size,age,price", "comments": "", "delimiter": ","}
    np.savetxt("houses.csv", PEOPLE[:, [0, 2, 1]], **names)
    np.savez("series.npz", **{f"day{k}": wave for k, wave in enumerate(WAVES)})
    for line in lines:
        capsys.readouterr()
        command, _, target = line.partition(" > ")
        words = command.split()[1:]
        more = {"train": SMALL[1:2], "sample": ["--n-gibbs=2"]}.get(words[0], [])
        more = [*more, "--n-temperatures=9"] if words[:2] == ["evaluate", "images.npz"] else more
        assert main([*words, *more, "--quiet"]) == 0, capsys.readouterr().err
        if target:
            Path(target).write_text(capsys.readouterr().out)
    assert len(lines) == 11
    for name in ("samples.png", "predictions.csv", "next.csv"):
        assert (place / name).exists()


@pytest.mark.parametrize("page", ["your_data.md", "potts.md", "training.md"])
def test_configs_of_the_pages_are_taken(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found += re.findall(r"`(\{\"optimizer.*?\}\}\})`", text)
    for each in found:
        config.chosen(tf.train_rbm, argparse.Namespace(config=page), json.loads(each))
    assert found
