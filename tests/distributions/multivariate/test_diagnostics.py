"""R-hat and effective numbers of draws: chains of which they are known."""

import numpy as np
import pytest

from trug_fast.distributions.multivariate import chains as diagnostics

ARVIZ = [0.9962098552891675, 61.05027036846047, 79.26605504587158, 75.58700493446197]


def autoregressive(rho, chains=4, draws=4000, d=3, seed=0):
    noise = np.random.default_rng(seed).normal(size=(chains, draws, d))
    x = noise.copy()
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x


@pytest.mark.parametrize("rho", [-0.3, 0.0, 0.6, 0.9])
def test_effective_numbers_of_autoregressive_chains(rho):
    x = autoregressive(rho)
    expected = 16_000 * (1 - rho) / (1 + rho)
    for measure in (diagnostics.ess_mean, diagnostics.ess_bulk):
        np.testing.assert_allclose(measure(x), expected, rtol=0.15)
    assert (diagnostics.rhat(x) < 1.01).all()


def test_ranks_do_not_mind_a_monotone_change():
    x = autoregressive(0.5, draws=200)
    np.testing.assert_allclose(diagnostics.ess_bulk(np.exp(x)), diagnostics.ess_bulk(x))
    np.testing.assert_allclose(diagnostics.ess_tail(np.exp(x)), diagnostics.ess_tail(x))


def test_chains_apart_of_other_widths_or_drifting_are_seen():
    x = autoregressive(0.0, draws=500)
    apart, wide, drifting = x.copy(), x.copy(), x.copy()
    apart[0] += 1
    wide[0] *= 3
    drifting += np.linspace(0, 2, 500)[:, None]
    assert (diagnostics.rhat(apart) > 1.05).all()
    assert (diagnostics.rhat(wide) > 1.05).all()  # only their distances tell
    assert (diagnostics.rhat(drifting[:1]) > 1.05).all()
    assert (diagnostics.ess_bulk(apart) < 100).all()


def test_values_of_another_implementation():
    # ArviZ 0.23 (rhat rank, ess bulk, tail, mean) of these chains.
    x = np.sin(np.arange(3 * 21) ** 2 / 40.0).reshape(3, 21, 1)
    found = [
        measure(x)[0]
        for measure in (
            diagnostics.rhat,
            diagnostics.ess_bulk,
            diagnostics.ess_tail,
            diagnostics.ess_mean,
        )
    ]
    np.testing.assert_allclose(found, ARVIZ, rtol=1e-9)


def test_coordinates_in_parts_are_all_of_them(monkeypatch):
    x = autoregressive(0.5, draws=50)
    whole = diagnostics.by_coordinates(diagnostics.ess_bulk, x)
    monkeypatch.setattr(diagnostics, "AT_ONCE", 1)
    np.testing.assert_array_equal(diagnostics.by_coordinates(diagnostics.ess_bulk, x), whole)


def test_what_does_not_vary_has_none():
    x = autoregressive(0.0, draws=50)
    x[:, :, 1] = 2.0
    for measure in (diagnostics.rhat, diagnostics.ess_bulk, diagnostics.ess_tail):
        assert np.isnan(measure(x)).tolist() == [False, True, False]
