"""The figure of what inputs do."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import regression
from trug_fast import plots

pytest.importorskip("matplotlib")


def test_inputs_that_matter_most_come_first():
    weights = [[0.1, 2.0, 0.0], [0.0, 1.0, 0.3]]
    models = [
        tf.TruGTGGM(np.array(weights) + k, 0.0, [[1.0, 1.0]], 0.0, 0.2, -1.0, 1.0)
        for k in (0, 0.01)
    ]
    ensemble = tf.TGGMEnsemble(models).with_columns(["a", "b", "c"])
    X = np.random.default_rng(0).normal(size=(60, 3))
    figure = plots.dependence(ensemble, X, n=2)
    assert [ax.get_xlabel() for ax in figure.axes] == ["b", "c", "net input"]
    mean = figure.axes[0].lines[2]  # after those of the two models
    own = tf.partial_dependence(ensemble, X, 1)
    np.testing.assert_array_equal(mean.get_ydata(), own.mean)
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert len(plots.dependence(regression("separate"), X, output=1).axes) == 4
    with pytest.raises(ValueError, match="output must be below the 2 outputs, got 2"):
        plots.dependence(regression("separate"), X, output=2)
