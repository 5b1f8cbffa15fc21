"""What every kind of unit must do, against enumeration and quadrature.

A new kind is one more entry of CASES: without one, and without any one of its functions, this
module is red.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.bridges import mean_field
from trug_fast.evaluation.bridges.paths import base_bias
from trug_fast.evaluation.likelihood import site_log_probability
from trug_fast.kernels.rbm import gibbs
from trug_fast.training.rbm.turning import turns_of
from trug_fast.training.units import WORDS, choice_of
from trug_fast.units.kinds import KINDS, Kind, Run, kind_named, log_norms
from trug_fast.units.layer import IN_FILES, Layer, from_file, run_of, to_file

HIDDEN = dict(precision=[0.8, -0.5], lower=[0.0, -1.0], upper=[2.0, 1.0])
STATES = 3  # of categorical units
N = 120  # nodes of a quadrature


class Case(NamedTuple):
    """A kind, and what is known of it without it."""

    kind: str
    unit: Any  # one site, as models and trainings take it
    points: Any  # what a site may be: all of it, or the nodes of a quadrature
    weights: Any  # of the points
    columns: Any  # of each point, as kernels are to see it
    precision: float | None  # of kinds that have one
    energy: Any  # of each point, beside those of biases and weights
    number: int | None  # of states, if they have an end
    wrong: tuple[float, ...]  # numbers that a site cannot be
    refusal: str  # of the last of these, in data that may not be means


def nodes(low: float, high: float) -> tuple[Any, Any]:
    """Return Gauss-Legendre nodes and weights."""
    at, weights = np.polynomial.legendre.leggauss(N)
    return (low + high) / 2 + (high - low) / 2 * at, (high - low) / 2 * weights


def discrete(kind: str, unit: Any, points: Any, wrong: Any, refusal: str, columns: Any = None):
    points = np.array(points, float)
    columns, none = points[:, None] if columns is None else np.array(columns, float), 0 * points
    return Case(kind, unit, points, none + 1, columns, None, none, len(points), wrong, refusal)


def real(kind: str, unit: Any, ends: Any, wrong: Any, refusal: str):
    points, weights = nodes(*ends)
    energy = 0.5 * 1.7 * points**2
    return Case(kind, unit, points, weights, points[:, None], 1.7, energy, None, wrong, refusal)


CASES = {
    "bernoulli": discrete(
        "bernoulli", tf.BernoulliUnits(), [0, 1], (-1, 2, 0.5), r"be 0 or 1, got 0\.5 .*\(binarize"
    ),
    "spin": discrete("spin", tf.SpinUnits(), [-1, 1], (2, 0.5, 0), "be -1 or 1, got 0"),
    "categorical": discrete(
        "categorical",
        tf.CategoricalUnits(STATES),
        range(STATES),
        (-1, 0.5, STATES),
        "be a state, a whole number from 0 to 2, got 3",
        np.eye(STATES),
    ),
    "gaussian": real("gaussian", tf.GaussianUnits(), (-9, 9), (np.inf,), "be finite, got inf"),
    "truncated": real(
        "truncated", tf.TruncatedUnits((-0.5, 1.5)), (-0.5, 1.5), (-1, 2), r"be in \[-0\.5, 1\.5\]"
    ),
    "half line": real(
        "truncated", tf.TruncatedUnits("relu"), (0, 9), (np.inf, -1), r"be in \[0, inf\), got -1"
    ),
}
SITES = 2


def layer_of(case: Case, sites: int = SITES) -> Layer:
    run = run_of(case.unit, sites)
    precision = None if case.precision is None else np.full(run.columns, case.precision)
    return Layer((run,), precision)


def shares(case: Case, net: Any) -> tuple[Any, Any]:
    """Return log-normalisers and probabilities of the points, at net inputs (..., columns)."""
    log_p = net @ case.columns.T + np.log(case.weights) - case.energy
    total = np.logaddexp.reduce(log_p, axis=-1)
    return total, np.exp(log_p - total[..., None])


def rows_of(case: Case, sites: int = SITES) -> tuple[Any, Any, Any, Any]:
    """Return all rows of so many sites, their columns, the logs of their weights, energies."""
    index = np.array(list(itertools.product(range(len(case.points)), repeat=sites)))
    columns = case.columns[index].reshape(len(index), -1)
    weights, energy = np.log(case.weights)[index].sum(axis=1), case.energy[index].sum(axis=1)
    return case.points[index], columns, weights, energy


def hidden_log_norm(net: Any, hidden: str) -> Any:
    """Return log of the sum or integral of exp(net h - d h^2 / 2) of each unit."""
    if hidden == "bernoulli":
        return np.logaddexp(0.0, net)
    found = []
    for j, (d, low, high) in enumerate(zip(*HIDDEN.values(), strict=True)):
        h, weights = nodes(low, high)
        found.append(
            np.logaddexp.reduce(net[:, j, None] * h - 0.5 * d * h * h + np.log(weights), axis=1)
        )
    return np.stack(found, axis=1)


def model_of(case: Case, hidden: str = "trug", scale: float = 0.5) -> Any:
    layer, rng = layer_of(case), np.random.default_rng(1)
    own = dict(
        weights=rng.normal(0, scale, (*layer.shape, 2)),
        visible_bias=rng.normal(0, scale, layer.shape),
        hidden_bias=rng.normal(0, scale, 2),
        visible_precision=case.precision,
    )
    kind = {"trug": tf.TruGRBM, "bernoulli": tf.BernoulliRBM}[hidden]
    beside = HIDDEN if hidden == "trug" else {}
    unit = case.unit if isinstance(case.unit, tf.TruncatedUnits) else case.kind
    return kind(**own, **beside, visible=unit)


def log_density(case: Case, model: Any, hidden: str) -> tuple[Any, Any, Any]:
    """Return all rows, log p* of each, and that with the weight of the row."""
    X, columns, weights, energy = rows_of(case)
    net = model.hidden_bias + columns @ model.column_weights
    log_p = columns @ model.column_bias + hidden_log_norm(net, hidden).sum(axis=1) - energy
    return X, log_p, log_p + weights


def nets(case: Case, rows: int = 4) -> Any:
    return np.random.default_rng(0).normal(0, 0.8, (rows, SITES, case.columns.shape[1]))


# What must hold of each kind, the cheapest first.


def check_properties(case):
    layer, kind = layer_of(case), KINDS[case.kind]
    few = case.number is not None
    assert kind.real is (case.precision is not None) and layer.real.all() == kind.real
    assert layer.enumerable is few and layer.n_columns == SITES * case.columns.shape[1]
    assert kind.number is None or not kind.counted
    assert layer.states_each == [case.number] * SITES
    assert kind.fits(layer.runs[0]) and not kind.fits(layer.runs[0]._replace(sites=0))
    assert not kind.fits(layer.runs[0]._replace(states=STATES + 1 if not kind.counted else 1))
    low, high = layer.ends
    assert (low <= case.columns.min()).all() and (high >= case.columns.max()).all()
    if few or kind.cut:
        assert (low > case.columns.min() - 0.02).all()
    assert layer.endless.any() == np.isinf(layer.ends).any()
    assert choice_of(layer.runs[0]).runs(SITES) == layer.runs
    assert {unit.kind for unit in WORDS.values()} == set(KINDS)
    codes = [each.code for each in KINDS.values()]
    assert len(set(codes)) == len(codes)
    assert kind.scale == (np.ptp(case.points) if len(case.points) == 2 else 1)


def check_standing(case):
    """Check what files, scalings and missing values take a kind for."""
    kind, model, layer = KINDS[case.kind], model_of(case), layer_of(case)
    without = {k: v for k, v in model.arrays().items() if v is not None}
    try:  # without a word the parameters stand for units of this kind
        alone = tf.TruGRBM(**without).runs == model.runs
    except ValueError:
        alone = False
    assert kind.plain is alone
    scaling = tf.models.Scaling(np.zeros(SITES), np.ones(SITES))
    if case.kind == "gaussian":
        assert model.with_scaling(scaling).scaling is scaling
    else:
        with pytest.raises(ValueError, match="scaling is for Gaussian visible units"):
            model.with_scaling(scaling)
    X = np.array([[np.nan, case.points[0]]])
    if "missing" in type(case.unit).__dataclass_fields__:
        np.testing.assert_array_equal(layer.checked("X", X, SITES, missing=True), X)
    else:
        with pytest.raises(ValueError, match="X must be finite"):
            layer.checked("X", X, SITES, missing=True)


def check_states(case):
    layer = layer_of(case)
    X, columns = rows_of(case)[:2]
    np.testing.assert_array_equal(layer.checked("X", X, SITES, soft=False), X)
    np.testing.assert_array_equal(layer.columns(X), columns)
    np.testing.assert_array_equal(layer.states(columns), X)
    shown = layer.shown(columns)
    np.testing.assert_array_equal(shown.reshape(columns.shape), columns)
    assert shown.shape[1] == SITES
    held = np.where(np.arange(SITES) == 0, np.nan, X[:3].astype(float))
    layer.require_held("clamp", held)
    of_held, each = layer.columns(held), case.columns.shape[1]
    assert np.isnan(of_held[:, :each]).all()
    np.testing.assert_array_equal(of_held[:, each:], columns[:3, each:])
    if layer.enumerable:
        found = np.concatenate(list(layer.every_state()))
        assert sorted(map(tuple, found)) == sorted(map(tuple, X)) and len(found) == layer.n_states


def check_refusals(case):
    layer = layer_of(case)
    X = np.tile(case.points[:1], (2, SITES))
    for value in case.wrong:
        X[1, 0] = value
        with pytest.raises(ValueError, match=f"X must.* {value}.*(row 1, column 0|index)"):
            layer.checked("X", X, SITES, soft=False)
    with pytest.raises(ValueError, match=f"X must {case.refusal}"):
        layer.checked("X", X, SITES, soft=False)
    with pytest.raises(ValueError, match="X must"):
        layer.checked("X", np.full((2, SITES), np.nan), SITES)
    with pytest.raises(ValueError, match="clamp must"):
        layer.require_held("clamp", np.full((1, SITES), case.wrong[0], float))
    middle = np.full((1, SITES), 0.5)
    if KINDS[case.kind].soft:
        layer.checked("X", middle, SITES, soft=True)
    else:
        with pytest.raises(ValueError, match="X must"):
            layer.checked("X", middle, SITES, soft=True)
    if case.kind == "bernoulli":
        with pytest.raises(ValueError, match="grey levels need datasets.binarize"):
            layer.checked("X", [[0, 7]], SITES)


def check_moments(case):
    layer, net = layer_of(case), nets(case)
    total, share = shares(case, net)
    mean = share @ case.columns
    flat = net.reshape(len(net), -1)
    np.testing.assert_allclose(layer.log_norm(flat), total.sum(axis=1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(layer.mean(flat), mean.reshape(flat.shape), atol=1e-10)
    square = share @ case.columns**2
    variance = square - mean**2 if case.precision is not None else 0 * mean
    np.testing.assert_allclose(layer.variance(flat), variance.reshape(flat.shape), atol=1e-9)
    _, columns, _, energy = rows_of(case)
    np.testing.assert_allclose(layer.energy(columns), energy, rtol=1e-13)


def check_biases(case):
    layer, net = layer_of(case), nets(case, 1).reshape(-1)
    mean = layer.mean(net)
    again = layer.mean(layer.bias(mean))
    np.testing.assert_allclose(again, mean, atol=0.03)
    if case.precision is not None and not np.isfinite(layer.ends).all():
        np.testing.assert_allclose(again, mean, atol=1e-6)
    ends = np.array([case.columns.min(), case.columns.max()])
    for end in ends:
        found = layer.bias(np.full(layer.n_columns, end, np.float32))
        assert np.isfinite(found).all() and found.dtype == np.float32
    base = layer.base(net)
    np.testing.assert_array_equal(base, 0 * net if layer.enumerable else net)


def require_moments(drawn: Any, mean: Any, square: Any) -> None:
    """Refuse draws, rows of columns, whose means are not these within their errors."""
    for power, wanted in ((1, mean), (2, square)):
        error = (drawn**power).std(axis=0) / np.sqrt(len(drawn)) + 1e-9
        assert (abs((drawn**power).mean(axis=0) - wanted) < 5 * error).all()


def check_draws(case):
    layer, bias = layer_of(case), nets(case, 1)
    share = shares(case, bias)[1]
    mean, square = ((share @ case.columns**k).ravel() for k in (1, 2))
    rng = np.random.default_rng(3)
    drawn = layer.independent(rng, 4000, bias.ravel())
    require_moments(drawn, mean, square)
    layer.checked("X", layer.states(drawn), SITES, soft=False)
    noise = layer.noise(rng, 4000, bias.ravel())
    layer.checked("X", layer.states(noise), SITES, soft=False)
    if layer.enumerable:
        mean, square = (np.tile((case.columns**k).mean(axis=0), SITES) for k in (1, 2))
    require_moments(noise, mean, square)
    X = case.points[rng.integers(len(case.points), size=(20, SITES))]
    np.testing.assert_array_equal(layer.drawn(rng, X), X)
    if KINDS[case.kind].soft and layer.enumerable:
        drawn = layer.drawn(rng, np.full((4000, SITES), 0.3))
        layer.checked("X", drawn, SITES, soft=False)
        require_moments(drawn, 0.3, 0.3)


def check_hidden(case):
    kind, own = KINDS[case.kind], layer_of(case).parts[0]
    if kind not in (tf.TruGRBM.hidden_kind, tf.BernoulliRBM.hidden_kind):
        with pytest.raises(ValueError, match=f"no hidden units are {case.kind}"):
            kind.as_hidden(own)
        return
    ends = tuple(np.full(SITES, end) for end in kind.ends(own.run))
    hidden = Layer(layer_of(case).runs, np.full(SITES, case.precision or 1.0), ends)
    net, none = nets(case).reshape(-1, SITES), np.zeros((1, SITES))
    layers = gibbs.Layers(
        np.eye(SITES), none, none, *hidden.as_hidden(np.float64), layer_of(case).as_visible(float)
    )
    with one_blas_thread():
        found = log_norms(layers, net)
    np.testing.assert_allclose(found, shares(case, net[..., None])[0].sum(axis=1), rtol=1e-10)
    np.testing.assert_array_equal(hidden.within("H", net * 0 + 0.5, float), net * 0 + 0.5)


def check_free_energy(case):
    for hidden in ("trug", "bernoulli"):
        model = model_of(case, hidden)
        X, log_p, _ = log_density(case, model, hidden)
        np.testing.assert_allclose(model.free_energy(X), -log_p, rtol=1e-10, atol=1e-10)
        mean, variance = model.hidden_moments(X[:3])
        assert mean.shape == variance.shape == (3, 2)


def check_exact(case):
    for hidden in ("bernoulli", "trug"):
        model = model_of(case, hidden)
        if hidden == "trug" and case.number is None and case.kind != "gaussian":
            with pytest.raises(ValueError, match=f"exact results of {case.kind} visible units"):
                tf.exact.log_partition(model)
            continue
        log_p = log_density(case, model, hidden)[2]
        wanted = np.logaddexp.reduce(log_p)
        assert tf.exact.log_partition(model) == pytest.approx(wanted, abs=1e-9)
        X = rows_of(case)[0][::7][:6]
        found = tf.exact.gradient(model, X)
        for name in ("weights", "visible_bias", "visible_precision"):
            if getattr(model, name) is None:
                continue
            ends = []
            for step in (1e-5, -1e-5):
                arrays = {k: np.array(v) for k, v in model.arrays().items()}
                arrays[name].flat[-1] += step
                moved = type(model)(**arrays, visible=model.runs)
                ends.append(tf.exact.log_likelihood(moved, X).mean())
            slope = (ends[0] - ends[1]) / 2e-5
            assert found[name].flat[-1] == pytest.approx(slope, abs=1e-7)


def check_sites(case):
    model = model_of(case)
    X, log_p, _ = log_density(case, model, "trug")
    if not layer_of(case).enumerable:
        with pytest.raises(ValueError, match="pseudo-log-likelihood is not for Gaussian"):
            tf.pseudo_log_likelihood(model, X[:2])
        return
    for site in range(SITES):
        found = site_log_probability(model, X, np.full(len(X), site))
        others = np.delete(X, site, axis=1)
        for x, value in enumerate(found):
            same = (others == others[x]).all(axis=1)
            wanted = log_p[x] - np.logaddexp.reduce(log_p[same])
            assert value == pytest.approx(wanted, abs=1e-10)
    draws = [tf.pseudo_log_likelihood(model, X, rng=seed) for seed in range(8)]
    each = [SITES * site_log_probability(model, X, np.full(len(X), s)) for s in range(SITES)]
    assert (np.isclose(draws, each[0]) | np.isclose(draws, each[1])).all()


def check_bound(case):
    model = model_of(case)
    log_z = np.logaddexp.reduce(log_density(case, model, "trug")[2])
    start = mean_field.starting_points(model, None, 0)
    assert log_z - 1 < mean_field.bound(model, start) <= log_z
    patterns = mean_field.patterns(model)
    low, high = model.visible_units.ends
    assert ((patterns >= low) & (patterns <= high)).all() and len(patterns) >= 5
    if KINDS[case.kind].soft and layer_of(case).enumerable:
        layer_of(case).checked("X", patterns, SITES, soft=False)
        assert {tuple(row) for row in patterns} >= {(0, 0), (1, 1)}


def check_chains(case):
    model = model_of(case)
    X, _, log_p = log_density(case, model, "trug")
    share = np.exp(log_p - np.logaddexp.reduce(log_p))
    columns = rows_of(case)[1]
    drawn = model.sample(4000, n_gibbs=30, rng=0)
    require_moments(model.visible_units.columns(drawn), share @ columns, share @ columns**2)
    means = model.sample(4000, n_gibbs=30, rng=0, return_mean=True).reshape(4000, -1)
    error = means.std(axis=0) / np.sqrt(4000) + 1e-9
    assert (abs(means.mean(axis=0) - share @ columns) < 5 * error).all()
    held = model.sample(clamp=np.where(np.arange(SITES) == 0, X[0, 0], np.nan), n_gibbs=2, rng=0)
    assert held[0, 0] == np.asarray(X[0, 0], held.dtype)
    free = model.clamped([X[0, 0], np.nan])
    assert free.runs == (model.runs[0]._replace(sites=1),)
    other = np.column_stack([np.full(len(case.points), X[0, 0]), case.points])
    differ = free.free_energy(case.points[:, None]) - model.free_energy(other)
    np.testing.assert_allclose(differ, differ[0], atol=1e-9)


def check_annealing(case):
    model = model_of(case)
    wanted = np.logaddexp.reduce(log_density(case, model, "trug")[2])
    data = model.sample(50, n_gibbs=20, rng=0)
    for base in (None, data):
        found = tf.log_partition(
            model, n_chains=200, n_temperatures=50, base=base, rng=0, progress=False
        )
        assert found.log_z == pytest.approx(wanted, abs=5 * found.std_error + 1e-6)
        assert np.isfinite(base_bias(model, None)).all()


def check_files(case, folder):
    for hidden in ("trug", "bernoulli"):
        model = model_of(case, hidden)
        model.save(folder / "model.npz")
        again = tf.load(folder / "model.npz")
        assert repr(again) == repr(model) and again.runs == model.runs
        assert all(np.array_equal(getattr(again, k), v) for k, v in model.arrays().items())
    runs = layer_of(case).runs
    assert from_file(to_file(runs)) == (None if KINDS[case.kind].plain else runs)


def check_mixtures(case):
    others = ["bernoulli", tf.CategoricalUnits(3), "gaussian"]
    visible = [others[0], case.unit, *others[1:], case.unit]
    layer = Layer(tuple(run_of(unit, 1) for unit in visible))
    rng, n = np.random.default_rng(2), layer.n_columns
    precision = np.where(layer.real, 1.7, 1.0)
    own = dict(
        weights=rng.normal(0, 0.5, (n, 2)),
        visible_bias=rng.normal(0, 0.5, n),
        hidden_bias=rng.normal(0, 0.5, 2),
        visible_precision=precision,
    )
    model = tf.BernoulliRBM(**own, visible=layer.runs)
    parts = [Layer((run,), precision[: run.columns] * 0 + 1.7) for run in layer.runs]
    net = rng.normal(size=(3, n))
    cuts = np.cumsum([run.columns for run in layer.runs])[:-1]
    each = np.split(net, cuts, axis=1)
    units = model.visible_units
    total = sum(part.log_norm(own) for part, own in zip(parts, each, strict=True))
    np.testing.assert_allclose(units.log_norm(net), total, rtol=1e-12)
    mean = [part.mean(own) for part, own in zip(parts, each, strict=True)]
    np.testing.assert_allclose(units.mean(net), np.concatenate(mean, axis=1), rtol=1e-12)
    # Log Z by the states of the hidden units, each site by itself.
    logs = []
    for h in itertools.product([0, 1], repeat=2):
        drive = model.column_bias + np.array(h) @ model.column_weights.T
        drives = np.split(drive, cuts)
        logs.append(
            h @ model.hidden_bias
            + sum(part.log_norm(d[None])[0] for part, d in zip(parts, drives, strict=True))
        )
    wanted = np.logaddexp.reduce(logs)
    assert tf.exact.log_partition(model) == pytest.approx(wanted, rel=1e-12)
    X = model.sample(300, n_gibbs=5, rng=0)
    units.checked("X", X)
    np.testing.assert_array_equal(units.states(units.columns(X)), X)
    assert run_of(case.unit, 1) in model.runs
    discrete = ["spin", case.unit]
    if layer_of(case).enumerable:  # states of any size go into columns unharmed
        pair = Layer(tuple(run_of(unit, 1) for unit in discrete))
        both = np.column_stack([np.ones(len(case.points)), case.points])
        np.testing.assert_array_equal(pair.columns(both)[:, 1:], case.columns)


def check_training(case):
    layer = layer_of(case)
    X = case.points[np.random.default_rng(0).integers(len(case.points), size=(60, SITES))]
    if case.precision is not None and np.ptp(case.points) > 3:
        X = X / 4
    fit = tf.train_rbm(X, 2, visible=case.unit, epochs=1, rng=0, progress=False, monitor=None)
    assert fit.model.runs == layer.runs and fit.model.visible == case.kind
    more = tf.train_rbm(X, start=fit.model, epochs=1, rng=0, progress=False, monitor=None)
    assert more.model.runs == layer.runs
    columns = layer.columns(X).astype(float)
    turns = turns_of(np.concatenate([columns, columns[::-1]]), layer.runs)
    if turns is not None and layer.enumerable:
        turned = turns.shift + turns.sign * columns[:, turns.source[0]]
        layer.checked("X", layer.states(turned), SITES)
    weights, bias = fit.model.column_weights.copy(), fit.model.column_bias.copy()
    hidden = np.zeros(2)
    layer.to_zero_sum(weights, bias, hidden)
    if KINDS[case.kind].counted:
        assert abs(weights.reshape(SITES, STATES, 2).sum(axis=1)).max() < 1e-6
        assert abs(bias.reshape(SITES, STATES).sum(axis=1)).max() < 1e-6
    else:
        assert (weights == fit.model.column_weights).all() and not hidden.any()


CHECKS = [
    check_properties,
    check_standing,
    check_states,
    check_refusals,
    check_moments,
    check_biases,
    check_draws,
    check_hidden,
    check_free_energy,
    check_sites,
    check_bound,
    check_exact,
    check_mixtures,
    check_training,
    check_chains,
    check_annealing,
]


def test_every_kind_has_a_case():
    assert {case.kind for case in CASES.values()} == set(KINDS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_kinds_keep_the_contract(name, check):
    check(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_files_keep_kinds(name, tmp_path):
    check_files(CASES[name], tmp_path)


OWN = [
    (word, name)
    for word, kind in KINDS.items()
    for name, function in vars(type(kind)).items()
    if callable(function)
]


FLAGS = ("real", "counted", "cut", "soft", "gaps", "plain", "standardised", "scale", "number")


@pytest.mark.parametrize(("word", "name"), [*OWN, *itertools.product(KINDS, FLAGS)])
@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_without_any_one_of_its_functions_a_kind_breaks_the_contract(word, name, monkeypatch):
    kind = type(KINDS[word])
    if name not in FLAGS:
        monkeypatch.delattr(kind, name)
    elif name in ("scale", "number"):
        monkeypatch.setattr(kind, name, (getattr(kind, name) or 4) + 1)
    else:
        monkeypatch.setattr(kind, name, not getattr(kind, name))
    cases = [case for case in CASES.values() if case.kind == word]
    broken = (AssertionError, AttributeError, NotImplementedError, TypeError, ValueError)
    with pytest.raises(broken + (pytest.fail.Exception,)):
        for case, check in itertools.product(cases, CHECKS):
            check(case)


def test_unknown_kinds_are_refused_everywhere():
    words = "a kind of units must be one of bernoulli, .*got 'octopus'"
    run = Run("octopus", 2)
    for ask in (
        lambda: kind_named("octopus"),
        lambda: Layer((run,)),
        lambda: run_of("octopus", 2),
        lambda: to_file((run,)),
        lambda: tf.BernoulliRBM(np.zeros((2, 1)), 0.0, 0.0, visible=(run,)),
        lambda: turns_of(np.eye(2), (run,)),
        lambda: choice_of(run),
    ):
        with pytest.raises(ValueError, match=words):
            ask()
    with pytest.raises(ValueError, match="visible must have kinds"):
        from_file({IN_FILES[0]: np.array(["octopus"]), IN_FILES[1]: np.array([[1, 1]])})
    with pytest.raises(ValueError, match="visible must be one of"):
        tf.BernoulliRBM(np.zeros((2, 1)), 0.0, 0.0, visible="octopus")
    with pytest.raises(ValueError, match="visible must have one of"):
        tf.BernoulliRBM(np.zeros((1, 1)), 0.0, 0.0, visible=["octopus"])


def test_a_kind_whose_states_have_no_end_is_no_bernoulli_unit():
    # Counts: discrete, endless.  What has no answer for them must say so, never take two states.
    class Counts(Kind):
        word, code = "counts", 99

        def ends(self, run):
            return 0.0, np.inf

        def log_norm(self, net, own):
            return np.exp(net).sum(axis=-1)

    KINDS["counts"] = Counts()
    try:
        layer = Layer((Run("counts", 2), Run("spin", 1)))
        assert not layer.enumerable and not layer.real.any()
        np.testing.assert_array_equal(layer.base(np.ones(3)), [1, 1, 0])
        X = np.array([[1000, 3, 1]])
        np.testing.assert_array_equal(layer.columns(X), X)
        model = tf.BernoulliRBM(np.zeros((3, 30)), 0.0, 0.0, visible=layer.runs)
        with pytest.raises(ValueError, match="exact results of mixed visible units"):
            tf.exact.log_partition(model)
        with pytest.raises(ValueError, match="pseudo-log-likelihood is not for Gaussian"):
            tf.pseudo_log_likelihood(model, X)
        with pytest.raises(ValueError, match="no density is known of mixed visible units"):
            tf.TruGRBM(np.zeros((3, 2)), 0.0, 0.0, 1.0, 0.0, np.inf, visible=layer.runs)
    finally:
        del KINDS["counts"]
