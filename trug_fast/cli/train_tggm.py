"""``trug-fast train tggm``: train a regression, and others beside it on the same split."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from trug_fast.datasets import RegressionSplit
    from trug_fast.models.truncation import Truncation

PROGRAM = "trug-fast train tggm"  # by this mark in result.json a folder is known as ours
FILES = ("model.npz", "model-history.npz")
DATA = (
    "yacht",
    "boston",
    "concrete",
    "energy",
    "kin8nm",
    "naval",
    "power",
    "protein",
    "wine",
    "year",
)


def add(models: Any) -> None:
    """Add the command to the parser of ``trug-fast train``."""
    tggm = models.add_parser("tggm", help="a regression")
    tggm.set_defaults(run=run)
    tggm.add_argument("--data", choices=DATA, default="yacht", help="default yacht, shipped")
    tggm.add_argument(
        "--data-dir", help="where the files of the other sets lie (or set TRUG_FAST_DATA)"
    )
    tggm.add_argument("--split", type=int, default=0, help="which published split (default 0)")
    tggm.add_argument("--hidden", type=int, default=50, help="hidden units (default 50)")
    tggm.add_argument(
        "--truncation",
        default="-1,1",
        help="sigmoid, relu, tanh, c-learn, s-learn, or LOWER,UPPER such as 0,inf; default -1,1",
    )
    tggm.add_argument(
        "--learn",
        choices=("shared", "per-unit", "none"),
        help="which truncation points to learn (default per-unit if both ends are finite); "
        "both ends move",
    )
    tggm.add_argument("--method", choices=("ml", "moments", "bp"), default="ml")
    tggm.add_argument("--noise", choices=("shared", "separate"), default="shared")
    tggm.add_argument("--epochs", type=int, default=300, help="default 300")
    tggm.add_argument("--batch-size", type=int, default=50, help="default 50")
    tggm.add_argument(
        "--learning-rate", type=_rates, metavar="RATE[,RATE...]", help="tried in turn"
    )
    tggm.add_argument("--no-baseline", action="store_true", help="no other models beside it")
    tggm.add_argument("--out", help="folder for the results (default trug-tggm-DATA)")
    options.add_checkpoint(tggm)
    options.add_common(tggm)


def _rates(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def truncation(text: str, learn: str | None) -> Truncation:
    """Return the truncation that --truncation and --learn describe; both ends are learned."""
    import math
    from dataclasses import replace

    from trug_fast.models.truncation import NAMED, Learn, Truncation

    if text in NAMED:
        chosen = NAMED[text]
    else:
        try:
            low, high = (float(part) for part in text.split(","))
        except ValueError:
            raise ValueError(
                f"--truncation must be one of {', '.join(NAMED)}, or LOWER,UPPER; got {text!r}"
            ) from None
        bounded = math.isfinite(low) and math.isfinite(high)
        chosen = Truncation(low, high, learn="per_unit" if bounded else None)
    words: dict[str, Learn] = {"shared": "shared", "per-unit": "per_unit", "none": None}
    learned = chosen.learn if learn is None else words[learn]
    return replace(chosen, learn=learned, learn_lower=True)


def run(arguments: argparse.Namespace) -> None:
    """Train, evaluate, print and write."""
    import numpy as np

    from trug_fast import datasets
    from trug_fast._common import checks, files
    from trug_fast.evaluation.regression import prediction_scores
    from trug_fast.training.tggm.train import train_tggm

    chosen = truncation(arguments.truncation, arguments.learn)
    path = None
    if arguments.checkpoint is not None:
        path = checks.file_path("--checkpoint", arguments.checkpoint)
    options.check_checkpoint(arguments, path)
    folder = Path(arguments.out or f"trug-tggm-{arguments.data}")
    options.refuse_foreign(folder, PROGRAM)
    data = datasets.load_uci(arguments.data, arguments.data_dir)
    try:
        split = data.split(arguments.split)
    except IndexError as error:
        raise ValueError(f"--split: {error}") from None
    choices = {
        "truncation": chosen,
        "method": arguments.method,
        "noise": arguments.noise,
        "batch_size": arguments.batch_size,
        "learning_rate": arguments.learning_rate,
        "rng": arguments.seed,
    }
    if not arguments.quiet:
        print("compiling (up to a minute, once on each machine) ...", end=" ", flush=True)
    begun = time.perf_counter()
    few = split.X_train[:20], split.y_train[:20]
    train_tggm(*few, arguments.hidden, epochs=1, progress=False, **choices)
    if not arguments.quiet:
        print(f"{time.perf_counter() - begun:.1f} s", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:  # what an earlier run left must not pass for this one's
        (folder / name).unlink(missing_ok=True)
    sizes = f"{len(split.y_train)} training and {len(split.y_test)} test rows"
    print(f"{data.name}, split {arguments.split}: {sizes}", flush=True)
    begun = time.perf_counter()
    fit = train_tggm(
        split.X_train,
        split.y_train,
        arguments.hidden,
        epochs=arguments.epochs,
        checkpoint=path,
        resume="auto",
        progress=options.progress(arguments),
        **choices,
    )
    seconds = time.perf_counter() - begun
    fit.model.save(folder / "model.npz")
    files.write(folder / "model-history.npz", "history", fit.history)
    if fit.interrupted:
        again = "" if arguments.checkpoint is None else "; --resume continues"
        raise KeyboardInterrupt(f"; the model so far is in {folder}{again}")
    mean, std = fit.model.predict(split.X_test, return_std=True)
    results = {"TruG-TGGM": prediction_scores(split.y_test, mean, std) | {"seconds": seconds}}
    if not arguments.no_baseline:
        results |= _baselines(split, arguments.hidden, arguments.seed)
    _print_table(results)
    ends = {
        name: [float(v) for v in np.percentile(getattr(fit.model, name), [0, 50, 100])]
        for name in ("lower", "upper")
    }
    for name, (low, middle, high) in ends.items():
        print(f"{name} truncation points: {low:.3g} to {high:.3g}, median {middle:.3g}")
    report = {
        "program": PROGRAM,
        "options": {k: v for k, v in vars(arguments).items() if k != "run"},
        "best_epoch": fit.best_epoch,
        "learning_rate": fit.learning_rate,
        "results": results,
        "truncation_points": {k: [str(end) for end in v] for k, v in ends.items()},
    }
    (folder / "result.json").write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    print(f"written to {folder}: {', '.join((*FILES, 'result.json'))}")


def _baselines(split: RegressionSplit, hidden: int, seed: int) -> dict[str, dict[str, float]]:
    """Return the figures of a multilayer perceptron of the same size and of ridge regression.

    Their predictions get one standard deviation, that of five-fold cross-validated errors.
    """
    import warnings

    import numpy as np

    from trug_fast.evaluation.regression import prediction_scores

    try:
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.linear_model import RidgeCV
        from sklearn.model_selection import KFold, cross_val_predict
        from sklearn.neural_network import MLPRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        print(f"no other models: {error}")
        return {}
    network = MLPRegressor(
        hidden_layer_sizes=(hidden,), max_iter=1000, batch_size=50, random_state=seed
    )
    models = {"MLPRegressor": network, "ridge": RidgeCV(np.logspace(-3, 3, 13))}
    results = {}
    X, y = split.X_train, split.y_train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an iteration limit was reached, in some folds
        for name, model in models.items():
            whole = TransformedTargetRegressor(
                make_pipeline(StandardScaler(), model), transformer=StandardScaler()
            )
            begun = time.perf_counter()
            whole.fit(X, y)
            seconds = time.perf_counter() - begun
            folds = KFold(5, shuffle=True, random_state=seed)
            errors = y - cross_val_predict(whole, X, y, cv=folds)
            std = np.sqrt(np.mean(errors**2))
            results[name] = prediction_scores(split.y_test, whole.predict(split.X_test), std)
            results[name]["seconds"] = seconds
    return results


def _print_table(results: dict[str, dict[str, float]]) -> None:
    heads = f"{'test RMSE':>12}{'log-likelihood':>16}{'90 % interval':>15}{'training':>11}"
    print(f"\n{'':14}{heads}")
    for name, result in results.items():
        print(
            f"{name:14}{result['rmse']:12.4g}{result['log_likelihood']:16.3f}"
            f"{100 * result['coverage']:13.0f} %{result['seconds']:9.1f} s"
        )
    print("log-likelihood: mean log-density of a normal, nats; 90 % interval: test rows inside")
