"""Figures of units hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import KINDS, model_of
from trug_fast import plots

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", KINDS)
def test_nonlinearities_of_every_kind_of_unit(kind):
    ax = plots.nonlinearities(model_of(kind))
    assert len(ax.lines) >= 1
    assert ax.get_xlabel() and ax.get_ylabel()
    assert all(np.isfinite(line.get_ydata()).all() for line in ax.lines)


def test_nonlinearity_curves_are_the_units_means():
    means = plots.unit_mean(np.array([-1.0, 0.0, 2.0]), 1.0, 0.0, 1.0)[:, 0]
    exact = [tf.kernels.mean_variance(a, 1.0, 0.0, 1.0)[0] for a in (-1.0, 0.0, 2.0)]
    np.testing.assert_allclose(means, exact, rtol=1e-5)


def test_family_has_four_panels():
    assert len(plots.family().axes) == 4


def test_truncation_histogram_wants_a_trug_rbm():
    assert plots.truncation_histogram(model_of("mixed")).patches
    with pytest.raises(TypeError, match="model must be a TruGRBM, got BernoulliRBM"):
        plots.truncation_histogram(model_of("bernoulli"))


def test_regimes_draw_a_point_a_unit_and_count_them():
    model = tf.TruGRBM(np.full((1, 3), 2.0), 0.0, -1.0, [1, 1, -8], [-9, 0, 0], [9, np.inf, 1])
    found = tf.unit_regimes(model, [[0], [1]])
    ax = plots.regimes(model, found)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 3
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["gaussian (1)", "rectifying (1)", "binary (1)"]
    assert "1 infinite" in ax.get_xlabel()
    with pytest.raises(ValueError, match="found is of 3 units, the model has 4"):
        plots.regimes(model_of("mixed"), found)
