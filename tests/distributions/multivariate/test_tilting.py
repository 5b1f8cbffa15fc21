"""Order, factor and saddle point."""

import numpy as np
import pytest

from tests.support.vectors import INF, equicorrelated, one_factor, toeplitz
from trug_fast import truncmvn
from trug_fast.distributions.multivariate import tilting as subject
from trug_fast.distributions.multivariate.tilting import tilting


def psi(proposal, z, tilt):
    """Return psi(z, tilt) and its derivatives by z and by the tilt, term by term."""
    start = proposal.factor @ z + tilt
    log_mass, mean, _ = subject.standard_moments(proposal.lower - start, proposal.upper - start)
    value = (log_mass + 0.5 * tilt**2 - z * tilt).sum()
    return value, proposal.factor.T @ mean - tilt, tilt - z + mean


def boxes():
    rng = np.random.default_rng(1)
    for d in (2, 7, 40):
        for far in (0.0, 10.0, 1e4):
            for cov in (
                equicorrelated(d),
                toeplitz(d, -0.7),
                one_factor(rng.uniform(-0.9, 0.9, d)),
            ):
                lower = far + rng.normal(size=d)
                yield (
                    cov,
                    lower,
                    lower + np.where(rng.random(d) < 0.5, INF, rng.exponential(size=d)),
                )


def test_factor_is_the_covariances_in_its_order():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(9, 9))
    cov, mean = root @ root.T, rng.normal(size=9)
    lower = np.where(np.arange(9) % 3 == 0, -INF, rng.normal(size=9))
    proposal = tilting(mean, cov, lower, np.full(9, INF)).proposal
    factor = proposal.diag[:, None] * (proposal.factor + np.eye(9))
    order = proposal.place
    np.testing.assert_allclose(factor @ factor.T, cov[np.ix_(order, order)], rtol=0, atol=1e-13)
    assert sorted(order) == list(range(9)) and set(order[-3:]) == {0, 3, 6}
    assert (proposal.tilt[-4:] == 0).all()
    np.testing.assert_allclose(proposal.lower, (lower - mean)[order] / proposal.diag)


def test_first_coordinate_is_the_least_probable():
    proposal = tilting(np.zeros(3), np.eye(3), np.array([-1.0, 2.0, 0.5]), np.full(3, INF)).proposal
    assert proposal.place.tolist() == [1, 2, 0]


@pytest.mark.parametrize("cov, lower, upper", list(boxes()))
def test_saddle_point_bounds_the_ratio_of_densities(cov, lower, upper):
    proposal, bound, _ = tilting(np.zeros(lower.size), cov, lower, upper)
    rng = np.random.default_rng(2)
    for spread in (1e-3, 0.1, 1.0, 10.0):
        for _ in range(10):
            z = proposal.tilt + spread * rng.normal(size=lower.size)
            z[-1] = 0.0
            assert psi(proposal, z, proposal.tilt)[0] <= bound + 1e-14 * abs(bound) + 1e-9


def test_saddle_point_has_no_gradient(monkeypatch):
    states = []

    class Kept(subject._State):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            states.append(self)

    monkeypatch.setattr(subject, "_State", Kept)
    for cov, lower, upper in boxes():
        proposal, bound, _ = tilting(np.zeros(lower.size), cov, lower, upper)
        last = next(s for s in states if (s.tilt == proposal.tilt[: s.tilt.size]).all())
        z, tilt = last.point, last.tilt
        value, by_z, by_tilt = psi(proposal, z, tilt)
        size = 1 + np.abs(tilt).max() + np.abs(z).max()
        assert np.abs(by_z[:-1]).max() < 1e-9 * size and np.abs(by_tilt[:-1]).max() < 1e-9 * size
        assert len(states) < 30 and abs(value - bound) <= 1e-14 * abs(bound) + 1e-9
        states.clear()


def test_derivatives_are_those_of_psi():
    proposal, _, _ = tilting(np.zeros(4), toeplitz(4, 0.6), np.full(4, 0.5), np.full(4, 2.0))
    rng = np.random.default_rng(3)
    z, tilt, step = rng.normal(size=4), rng.normal(size=4), 1e-5
    _, by_z, by_tilt = psi(proposal, z, tilt)
    for k in range(4):
        e = step * np.eye(4)[k]
        slope = (psi(proposal, z + e, tilt)[0] - psi(proposal, z - e, tilt)[0]) / (2 * step)
        assert abs(slope - by_z[k]) < 1e-8
        slope = (psi(proposal, z, tilt + e)[0] - psi(proposal, z, tilt - e)[0]) / (2 * step)
        assert abs(slope - by_tilt[k]) < 1e-8


def test_without_ends_there_is_nothing_to_tilt():
    proposal, bound, _ = tilting(np.ones(3), equicorrelated(3), np.full(3, -INF), np.full(3, INF))
    assert bound == 0 and (proposal.tilt == 0).all()


def test_digits_near_to_singular_are_in_the_stated_error():
    # A pair of correlation 0.9992 at the opposite corner; log P by mpmath's quad of 50 digits.
    cov = [[0.002316888296812156, 0.039198523502980386], [0.039198523502980386, 0.6641890220959317]]
    ends = [-np.inf, 1741.1606844123244], [-200.45341953878824, np.inf]
    found = truncmvn(None, cov, *ends, method="tilting").logprob(rng=1)
    assert 0.0005 < abs(found.log + 13120016896.303736505) <= 3 * found.relative_error < 0.2
