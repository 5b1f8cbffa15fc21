"""Models that were saved by the first version load for good, and say what they said."""

from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf

SAVED = sorted((Path(__file__).parent / "saved").glob("*.npz"))
# Of each file, a number that follows from all of its model, as the version that saved it had it.
EXPECTED = {
    "bernoulli": -13.6320335,
    "categorical": -0.585536269,
    "ensemble": 2.5311562,
    "gaussian": 7.24996479,
    "mixed": -3.74387328,
    "spin": -6.75961415,
    "tggm": 5.61012363,
    "trbm": 9.94583358,
    "trbm_gaussian": 6.18430603,
    "trug": -1.05137398,
}


def told(model):
    """Return a number that follows from all of a model."""
    rng = np.random.default_rng(1)
    if isinstance(model, tf.TruGTGGM | tf.TGGMEnsemble):
        mean, std = model.predict(rng.normal(size=(4, 2)), return_std=True)
        return float((mean + std).sum())
    if isinstance(model, tf.TruGTRBM | tf.BernoulliTRBM):
        frames = rng.integers(0, 2, (6, 3)).astype(float)
        return float(
            (model.filter(frames) * np.arange(1, 3)).sum() + model.visible_to_visible.sum()
        )
    rows = rng.integers(0, 2, (4, model.n_visible)).astype(float)
    if getattr(model, "visible", "") == "spin":
        rows = 2 * rows - 1
    return float(model.free_energy(rows).sum())


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_load(path, tmp_path):
    model = tf.load(path)
    np.testing.assert_allclose(told(model), EXPECTED[path.stem], rtol=1e-6)
    model.save(tmp_path / "again.npz")
    assert told(tf.load(tmp_path / "again.npz")) == told(model)
