"""The figure of a whole training holds what it promises; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.histories import HISTORY
from tests.support.models import model_of
from trug_fast import plots

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_summary(kind, tmp_path):
    model = model_of(kind, n_visible=9, n_hidden=7)
    rows = np.zeros((4, 9))
    figure = plots.summary(model, HISTORY, rows, rows, (3, 3), baseline=HISTORY, title="t")
    assert len(figure.axes) == (6 if kind == "mixed" else 5)
    figure.savefig(tmp_path / "a.png")


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
