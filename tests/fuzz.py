"""Random calls of all public functions, with good and with bad arguments.

As a program: ``python tests/fuzz.py ROUNDS SEED`` prints counts as JSON.
"""

import faulthandler
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import trug_fast as tf
from trug_fast import kernels, motion
from trug_fast.skeleton import Bone, Skeleton, euler

# What a function may raise (FileNotFoundError and FileExistsError are OSErrors).
DOCUMENTED = (TypeError, ValueError, OSError, FloatingPointError)
SECONDS = 120  # after which a call hangs

PIXELS = np.random.default_rng(0).integers(0, 2, (12, 5)).astype(float)
VIDEOS = np.random.default_rng(1).integers(0, 2, (3, 4, 5)).astype(float)
W = np.random.default_rng(2).normal(size=(5, 4)) / 2
ZERO = np.zeros
RBMS = [
    tf.TruGRBM(W, 0, 0, 1, 0, [1, 2, 3, np.inf]),
    tf.TruGRBM(W.astype(np.float32), 0.5, 0, [-1, 0, 1, 2], -1, 1),
    tf.BernoulliRBM(W, 0, 0.5),
    tf.BernoulliRBM(W, 0, 0.5, visible_precision=2.0),
    tf.TruGRBM(W[:, :2], 0, 0, 1, 0, 1, visible_precision=[1, 2, 3, 4, 5]),
]
BINARY = RBMS[:3]
TRBMS = [
    tf.TruGTRBM(W, ZERO((4, 5)), np.eye(5), ZERO((4, 4)), 0, 0, 0, 0, 1, 0, 1),
    tf.BernoulliTRBM(W.astype("f4"), ZERO((4, 5)), np.eye(5), ZERO((4, 4)), 0, 0, 0, 0, 2.0),
]
TGGMS = [
    tf.TruGTGGM(W, 0, np.ones((1, 5)), 0, 0.2, -1, 1),
    tf.TruGTGGM(W, 0, np.ones((2, 5)), 0, [0.2, 0.3], 0, np.inf, hidden_variance=0.5),
]
LEG = Skeleton([Bone("shin", "root", np.array([0.0, -2.0, 0.0]), np.eye(3), "x")])
CHANNELS = [*(f"root.{name}" for name in ("TX", "TY", "TZ", "RX", "RY", "RZ")), "shin.rx"]


class Arg(NamedTuple):
    """An argument: its kind, good values, and whether it may be left out."""

    kind: str
    good: tuple[Any, ...]
    optional: bool = True


def data(*arrays, optional=False):
    return Arg("array", arrays, optional)


def word(*words):
    return Arg("word", words)


def needed(kind, *good):
    return Arg(kind, good, False)


RNG = needed("rng", 0, 5, np.int64(3))
OFF = needed("flag", False)
N = Arg("count", (1, 2, 3, np.int32(2)))
RATE = Arg("rate", (0.1, 0.0, (0.1, 0.01), np.float32(0.5)))
NUMBER = Arg("number", (0.5, 1, 2.0, np.float64(0.1)))
SHARE = Arg("number", (0.5, 0, 0.1))
FLAG = Arg("flag", (True, False, np.True_))
DTYPE = Arg("dtype", ("float32", np.float64))
ENDS = Arg("ends", ("relu", "s-learn", (0, 2), tf.Truncation(-1, 1, learn="shared")))
PATH = Arg("path", ("FOLDER/run.npz",))
UNIT = word("trug", "bernoulli")
STEPS = needed("count", 1, 2)
OPTIMIZER = word("sgd", "rmsprop", "adam")
X = data(PIXELS, PIXELS.astype(np.uint8), PIXELS[:1], PIXELS > 0, PIXELS.astype(np.float32))
SOME = X._replace(optional=True)
SEQUENCES = data(VIDEOS, VIDEOS.astype(np.float32))
MORE = SEQUENCES._replace(optional=True)
SCALAR = data(0.5, np.linspace(-2, 2, 5), np.float32(1), 3)
Y = data(np.arange(12.0), np.arange(24.0).reshape(12, 2), np.ones(12))

COMMON = {
    "epochs": STEPS,
    "batch_size": N,
    "optimizer": OPTIMIZER,
    "momentum": SHARE,
    "weight_decay": SHARE,
    "dtype": DTYPE,
    "truncation": ENDS,
    "checkpoint": PATH,
    "checkpoint_every": NUMBER,
    "resume": Arg("flag", (True, False, "auto")),
    "progress": OFF,
    "rng": RNG,
}
CHAINS = {
    "n_hidden": needed("count", 1, 2, 3),
    "hidden": UNIT,
    "precision": NUMBER,
    "learn_precision": FLAG,
    "visible_precision": NUMBER,
    "k": Arg("rate", (1, 2, (1, 2))),
    "learning_rate": RATE,
    "truncation_rate": RATE,
    "precision_rate": RATE,
    "centred": FLAG,
    "init_scale": NUMBER,
    "average": SHARE,
    "score_every": N,
    "patience": N,
    "callbacks": Arg("functions", ((), [lambda event: None], [lambda event: True])),
}
UNITS = {
    "precision": data(1.0, np.ones(4)),
    "lower": data(0.0, np.zeros(4), -np.inf),
    "upper": data(1.0, np.ones(4), np.inf),
}
RBM = {
    "weights": data(W, W.astype(np.float32)),
    "visible_bias": data(0.0, np.ones(5)),
    "hidden_bias": data(0.0, np.ones(4)),
    "visible_precision": data(1.0, np.ones(5), optional=True),
}
PAST = {
    "visible_to_hidden": data(W.T),
    "visible_to_visible": data(np.eye(5)),
    "hidden_to_hidden": data(np.eye(4)),
    "initial_visible_bias": data(0.0, np.ones(5)),
    "initial_hidden_bias": data(0.0, np.ones(4)),
}


class Call(NamedTuple):
    """A function, or the name of a method of the objects in its argument ``model``."""

    function: Any
    arguments: dict[str, Arg]


def model(*models):
    return {"model": Arg("model", models, False)}


CALLS = {
    "TruGRBM": Call(tf.TruGRBM, RBM | UNITS),
    "BernoulliRBM": Call(tf.BernoulliRBM, RBM),
    "TruGTRBM": Call(tf.TruGTRBM, RBM | PAST | UNITS),
    "BernoulliTRBM": Call(tf.BernoulliTRBM, RBM | PAST),
    "TruGTGGM": Call(
        tf.TruGTGGM,
        {
            "input_weights": data(W),
            "input_bias": data(0.0, np.ones(5)),
            "output_weights": data(np.ones((2, 5)), np.ones((1, 5))),
            "output_bias": data(0.0),
            "noise_variance": data(0.5, 1.0),
            "lower": data(0.0, -np.inf, np.zeros(5)),
            "upper": data(1.0, np.inf, np.ones(5)),
            "hidden_variance": NUMBER,
        },
    ),
    "Truncation": Call(
        tf.Truncation,
        {
            "lower": Arg("number", (0, -1.0)),
            "upper": Arg("number", (2, 3.0, float("inf"))),
            "learn": word("shared", "per_unit"),
            "learn_lower": FLAG,
            "learn_upper": FLAG,
        },
    ),
    "train_rbm": Call(
        tf.train_rbm,
        CHAINS
        | COMMON
        | {
            "X": X,
            "visible": word("bernoulli", "gaussian"),
            "method": word("pcd", "cd", "pt"),
            "betas": Arg("array", (3, [0, 0.5, 1], np.array([0.2, 1.0]))),
            "n_chains": N,
            "soft": FLAG,
            "validation": SOME,
            "score": word("auto", "pseudo", "reconstruction"),
        },
    ),
    "train_trbm": Call(
        tf.train_trbm,
        CHAINS
        | COMMON
        | {
            "sequences": SEQUENCES,
            "visible": word("binary", "real"),
            "learn_visible_precision": FLAG,
            "gradient": word("paper", "full"),
            "filtering": word("mean", "sample"),
            "chains": word("both", "data", "past"),
            "start_order": Arg("count", (1, 2)),
            "noise": SHARE,
            "validation": MORE,
            "score": FLAG,
        },
    ),
    "train_tggm": Call(
        tf.train_tggm,
        COMMON
        | {
            "X": X,
            "y": Y,
            "n_hidden": needed("count", 1, 2, 3),
            "method": word("ml", "moments", "bp"),
            "n_cycles": N,
            "tolerance": SHARE,
            "noise": word("shared", "separate"),
            "learn_noise": FLAG,
            "noise_variance": NUMBER,
            "hidden_variance": NUMBER,
            "learning_rate": Arg("rate", (0.1, [0.1, 0.01], np.array([0.1]))),
            "decay": NUMBER,
            "truncation_rate": NUMBER,
            "validation_fraction": SHARE,
            "score": word("rmse", "log_likelihood"),
            "patience": N,
            "refit": FLAG,
            "calibrate": FLAG,
            "start": Arg("model", (TGGMS[0],)),
        },
    ),
    "free_energy": Call("free_energy", model(*RBMS) | {"X": X}),
    "hidden_moments": Call("hidden_moments", model(*RBMS) | {"X": X}),
    "sample_hidden": Call("sample_hidden", model(*RBMS) | {"X": X, "rng": RNG}),
    "sample_visible": Call(
        "sample_visible", model(*BINARY) | {"H": data(PIXELS[:, :4]), "rng": RNG}
    ),
    "sample": Call(
        "sample",
        model(*RBMS)
        | {
            "n": N,
            "n_gibbs": STEPS,
            "rng": RNG,
            "start": data(PIXELS[:1], PIXELS[:2], optional=True),
            "clamp": data(np.array([0, 1, np.nan, np.nan, 1]), optional=True),
            "return_mean": FLAG,
        },
    ),
    "save": Call("save", model(*RBMS, *TRBMS, *TGGMS) | {"path": needed("path", "FOLDER/m.npz")}),
    "load": Call(tf.TruGRBM.load, {"path": needed("path", "FOLDER/good.npz")}),
    "log_partition": Call(
        tf.log_partition,
        model(*RBMS)
        | {
            "n_chains": needed("count", 2, 3),
            "n_temperatures": STEPS,
            "path": word("auto", "quad", "quad2", "paper"),
            "base": SOME,
            "direction": word("forward", "reverse", "both"),
            "schedule": word("uniform", "adaptive"),
            "weights_on": word("visible", "hidden"),
            "start": SOME,
            "n_gibbs": Arg("count", (0, 1, 2)),
            "executor": Arg("object", (None,)),
            "checkpoint": PATH,
            "rng": RNG,
            "progress": OFF,
        },
    ),
    "log_likelihood": Call(
        tf.log_likelihood, model(*RBMS) | {"X": X, "log_z": needed("number", 1.5, 2)}
    ),
    "pseudo_log_likelihood": Call(tf.pseudo_log_likelihood, model(*BINARY) | {"X": X, "rng": RNG}),
    "exact.log_partition": Call(tf.exact.log_partition, model(*RBMS)),
    "exact.log_likelihood": Call(tf.exact.log_likelihood, model(*RBMS) | {"X": X}),
    "exact.gradient": Call(tf.exact.gradient, model(*RBMS) | {"X": X}),
    "exact temporal gradient": Call(
        tf.exact.gradient,
        model(TRBMS[0]) | {"X": data(VIDEOS[:1]), "rule": word("full", "paper")},
    ),
    "filter": Call("filter", model(*TRBMS) | {"sequence": data(VIDEOS[0])}),
    "predict": Call(
        "predict",
        model(*TRBMS)
        | {
            "sequence": data(VIDEOS[0]),
            "method": word("gibbs", "mean_field", "last"),
            "n_sweeps": STEPS,
            "rng": RNG,
        },
    ),
    "generate": Call(
        "generate",
        model(*TRBMS)
        | {
            "n_frames": STEPS,
            "prefix": data(VIDEOS[0], optional=True),
            "n_gibbs": STEPS,
            "return_mean": FLAG,
            "rng": RNG,
        },
    ),
    "prediction_error": Call(
        tf.prediction_error,
        model(*TRBMS)
        | {
            "sequences": SEQUENCES,
            "method": word("gibbs", "mean_field", "last"),
            "n_sweeps": STEPS,
            "rng": RNG,
        },
    ),
    "forecast_errors": Call(
        tf.forecast_errors,
        {
            "train": SEQUENCES,
            "test": SEQUENCES,
            "orders": Arg("object", ((1,), (1, 2), ())),
            "ridge": NUMBER,
        },
    ),
    "tggm.predict": Call("predict", model(*TGGMS) | {"X": data(PIXELS[:, :4]), "return_std": FLAG}),
    "predictive_covariance": Call(
        "predictive_covariance", model(*TGGMS) | {"X": data(PIXELS[:, :4])}
    ),
    "posterior": Call(
        "posterior", model(*TGGMS) | {"X": data(PIXELS[:, :4]), "y": Y, "n_cycles": N}
    ),
    "elbo": Call("elbo", model(*TGGMS) | {"X": data(PIXELS[:, :4]), "y": Y, "n_cycles": N}),
    "tggm.log_likelihood": Call(
        "log_likelihood",
        model(*TGGMS)
        | {
            "X": data(PIXELS[:, :4]),
            "y": Y,
            "n_samples": needed("count", 2, 3),
            "n_cycles": N,
            "rng": RNG,
        },
    ),
    "tggm.sample": Call("sample", model(*TGGMS) | {"X": data(PIXELS[:, :4]), "rng": RNG}),
    "binarize": Call(
        tf.datasets.binarize,
        {
            "images": data(PIXELS, PIXELS / 2),
            "method": word("threshold", "sample"),
            "threshold": SHARE,
            "max_value": NUMBER,
            "rng": RNG,
        },
    ),
    "resampler": Call(
        lambda **given: tf.datasets.resampler(**given).epoch(2),
        {"images": data(PIXELS, PIXELS / 2), "rng": RNG, "max_value": NUMBER},
    ),
    "bouncing_balls": Call(
        tf.datasets.bouncing_balls,
        {
            "n": STEPS,
            "n_frames": needed("count", 2, 3),
            "size": needed("count", 3, 4),
            "n_balls": N,
            "radius": NUMBER,
            "rng": RNG,
        },
    ),
    "load_digits": Call(
        lambda **given: tf.datasets.load_digits(**given).train[:5],
        {"binarize": word("threshold", "sample"), "rng": RNG},
    ),
    **{
        function.__name__: Call(function, {"directory": needed("path", "FOLDER/none")})
        for function in (
            tf.datasets.load_mnist,
            tf.datasets.load_binarized_mnist,
            tf.datasets.load_caltech101_silhouettes,
            tf.datasets.load_cmu_motion,
            tf.datasets.load_cmu_skeleton,
        )
    },
    "load_uci": Call(
        tf.datasets.load_uci,
        {"name": needed("word", "boston", "year"), "directory": needed("path", "FOLDER/none")},
    ),
    "positions": Call(
        lambda frames: motion.positions(LEG, frames, CHANNELS),
        {"frames": data(np.zeros((2, 7)), np.ones((1, 7)))},
    ),
    "euler": Call(
        lambda angles: euler(angles, "xy", degrees=True), {"angles": data(np.ones((3, 2)))}
    ),
    **{
        f"truncnorm.{name}": Call(
            getattr(tf.truncnorm, name),
            {
                first: SCALAR,
                "a": data(-1.0, 0, -np.inf, np.zeros(5)),
                "b": data(3.0, np.inf, np.full(5, 4.0)),
                "loc": data(0.0, 2.0, optional=True),
                "scale": data(1.0, 0.5, optional=True),
            },
        )
        for name, first in (
            ("pdf", "x"),
            ("logpdf", "x"),
            ("cdf", "x"),
            ("sf", "x"),
            ("logcdf", "x"),
            ("logsf", "x"),
            ("ppf", "q"),
            ("isf", "q"),
        )
    },
    **{
        f"truncnorm.{name}": Call(
            getattr(tf.truncnorm, name),
            {
                "a": data(-1.0, 0, -np.inf, np.zeros(5)),
                "b": data(3.0, np.inf, np.full(5, 4.0)),
                "loc": data(0.0, 2.0, optional=True),
                "scale": data(1.0, 0.5, optional=True),
            },
        )
        for name in ("mean", "var", "std", "entropy", "median")
    },
    **{
        f"kernels.{name}": Call(
            (lambda function: lambda **given: function(*given.values()))(getattr(kernels, name)),
            dict.fromkeys(names, Arg("float", (0.0, 0.5, -2.0, 3.0), False)),
        )
        for name, names in (
            ("log_normalizer", ("a", "d", "lower", "upper")),
            ("mean_variance", ("a", "d", "lower", "upper")),
            ("log_end_densities", ("a", "d", "lower", "upper")),
            ("entropy", ("a", "d", "lower", "upper")),
            ("cdf", ("x", "a", "d", "lower", "upper")),
            ("ppf", ("q", "a", "d", "lower", "upper")),
        )
    },
}


def spoiled(value):
    def change(array):
        array = np.array(array, dtype=float)
        array.flat[-1] = value
        return array

    return change


def masked(array):
    return np.ma.array(array, mask=np.arange(np.size(array)).reshape(np.shape(array)) % 3 == 1)


ARRAYS = (
    masked,
    np.ma.array,
    np.asfortranarray,
    spoiled(np.nan),
    spoiled(np.inf),
    spoiled(-np.inf),
    spoiled(1e300),
    spoiled(-7.5),
    spoiled(1e-320),
    *(lambda a, t=t: np.asarray(a).astype(t) for t in ("f2", "g", ">f8", "i1", "u8", "?", "O")),
    *(lambda a, t=t: np.asarray(a).astype(t) for t in ("S", "U", "c16", "m8[s]")),
    lambda a: np.asarray(a)[..., None],
    lambda a: np.asarray(a)[None],
    lambda a: np.asarray(a).T,
    lambda a: np.asarray(a)[..., ::-1],
    lambda a: np.asarray(a).ravel()[:0],
    lambda a: np.asarray(a)[..., :1],
    lambda a: np.asarray(a).ravel(),
    lambda a: np.asarray(a).tolist(),
    lambda a: [np.asarray(a)],
    lambda a: list(np.ravel(a)) + ["x"],
    lambda a: [[1, 2], [3]],
    lambda a: memoryview(np.array(a, dtype=float)),
    *(lambda a, v=v: v for v in (None, "data", b"data", {}, set(), 5, np.float16(0.5), object())),
    lambda a: (value for value in np.ravel(a)),
    lambda a: np.ma.masked,
)
BAD: dict[str, tuple[Any, ...]] = {
    "count": (0, -1, 2.5, "3", None, True, np.nan, 10**30, -(10**30), [2], np.array([1, 2]), 3j),
    "number": (
        -1, 0, 1e308, -1e308, 1e-320, np.nan, np.inf, -np.inf, "1", None, True, [0.5], 10**400,
        np.float16(0.5), np.array(0.5), np.array([0.5, 1]), 1j, np.ma.masked, b"1",
    ),
    "rate": (
        -1, 0, 1e308, 1e39, np.nan, np.inf, "1", True, (1,), (1, 2, 3), (1, 0), (0.1, "x"), [],
        10**400, np.array([0.1, 0.01]), np.array(0.1), {}, object(), (1e-300, 1e300), 2.5,
    ),
    "float": (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, -1e-150, 1e16, -0.0),
    "word": ("nonsense", "", 3, b"sgd", ["sgd"], np.array("sgd"), np.array(["a", "b"]), {}, 0.5),
    "flag": ("no", 1, 0.0, np.array([True, False]), [], "auto ", np.array(True), object()),
    "dtype": ("float16", int, ">f4", None, {"a": 1}, "nonsense", object(), "f4,f4", 3),
    "ends": (
        "relus", (1, 1), (2, 1), (np.nan, 1), 3, (0, 1, 2), [0, 2], (-np.inf, np.inf), (0, "1"),
        (0, 1e300), (-1e-300, 1e-300), (0, 1e-30), np.array([0, 1]), tf.Truncation, b"relu",
    ),
    "rng": (-1, 1.5, "seed", True, np.random.RandomState(0), [1], np.uint64(2**64 - 1), 10**40),
    "path": ("", ".", "FOLDER", "FOLDER/no/x.npz", 3, b"x", "a\0b", "FOLDER/" + 300 * "x", None),
    "object": (3, "x", (0,), (1.5,), [2], (1, -1), object()),
    "functions": (3, len, [3], "ab", None, {}),
}  # fmt: skip
BAD |= {"array": ARRAYS}


def bad(rng, kind, good, folder):
    """Return a value that an argument of this kind should hardly have."""
    if kind == "model":
        return good
    pool = BAD[kind] if rng.random() < 0.9 or kind == "float" else BAD["number"]
    chosen = pool[rng.integers(len(pool))]
    if kind == "array" and callable(chosen):
        try:
            return chosen(good)
        except (TypeError, ValueError, IndexError):  # it cannot be changed so
            return good
    return placed(chosen, folder)


def placed(value, folder):
    return value.replace("FOLDER", str(folder)) if isinstance(value, str) else value


def arguments_of(rng, call, folder):
    """Return arguments for a call, most of them good, and the names of the others."""
    given, changed = {}, []
    much = rng.choice([0.0, 0.1, 0.6])
    for name, arg in call.arguments.items():
        if arg.optional and rng.random() < (0.85 if len(call.arguments) > 8 else 0.5):
            continue
        given[name] = placed(arg.good[rng.integers(len(arg.good))], folder)
    for name in rng.permutation(list(given))[: rng.integers(0, 3) + int(much)]:
        given[name] = bad(rng, call.arguments[name].kind, given[name], folder)
        changed.append(str(name))
    return given, changed


def perform(call, given):
    if isinstance(call.function, str):
        given = dict(given)
        return getattr(given.pop("model"), call.function)(**given)
    return call.function(**given)


def numbers(result):
    """Return the arrays in a result, but for times."""
    if hasattr(result, "history"):
        history = [values for name, values in result.history.items() if name != "seconds"]
        return [*numbers(result.model), *history]
    if hasattr(result, "names"):
        found = [getattr(result, name) for name in result.names]
        return [np.asarray(array) for array in found if array is not None]
    if hasattr(result, "log_weights"):
        return [np.asarray(result.log_z), np.asarray(result.std_error)]
    if isinstance(result, dict):
        return [np.asarray(value) for value in result.values()]
    if isinstance(result, list | tuple):
        return [np.asarray(value) for value in result]
    return [np.asarray(result)]


def alike(first, second):
    return all(
        repr(a) == repr(b) if a.dtype == object else a.tobytes() == b.tobytes()
        for a, b in zip(numbers(first), numbers(second), strict=True)
    )


def content(value):
    """Return what an argument holds, to see that nobody has changed it."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        mask = np.ma.getmaskarray(value).tobytes() if isinstance(value, np.ma.MaskedArray) else b""
        return np.asarray(value).tobytes() + mask
    return repr(value) if isinstance(value, list | tuple | dict) else None


def emptied(folder):
    """Leave nothing but a good model in the folder."""
    for path in folder.iterdir():
        if path.name != "good.npz":
            path.unlink()


def run(rounds, seed, names=tuple(CALLS)):
    """Call each function so many times; return counts of outcomes, and what went wrong."""
    counts, wrong = Counter(), []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        RBMS[0].save(folder / "good.npz")
        for name in names:
            call = CALLS[name]
            for number in range(rounds):
                rng = np.random.default_rng([seed, number, *name.encode()])
                given, changed = arguments_of(rng, call, folder)
                emptied(folder)
                outcome = once(call, given, changed, folder)
                counts[outcome if outcome in OUTCOMES else "wrong"] += 1
                if outcome not in OUTCOMES:
                    wrong.append(f"{name} {number}: {outcome}; {describe(given, changed)}")
    return dict(counts), wrong


OUTCOMES = ("done", "done with odd arguments", "refused", "diverged", "refused good arguments")


def describe(given, changed):
    return ", ".join(f"{name}={given[name]!r:.90}" for name in changed) or f"{given!r:.500}"


def once(call, given, changed, folder):
    """Return in words what came of a call."""
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
    before = {name: content(value) for name, value in given.items()}
    try:
        result = perform(call, given)
        outcome = "done with odd arguments" if changed else "done"
        again = "rng" not in changed and not any(hasattr(v, "__next__") for v in given.values())
        if again:  # the same numbers every time
            emptied(folder)
            if not alike(result, perform(call, given)):
                outcome = "chance"
    except FloatingPointError:
        outcome = "diverged"
    except DOCUMENTED as error:
        outcome = "refused" if changed else "refused good arguments"
        if not str(error):
            outcome = "an error without words"
        elif len(changed) == 1 and UNNAMED is not None and changed[0] not in str(error):
            UNNAMED.append(f"{describe(given, changed)}: {error}")
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    if any(content(given[name]) != what for name, what in before.items()):
        outcome = "changed its arguments"
    return outcome


UNNAMED: list[str] | None = None

if __name__ == "__main__":
    if len(sys.argv) > 3:
        UNNAMED = []
    counts, wrong = run(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"counts": counts, "wrong": wrong, "unnamed": UNNAMED}, indent=1))
