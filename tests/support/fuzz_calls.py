"""The public functions, and good arguments for each."""

import numpy as np

import trug_fast as tf
from tests.support.fuzz_arguments import (
    DTYPE,
    ENDS,
    FLAG,
    MISSING,
    MORE,
    NUMBER,
    OFF,
    PATH,
    PIXELS,
    RATE,
    RNG,
    SCALAR,
    SEQUENCES,
    SHARE,
    SOME,
    STEPS,
    VIDEOS,
    Arg,
    Call,
    N,
    W,
    X,
    Y,
    data,
    needed,
    word,
)
from tests.support.fuzz_models import BINARY, RBMS, START, TGGMS, TRBMS
from tests.support.fuzz_truncmvn import TRUNCMVN
from trug_fast import kernels

COMMON = {
    "n_hidden": needed("count", 1, 2, 3),
    "truncation": ENDS,
    "optimizer": word(
        "sgd",
        "rmsprop",
        "adam",
        tf.training.SGD(momentum=0.5, weight_decay=0.1, truncation_rate=0.1),
    ),
    "learning_rate": RATE,
    "batch_size": N,
    "epochs": STEPS,
    "dtype": DTYPE,
    "callbacks": Arg("functions", ((), [lambda event: event.epoch == 1])),
    "checkpoint": PATH,
    "progress": OFF,
    "rng": RNG,
}
HIDDEN = word("trug", "bernoulli", tf.TruGUnits(2.0, learn_precision=True, precision_rate=0.1))
SWEEPS = Arg("rate", (1, 2, (1, 2)))
BENT = {"precision": NUMBER, "learn_precision": FLAG, "precision_rate": RATE}
PENALISED = {"weight_decay": RATE, "l1": RATE, "l1_squared": RATE}
AVERAGED = PENALISED | {"average": SHARE}
ANNEALED = {
    "method": word("auto", "annealing"),
    "n_chains": needed("count", 2, 3),
    "n_temperatures": STEPS,
    "direction": word("forward", "reverse", "both"),
    "rng": RNG,
    "progress": OFF,
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


TRUNCNORM = {
    "a": data(-1.0, 0, -np.inf, np.zeros(5)),
    "b": data(3.0, np.inf, np.full(5, 4.0)),
    "loc": data(0.0, 2.0, optional=True),
    "scale": data(1.0, 0.5, optional=True),
}


def model(*models):
    return {"model": Arg("model", models, False)}


CALLS = (
    TRUNCMVN
    | {
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
            COMMON
            | {
                "X": X,
                "hidden": HIDDEN,
                "visible": word(
                    "bernoulli",
                    "gaussian",
                    tf.BernoulliUnits(soft=True),
                    tf.BernoulliUnits(missing=2),
                    "spin",
                    "categorical",
                    tf.CategoricalUnits(3),
                    ["bernoulli", "gaussian", tf.CategoricalUnits(2), "spin", "categorical"],
                ),
                "sampler": word(
                    "pcd", "cd", "pt", tf.training.ParallelTempering(3, n_chains=2)
                ),  # "ptt": slow
                "validation": SOME,
                "monitor": word(
                    "auto", "pseudo", "reconstruction", tf.training.Monitor(every=2, patience=1)
                ),
                "start": Arg("model", (tf.training.RandomWeights(0.5), RBMS[0], RBMS[2], RBMS[3])),
            },
        ),
        "train_trbm": Call(
            tf.train_trbm,
            COMMON
            | {
                "sequences": SEQUENCES,
                "hidden": HIDDEN,
                "visible": word(
                    "bernoulli",
                    "gaussian",
                    tf.GaussianUnits(learn_precision=True),
                ),
                "sampler": Arg(
                    "word",
                    (
                        tf.training.SequenceCD(1, begin="data", gradient="paper-draws"),
                        tf.training.SequenceCD(
                            (1, 2), begin="past", gradient="paper", centred=False
                        ),
                    ),
                ),
                "validation": MORE,
                "monitor": word("auto", "prediction", tf.training.Monitor(every=2, patience=1)),
                "start": Arg(
                    "model",
                    (
                        TRBMS[0],
                        RBMS[0],
                        tf.training.LinearStart(1, 0.1),
                        tf.training.LinearStart(2),
                    ),
                ),
                "n_lags": N,
            },
        ),
        "CD": Call(tf.training.CD, {"n_gibbs": SWEEPS, "centred": FLAG}),
        "PCD": Call(tf.training.PCD, {"n_gibbs": SWEEPS, "n_chains": N}),
        "ParallelTempering": Call(
            tf.training.ParallelTempering,
            {"betas": Arg("array", (3, [0, 0.5, 1], np.array([0.2, 1.0]))), "n_chains": N},
        ),
        "TrajectoryTempering": Call(
            tf.training.TrajectoryTempering,
            {
                "n_gibbs": SWEEPS,
                "n_chains": Arg("count", (10, 20), True),
                "reservoir": N,
                "renew": N,
                "freeze": Arg("number", (0.3, 0.5), False),
                "centred": FLAG,
            },
        ),
        "SequenceCD": Call(
            tf.training.SequenceCD,
            {
                "n_gibbs": SWEEPS,
                "begin": word("both", "data", "past"),
                "gradient": word("full", "paper", "paper-draws"),
                "centred": FLAG,
            },
        ),
        "SGD": Call(tf.training.SGD, AVERAGED | {"momentum": SHARE}),
        "RMSprop": Call(tf.training.RMSprop, AVERAGED),
        "Adam": Call(tf.training.Adam, AVERAGED | {"momentum": SHARE}),
        "TruGUnits": Call(tf.TruGUnits, BENT),
        "GaussianUnits": Call(tf.GaussianUnits, BENT | {"missing": MISSING}),
        "BernoulliUnits": Call(tf.BernoulliUnits, {"soft": FLAG, "missing": MISSING}),
        "RateSearch": Call(
            tf.training.RateSearch,
            {"rates": Arg("rate", ([0.1], [(0.1, 0.01), 0.2], np.array([0.1])))},
        ),
        "Monitor": Call(
            tf.training.Monitor, {"score": word("auto", "rmse"), "every": N, "patience": N}
        ),
        "RandomWeights": Call(tf.training.RandomWeights, {"scale": NUMBER}),
        "LinearStart": Call(
            tf.training.LinearStart,
            {
                "order": Arg("count", (1, 2)),
                **dict.fromkeys(("scale", "ridge"), NUMBER),
            },
        ),
        "Checkpoint": Call(
            tf.training.Checkpoint,
            {"path": PATH, "every": NUMBER, "resume": Arg("flag", (True, False, "auto"))},
        ),
        "train_tggm": Call(
            tf.train_tggm,
            COMMON
            | {
                "X": X,
                "y": Y,
                "objective": word("ml", "moments", "bp", tf.training.MeanField(2, 0.5)),
                "noise": word("shared", "separate", tf.training.Noise("separate", learn=False)),
                "validation": Arg(
                    "number", (0.5, 0.1, None, tf.training.HoldOut(0.3, refit=False))
                ),
                "monitor": word("rmse", "log_likelihood", tf.training.Monitor(every=2, patience=1)),
                "start": Arg("model", (TGGMS[0], START)),
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
        "save": Call(
            "save", model(*RBMS, *TRBMS, *TGGMS) | {"path": needed("path", "FOLDER/m.npz")}
        ),
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
        "pseudo_log_likelihood": Call(
            tf.pseudo_log_likelihood, model(*BINARY) | {"X": X, "rng": RNG}
        ),
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
                "n_gibbs": STEPS,
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
        "forecast": Call(
            "forecast",
            model(*TRBMS)
            | {
                "prefix": data(VIDEOS[0], VIDEOS, None),
                "n_frames": STEPS,
                "n_samples": Arg("count", (2, 3)),
                "n_gibbs": STEPS,
                "rng": RNG,
            },
        ),
        "prediction_error": Call(
            tf.prediction_error,
            model(*TRBMS)
            | {
                "sequences": SEQUENCES,
                "method": word("gibbs", "mean_field", "last"),
                "n_gibbs": STEPS,
                "rng": RNG,
            },
        ),
        "next_frame": Call(
            "next_frame", model(*TRBMS) | {"prefix": data(VIDEOS[0], optional=True)}
        ),
        "horizon_errors": Call(
            tf.evaluation.horizon_errors,
            model(*TRBMS)
            | {
                "sequences": SEQUENCES,
                "n_frames": needed("count", 1),
                "n_samples": Arg("count", (2, 3)),
                "n_gibbs": STEPS,
                "every": N,
                "rng": RNG,
            },
        ),
        "frame_log_likelihood": Call(
            tf.evaluation.frame_log_likelihood, model(*TRBMS) | {"sequences": SEQUENCES} | ANNEALED
        ),
        "log_conditional": Call(
            tf.log_conditional,
            model(*RBMS)
            | {"X": data(PIXELS[:2]), "known": data(np.arange(5) < 2, PIXELS[:2] < 0)}
            | ANNEALED,
        ),
        "clamped": Call(
            "clamped", model(*RBMS) | {"clamp": data(np.array([0, 1, np.nan, np.nan, 1]))}
        ),
        "forecast_errors": Call(
            tf.evaluation.forecast_errors,
            {
                "train": SEQUENCES,
                "test": SEQUENCES,
                "orders": Arg("object", ((1,), (1, 2), ())),
                "ridge": NUMBER,
            },
        ),
        "forecast_horizon_errors": Call(
            tf.evaluation.forecast_horizon_errors,
            {
                "train": SEQUENCES,
                "test": SEQUENCES,
                "n_frames": needed("count", 1),
                "orders": Arg("object", ((1,), (1, 2), ())),
                "ridge": NUMBER,
                "every": N,
            },
        ),
        "tggm.predict": Call(
            "predict", model(*TGGMS) | {"X": data(PIXELS[:, :4]), "return_std": FLAG}
        ),
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
        "Scaling.fit": Call(tf.models.Scaling.fit, {"X": data(PIXELS, VIDEOS)}),
        "Scaling": Call(
            tf.models.Scaling, {"mean": data(np.ones(4)), "deviation": data(np.arange(4.0))}
        ),
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
        "load_mnist": Call(tf.datasets.load_mnist, {"directory": needed("path", "FOLDER/none")}),
        **{
            f"truncnorm.{name}": Call(getattr(tf.truncnorm, name), first | TRUNCNORM)
            for first, names in (
                ({"x": SCALAR}, "pdf logpdf cdf sf logcdf logsf"),
                ({"q": SCALAR}, "ppf isf"),
                ({}, "mean var std entropy median"),
            )
            for name in names.split()
        },
        **{
            f"kernels.{name}": Call(
                (lambda function: lambda **given: function(*given.values()))(
                    getattr(kernels, name)
                ),
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
)
