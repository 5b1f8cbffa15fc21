"""Machines with wells that a base knows one of: bounds of several solutions together."""

import numpy as np
import pytest

import trug_fast as tf
from tools import double_wells
from trug_fast.evaluation.bridges import mean_field


def bounds(known):
    """Return the bound by all starting points together, and the best of those by each alone."""
    base = known.model.visible_units.columns(known.base)
    points = mean_field.starting_points(known.model, base, 0)
    alone = max(mean_field.bound(known.model, point[None]) for point in points)
    return mean_field.bound(known.model, points), alone


def test_solutions_that_lie_apart_add_up_and_stay_below():
    gained = []
    for index in range(0, 216, 13):
        known = double_wells.machine(index)
        together, alone = bounds(known)
        assert alone <= together + 1e-9 and together <= known.log_z + 1e-9
        assert together > known.log_z - 0.7
        gained.append(together - alone)
    assert np.sum(np.array(gained) > 0.05) > 5


def test_the_same_solution_twice_adds_nothing():
    model = double_wells.machine(0).model
    point = np.full((1, model.n_columns), 0.9)
    once, twice = (mean_field.bound(model, np.repeat(point, n, axis=0)) for n in (1, 5))
    assert twice == pytest.approx(once, abs=1e-9)


def test_real_units_too():
    # Two wells of a Gaussian machine, each of half of the mass but for where they meet.
    weights = np.full((3, 1), 8.0)
    model = tf.BernoulliRBM(weights, -4.0, 0.0, visible_precision=4.0)
    shift = float(((weights[:, 0] - 4) ** 2 - 16).sum() / 8)
    model = tf.BernoulliRBM(weights, -4.0, -shift, visible_precision=4.0)
    exact = tf.exact.log_partition(model)
    points = np.array([[-1.0] * 3, [1.0] * 3])
    each = [mean_field.bound(model, point[None]) for point in points]
    together = mean_field.bound(model, points)
    assert exact - 0.02 < together <= exact and together > max(each) + 0.6


@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
def test_a_well_that_the_base_does_not_know_is_told():
    lines = [x for index in (0, 30, 90) for x in double_wells.estimates(index, 300)]
    wrong = [x for x in lines if x["bad"]]
    assert len(wrong) >= 3 and all(x["base"] and x["warned"] for x in wrong)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
def test_hardly_an_estimate_is_wrong_in_silence():
    lines = [x for index in range(216) for x in double_wells.estimates(index, 300)]
    for direction in double_wells.DIRECTIONS:
        part = [x for x in lines if x["base"] and x["direction"] == direction]
        assert sum(x["bad"] for x in part) > 50
        assert sum(x["bad"] and not x["warned"] for x in part) <= 0.01 * len(part)
        assert sum(x["warned"] and not x["bad"] for x in part) <= 15
