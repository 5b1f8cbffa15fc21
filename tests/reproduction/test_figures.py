"""Figures of a finished table."""

from dataclasses import replace

import numpy as np
import pytest

import trug_fast as tf
from reproduction import figures, results, table1
from reproduction.__main__ import main
from tests.support.tables import refuse
from trug_fast.evaluation.regimes import unit_regimes


def test_figures_of_a_finished_table(done, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    config = tmp_path / "figures.toml"
    config.write_text(
        "samples = { n = 4, n_gibbs = 3 }\ndictionary = { n = 3 }\n"
        "convergence = { n_temperatures = [10, 20], n_chains = 10 }\n"
    )
    words = ["figures", f"--out={done}", f"--config={config}"]
    assert main(words) == 0
    drawn = {path.name: path.read_bytes() for path in (done / "figures").iterdir()}
    cells = ["digits-per-unit", "digits-shared", "digits-relu", "digits-rbm"]
    assert drawn.keys() == {
        *(f"{what}-{cell}.png" for what in ("samples", "dictionary") for cell in cells),
        "units-digits-per-unit.png",
        "nonlinearities.png",
        "truncation-points.png",
        "scores.png",
        "convergence.png",
    }
    assert all(content[:4] == b"\x89PNG" for content in drawn.values())
    assert "digits/per-unit: 20 temperatures" in capsys.readouterr().out
    found = results.read(done / "digits" / "per-unit" / "convergence.jsonl")
    assert [line["n_temperatures"] for line in found] == [10, 20]
    monkeypatch.setattr(table1, "log_partition", refuse)  # estimates are kept
    assert main([*words, "--only=digits/per-unit", "--quiet"]) == 0
    assert capsys.readouterr().out.count("written to") == 7
    assert main([*words, "--only=digits/rbm", "--quiet"]) == 0
    assert capsys.readouterr().out.count("written to") == 3


def test_curves_hold_what_they_should(done):
    pytest.importorskip("matplotlib")
    session = figures.Session(done, progress=False)
    cells = figures.finished(session, ())
    assert [cell.learns for cell in cells] == ["per_unit", "shared", None, None]
    shapes = figures.nonlinearities(cells)
    assert len(shapes.axes) == 2 and sum(bar.get_height() for bar in shapes.axes[1].patches) == 8
    points = figures.truncation_points(cells).axes[0]
    assert [line.get_xdata().tolist() for line in points.lines] == [[1, 2, 3]] * 2
    scores = figures.scores(cells).axes[0]
    trained = [done.history["score"].tolist() for done in cells]
    assert [line.get_ydata().tolist() for line in scores.lines] == trained
    last = [each[-1] for each in trained]
    assert scores.get_ylim() == (min(last) - figures.BELOW, max(last) + figures.ABOVE)
    history = cells[0].history | {"score": np.array([*trained[0][:-1], np.nan])}
    low, high = figures.scores([replace(cells[0], history=history)]).axes[0].get_ylim()
    assert (low + figures.BELOW, high - figures.ABOVE) == pytest.approx((trained[0][-2],) * 2)
    options = {"n_chains": 10, "n_temperatures": [30], "direction": "both"}
    curves = figures.convergence(cells, session, options).axes[0].get_legend_handles_labels()
    assert curves[1] == ["per-unit, forward", "per-unit, reverse"]
    for curve, direction in zip(curves[0], ("forward", "reverse"), strict=True):
        # As many temperatures as in the table give its number.
        wanted = table1.test_score(cells[0].line, direction)
        assert curve[0].get_ydata() == pytest.approx([wanted], rel=1e-12)


def test_one_of_several_seeds_is_found_in_its_folder(done, tmp_path):
    for name in ("digits", "results.jsonl"):
        place = tmp_path / ("seed-0" if name == "digits" else "") / name
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(done / name)
    (cell,) = figures.finished(figures.Session(tmp_path), ["digits/per-unit"])
    assert cell.folder == tmp_path / "seed-0" / "digits" / "per-unit"


def test_figures_need_a_finished_cell(tmp_path, capsys):
    assert main(["figures", f"--out={tmp_path}"]) == 2
    assert "no finished cells with seed 0" in capsys.readouterr().err
    config = tmp_path / "figures.toml"
    for text, words in (
        ("samples.n = 0", "samples.n must be at least 1"),
        ("samples.m = 0", "unknown key samples.m"),
        (
            "samples = { n = 1, n_gibbs = 1 }\ndictionary.n = 1\nconvergence.n_temperatures = 5",
            "n_temperatures must be a list of ints, got 5",
        ),
    ):
        config.write_text(text)
        assert main(["figures", f"--config={config}", f"--out={tmp_path}"]) == 2
        assert words in capsys.readouterr().err


def test_regimes_draw_a_point_a_unit_and_count_them():
    pytest.importorskip("matplotlib")
    model = tf.TruGRBM(np.full((1, 3), 2.0), 0.0, -1.0, [1, 1, -8], [-9, 0, 0], [9, np.inf, 1])
    found = unit_regimes(model, [[0], [1]])
    ax = figures.regimes(model, found)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 3
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["gaussian (1)", "rectifying (1)", "binary (1)"]
    assert "1 infinite" in ax.get_xlabel()
