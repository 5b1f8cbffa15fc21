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


def test_truncation_histogram_wants_ends():
    assert plots.truncation_histogram(model_of("mixed")).patches
    with pytest.raises(TypeError, match="model must have lower, which BernoulliRBM has not"):
        plots.truncation_histogram(model_of("bernoulli"))


def test_a_regressions_mean_before_truncation_is_its_net_input_times_its_variance():
    model = tf.TruGTGGM(np.full((3, 6), 0.01), 0, np.ones((1, 3)), 0, 0.2, [0, -1, 0], [1, 1, 4])
    curve = plots.nonlinearities(model).lines[-1]
    right = [tf.kernels.mean_variance(a, 5.0, 0.0, 4.0)[0] for a in curve.get_xdata()[::50]]
    np.testing.assert_allclose(curve.get_ydata()[::50], right, rtol=1e-5)
