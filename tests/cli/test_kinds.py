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


def test_sequences_are_trained_on_and_written_as_letters(tmp_path, capsys):
    pytest.importorskip("Bio", reason="Biopython reads alignments")
    family, folder = tmp_path / "family.fasta", tmp_path / "out"
    rows = np.array([1, 2, 4])[sequences_of_classes(100) % 3]  # neither gaps nor all letters
    tf.datasets.save_fasta(family, rows, "rna")
    train = ["train", "rbm", f"--data={family}", "--visible=categorical", f"--out={folder}", *SMALL]
    assert main(train) != 0
    assert "seems to hold RNA" in capsys.readouterr().err
    assert main([*train, "--alphabet=rna"]) == 0
    file = str(folder / "model.npz")
    model = tf.TruGRBM.load(file)
    assert model.letters == "-ACGU" and model.n_states == 5
    annealing = ["--n-temperatures=50", "--n-chains=10", "--quiet"]
    assert main(["evaluate", file, f"--data={family}", *annealing]) == 0
    assert main(["evaluate", file, f"--data={family}", "--alphabet=dna", *annealing]) != 0
    assert "are not the letters" in capsys.readouterr().err
    assert main(["sample", file, "-n=5", "--n-gibbs=3"]) == 0
    drawn = tf.datasets.load_fasta(folder / "samples.fasta", model.letters)
    assert np.array_equal(drawn.X, model.sample(5, n_gibbs=3, rng=0))
    picture = str(folder / "logos.png")
    assert main(["plot", "logos", file, picture, "--n-units=2"]) == 0
    assert (folder / "logos.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["plot", "logos", file, picture, "--alphabet=protein"]) != 0
    again = [*train[: -len(SMALL)], *SMALL, f"--start={file}", "--alphabet=ACGU"]
    assert main([word for word in again if not word.startswith("--n-hidden")]) != 0
    assert "--start has the letters -ACGU, the data have ACGU" in capsys.readouterr().err


def test_states_that_count_from_one_and_letters_as_numbers_are_refused(tmp_path, capsys):
    data = written(tmp_path / "data.csv", 1 + sequences_of_classes(30))
    folder = f"--out={tmp_path / 'out'}"
    assert main(["train", "rbm", f"--data={data}", "--visible=categorical", folder, *SMALL]) != 0
    assert "no state 0" in capsys.readouterr().err
    family = tmp_path / "family.fasta"
    tf.datasets.save_fasta(family, sequences_of_classes(30), "rna")
    for command in (["tggm", "--target=0"], ["trbm", "--visible=gaussian"]):
        assert main(["train", *command, f"--data={family}", folder]) != 0
        assert "holds letters, which are no numbers" in capsys.readouterr().err


def test_numbers_in_an_interval_are_trained_on_evaluated_and_drawn(tmp_path, capsys):
    rows = abs(np.random.default_rng(0).normal(size=(300, 6)))
    data, folder = tmp_path / "data.csv", tmp_path / "out"
    np.savetxt(data, rows, delimiter=",", fmt="%.4f")
    given = ["train", "rbm", f"--data={data}", f"--out={folder}", *SMALL]
    units = ["--visible=truncated", "--learn-visible-precision"]
    assert main([*given, *units, "--visible-truncation=0,9"]) == 0
    model = tf.TruGRBM.load(folder / "model.npz")
    assert model.runs[0][3:] == (0.0, 9.0) and (model.visible_precision != 1).all()
    annealing = ["--n-temperatures=50", "--n-chains=10", "--quiet"]
    assert main(["evaluate", str(folder / "model.npz"), f"--data={data}", *annealing]) == 0
    target = tmp_path / "draws.npz"
    assert main(["sample", str(folder / "model.npz"), "-n=5", f"--out={target}"]) == 0
    capsys.readouterr()
    assert main([*given, *units, "--visible-truncation=0,1"]) != 0  # numbers lie beyond it
    assert "X must be in [0, 1]" in capsys.readouterr().err
    assert main([*given, "--visible=relu", "--visible-truncation=0,1"]) != 0
    assert "visible_truncation is for visible 'truncated', not 'relu'" in capsys.readouterr().err
    assert (
        main(["train", "rbm", "--data=digits", "--visible=truncated", *given[3:], *units[1:]]) == 0
    )
    assert tf.TruGRBM.load(folder / "model.npz").visible == "truncated"
