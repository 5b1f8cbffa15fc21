"""What penalties leave at zero, by how many steps are made good at once, and what they cost.

Called as ``python -m reproduction.scripts.compare_penalties``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numba
import numpy as np

import trug_fast as tf
from trug_fast.training.steps import Shrinking

CAUSES, PIXELS = 8, 5  # of each cause
PULLS = {
    "l1 0.0005 to 0.01": {"l1": (5e-4, 0.01)},
    "l1 0.0005 to 0.05": {"l1": (5e-4, 0.05)},
    "l1_squared 0.005 to 0.3": {"l1_squared": (5e-3, 0.3)},
}
STRIDES = (1, 10, 50)
TIMED = (None, {"l1": 1e-4}, {"l1": 1e-4, "l1_squared": 1e-3})


def causes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 3,000 rows of pixels, and the cause of each pixel: others tell nothing of it."""
    cause = np.arange(CAUSES * PIXELS) // PIXELS
    on = (rng.random((3000, CAUSES)) < 0.4)[:, cause]
    return (rng.random(on.shape) < np.where(on, 0.85, 0.15)).astype(float), cause


def zeros() -> None:
    """Print the share of exact zeros among connections that are not there."""
    X, cause = causes(np.random.default_rng(0))
    print("| optimizer | units | penalty |", *(f"{stride} |" for stride in STRIDES))
    for optimizer, rates in ((tf.training.SGD, (0.2, 0.01)), (tf.training.Adam, (0.02, 0.001))):
        for hidden in ("bernoulli", "trug"):
            for name, pull in PULLS.items():
                found = []
                for stride in STRIDES:
                    Shrinking.stride = stride
                    fit = tf.train_rbm(
                        X, CAUSES, hidden=hidden, optimizer=optimizer(**pull), epochs=30,
                        learning_rate=rates, monitor=None, rng=0,
                    )  # fmt: skip
                    size = abs(fit.model.weights)
                    own = size.reshape(CAUSES, PIXELS, CAUSES).mean(axis=1).argmax(axis=0)
                    there = cause[:, None] == own
                    lost = (size[there] == 0).mean()
                    found.append(f"{(size[~there] == 0).mean():.0%} ({lost:.0%} lost) |")
                print(f"| {optimizer.name} | {hidden} | {name} |", *found, flush=True)


def run_of(pull: dict[str, float] | None) -> Callable[[], float]:
    """Return what trains an epoch of 100 updates of 100x784x500 and says what CPU time it took."""
    X = np.random.default_rng(0).random((10_000, 784)) < 0.2
    optimizer = tf.training.SGD(**pull or {})

    def run() -> float:
        begun = time.process_time()
        options = {"epochs": 2, "batch_size": 100, "monitor": None, "progress": False, "rng": 0}
        tf.train_rbm(X, 500, optimizer=optimizer, **options)
        return time.process_time() - begun

    return run


def cost() -> None:
    """Print the CPU time of updates, of one thread, in turns."""
    numba.set_num_threads(1)
    runs = [run_of(pull) for pull in TIMED]
    best = np.min([[run() for run in runs] for _ in range(5)], axis=0)
    for pull, seconds in zip(TIMED, best, strict=True):
        print(f"{pull}: {seconds:.3f} s for 200 updates, {seconds / best[0]:.3f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", tf.training.TrainingWarning)
    cost()
    zeros()
