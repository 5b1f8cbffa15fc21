"""Spins, categorical and mixed visible units of a model: energies, draws, files, bad input."""

import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support.kinds import MIXED, NAMES, every_state, model_of_kinds
from trug_fast._common.numerics import log_sum_exp


@pytest.mark.parametrize("name", ["categorical", "spin", "discrete"])
def test_free_energy_sums_the_hidden_units_out(name):
    model = model_of_kinds(name, "bernoulli")
    X = every_state(model)
    columns = model.visible_units.columns(X).astype(float)
    weights, bias = model.weights.reshape(-1, 2), model.visible_bias.ravel()
    each = []
    for h in ([0, 0], [0, 1], [1, 0], [1, 1]):
        each.append(columns @ (weights @ h + bias) + model.hidden_bias @ h)
    total = [log_sum_exp(column) for column in np.array(each).T]
    np.testing.assert_allclose(-model.free_energy(X), total, rtol=1e-12, atol=1e-12)


def test_a_spin_is_a_unit_of_0_and_1_in_other_coordinates():
    spins = model_of_kinds("spin")
    other = tf.TruGRBM(
        2 * spins.weights,
        2 * spins.visible_bias,
        spins.hidden_bias - spins.weights.sum(axis=0),
        *(spins.precision, spins.lower, spins.upper),
    )
    X = every_state(spins)
    difference = spins.free_energy(X) - other.free_energy((X + 1) / 2)
    np.testing.assert_allclose(difference, spins.visible_bias.sum(), rtol=1e-12)


@pytest.mark.parametrize("name", ["categorical", "spin", "discrete"])
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_chains_reach_the_exact_distribution(name, hidden):
    model, n = model_of_kinds(name, hidden, np.float32), 20_000
    X = every_state(model)
    draws = model.sample(n, n_gibbs=30, rng=0)
    assert draws.dtype == (np.int64 if name == "categorical" else np.float32)
    low = X.min(axis=0)
    radix = np.cumprod([1, *(np.ptp(X, axis=0) + 1)[:-1]])
    at = {key: k for k, key in enumerate(((X - low) @ radix).tolist())}
    counts = np.bincount([at[key] for key in ((draws - low) @ radix).tolist()], minlength=len(X))
    expected = n * np.exp(tf.exact.log_likelihood(model, X))
    few = expected < 5  # together, as the test wants them
    counts = np.append(counts[~few], counts[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    keep = expected > 0
    chi2 = ((counts - expected)[keep] ** 2 / expected[keep]).sum()
    assert stats.chi2.sf(chi2, keep.sum() - 1) > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_columns_lead_back_to_states(name):
    model = model_of_kinds(name)
    X = model.sample(7, n_gibbs=3, rng=0)
    columns = model.visible_units.columns(X)
    assert columns.shape == (7, model.n_columns)
    np.testing.assert_array_equal(model.visible_units.states(columns), X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_files_keep_the_kinds(name, hidden, tmp_path):
    model = model_of_kinds(name, hidden, np.float32)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    assert again.runs == model.runs and repr(again) == repr(model) and again.dtype == np.float32
    for key, value in model.arrays().items():
        np.testing.assert_array_equal(getattr(again, key), value)
        assert getattr(again, key).shape == value.shape and not value.flags.writeable


def test_print_says_the_number_of_states():
    assert repr(model_of_kinds("categorical")) == (
        "TruGRBM(n_visible=3, n_states=4, n_hidden=2, visible='categorical', dtype=float64)"
    )
    assert repr(model_of_kinds("mixed", "bernoulli")) == (
        "BernoulliRBM(n_visible=5, n_hidden=2, visible='mixed', dtype=float64)"
    )


def test_held_sites_keep_their_states_and_free_ones_are_drawn_given_them():
    model, n = model_of_kinds("categorical"), 20_000
    held = np.tile([2, np.nan, 0], (n, 1))
    draws = model.sample(n_gibbs=20, clamp=held, rng=0)
    assert (draws[:, 0] == 2).all() and (draws[:, 2] == 0).all()
    given = model.clamped([2, np.nan, 0])
    assert given.weights.shape == (1, 4, 2)
    chances = np.exp(tf.exact.log_likelihood(given, np.arange(4)[:, None]))
    found = np.bincount(draws[:, 1], minlength=4) / n
    assert (abs(found - chances) < 5 * np.sqrt(chances / n)).all()  # fails once in 4e5
    means = model.sample(5, n_gibbs=3, clamp=[2, np.nan, 0], return_mean=True, rng=0)
    assert means.shape == (5, 3, 4) and (means[:, 0] == np.eye(4)[2]).all()
    np.testing.assert_allclose(means.sum(axis=-1), 1, rtol=1e-12)


def test_what_is_left_of_mixed_units_may_be_of_one_kind():
    model = model_of_kinds("mixed")
    real = model.clamped([1, 2, np.nan, -1, 0])
    assert real.visible == "gaussian" and real.visible_precision == [2.0]
    sites = model.clamped([1, np.nan, 0.5, -1, 0])
    assert sites.visible == "categorical" and sites.weights.shape == (1, 3, 2)
    drawn = model.sample(9, n_gibbs=2, clamp=[1, 2, np.nan, -1, np.nan], rng=0)
    assert (drawn[:, [0, 1, 3]] == [1, 2, -1]).all() and (drawn[:, 2] != drawn[0, 2]).any()
    means = model.sample(9, n_gibbs=2, return_mean=True, rng=0)
    assert means.shape == (9, 8)


def test_hidden_and_visible_draws_have_the_units_shapes():
    model = model_of_kinds("categorical")
    X = np.array([[0, 3, 1], [1, 1, 2]], np.uint8)
    H = model.sample_hidden(X, rng=0)
    assert H.shape == (2, 2) and model.sample_visible(H, rng=0).shape == (2, 3)
    assert model.hidden_moments(X.astype(float)).mean.shape == (2, 2)


ONES = np.ones((3, 4, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.BernoulliRBM(ONES, 0, 0), "need visible='categorical'"),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible="categorical"), r"got \(4, 2\)"),
        (lambda: tf.BernoulliRBM(ONES[:, :1], 0, 0, visible="categorical"), "2 or more"),
        (
            lambda: tf.BernoulliRBM(ONES, 0, 0, visible=tf.CategoricalUnits(3)),
            "categorical visible units of 3 states, got",
        ),
        (
            lambda: tf.BernoulliRBM(ONES, np.zeros(4), 0, visible="categorical"),
            r"visible_bias must be a number or have shape \(3, 4\)",
        ),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible="potts"), "visible must be one of"),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible=MIXED), "a row for each visible unit"),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible=["spin", 3]), "got 3 for column 1"),
        (
            lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible=["spin", "categorical"]),
            "how many states column 1",
        ),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, 1.0, visible="spin"), "these are spin"),
        (lambda: tf.BernoulliRBM(ONES[0], 0, 0, visible="gaussian"), "must be given"),
        (lambda: tf.CategoricalUnits(1), "n_states must be at least 2"),
    ],
)
def test_models_refuse_what_does_not_fit(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("categorical", [0, 4, 0], "X must be a state, .* from 0 to 3, got 4.0 at row 1, column 1"),
        ("categorical", [0, 0.5, 0], "got 0.5 at row 1, column 1"),
        ("categorical", [0, 0, -1], "got -1.0 at row 1, column 2"),
        ("categorical", [0, np.nan, 0], "X must be finite"),
        ("spin", [1, 1, 0, 1], "X must be -1 or 1, got 0.0 at row 1, column 2"),
        ("mixed", [1, 3, 0.1, 1, 0], "from 0 to 2, got 3.0 at row 1, column 1"),
        ("mixed", [1, 2, 0.1, 0, 0], "-1 or 1, got 0.0 at row 1, column 3"),
        ("mixed", [0.5, 2, 0.1, 1, 0], "0 or 1, got 0.5 at row 1, column 0"),
    ],
)
def test_data_that_are_no_states_are_refused_by_row_and_column(name, row, message):
    model = model_of_kinds(name)
    good = model.sample(1, n_gibbs=1, rng=0)[0]
    with pytest.raises(ValueError, match=message):
        model.free_energy([good.astype(float), row])
    if not np.isnan(row).any() and row[0] != 0.5:  # which may be held as a mean
        with pytest.raises(ValueError, match="clamp must be"):
            model.sample(clamp=row)


def test_letters_of_states_are_remembered(tmp_path):
    bias = np.arange(8.0).reshape(2, 4)
    plain = tf.BernoulliRBM(np.ones((2, 4, 1)), bias, 0.0, visible="categorical")
    model = plain.with_letters("ACGU")
    model.save(tmp_path / "model.npz")
    loaded = tf.BernoulliRBM.load(tmp_path / "model.npz")
    others = loaded, loaded.zero_sum(), loaded.clamped([1, np.nan])
    trained = tf.train_rbm([[0, 3], [1, 2]], start=loaded, epochs=1, rng=0).model
    assert {each.letters for each in (*others, trained)} == {"ACGU"}
    assert plain.letters is None is model.with_letters(None).letters
    for letters in ("ACG", "AACG"):
        with pytest.raises(ValueError, match="letters must be 4 different ones"):
            plain.with_letters(letters)
    with pytest.raises(TypeError, match="letters must be a str"):
        plain.with_letters(["A", "C", "G", "U"])
    with pytest.raises(ValueError, match="letters are for categorical units, these are spin"):
        tf.BernoulliRBM([[1.0]], 0.0, 0.0, visible="spin").with_letters("AC")


def test_a_precision_without_effect_is_refused():
    for visible in (tf.GaussianUnits(precision=3.0), [tf.GaussianUnits(precision=3.0)]):
        with pytest.raises(ValueError, match="precision has no effect in a model"):
            tf.BernoulliRBM([[1.0]], 0.0, 0.0, 1.0, visible=visible)


def test_biases_of_states_are_no_matrix_of_weights():
    model = tf.BernoulliRBM(np.ones((2, 4, 1)), 0.0, 0.0, visible="categorical")
    with pytest.raises(ValueError, match="matrix must be one of 'weights', got 'visible_bias'"):
        model.sparsity("visible_bias")
