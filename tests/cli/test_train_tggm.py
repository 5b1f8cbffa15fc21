"""``trug-fast train tggm``: what it prints, what it writes, and what it says of wrong options."""

import json
import sys

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import main

SMALL = ["train", "tggm", "--n-hidden=5", "--epochs=3", "--quiet", "--threads=1"]


def test_train_prints_a_table_and_writes_its_files(tmp_path, capsys):
    pytest.importorskip("sklearn")
    folder = tmp_path / "out"
    assert main([*SMALL, f"--out={folder}"]) == 0
    printed = capsys.readouterr().out
    for words in ("TruG-TGGM", "MLPRegressor", "ridge", "test RMSE", "upper truncation points"):
        assert words in printed
    results = json.loads((folder / "result.json").read_text())["results"]
    split = tf.datasets.load_yacht().split(0)
    model = tf.TruGTGGM.load(folder / "model.npz")
    mean, std = model.predict(split.X_test, return_std=True)
    assert results["TruG-TGGM"]["rmse"] == pytest.approx(
        np.sqrt(np.mean((mean - split.y_test) ** 2))
    )
    assert 7 < results["ridge"]["rmse"] < 11
    assert results["MLPRegressor"]["rmse"] < results["ridge"]["rmse"]
    assert np.load(folder / "model-history.npz")["epoch"].tolist() == [1, 2, 3]
    # A second run replaces the first.
    assert main([*SMALL, "--no-baseline", f"--out={folder}"]) == 0


def test_without_scikit_learn_there_is_no_baseline(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.compose", None)
    assert main([*SMALL, f"--out={tmp_path / 'out'}"]) == 0
    printed = capsys.readouterr().out
    assert "no other models" in printed and "ridge" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--truncation=a"], "--truncation must be one of"),
        (["--split=20"], "--split: yacht has splits 0 to 19, got 20"),
        (["--objective=probit"], "--objective probit is for classes"),
        (["--n-hidden=0"], "--n-hidden must be at least 1"),
        (["--data=boston"], "--data must be yacht, or a file"),
    ],
)
def test_wrong_options_leave_no_folder(tmp_path, capsys, monkeypatch, options, message):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    assert main([*SMALL, *options, f"--out={tmp_path / 'out'}"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_foreign_folder_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("kept")
    assert main([*SMALL, f"--out={tmp_path}"]) == 2
    assert "holds other files" in capsys.readouterr().err


def test_a_finished_run_is_continued_to_the_same_model(tmp_path, capsys):
    path = tmp_path / "run.npz"
    words = [*SMALL, "--no-baseline", f"--out={tmp_path / 'out'}", f"--checkpoint={path}"]
    assert main(words) == 0
    first = tf.TruGTGGM.load(tmp_path / "out" / "model.npz")
    assert main(words) == 2
    assert "exists; continue its run with --resume" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    again = tf.TruGTGGM.load(tmp_path / "out" / "model.npz")
    np.testing.assert_array_equal(first.input_weights, again.input_weights)
    assert main([*SMALL, "--resume", f"--out={tmp_path / 'other'}"]) == 2
    assert "--resume needs --checkpoint" in capsys.readouterr().err
