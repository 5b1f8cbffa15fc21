"""Forward and reverse annealing: identities that hold exactly, and what the two say together."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

import trug_fast as tf
from tests.support.models import exact_draws, model_of
from trug_fast.evaluation.bridges import judgement

SIDES = ("visible", "hidden")


def both(model, chains, temperatures, **options):
    """Run both directions from exact draws of the model."""
    return tf.log_partition(
        model,
        n_chains=chains,
        n_temperatures=temperatures,
        direction="both",
        start=exact_draws(model, chains, seed=7),
        **options,
    )


@pytest.mark.filterwarnings(
    "ignore::trug_fast.evaluation.PartitionWarning"
)  # few temperatures by design
@pytest.mark.parametrize("path", ["quad", "quad2", "paper"])
@pytest.mark.parametrize("weights_on", SIDES)
@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "flat"])
@pytest.mark.parametrize("temperatures", [1, 3])
def test_reverse_weights_are_the_mirror_image(kind, weights_on, path, temperatures):
    if (weights_on, path) == ("hidden", "paper"):
        pytest.skip("h has no density at the start of the paper's path")
    model = model_of(kind)
    exact = tf.exact.log_partition(model)
    data = exact_draws(model, 50, seed=3)
    run = both(model, 20_000, temperatures, path=path, base=data, weights_on=weights_on, rng=5)
    forward, reverse = (side.log_weights - exact for side in (run.forward, run.reverse))
    # Jarzynski: E[Z/w] = 1 on the way back, for any number of temperatures.
    inverse = np.exp(-reverse)
    error = inverse.std(ddof=1) / np.sqrt(inverse.size)
    assert abs(inverse.mean() - 1) < 5 * error
    assert error < 0.05
    # Crooks: the density of log w on the way back is w/Z times that on the way to the model, so
    # E_reverse[1 / (1 + w/c)] = c/Z E_forward[1 / (1 + c/w)] for every c.  A transition on the
    # wrong side of its weight would pass neither.
    for c in np.quantile(np.concatenate([forward, reverse]), [0.05, 0.35, 0.65, 0.95]):
        there, back = np.exp(c) * expit(forward - c), expit(c - reverse)
        error = np.hypot(there.std(), back.std()) / np.sqrt(there.size)
        assert abs(there.mean() - back.mean()) < 5 * error


@pytest.mark.parametrize("weights_on", SIDES)
@pytest.mark.parametrize("kind", ["[0,1]", "[0,inf)", "mixed", "flat", "bernoulli"])
def test_both_directions_agree_with_enumeration(kind, weights_on):
    model = model_of(kind)
    exact = tf.exact.log_partition(model)
    run = both(model, 1000, 40, weights_on=weights_on, rng=1)
    for estimate in (run, run.forward, run.reverse):
        assert abs(estimate.log_z - exact) < 4.5 * estimate.std_error
    assert run.std_error < min(run.forward.std_error, run.reverse.std_error)
    assert run.warnings == ()
    assert run.log_weights.shape == (2000,) and run.direction == "both"
    assert run.mean_field < exact


def test_reverse_chains_start_by_default_at_draws_of_an_annealing_of_their_own():
    model = model_of("mixed")
    exact = tf.exact.log_partition(model)
    options = {"n_chains": 1000, "n_temperatures": 40, "rng": 4}
    for extra in ({"direction": "both"}, {"direction": "reverse"}, {"base": np.eye(5)}):
        estimate = tf.log_partition(model, **options | {"direction": "reverse"} | extra)
        assert abs(estimate.log_z - exact) < 4.5 * estimate.std_error
    soft = tf.log_partition(model, **options, direction="reverse", base=np.full((3, 5), 0.5))
    assert abs(soft.log_z - exact) < 4.5 * soft.std_error
    assert soft.forward is None and soft.direction == "reverse"


def random_models(n, seed):
    """Return models of all kinds of units, sizes and strengths, small enough to enumerate."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        visible, hidden = rng.integers(4, 11), rng.integers(2, 13)
        size, scale = (visible, hidden), rng.uniform(0.3, 1.2)
        shared = (rng.normal(0, scale, size), rng.normal(0, 1, visible), rng.normal(0, 1, hidden))
        if i % 4 == 0:
            made.append(tf.BernoulliRBM(*shared))
            continue
        width = rng.uniform(0.5, 4, hidden) if i % 4 < 3 else np.inf
        lower = rng.uniform(-1, 0.5, hidden)
        precision = rng.uniform(0.5, 2, hidden) * np.where(i % 4 == 2, -0.2, 1.0)
        strength = 0.5 if i % 4 == 3 else 1.0  # units that are not cut off amplify
        made.append(tf.TruGRBM(strength * shared[0], *shared[1:], precision, lower, lower + width))
    return made


def groups(model, temperatures, group, n_groups, **options):
    """Return estimates of many independent groups of chains, from one run."""
    run = both(model, group * n_groups, temperatures, **options)
    parts = [np.split(side.log_weights, n_groups) for side in (run.forward, run.reverse)]
    known = {"path": "", "temperatures": run.temperatures, "mean_field": -np.inf, "fingerprint": ""}
    return [judgement.judge(*pair, **known) for pair in zip(*parts, strict=True)]


def check_bracket_and_coverage(n_groups, temperatures=10):
    """Check 20 models: order of the two bounds, and how often the interval holds log Z."""
    inside, below, above, spread = [], [], [], []
    for i, model in enumerate(random_models(20, seed=1)):
        exact = tf.exact.log_partition(model)
        side = SIDES[i % 2]
        for estimate in groups(model, temperatures, 100, n_groups, rng=i, weights_on=side):
            low, high = estimate.interval
            inside.append(low <= exact <= high)
            spread.append(estimate.forward.log_weights.std())
        for estimate in groups(model, temperatures, 5, 20 * n_groups, rng=100 + i, weights_on=side):
            below.append(exact - estimate.forward.log_z)
            above.append(estimate.reverse.log_z - exact)
    # 95 in 100, within what chance allows in 99,998 of 100,000 runs.
    assert (
        binom.ppf(1e-5, len(inside), 0.95) <= sum(inside) <= binom.ppf(1 - 1e-5, len(inside), 0.95)
    )
    # Of groups of 5 chains, where Jensen's gap is wide: on average to the right side, by far more
    # than chance.
    for gap in (below, above):
        assert np.mean(gap) > 5 * np.std(gap) / np.sqrt(len(gap))
    # The models are neither trivial nor hopeless.
    assert 0.05 < np.median(spread) < 1.5 and np.max(spread) > 0.5


@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
def test_bracket_and_coverage_on_20_models():
    check_bracket_and_coverage(n_groups=10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
@pytest.mark.parametrize("temperatures", [5, 20])
def test_bracket_and_coverage_in_many_runs(temperatures):
    check_bracket_and_coverage(n_groups=200, temperatures=temperatures)
