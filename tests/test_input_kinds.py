"""Every public function given every kind of array: the same numbers, or an error in its name."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from trug_fast import plots

BINARY = np.random.default_rng(0).integers(0, 2, (8, 5)).astype(np.float32)
HIDDEN = BINARY[:, :4] / 2
FRAMES = np.random.default_rng(1).integers(0, 2, (2, 4, 5)).astype(np.float32)
POINTS = np.arange(12, dtype=np.float32).reshape(2, 2, 3)

RBM = model_of("[0,1]")
TRBM = tf.BernoulliTRBM(
    np.full((5, 4), 0.5), np.zeros((4, 5)), np.eye(5), np.zeros((4, 4)), 0, 0, 0, 0
)
TGGM = tf.TruGTGGM(np.full((4, 5), 0.5), 0.0, np.ones((1, 4)), 0.0, 0.2, -1.0, 1.0)
FAST = {"epochs": 1, "progress": False, "rng": 0}
TINY = {"n_chains": 5, "n_temperatures": 5, "rng": 0, "progress": False}


def weights_of(fit):
    """Return the parameters of what training returned."""
    model = fit.model
    return [getattr(model, name) for name in model.names if getattr(model, name) is not None]


def trained(X, **more):
    return weights_of(tf.train_rbm(X, 3, **{"monitor": None} | FAST | more))


def drawn(figure):
    """Return the pixels of the figure of some axes."""
    figure = getattr(figure, "figure", figure)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def estimate(**more):
    return tf.log_partition(RBM, **TINY | more).log_weights


# How a function is called, what it calls the argument, and a good one.  Integers stand for all
# numbers below, so that float16 holds them too.
CALLS = {
    "train_rbm": (trained, "X", BINARY),
    "train_rbm gaussian": (lambda X: trained(X, visible="gaussian"), "X", BINARY),
    "validation": (lambda X: trained(BINARY, validation=X, monitor="pseudo"), "validation", BINARY),
    "train_trbm": (
        lambda X: weights_of(tf.train_trbm(X, 3, monitor=None, **FAST)),
        "sequences",
        FRAMES,
    ),
    "train_tggm": (lambda X: weights_of(tf.train_tggm(X, np.arange(8), 3, **FAST)), "X", BINARY),
    "targets": (lambda y: weights_of(tf.train_tggm(BINARY, y, 3, **FAST)), "y", BINARY[:, :2]),
    "free_energy": (RBM.free_energy, "X", BINARY),
    "hidden_moments": (RBM.hidden_moments, "X", BINARY),
    "sample_hidden": (lambda X: RBM.sample_hidden(X, rng=0), "X", BINARY),
    "sample_visible": (lambda H: RBM.sample_visible(H, rng=0), "H", HIDDEN),
    "start": (lambda X: RBM.sample(start=X, n_gibbs=2, rng=0), "start", BINARY),
    "clamp": (lambda X: RBM.sample(clamp=X, n_gibbs=2, rng=0), "clamp", BINARY),
    "base": (lambda X: estimate(base=X), "base", BINARY),
    "reverse": (lambda X: estimate(start=X, direction="reverse"), "start", BINARY),
    "log_likelihood": (lambda X: tf.log_likelihood(RBM, X, 1.0), "X", BINARY),
    "pseudo": (lambda X: tf.pseudo_log_likelihood(RBM, X, rng=0), "X", BINARY),
    "exact": (lambda X: tf.exact.log_likelihood(RBM, X), "X", BINARY),
    "gradient": (lambda X: list(tf.exact.gradient(RBM, X).values()), "X", BINARY),
    "weights": (lambda W: tf.BernoulliRBM(W, 0, 0).free_energy(HIDDEN), "weights", BINARY[:4]),
    "visible_bias": (
        lambda b: tf.BernoulliRBM(np.ones((8, 2)), b, 0).visible_bias,
        "visible_bias",
        BINARY[:, 0],
    ),
    "lower": (
        lambda a: tf.TruGRBM(np.ones((2, 8)), 0, 0, 1, a, 9).lower,
        "lower",
        BINARY[:, 0],
    ),
    "filter": (TRBM.filter, "sequence", FRAMES[0]),
    "predict": (lambda x: TRBM.predict(x, n_gibbs=5, rng=0), "sequence", FRAMES[0]),
    "prefix": (lambda x: TRBM.generate(2, prefix=x, n_gibbs=2, rng=0), "prefix", FRAMES[0]),
    "forecast": (
        lambda x: TRBM.forecast(x, 2, n_samples=3, n_gibbs=2, rng=0).draws,
        "prefix",
        FRAMES[0],
    ),
    "next_frame": (lambda x: TRBM.next_frame(x).hidden_bias, "prefix", FRAMES[0]),
    "horizon_errors": (
        lambda x: tf.evaluation.horizon_errors(TRBM, x, 1, n_samples=2, n_gibbs=2, rng=0),
        "sequences",
        FRAMES,
    ),
    "frame_log_likelihood": (
        lambda x: np.concatenate(tf.evaluation.frame_log_likelihood(TRBM, x).value),
        "sequences",
        FRAMES,
    ),
    "log_conditional": (
        lambda X: tf.log_conditional(RBM, X, np.arange(5) < 2).value,
        "X",
        BINARY,
    ),
    "hidden_to_hidden": (
        lambda w: (
            tf.BernoulliTRBM(
                np.zeros((5, 4)), np.zeros((4, 5)), np.eye(5), w, 0, 0, 0, 0
            ).hidden_to_hidden
        ),
        "hidden_to_hidden",
        BINARY[:4, :4],
    ),
    "prediction_error": (
        lambda x: tf.prediction_error(TRBM, x, n_gibbs=5, rng=0),
        "sequences",
        FRAMES,
    ),
    "forecast_errors": (
        lambda x: list(tf.evaluation.forecast_errors(x, FRAMES, orders=(1,)).values()),
        "train",
        FRAMES,
    ),
    "forecast_horizon_errors": (
        lambda x: list(tf.evaluation.forecast_horizon_errors(x, FRAMES, 1, orders=(1,)).values()),
        "train",
        FRAMES,
    ),
    "regression": (lambda X: TGGM.predict(X, return_std=True), "X", BINARY),
    "posterior": (lambda X: TGGM.posterior(X, np.arange(8)), "X", BINARY),
    "elbo": (lambda y: TGGM.elbo(BINARY, y), "y", BINARY[:, :1]),
    "tggm likelihood": (
        lambda X: TGGM.log_likelihood(X, np.arange(8), n_samples=3, rng=0),
        "X",
        BINARY,
    ),
    "tggm draws": (lambda X: TGGM.sample(X, rng=0), "X", BINARY),
    "input_weights": (
        lambda W: tf.TruGTGGM(W, 0, np.ones((1, 8)), 0, 1, 0, 1).predict(BINARY),
        "input_weights",
        BINARY,
    ),
    "betas": (
        lambda b: trained(BINARY, sampler=tf.training.ParallelTempering(b)),
        "betas",
        np.float32([0, 0.5, 1]),
    ),
    "binarize": (tf.datasets.binarize, "images", BINARY),
    "Scaling.fit": (lambda X: list(vars(tf.models.Scaling.fit(X)).values()), "X", BINARY),
    "Scaling.apply": (tf.models.Scaling(BINARY[0], BINARY[1] + 1).apply, "X", BINARY),
}
CALLS |= {
    "decode_sequences": (
        lambda X: [ord(c) for t in tf.datasets.decode_sequences(X, "rna") for c in t],
        "X",
        BINARY,
    ),
    "site_frequencies": (tf.evaluation.site_frequencies, "X", BINARY),
    "pair_correlations": (tf.evaluation.pair_correlations, "X", BINARY),
    "compare_correlations": (
        lambda X: tf.evaluation.compare_correlations(X, X, rng=0),
        "data",
        BINARY,
    ),
    "samples": (lambda X: tf.evaluation.compare_correlations(BINARY, X, rng=0), "samples", BINARY),
    "nearest_distances": (tf.evaluation.nearest_distances, "X", BINARY),
}
FIGURES = {
    "images": (lambda X: drawn(plots.images(X, (1, 5))), "array", BINARY),
    "strips": (lambda X: drawn(plots.strips({"video": X}, (1, 5))), "video", BINARY),
}
ESTIMATORS = {
    "TGGMRegressor": (
        lambda X: regressor().fit(X, np.arange(8)).predict(BINARY),
        "X",
        BINARY,
    ),
    "RBMTransformer": (lambda X: transformer().fit(X).components_, "X", BINARY),
    "transform": (lambda X: transformer().fit(BINARY).transform(X), "X", BINARY),
}
if importlib.util.find_spec("matplotlib"):
    CALLS |= FIGURES
if importlib.util.find_spec("sklearn"):
    from trug_fast.estimators import RBMTransformer, TGGMRegressor

    def regressor():
        return TGGMRegressor(3, epochs=1, random_state=0)

    def transformer():
        return RBMTransformer(3, epochs=1, random_state=0)

    CALLS |= ESTIMATORS


def numbers(result):
    """Return a result as a list of arrays."""
    parts = result if isinstance(result, list | tuple) else [result]
    return [np.asarray(part, np.float64) for part in parts]


def unused(array):
    """Return the same numbers, not contiguous."""
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), 7, array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def frozen(array):
    result = array.copy()
    result.flags.writeable = False
    return result


SAME = {
    "float16": lambda a: a.astype(np.float16),
    "wide": lambda a: a.astype(np.longdouble),
    "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "columns": np.asfortranarray,
    "gaps": unused,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "read-only": frozen,
    "nothing masked": np.ma.array,
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_kinds_that_give_the_same_numbers(name):
    call, _, good = CALLS[name]
    expected = numbers(call(good))
    estimator = name in ESTIMATORS  # scikit-learn's rules: other floats than these are float64
    for kind, made in SAME.items():
        given = made(good)
        before = np.array(given, copy=True)
        found = numbers(call(given))
        for ours, theirs in zip(found, expected, strict=True):
            tolerance = 1e-5 if estimator or kind in ("wide", "list") else 0
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=kind)
        np.testing.assert_array_equal(np.asarray(given), before, err_msg=kind)


def masked(array):
    mask = np.zeros(array.shape, bool)
    mask.flat[-1] = True
    return np.ma.array(array, mask=mask)


def spoiled(value):
    def change(array):
        result = array.copy()
        result.flat[-1] = value
        return result

    return change


BAD = {
    "masked": masked,
    "list of masked": lambda a: list(masked(a)),
    "complex": lambda a: a * 1j,
    "words": lambda a: a.astype(str),
    "objects": lambda a: a.astype(object),
    "missing": lambda a: np.where(a == a.flat[0], None, a),
    "dates": lambda a: a.astype("M8[s]"),
    "ragged": lambda a: [[1.0, 0.0], [1.0]],
    "nothing": lambda a: None,
    "a word": lambda a: "data",
    "a dict": lambda a: {"a": 1},
    "an object": lambda a: SimpleNamespace(array=a),
    "empty": lambda a: a[:0],
    "NaN": spoiled(np.nan),
    "infinite": spoiled(np.inf),
    "a number": lambda a: a.flat[0],
    "more dimensions": lambda a: a[None, None],
}
# None leaves out an optional argument, a number is a constant vector, NaN marks what is free or was
# not observed, an end may be infinite; a forecast may begin before the first frame; betas may be a
# number of them; any shape can be binarized; X of one column.
FINE = {
    "nothing": {
        "validation",
        "start",
        "reverse",
        "clamp",
        "base",
        "prefix",
        "forecast",
        "next_frame",
    },
    "a number": {"visible_bias", "lower"},
    "NaN": {"clamp", "Scaling.apply", "forecast", "frame_log_likelihood"},
    "more dimensions": {"binarize", "Scaling.fit", "Scaling.apply"},
    "empty": {"Scaling.apply", "forecast", "frame_log_likelihood"},
    "infinite": {"Scaling.apply"},
}
READ = ("words", "objects", "dates")  # scikit-learn reads the numbers in them


@pytest.mark.parametrize("name", CALLS)
def test_bad_kinds_are_refused_in_the_argument_s_name(name):
    call, argument, good = CALLS[name]
    for kind, made in BAD.items():
        if name in FINE.get(kind, ()) or (kind in READ and name in ESTIMATORS):
            continue
        try:
            call(made(good))
        except (TypeError, ValueError) as error:
            words = str(error)
        else:
            pytest.fail(f"{kind}: no error")
        # scikit-learn's own words for what it checks itself do not always have the name.
        assert name in ESTIMATORS or argument in words, f"{kind}: {words}"
        assert kind != "masked" or "masked" in words, words
