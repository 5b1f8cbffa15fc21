"""The command on states: categorical units, spins."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.kinds import sequences_of_classes
from trug_fast.cli import main

SMALL = [
    *("--n-hidden=4", "--epochs=3", "--quiet", "--no-baseline"),
    *("--ais-n-temperatures=50", "--ais-n-chains=10"),
]


def written(path, rows):
    """Write rows as a table with names."""
    np.savetxt(path, rows, delimiter=",", fmt="%d", header="a,b,c,d,e,f", comments="")
    return path


@pytest.mark.parametrize("visible", ["categorical", "spin"])
def test_states_are_trained_on_evaluated_and_drawn(visible, tmp_path, capsys):
    rows = sequences_of_classes(300)
    rows[-1, 0] = 4  # a state of a test row alone
    rows = rows if visible == "categorical" else 2 * (rows > 1) - 1
    data, folder = written(tmp_path / "data.csv", rows), tmp_path / "out"
    options = [f"--data={data}", f"--visible={visible}", f"--out={folder}"]
    assert main(["train", "rbm", *options, *SMALL]) == 0
    model = tf.TruGRBM.load(folder / "model.npz")
    assert model.visible == visible and model.columns == tuple("abcdef")
    assert model.n_states == (5 if visible == "categorical" else None)
    annealing = ["--n-temperatures=50", "--n-chains=10", "--quiet"]
    assert main(["evaluate", str(folder / "model.npz"), f"--data={data}", *annealing]) == 0
    assert "nats per row" in capsys.readouterr().out
    target = tmp_path / "draws.csv"
    more = ["-n=5", "--n-gibbs=3", "--start=data", f"--data={data}", f"--out={target}"]
    assert main(["sample", str(folder / "model.npz"), *more]) == 0
    assert target.read_text().splitlines()[0] == "a,b,c,d,e,f"
    drawn = np.loadtxt(target, delimiter=",", skiprows=1)
    assert drawn.shape == (5, 6) and np.isin(drawn, np.unique(rows)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--visible=categorical", "--n-states=3"],
            "X must be a state, a whole number",
        ),
        (["--visible=spin"], "X must be -1 or 1"),
        (["--n-states=4"], "n_states is for visible 'categorical'"),
        (["--visible=categorical", "--binarize=threshold"], "--binarize has no effect"),
    ],
)
def test_wrong_options_are_told(options, words, tmp_path, capsys):
    data = written(tmp_path / "data.csv", sequences_of_classes(30))
    folder = tmp_path / "out"
    given = ["train", "rbm", f"--data={data}", f"--out={folder}", *options, *SMALL]
    assert main(given) != 0
    assert words in capsys.readouterr().err and not folder.exists()


def test_shipped_images_are_no_states(tmp_path, capsys):
    assert main(["train", "rbm", "--visible=spin", f"--out={tmp_path / 'out'}", *SMALL]) != 0
    assert "need data of one's own" in capsys.readouterr().err
