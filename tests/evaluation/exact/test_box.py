"""Integrals over boxes: one dimension in closed form, more by what must not matter."""

import numpy as np
import pytest
from scipy.special import dawsn, log_ndtr

import trug_fast as tf
from trug_fast.evaluation.exact import gaussian as exact_box
from trug_fast.evaluation.exact import panels
from trug_fast.evaluation.exact.gaussian import Box


@pytest.mark.parametrize("weight", [1.5, 10.0, 20.0, 100.0, 1000.0])
def test_mass_that_piles_up_at_an_end(weight):
    # With k = w^2 - 1 > 0 the hidden density is exp(k h^2 / 2) on [0, 4]: Dawson's function.
    k = weight**2 - 1
    right = 0.5 * np.log(2 * np.pi) + 8 * k + np.log(np.sqrt(2 / k) * dawsn(4 * np.sqrt(k / 2)))
    model = tf.TruGRBM([[weight]], 0.0, 0.0, 1.0, 0.0, 4.0, visible_precision=1.0)
    assert tf.exact.log_partition(model) == pytest.approx(right, rel=1e-14)
    # d log Z / d weight = weight E[h^2], and E[h^2] = 2 d log integral / dk.
    slope = -tf.exact.gradient(model, [[0.0]])["weights"][0, 0]
    steps = np.array([k * (1 - 1e-5), k * (1 + 1e-5)])
    logs = 8 * steps + np.log(dawsn(4 * np.sqrt(steps / 2)) / np.sqrt(steps))
    assert slope == pytest.approx(weight * 2 * np.diff(logs)[0] / np.diff(steps)[0], rel=1e-6)


def random_box(rng, units):
    """Return a box of any shape: peaks far narrower than it, mass in corners, all between."""
    weights = 10 ** rng.uniform(-1, 1.5) * rng.normal(size=(3, units))
    form = np.diag(10 ** rng.uniform(-1, 3, units)) - weights.T @ weights
    lower = rng.uniform(-1, 0, units)
    return Box(form, 10 * rng.normal(size=units), lower, lower + 10 ** rng.uniform(-1, 0.7, units))


@pytest.mark.parametrize(("units", "boxes"), [(2, 20), (3, 1)])
def test_it_does_not_matter_which_unit_is_integrated_in_closed_form(units, boxes, monkeypatch):
    rng = np.random.default_rng(units)
    for _ in range(boxes):
        box, found = random_box(rng, units), []
        for first in range(units):
            monkeypatch.setattr(exact_box, "_steepest", lambda box, first=first: first)
            total, mean, second = exact_box.moments(box)
            found.append([total, *mean, *second.ravel()])
        assert np.ptp(found, axis=0).max() < 1e-12 * (1 + np.abs(found).max())


def test_independent_units_far_narrower_than_their_interval():
    # Peaks of width 1e-2 in the middle of [0, 4], and half of one at an end.
    middle = np.array([1.0, 2.5, 0.0])
    box = Box(1e4 * np.eye(3), 1e4 * middle, np.zeros(3), np.full(3, 4.0))
    total, mean, second = exact_box.moments(box)
    each = 0.5e4 * middle**2 + 0.5 * np.log(2e-4 * np.pi) + log_ndtr(100 * middle)
    assert total == pytest.approx(each.sum(), rel=1e-14)
    np.testing.assert_allclose(mean[:2], middle[:2], rtol=1e-12)
    np.testing.assert_allclose(second[2, 2], 1e-4, rtol=1e-10)
    density = exact_box.end_log_density(box, 2, 0.0, total)
    assert density == pytest.approx(np.log(200 / np.sqrt(2 * np.pi)), rel=1e-8)


def test_what_does_not_converge_is_refused(monkeypatch):
    monkeypatch.setattr(panels, "LIMIT", 1000)
    with pytest.raises(ValueError, match="did not converge on 1,000 points.*use log_partition"):
        exact_box.moments(random_box(np.random.default_rng(0), 3))
