"""Figures hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import KINDS, machine

pytest.importorskip("matplotlib")

from trug_fast.plots import basic as plots  # noqa: E402  (after the skip)
from trug_fast.plots import training as plots_training

HISTORY = {
    "epoch": np.arange(1.0, 5.0),
    "score": np.array([-30.0, np.nan, -28.0, -27.0]),
    "validation_score": np.array([-31.0, np.nan, -29.0, -28.5]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_nonlinearities_of_every_kind_of_unit(kind):
    ax = plots.nonlinearities(machine(kind))
    assert len(ax.lines) >= 1
    assert ax.get_xlabel() and ax.get_ylabel()
    assert all(np.isfinite(line.get_ydata()).all() for line in ax.lines)


def test_nonlinearity_curves_are_the_units_means():
    means = plots.unit_mean(np.array([-1.0, 0.0, 2.0]), 1.0, 0.0, 1.0)[:, 0]
    exact = [tf.kernels.mean_variance(a, 1.0, 0.0, 1.0)[0] for a in (-1.0, 0.0, 2.0)]
    np.testing.assert_allclose(means, exact, rtol=1e-5)


def test_images_are_laid_out_in_a_grid():
    ax = plots.images(np.eye(6)[:5], (2, 3), columns=3)
    mosaic = ax.get_images()[0].get_array()
    assert mosaic.shape == (2 * 3 - 1, 3 * 4 - 1)
    assert mosaic[0, 0] == 1
    with pytest.raises(ValueError, match="array must have 9 columns, got 6"):
        plots.images(np.eye(6), (3, 3))


def test_history_draws_what_there_is():
    assert len(plots.history(HISTORY).lines) == 2
    assert len(plots.history({"epoch": np.arange(3.0)}).lines) == 0


ENDS = {
    f"{end}_{which}": np.linspace(start, stop, 4)
    for end, start in (("lower", -1.0), ("upper", 1.0))
    for which, stop in (("mean", start), ("min", start - 0.5), ("max", start + 0.5))
}


@pytest.mark.parametrize(("ends", "lines"), [(("upper",), 1), (("lower", "upper"), 2)])
def test_truncation_points_over_the_epochs(ends, lines):
    record = HISTORY | {k: v for k, v in ENDS.items() if k.split("_")[0] in ends}
    ax = plots_training.truncation_points(record, label="per unit")
    assert len(ax.lines) == len(ax.collections) == lines
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), record["upper_mean"])
    band = ax.collections[-1].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.5, 1.5)
    shared = {**record, "upper_min": record["upper_mean"], "upper_max": record["upper_mean"]}
    assert len(plots_training.truncation_points(shared).collections) == lines - 1
    with pytest.raises(ValueError, match="these ends were fixed"):
        plots_training.truncation_points(HISTORY)


def test_a_training_has_a_panel_for_each_thing_that_moved():
    assert len(plots_training.training(HISTORY).axes) == 1
    assert len(plots_training.training(HISTORY | ENDS).axes) == 2
    with pytest.raises(ValueError, match="must hold scores or learned truncation points"):
        plots_training.training({"epoch": np.arange(3.0), "objective": np.zeros(3)})


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_summary(kind, tmp_path):
    model = machine(kind, n_visible=9, n_hidden=7)
    rows = np.zeros((4, 9))
    figure = plots.summary(model, HISTORY, rows, rows, (3, 3), baseline=HISTORY, title="t")
    assert len(figure.axes) == (6 if kind == "mixed" else 5)
    figure.savefig(tmp_path / "a.png")


def test_family_has_four_panels():
    assert len(plots.family().axes) == 4


def test_truncation_histogram_wants_a_trug_machine():
    assert plots.truncation_histogram(machine("mixed")).patches
    with pytest.raises(TypeError, match="model must be a TruGRBM, got BernoulliRBM"):
        plots.truncation_histogram(machine("bernoulli"))


def test_a_missing_matplotlib_is_explained(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"pip install trug-fast\[plot\]"):
        plots.family()
