"""Small regressions with known answers: of the exact cases, and random ones of every kind."""

import numpy as np

import trug_fast as tf
from tests.support.data import exact_cases
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.tggm import objectives
from trug_fast.kernels.tggm.objectives import WeightedRows
from trug_fast.training.options import as_optimizer
from trug_fast.training.rates import Schedule
from trug_fast.training.tggm.data import Scale, Scales
from trug_fast.training.tggm.learner import RegressionLearner
from trug_fast.training.tggm.options import as_noise, as_objective
from trug_fast.training.tggm.plans import RegressionSettings

CASES = exact_cases()
TGGM_CASES = [case for case in CASES if case["kind"] == "tggm"]
FIELDS = {  # of the cases' parameters, in the order of the constructor
    "W0": "input_weights",
    "b0": "input_bias",
    "W1": "output_weights",
    "b1": "output_bias",
    "sigma2": "noise_variance",
    "xi1": "lower",
    "xi2": "upper",
}
PER_UNIT = tf.Truncation(-0.5, 1.2, learn="per_unit", learn_lower=True)
COMMON = tf.Truncation(0.0, 1.5, learn="shared", learn_lower=True)
CONVERGED = tf.training.MeanField(n_cycles=400, tolerance=0.0)
YACHT = tf.datasets.load_yacht().split(1)
KINDS = ("[0,1]", "[0,inf)", "mixed", "separate")


def of_case(case):
    """Return the model of an exact case, its inputs and its targets, one row each."""
    model = tf.TruGTGGM(*(np.array(case["params"][key], float) for key in FIELDS))
    return model, np.array([case["x"]]), np.array([case["y"]])


def regression(kind, dtype=np.float64, inputs=3, hidden=5, outputs=2, seed=0):
    """Return a model of this kind with random weights."""
    rng = np.random.default_rng(seed)
    lower, upper, noise, own = 0.0, 1.0, 0.3, None
    if kind == "[0,inf)":
        upper = np.inf
    if kind == "mixed":
        lower = np.resize([0.0, -0.5, -1.0, -2.0], hidden)
        upper = np.resize([1.0, np.inf, 1.0, 4.0], hidden)
    weights = None
    if kind == "by_input":
        weights = np.random.default_rng(seed + 1).normal(0, 0.8, (outputs, hidden))
    if kind in ("separate", "by_input"):
        lower, upper, own = -1.0, 2.0, 0.5
        noise = np.resize([0.05, 0.4], outputs)
    return tf.TruGTGGM(
        rng.normal(0, 0.8, (hidden, inputs)).astype(dtype),
        rng.normal(0, 0.3, hidden),
        rng.normal(0, 0.6, (outputs, hidden)),
        rng.normal(0, 0.3, outputs),
        noise,
        lower,
        upper,
        hidden_variance=own,
        noise_weights=weights,
    )


def rows(model, n, seed=1):
    """Return inputs and targets drawn from the model."""
    X = np.random.default_rng(seed).normal(size=(n, model.n_inputs))
    return X, model.sample(X, rng=seed).reshape(n, -1)


def plain(inputs, outputs):
    """Return scales that leave data as it is."""
    return Scales(Scale.none(inputs), Scale.none(outputs))


def settings(objective=CONVERGED, noise="separate", truncation=PER_UNIT, sizes=(3, 4, 2), **more):
    """Return how to train; ``sizes`` are the numbers of inputs, hidden units and outputs."""
    rest = {
        "learning_rate": Schedule("learning_rate", 0.01, 0.01),
        "truncation_rate": None,
        "optimizer": as_optimizer("adam"),
        "batch_size": 10,
        "dtype": np.dtype(float),
        "start": None,
    }
    return RegressionSettings(
        *sizes,
        truncation=truncation,
        objective=as_objective(CONVERGED if objective == "ml" else objective),
        noise=as_noise(noise),
        **rest | more,
    )


def learner(*args, scales=None, seed=0, **more):
    """Return a learner of data that needs no scaling, or is scaled so."""
    how = settings(*args, **more)
    return RegressionLearner(how, scales or plain(how.n_inputs, how.n_outputs), seed)


def gradient(run, X, y, weights=None):
    """Return the objective at a learner, and a copy of its gradient's parts."""
    with one_blas_thread():
        given = np.ones(len(X), X.dtype) if weights is None else weights
        data = WeightedRows(X, np.ascontiguousarray(y), given)
        value = objectives.gradient_of(run.task, run.trained, data)
    return value, objectives.parts(run.task, run.trained.gradient.copy())
