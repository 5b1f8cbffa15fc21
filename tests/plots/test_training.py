"""Figures of trainings hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.histories import HISTORY
from trug_fast import plots

pytest.importorskip("matplotlib")

ENDS = {
    f"{end}_{which}": np.linspace(start, stop, 4)
    for end, start in (("lower", -1.0), ("upper", 1.0))
    for which, stop in (("mean", start), ("min", start - 0.5), ("max", start + 0.5))
}


def test_scores_draw_what_there_is():
    assert len(plots.scores(HISTORY).lines) == 2
    assert len(plots.scores({"epoch": np.arange(3.0)}).lines) == 0


@pytest.mark.parametrize(("ends", "lines"), [(("upper",), 1), (("lower", "upper"), 2)])
def test_truncation_points_over_the_epochs(ends, lines):
    record = HISTORY | {k: v for k, v in ENDS.items() if k.split("_")[0] in ends}
    ax = plots.truncation_points(record, label="per unit")
    assert len(ax.lines) == len(ax.collections) == lines
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), record["upper_mean"])
    band = ax.collections[-1].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.5, 1.5)
    shared = {**record, "upper_min": record["upper_mean"], "upper_max": record["upper_mean"]}
    assert len(plots.truncation_points(shared).collections) == lines - 1
    with pytest.raises(ValueError, match="these ends were fixed"):
        plots.truncation_points(HISTORY)


def test_a_training_has_a_panel_for_each_thing_that_moved():
    assert len(plots.training(HISTORY).axes) == 1
    assert len(plots.training(HISTORY | ENDS).axes) == 2
    with pytest.raises(ValueError, match="must hold scores or learned truncation points"):
        plots.training({"epoch": np.arange(3.0), "objective": np.zeros(3)})


def test_a_score_with_an_error_has_a_band():
    history = {"epoch": np.arange(1.0, 4), "score": np.array([-3.0, np.nan, -1.0])}
    assert not plots.scores(history).collections
    ax = plots.scores(history | {"score_error": np.array([0.5, np.nan, 0.1])})
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(-3 - 1.96 * 0.5)
    assert heights.max() == pytest.approx(-1 + 1.96 * 0.1)


@pytest.mark.parametrize("kind", ["rbm", "trbm", "tggm"])
def test_every_fit_draws_itself_as_a_picture_that_notebooks_show(kind):
    data = tf.datasets.load_yacht()
    how = {"epochs": 2, "rng": 0, "progress": False}
    fit = {
        "rbm": lambda: tf.train_rbm(np.eye(6), 3, **how),
        "trbm": lambda: tf.train_trbm(
            np.arange(48).reshape(3, 4, 4) % 3 / 2, 3, monitor=None, **how
        ),
        "tggm": lambda: tf.train_tggm(data.X[:50], data.y[:50], 3, **how),
    }[kind]()
    figure = fit.plot()
    panels = {"rbm": 3, "trbm": 2, "tggm": 2}[kind]  # units, scores, truncation points
    assert len(figure.axes) == panels
    assert figure._repr_png_()[:4] == b"\x89PNG"
