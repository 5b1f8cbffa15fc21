"""``trug-fast train trbm``: what it prints and writes."""

import json

import pytest

import trug_fast as tf
from trug_fast import cli


def test_small_run(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "run"
    words = f"train trbm --videos 6 --test-videos 2 --hidden 8 --epochs 1 --quiet --out {out}"
    assert cli.main(words.split()) == 0
    report = json.loads((out / "result.json").read_text())
    names = {"TruG-TRBM", "ordinary TRBM", "copy last", "mean frame"}
    assert names < set(report["errors"])
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)
    assert tf.TruGTRBM.load(out / "model.npz").n_hidden == 8
    assert tf.BernoulliTRBM.load(out / "baseline.npz").n_visible == 900
    assert (out / "strips.png").stat().st_size > 1000
    assert (out / "generated.gif").stat().st_size > 1000


def test_a_folder_with_other_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("kept")
    assert cli.main(["train", "trbm", "--videos", "2", "--out", str(tmp_path)]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
