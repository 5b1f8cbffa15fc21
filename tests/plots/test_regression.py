"""Figures of regressions hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import YACHT
from trug_fast import plots

pytest.importorskip("matplotlib")


def test_predictions_and_their_intervals():
    y, mean, std = np.arange(4.0), np.arange(4.0) + [0, 0, 1, 3], np.ones(4)
    ax = plots.predictions(y, mean, std)
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), y)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), mean)
    ends = ax.collections[0].get_segments()[3][:, 1]
    np.testing.assert_allclose(ends, 6 + 1.6448536 * np.array([-1, 1]))
    assert "75 % in their 90 % interval" in ax.get_title()  # 3 is further than 1.64 away
    assert not plots.predictions(y, mean).collections
    assert len(plots.predictions(np.arange(900), np.arange(900)).lines[-1].get_xdata()) == 300


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.zeros((2, 2)), np.zeros(2)), "y must be a vector, got"),
        ((np.zeros(2), np.zeros(3)), "mean must be a vector of 2 entries"),
        ((np.zeros(2), np.zeros(2), np.zeros(3)), "std must be a vector of 2 entries"),
    ],
)
def test_what_is_no_prediction(given, words):
    with pytest.raises(ValueError, match=words):
        plots.predictions(*given)


def test_all_of_a_regression():
    model = tf.TruGTGGM(np.full((3, 6), 0.01), 0, np.ones((1, 3)), 0, 0.2, [0, -1, 0], [1, 1, 4])
    scores = {"epoch": np.arange(2.0), "validation_score": np.array([-1.0, -0.5])}
    for history, panels in ((scores, 3), ({}, 2)):
        figure = plots.regression(model, history, YACHT.X_test, YACHT.y_test)
        assert len(figure.axes) == panels
    units = figure.axes[1]
    # A unit's mean before truncation is its net input times its variance.
    curve = units.lines[-1]
    right = [tf.kernels.mean_variance(a, 5.0, 0.0, 4.0)[0] for a in curve.get_xdata()[::50]]
    np.testing.assert_allclose(curve.get_ydata()[::50], right, rtol=1e-5)
    assert len(plots.training(scores).axes) == 1
