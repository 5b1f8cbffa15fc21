"""Logos hold the letters and heights they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast import plots

pytest.importorskip("matplotlib")
from reproduction import logos  # noqa: E402

RNG = np.random.default_rng(0)


def letters_of(ax):
    """Return where the letters of a logo stand: left, bottom, width, height, in drawing order."""
    (collection,) = ax.collections
    return np.array([path.get_extents().bounds for path in collection.get_paths()])


def test_heights_are_the_weights(tmp_path):
    weights = RNG.normal(size=(6, 5))
    ax = logos.weight_logo(weights, "rna", first=11)
    boxes = letters_of(ax)
    high = np.array([boxes[boxes[:, 0].round() == 11 + k][:, 3].sum() for k in range(6)])
    np.testing.assert_allclose(high, np.abs(weights).sum(axis=1), rtol=0.02)  # but for tiny ones
    assert abs(boxes[:, 1].min() - np.minimum(weights, 0).sum(axis=1).min()) < 1e-6
    tops = boxes[:, 1] + boxes[:, 3]
    assert abs(tops.max() - np.maximum(weights, 0).sum(axis=1).max()) < 1e-6
    assert (boxes[:, 2] <= 0.9 + 1e-6).all() and ax.get_ylabel() == "weight"
    plots.save(ax, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_larger_letters_stand_farther_from_the_axis():
    boxes = letters_of(logos.weight_logo([[0.0, 3.0, 1.0, -2.0, -0.5]], "dna"))
    np.testing.assert_allclose(boxes[:, 3], [1, 3, 0.5, 2], rtol=1e-6)
    np.testing.assert_allclose(boxes[:, 1], [0, 1, -0.5, -2.5], atol=1e-6)


def test_information_in_bits():
    sure = np.zeros((3, 4))
    sure[0, 2] = 1.0
    sure[1, :2] = 0.5
    sure[2] = 0.25
    ax = logos.information_logo(sure, "ACGT")
    boxes = letters_of(ax)
    np.testing.assert_allclose(boxes[:, 3], [2.0, 0.5, 0.5], rtol=1e-6)
    assert ax.get_ylabel() == "bits" and ax.get_ylim()[0] == 0
    family = RNG.integers(0, 21, (50, 8))
    assert logos.information_logo(tf.evaluation.site_frequencies(family, 21)).collections


@pytest.mark.parametrize("alphabet", ["protein", "rna", "dna", ".()", "HE-C", "0123"])
def test_every_letter_has_a_shape_and_a_colour(alphabet):
    count = {"protein": 21, "rna": 5, "dna": 5}.get(alphabet, len(alphabet))
    ax = logos.weight_logo(np.ones((1, count)), alphabet)
    np.testing.assert_allclose(letters_of(ax)[:, 3], 1, rtol=1e-6)
    assert len(ax.collections[0].get_facecolors()) == count


def test_what_is_refused():
    with pytest.raises(ValueError, match="weights must have 21 columns, got 3"):
        logos.weight_logo(np.ones((2, 3)))
    with pytest.raises(ValueError, match="frequencies must be 0 or more, and sum to 1"):
        logos.information_logo(np.ones((2, 5)), "rna")
    with pytest.raises(ValueError, match="weights must be finite"):
        logos.weight_logo(np.full((2, 5), np.nan), "rna")


def strong_and_weak():
    weights = RNG.normal(size=(6, 5, 3)) * [0.1, 3.0, 1.0]
    weights += RNG.normal(size=(6, 1, 3))  # not in the zero-sum gauge
    return tf.BernoulliRBM(weights, 0.0, 0.0, visible="categorical")


def test_logos_of_a_model_are_those_of_its_strongest_units():
    model = strong_and_weak().with_letters("-ACGU")
    figure = logos.unit_logos(model, 2)
    assert [ax.get_title()[:7] for ax in figure.axes] == ["unit 2,", "unit 3,"]
    gauged = model.zero_sum().weights
    alone = logos.weight_logo(gauged[:, :, 1], "rna")
    np.testing.assert_array_equal(letters_of(figure.axes[0]), letters_of(alone))
    assert len(logos.unit_logos(strong_and_weak(), 9, "rna").axes) == 3


def test_models_without_letters_have_no_logos():
    with pytest.raises(ValueError, match="alphabet is needed"):
        logos.unit_logos(strong_and_weak())
    with pytest.raises(ValueError, match="weights must have 21 columns, got 5"):
        logos.unit_logos(strong_and_weak(), 2, "protein")
    with pytest.raises(ValueError, match="'bernoulli'"):
        logos.unit_logos(tf.BernoulliRBM(np.eye(3), 0.0, 0.0))
