"""``--weights``: a column or a file says what each row of one's own counts for."""

import re

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import main
from trug_fast.cli.train import TrainRBM, TrainTGGM, TrainTRBM

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (40, 4))
COUNTS = RNG.integers(0, 5, 40)
TABLE = np.column_stack([RNG.normal(size=(40, 2)), COUNTS, RNG.normal(size=40)])
VIDEOS = {f"v{k}": RNG.integers(0, 2, (6, 5)) for k in range(5)}
SHORT = ["--n-hidden=3", "--epochs=1", "--no-baseline", "--quiet", "--threads=1", "--out=out"]
AIS = ["--ais-n-temperatures=10", "--ais-n-chains=4"]


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Run in a folder with data; return what each training is given."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("bits.csv", np.column_stack([BITS[:, :2], COUNTS, BITS[:, 2:]]), "%d", ",",
               header="a,b,n,c,d", comments="")  # fmt: skip
    np.savetxt("table.csv", TABLE, delimiter=",", header="x,z,n,y", comments="")
    np.save("bits.npy", BITS)
    np.save("counts.npy", COUNTS)
    np.save("more.npy", np.ones((40, 2)))
    np.savetxt("counts.csv", COUNTS, "%d", header="n", comments="")
    np.savez("videos.npz", **VIDEOS)
    np.save("five.npy", np.arange(5.0))
    given = []
    for command in (TrainRBM, TrainTGGM, TrainTRBM):

        def kept(self, data, fit=command.fit, **settings):
            given.append(data)
            return fit(self, data, **settings)

        monkeypatch.setattr(command, "fit", kept)  # fmt: skip
    return given


@pytest.mark.parametrize(
    "options",
    [
        ["--data=bits.csv", "--weights=n"],
        ["--data=bits.csv", "--weights=2"],
        ["--data=bits.csv", "--drop=n", "--weights=counts.csv"],
        ["--data=bits.npy", "--weights=counts.npy", "--validation=0.2"],
        ["--data=bits.csv", "--weights=n", "--test=bits.csv"],
    ],
)
def test_rows(options, seen):
    assert main(["train", "rbm", *options, *SHORT, *AIS]) == 0
    few, data = seen
    assert len(few.weights) == 2 and len(data.weights) == len(data.rows)
    assert data.whole.test.shape[1] == 4
    for row, weight in zip(data.rows, data.weights, strict=True):
        assert weight in COUNTS[(row == BITS).all(axis=1)]
    names = tf.TruGRBM.load("out/model.npz").columns
    assert names == (None if "bits.npy" in options[0] else ("a", "b", "c", "d"))


@pytest.mark.parametrize("word", ["n", "2", "-2", "counts.npy"])
def test_a_table(word, seen):
    assert (
        main(["train", "tggm", "--data=table.csv", "--target=y", f"--weights={word}", *SHORT]) == 0
    )
    data = seen[-1]
    assert data.columns == (("x", "z", "n") if word == "counts.npy" else ("x", "z"))
    for x, y, weight in zip(data.X_train, data.y_train, data.weights, strict=True):
        row = TABLE[(TABLE[:, 0] == x[0]) & (TABLE[:, 3] == y)][0]
        assert weight == row[2]


def test_sequences(seen):
    words = ["train", "trbm", "--data=videos.npz", "--weights=five.npy", *SHORT]
    assert main(words) == 0
    np.testing.assert_array_equal(seen[-1].weights, np.arange(4.0))


BAD = [
    ("rbm", "--data=bits.csv", "--weights=m", "bits.csv has no column 'm' for --weights.*nor is"),
    (
        "rbm",
        "--data=bits.npy",
        "--weights=five.npy",
        r"--weights five.npy must have a weight for e",
    ),
    (
        "rbm",
        "--data=bits.npy",
        "--weights=more.npy",
        r"--weights more.npy must hold one column, got",
    ),
    ("rbm", "--data=digits", "--weights=five.npy", "--weights is for data of your own, not digits"),
    ("trbm", "--data=videos.npz", "--weights=n", "no such file or folder: n"),
    ("tggm", "--data=table.csv", "--weights=y", "--weights y is what is to be predicted"),
    ("tggm", "--data=table.csv", "--weights=x", "--weights x must be finite and 0 or more, got -"),
]


@pytest.mark.parametrize(("model", "data", "weights", "words"), BAD)
def test_wrong_ones_are_one_sentence(model, data, weights, words, seen, capsys):
    target = ["--target=y"] if model == "tggm" else []
    assert main(["train", model, data, weights, *target, *SHORT]) != 0
    said = capsys.readouterr().err
    assert re.search(words, said) and said.count("\n") == 1
    assert not seen
