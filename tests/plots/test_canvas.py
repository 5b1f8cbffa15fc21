"""What figures stand on; looking at them is a person's part."""

import numpy as np
import pytest

from trug_fast import plots

pytest.importorskip("matplotlib")


def test_a_missing_matplotlib_is_explained(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r'pip install "trug-fast\[plot\]"'):
        plots.family()


@pytest.mark.parametrize("wrong", [3, "axes", [1.0]])
def test_what_is_no_axes_is_refused(wrong):
    history = {"epoch": [0], "score": [1.0]}
    with pytest.raises(TypeError, match="ax must be a Matplotlib Axes"):
        plots.scores(history, wrong)


def test_polar_axes_are_refused():
    polar = plots.family().axes[0].figure.add_subplot(projection="polar")
    with pytest.raises(TypeError, match="ax must be a Matplotlib Axes with x and y, got PolarAxes"):
        plots.scores({"epoch": [0], "score": [1.0]}, polar)


def test_axes_that_are_given_are_drawn_on():
    ax = plots.family().axes[0]
    lines = len(ax.lines)
    history = {"epoch": np.arange(3), "score": np.arange(3.0)}
    assert plots.scores(history, ax) is ax
    assert len(ax.lines) == lines + 1
