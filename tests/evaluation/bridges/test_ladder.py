"""Log Z along a ladder of models: within its error of the exact one, and kept in files."""

from itertools import product

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation.bridges.climbing import acceptance
from trug_fast.evaluation.bridges.ladder import Ladder
from trug_fast.evaluation.bridges.weights import beyond, standard_error


def model_of(kind, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    weights = rng.normal(0.0, scale, (8, 6))
    biases = rng.normal(0.0, 0.3, 8), rng.normal(0.0, 0.3, 6)
    if kind == "bernoulli":
        return tf.BernoulliRBM(weights, *biases)
    if kind == "gaussian":
        return tf.BernoulliRBM(weights, *biases, visible_precision=2.0)
    if kind == "wide":
        return tf.TruGRBM(weights, *biases, 2.0, 0.0, np.inf)
    return tf.TruGRBM(weights, *biases, rng.uniform(-1, 3, 6), -1.0, rng.uniform(1, 3, 6))


def without_weights(model):
    names = {"weights": 0.0 * model.weights, "hidden_bias": 0.0}
    return type(model)(**(model.arrays() | names), visible=model.visible)


def ladder_to(model, seed=0, chains=60, draws=20):
    ladder = Ladder(without_weights(model), chains, seed)
    ladder.reach(model)
    ladder.run(draws)
    return ladder


def scaled(kind, seed):
    """Return the error of log Z in standard errors."""
    model = model_of(kind, seed)
    ladder = ladder_to(model, seed)
    return (ladder.log_z[-1] - tf.exact.log_partition(model)) / ladder.std_error[-1]


@pytest.mark.parametrize("kind", ["bernoulli", "trug", "wide", "gaussian"])
def test_log_z_lies_within_its_error(kind):
    # The sum of the squares of five normal numbers exceeds 25 by chance once in 7,000 times.
    assert sum(scaled(kind, seed) ** 2 for seed in range(5)) < 25


def test_the_first_rung_is_exact_and_draws_are_its_own():
    base = without_weights(model_of("trug", 1))
    ladder = Ladder(base, 400, 0)
    assert ladder.log_z[0] == pytest.approx(tf.exact.log_partition(base), abs=1e-9)
    assert ladder.std_error.tolist() == [0.0] and ladder.acceptance.size == 0
    mean = 1 / (1 + np.exp(-base.visible_bias))
    draws = ladder.run(10).reshape(-1, 8)
    assert (abs(draws.mean(axis=0) - mean) < 5 * np.sqrt(mean * (1 - mean) / 4000)).all()


def test_files_and_estimates(tmp_path):
    model = model_of("trug", 2)
    ladder = ladder_to(model)
    ladder.save(tmp_path / "ladder.npz")
    read = tf.evaluation.Ladder.load(tmp_path / "ladder.npz")
    assert read == ladder and repr(read) == repr(ladder) and len(read) == len(ladder) > 2
    assert read.models[-1].dtype == model.dtype
    near = tf.TruGRBM(**(model.arrays() | {"weights": 1.05 * model.weights}))
    estimate = ladder.log_partition(near, n_draws=30, rng=0)
    assert abs(estimate.log_z - tf.exact.log_partition(near)) < 4.5 * estimate.std_error
    assert estimate.log_z == read.log_partition(near, n_draws=30, rng=0).log_z
    assert estimate.log_weights.mean() == pytest.approx(estimate.log_z)
    tf.log_likelihood(near, np.zeros((1, 8)), estimate)
    with pytest.raises(ValueError, match="log_z must be of this model"):
        tf.log_likelihood(model, np.zeros((1, 8)), estimate)


def test_other_models_are_refused(tmp_path):
    ladder = ladder_to(model_of("trug", 2), draws=2)
    with pytest.raises(ValueError, match=r"model must be a TruGRBM as the ladder's"):
        ladder.log_partition(model_of("bernoulli", 2))
    with pytest.raises(ValueError, match=r"model must have visible='bernoulli' as the ladder"):
        ladder.log_partition(model_of("gaussian", 2))
    with pytest.raises(ValueError, match=r"n_draws must be at least 1"):
        ladder.log_partition(n_draws=0)
    arrays = ladder.arrays()
    for name in ("chains", "forward", "draws", "weights"):
        with pytest.raises(ValueError, match="ladder"):
            Ladder.of_arrays({k: v for k, v in arrays.items() if k != name})
    with pytest.raises(ValueError, match="do not fit together"):
        Ladder.of_arrays(arrays | {"chains": arrays["chains"][1:]})


def test_what_training_came_back_from_is_dropped():
    far, near = model_of("bernoulli", 3, 1.5), model_of("bernoulli", 4, 0.1)
    ladder = ladder_to(far, draws=2)
    ladder.reach(near)
    assert len(ladder) < 4 and ladder.models[-1] is near


def test_acceptance_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(0)
    f, r = rng.normal(-1, 1, 20), rng.normal(1, 1, 30)
    pairs = np.minimum(1, np.exp(f[:, None] - r)).mean()
    assert acceptance(f, r) == pytest.approx(pairs, rel=1e-12)


def test_errors_count_columns():
    gain = np.random.default_rng(0).normal(0, 0.1, 50)
    once, often = beyond(gain[None]), beyond(np.repeat(gain[None], 20, axis=0))
    assert often.log_ratio == pytest.approx(once.log_ratio)
    assert standard_error(often.shares) == pytest.approx(standard_error(once.shares))
    assert standard_error(once.shares) == pytest.approx(gain.std() / np.sqrt(50), rel=0.1)


SITES = 4
VISIBLE = {
    "bernoulli": np.array(list(product([0, 1], repeat=8))),
    "trug": np.array(list(product([0, 1], repeat=8))),
    "categorical": np.array(list(product(range(3), repeat=SITES))),
}


def peaked(kind):
    """Return a model of two modes or more, which plain chains hardly leave."""
    if kind != "categorical":
        return model_of(kind, 5, 2.0 if kind == "bernoulli" else 1.0)
    weights = np.zeros((SITES, 3, 2))
    weights[:, 0, 0], weights[:, 1, 1] = 4.0, 3.5
    return tf.BernoulliRBM(weights, 0.0, [-5.0, -4.0], visible="categorical")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", list(VISIBLE))
def test_samples_have_the_exact_shares_of_all_states(kind):
    # One row of each column, so rows are independent; the statistic goes with chi-squared of as
    # many degrees, and exceeds its mean by five deviations once in 100,000 times.
    model, rows = peaked(kind), 500
    ladder = ladder_to(model, chains=rows, draws=2)
    drawn = ladder.sample(rows, n_exchanges=20, rng=1)
    states = VISIBLE[kind]
    share = np.exp(tf.exact.log_likelihood(model, states))
    code = np.array([tuple(row) for row in drawn]) @ (states.max() + 1) ** np.arange(
        states.shape[1]
    )[::-1].astype(int)
    seen = np.bincount(code.astype(int), minlength=len(states))
    likely = rows * share > 5
    seen = np.append(seen[likely], seen[~likely].sum())
    expected = rows * np.append(share[likely], share[~likely].sum())
    degrees = len(seen) - 1
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert degrees >= 5 and statistic < degrees + 5 * np.sqrt(2 * degrees)


def test_samples_of_other_models_and_of_few_chains():
    model = model_of("trug", 2)
    ladder = ladder_to(model, chains=10, draws=2)
    before = ladder.arrays()
    drawn = ladder.sample(25, n_exchanges=2, rng=0)
    assert drawn.shape == (25, 8) and np.isin(drawn, [0, 1]).all() and drawn.dtype == model.dtype
    np.testing.assert_array_equal(drawn[:13], ladder.sample(13, n_exchanges=2, rng=0))
    assert (drawn != ladder.sample(25, n_exchanges=2, rng=1)).any()
    near = tf.TruGRBM(**(model.arrays() | {"visible_bias": model.visible_bias + 3.0}))
    assert ladder.sample(40, near, rng=0).mean() > drawn.mean() + 0.1
    assert all(np.array_equal(ladder.arrays()[name], before[name]) for name in before)
    for n, more in ((0, {}), (5, {"n_exchanges": 0})):
        with pytest.raises(ValueError, match="must be at least 1"):
            ladder.sample(n, **more)
    with pytest.raises(ValueError, match=r"model must be a TruGRBM as the ladder's"):
        ladder.sample(5, model_of("bernoulli", 2))
