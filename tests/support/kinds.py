"""Small models of visible units of other kinds, and all their states."""

import itertools

import numpy as np

import trug_fast as tf

MIXED = ["bernoulli", tf.CategoricalUnits(3), "gaussian", "spin", tf.CategoricalUnits(2)]
DISCRETE = ["bernoulli", tf.CategoricalUnits(3), "spin", "spin", tf.CategoricalUnits(2)]
NAMES = ("categorical", "spin", "discrete", "mixed")


def model_of_kinds(name, hidden="trug", dtype=np.float64, seed=0):
    """Return a model of random parameters with two hidden units."""
    rng = np.random.default_rng(seed)
    shape = {"categorical": (3, 4), "spin": (4,)}.get(name, (8,))
    weights = rng.normal(0, 0.7, (*shape, 2)).astype(dtype)
    visible = {"discrete": DISCRETE, "mixed": MIXED}.get(name, name)
    own = [weights, rng.normal(0, 0.7, shape), rng.normal(0, 0.7, 2)]
    beside = {"visible": visible}
    if name == "mixed":
        beside["visible_precision"] = np.where(np.arange(8) == 4, 2.0, 1.0)
    if hidden == "bernoulli":
        return tf.BernoulliRBM(*own, **beside)
    return tf.TruGRBM(*own, 1.0, 0.0, [2.0, np.inf], **beside)


def every_state(model):
    """Return all states of a model without Gaussian units."""
    each = []
    for run in model.runs:
        of_site = {"spin": [-1, 1], "bernoulli": [0, 1]}.get(run.kind, range(run.states))
        each += [of_site] * run.sites
    return np.array(list(itertools.product(*each)), float)


def sequences_of_classes(rows, seed=0):
    """Return rows of six sites of four states, which three classes make depend on each other."""
    rng = np.random.default_rng(seed)
    chances = np.random.default_rng(1).dirichlet(np.full(4, 0.3), size=(3, 6))
    own = chances[rng.integers(0, 3, rows)]
    return (rng.random((rows, 6, 1)) > own.cumsum(axis=-1)[..., :-1]).sum(axis=-1)
