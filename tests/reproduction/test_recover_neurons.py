"""The known network of neurons, and how what is found is compared with it."""

import numpy as np

from reproduction.scripts import recover_neurons as neurons


def test_an_assembly_alone_has_the_odds_of_its_drive():
    model = neurons.network(12, 4, np.random.default_rng(0)).model
    quiet, weights = neurons.QUIET, model.weights.astype(float)
    from_channels = (np.logaddexp(0, quiet + weights) - np.logaddexp(0, quiet)).sum(axis=0)
    np.testing.assert_allclose(model.hidden_bias + from_channels, neurons.REST, rtol=1e-5)
    assert ((model.weights > 0).sum(axis=1) == 1).all()  # hence no assembly hears of another


def test_order_and_signs_of_units_do_not_matter():
    rng = np.random.default_rng(1)
    known = neurons.network(20, 4, rng)
    order, signs = rng.permutation(4), np.array([1, -1, -1, 1])
    arrays = known.model.arrays()
    turned = dict(arrays) | {
        "weights": (arrays["weights"] * signs)[:, order],
        "hidden_to_hidden": (arrays["hidden_to_hidden"] * np.outer(signs, signs))[
            np.ix_(order, order)
        ],
    }
    found = neurons.compare(known.model, type(known.model)(**turned))
    np.testing.assert_allclose(found.cosines, 1.0)
    np.testing.assert_allclose(found.between, known.model.hidden_to_hidden, rtol=1e-6)
    assert found.spare == 0


def test_assemblies_are_found_again(capsys):
    line = "--channels 160 --units 8 --frames 6000 --static-epochs 30 --epochs 10 --missing 10"
    found = neurons.run(neurons.arguments(line.split()))
    assert np.median(found.cosines) > 0.9 and found.cosines.min() > 0.6
    assert "of the 32 strongest" in capsys.readouterr().out
