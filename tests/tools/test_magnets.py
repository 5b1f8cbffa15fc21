"""The truth that trainings on magnets are compared with."""

import itertools

import numpy as np
import pytest

from tools import magnets


@pytest.mark.parametrize("temperature", [1.5, 2.2, 2.27, 3.0, 5.0])
def test_kaufmans_formula_gives_log_z_of_a_small_lattice(temperature):
    rows = np.array(list(itertools.product([-1, 1], repeat=16)))
    exact = np.logaddexp.reduce(-magnets.energy(rows) / temperature)
    assert magnets.log_z(4, temperature) == pytest.approx(exact, rel=1e-12)


def test_rows_have_the_energy_of_their_temperature():
    rows, step = magnets.magnet(6, 2.5, 4000, 5, 0), 1e-4
    slope = (magnets.log_z(6, 2.5 + step) - magnets.log_z(6, 2.5 - step)) / (2 * step)
    energy = magnets.energy(rows)
    groups = energy.reshape(40, -1).mean(axis=1)
    assert energy.mean() == pytest.approx(slope * 2.5**2, abs=4 * groups.std() / np.sqrt(40))
    assert set(np.unique(rows)) == {-1, 1}
