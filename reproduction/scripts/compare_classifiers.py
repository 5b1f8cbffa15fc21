"""Classes of scikit-learn's digits by the classifier here, logistic regression and a perceptron.

    python -m reproduction.scripts.compare_classifiers --seeds 10

Half of the 1,797 digits are trained on; nothing was tuned.  Table of notes/tggm.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import trug_fast as tf
from reproduction.results import markdown
from tools.processor import describe
from trug_fast.estimators import TGGMClassifier


def classifiers(seed: int) -> dict[str, Any]:
    """Return those that are compared."""
    ours: Any = {
        "epochs": 60,
        "optimizer": tf.training.Adam(weight_decay=1e-3),
        "random_state": seed,
    }
    perceptron = MLPClassifier((50,), max_iter=300, random_state=seed)
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "perceptron, 50 units": make_pipeline(StandardScaler(), perceptron),
        "`TGGMClassifier(50)`": TGGMClassifier(50, **ours),
        "ten of them": TGGMClassifier(50, n_models=10, **ours),
    }


def measured(seed: int) -> dict[str, list[float]]:
    """Return accuracy, log-loss and seconds of processor time of each."""
    X, y = load_digits(return_X_y=True)
    train, test, own, others = train_test_split(X, y, test_size=0.5, random_state=seed)
    found = {}
    for name, model in classifiers(seed).items():
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that all epochs were used
            model.fit(train, own)
        seconds = time.process_time() - begun
        loss = log_loss(others, model.predict_proba(test))
        found[name] = [100 * model.score(test, others), loss, seconds]
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args(arguments).seeds
    measured(0)  # compiles
    found = [measured(seed) for seed in range(seeds)]
    lines = []
    for name in found[0]:
        values = np.array([each[name] for each in found])
        mean, error = values.mean(axis=0), values.std(axis=0) / np.sqrt(max(seeds - 1, 1))
        right, loss = f"{mean[0]:.1f} ± {error[0]:.1f} %", f"{mean[1]:.3f} ± {error[1]:.3f}"
        lines.append([name, right, loss, f"{np.median(values[:, 2]):.2f} s"])
    print(markdown(["", "right", "log-loss", "training"], lines))
    print(f"{seeds} halves, {describe()}")


if __name__ == "__main__":
    main()
