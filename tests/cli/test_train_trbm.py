"""``trug-fast train trbm``: what it prints and writes."""

import json

import numpy as np
import pytest

import trug_fast as tf
from trug_fast import cli
from trug_fast.training.loop import Loop


def test_small_run(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "run"
    words = f"train trbm --videos 6 --test-videos 2 --n-hidden 8 --epochs 1 --quiet --out {out}"
    assert cli.main(words.split()) == 0
    report = json.loads((out / "result.json").read_text())
    names = {"TruG-TRBM", "ordinary TRBM", "copy last", "mean frame"}
    assert names < set(report["results"])
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)
    assert tf.TruGTRBM.load(out / "model.npz").n_hidden == 8
    assert tf.BernoulliTRBM.load(out / "baseline.npz").n_visible == 900
    assert (out / "training.png").stat().st_size > 1000
    assert (out / "strips.png").stat().st_size > 1000
    assert (out / "generated.gif").stat().st_size > 1000
    # What it wrote can be drawn and drawn from.
    model = out / "model.npz"
    for words in (
        f"sample {model} -n 3 --n-gibbs 2 --quiet --out {tmp_path / 'video.gif'}",
        f"sample {model} -n 3 --n-gibbs 2 --quiet --out {tmp_path / 'video.png'}",
        f"sample {model} -n 3 --n-gibbs 2 --quiet --out {tmp_path / 'video.npz'}",
        f"plot units {model} {tmp_path / 'units.png'}",
        f"plot units {out / 'baseline.npz'} {tmp_path / 'baseline.png'}",
        f"plot history {out / 'model-history.npz'} {tmp_path / 'history.png'}",
        f"plot weights {model} {tmp_path / 'weights.png'}",
        f"plot video --n-seen 3 --n-frames 4 --n-gibbs 2 {model} {tmp_path / 'strips.png'}",
    ):
        assert cli.main(words.split()) == 0
        assert (tmp_path / words.split()[-1]).stat().st_size > 500
    frames = np.load(tmp_path / "video.npz")["frames"]
    assert frames.shape == (3, 900) and 0 <= frames.min() and frames.max() <= 1
    again = tf.TruGTRBM.load(model).generate(3, n_gibbs=2, return_mean=True, rng=0)
    np.testing.assert_array_equal(frames, again)


def test_a_stopped_run_continues(tmp_path, capsys, monkeypatch):
    words = "train trbm --videos 4 --test-videos 2 --n-hidden 5 --epochs 2 --no-baseline --quiet"
    words += " --n-lags 4"  # more than the few frames of a rehearsal with one
    assert cli.main([*words.split(), "--out", str(tmp_path / "whole")]) == 0
    more = ["--out", str(tmp_path / "part"), "--checkpoint", str(tmp_path / "run.npz")]
    end = Loop._end_epoch

    def stop(self, *arguments):
        end(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_end_epoch", stop)
        assert cli.main([*words.split(), *more]) == 130
    assert "--resume continues" in capsys.readouterr().err
    assert cli.main([*words.split(), *more]) == 2
    assert "continue its run with --resume" in capsys.readouterr().err
    assert cli.main([*words.split(), *more, "--resume"]) == 0
    models = [tf.TruGTRBM.load(tmp_path / run / "model.npz") for run in ("whole", "part")]
    assert models[0].n_lags == 4
    for name in models[0].names:
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


def test_what_is_no_temporal_model(tmp_path, capsys):
    path = tmp_path / "rbm.npz"
    tf.BernoulliRBM(np.zeros((3, 2)), 0, 0).save(path)
    assert cli.main(["plot", "video", str(path), str(tmp_path / "w.png")]) == 2
    assert "holds a BernoulliRBM, expected a TruGTRBM or BernoulliTRBM" in capsys.readouterr().err
    assert cli.main(["sample", str(path), "--out", str(tmp_path / "video.gif")]) == 2
    assert "--out must end in .png or .npz" in capsys.readouterr().err


def test_a_folder_with_other_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("kept")
    assert cli.main(["train", "trbm", "--videos", "2", "--out", str(tmp_path)]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
