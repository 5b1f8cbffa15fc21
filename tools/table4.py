"""Test errors of the TruG-TGGM on the UCI sets: the paper's table 4, with a perceptron beside it.

``python tools/table4.py --data-dir FOLDER [--sets boston yacht] [--splits 10] [--workers 2]``

Each trial is one function of plain arguments, so any executor can run them.  Results are appended
to a file of JSON lines, and trials found there are not run again.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

import trug_fast as tf
from trug_fast.cli.train_tggm import figures

SETTINGS = {
    "[0,1]": tf.Truncation(0.0, 1.0),
    "[0,inf)": tf.Truncation(0.0, np.inf),
    "[-1,1]": tf.Truncation(-1.0, 1.0),
    "common": tf.Truncation(-1.0, 1.0, learn="shared", learn_lower=True),
    "per unit": tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True),
}
# Mean and deviation over the paper's ten trials, in the order of SETTINGS; last the perceptron's
# mean and standard error over twenty.
PAPER = {
    "boston": "3.564 .655  3.314 .555  4.003 .520  3.401 .375  3.622 .538  3.228 .195",
    "concrete": "5.210 .514  5.106 .573  4.977 .482  4.910 .467  4.743 .571  5.977 .093",
    "energy": "1.168 .130  1.252 .123  1.069 .166  .881 .079  .913 .120  1.098 .074",
    "kin8nm": ".094 .003  .086 .003  .091 .003  .073 .002  .075 .002  .091 .002",
    "naval": ".002 0  .002 0  .002 0  .001 0  .001 0  .001 0",
    "power": "4.023 .128  4.067 .129  3.978 .132  3.952 .134  3.951 .130  4.182 .040",
    "protein": "4.231 .083  4.387 .072  4.262 .079  4.209 .073  4.206 .071  4.539 .029",
    "wine": ".662 .052  .644 .048  .659 .052  .645 .050  .643 .048  .645 .010",
    "yacht": ".871 .367  .821 .276  .846 .310  .803 .292  .793 .289  1.182 .165",
}
PERCEPTRON = "perceptron"
UPDATES = 15_000  # of a run, within 100 to 400 epochs


def plan(name: str, rows: int) -> dict[str, Any]:
    """Return hidden units, batch and epochs of a set, as the paper has the first two."""
    large = name == "protein"
    batch = 100 if large else 50
    epochs = int(np.clip(UPDATES // (rows // batch), 100, 400))
    return {"n_hidden": 100 if large else 50, "batch_size": batch, "epochs": epochs}


def trial(name: str, setting: str, index: int, directory: str, options: dict[str, Any]) -> Any:
    """Train on one split and return the figures of its test rows."""
    split = tf.datasets.load_uci(name, directory).split(index)
    own = plan(name, len(split.y_train)) | options
    begun = time.perf_counter()
    if setting == PERCEPTRON:
        mean, std = perceptron(split, own, index)
        extra: dict[str, Any] = {}
    else:
        fit = tf.train_tggm(
            *split[:2], **own, truncation=SETTINGS[setting], rng=index, progress=False
        )
        mean, std = fit.model.predict(split.X_test, return_std=True)
        extra = {
            "lower": float(np.mean(fit.model.lower)),
            "upper": float(np.mean(fit.model.upper)),
            "best_epoch": fit.best_epoch,
        }
    result = figures(split.y_test, mean, std) | {"seconds": time.perf_counter() - begun}
    return {"set": name, "setting": setting, "split": index} | result | extra


def perceptron(split: Any, own: dict[str, Any], seed: int) -> Any:
    """Return mean and deviation of predictions by scikit-learn's MLPRegressor."""
    from sklearn.neural_network import MLPRegressor

    X, y = split.X_train, split.y_train
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    network = MLPRegressor(
        hidden_layer_sizes=(own["n_hidden"],),
        batch_size=own["batch_size"],
        max_iter=own["epochs"],
        early_stopping=True,
        n_iter_no_change=own["epochs"],
        learning_rate_init=0.003,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that all epochs were used, as they should be
        network.fit((X - centre) / scale, (y - y.mean()) / y.std())
    mean = network.predict((split.X_test - centre) / scale) * y.std() + y.mean()
    held = max(network.validation_scores_)  # R2 of the held back rows
    return mean, np.full(len(mean), y.std() * np.sqrt(max(1 - held, 1e-6)))


def run(todo: list[tuple[Any, ...]], executor: Executor) -> Iterator[Any]:
    """Yield the trials' results as they come."""
    for future in as_completed([executor.submit(trial, *arguments) for arguments in todo]):
        yield future.result()


def print_table(results: list[Any], sets: list[str]) -> None:
    """Print mean and deviation of the test error, and the other figures, beside the paper's."""
    for name in sets:
        paper = np.array(PAPER[name].split(), float).reshape(-1, 2)
        for (mean, spread), setting in zip(paper, [*SETTINGS, PERCEPTRON], strict=True):
            ours = [r for r in results if r["set"] == name and r["setting"] == setting]
            if not ours:
                continue
            value = {key: np.mean([r[key] for r in ours]) for key in ours[0] if key in FIGURES}
            spread_ours = np.std([r["rmse"] for r in ours], ddof=1) if len(ours) > 1 else np.nan
            # The paper's spreads are deviations over ten trials, the perceptron's errors.
            bound = mean + spread / (1 if setting == PERCEPTRON else np.sqrt(10))
            mark = "met" if value["rmse"] <= bound else "   "
            print(
                f"{name:9}{setting:11}{value['rmse']:9.4f} +- {spread_ours:6.4f}  paper {mean:.3f} "
                f"+- {spread:.3f} {mark}  log-likelihood {value['log_likelihood']:7.3f}  "
                f"90 %: {100 * value['coverage']:3.0f} %  {value['seconds']:6.1f} s  n={len(ours)}"
            )


FIGURES = ("rmse", "log_likelihood", "coverage", "seconds")


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--sets", nargs="+", choices=list(PAPER), default=list(PAPER))
    parser.add_argument("--settings", nargs="+", choices=[*SETTINGS, PERCEPTRON])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--method", choices=("ml", "moments", "bp"), default="ml")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("table4.jsonl"))
    own = parser.parse_args()
    options = {"method": own.method} | ({"epochs": own.epochs} if own.epochs else {})
    lines = own.out.read_text().splitlines() if own.out.exists() else []
    results = [r for r in map(json.loads, lines) if r["options"] == options]
    done = {(r["set"], r["setting"], r["split"]) for r in results}
    todo = [
        (name, setting, index, own.data_dir, options)
        for index in range(own.splits)
        for name in own.sets
        for setting in own.settings or [*SETTINGS, PERCEPTRON]
        if index < (5 if name == "protein" else 20) and (name, setting, index) not in done
    ]
    with ThreadPoolExecutor(own.workers) as executor, own.out.open("a") as file:
        for result in run(todo, executor):
            result |= {"options": options}
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
    print_table(results, own.sets)


if __name__ == "__main__":
    main()
