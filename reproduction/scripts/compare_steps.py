"""Steps along other gradients than the centred one: spectral ones, and natural ones.

An ordinary RBM of 500 units in numpy, trained on MNIST by persistent chains; only the direction of
the weights' step differs: ``python -m reproduction.scripts.compare_steps --data-dir DIR``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

import trug_fast as tf
from reproduction.datasets import load_binarized_mnist

HIDDEN, BATCH, HELD_OUT = 500, 100, 10_000
EPOCHS = 5
LAST = 0.001  # rate of the centred gradient at the end, on a cosine
WARM = 0.2  # share of a run that takes spectral steps
REFRESHED = 500  # updates for which factors stay
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # five such iterations bring singular values near 1
RIDGE = 1e-6  # of what is factorized, times its mean diagonal


class Sides(NamedTuple):
    """Centred states of data (first half of the rows) and chains: their product is the gradient."""

    visible: np.ndarray  # (2 n, 784)
    hidden: np.ndarray  # (2 n, 500)
    sign: np.ndarray  # (2 n,), 1 / n and -1 / n

    @property
    def gradient(self) -> np.ndarray:
        """The centred gradient of the weights."""
        return (self.visible * self.sign[:, None]).T @ self.hidden


Step = Callable[[Sides, int], np.ndarray]


def centred(sides: Sides, update: int) -> np.ndarray:
    """Return the centred gradient itself."""
    return sides.gradient


def factor(gram: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of a Gram matrix that may be singular."""
    return cholesky(gram + RIDGE * gram.trace() / len(gram) * np.eye(len(gram)), lower=True)


def spectral(sides: Sides, update: int) -> np.ndarray:
    """Return the polar factor of the gradient times its nuclear norm, by matrices of 2 n rows.

    Carlson, Cevher and Carin (2015).
    """
    left, right = (factor((part @ part.T).astype(float)) for part in sides[:2])
    core = left.T @ (sides.sign[:, None] * right)
    size = np.linalg.norm(core)
    polar = core / size
    a, b, c = NEWTON_SCHULZ
    for _ in range(5):
        square = polar @ polar.T
        polar = a * polar + (b * square + c * square @ square) @ polar
    nuclear = float((polar * core).sum())
    inner = solve_triangular(left, polar, lower=True, trans="T")
    inner = solve_triangular(right, inner.T, lower=True, trans="T").T
    return nuclear * sides.visible.T @ (inner.astype(np.float32) @ sides.hidden)


class Natural:
    """Directions (S_v + d)^-1 G (S_h + d)^-1, by moments of the chains of so many updates."""

    def __init__(self, damping: float) -> None:
        self.damping = damping
        self.moments: list[np.ndarray] = [np.zeros((784, 784)), np.zeros((HIDDEN, HIDDEN))]
        self.factors: list[object] = []
        self.seen = 0

    def __call__(self, sides: Sides, update: int) -> np.ndarray:
        """Return the direction; the centred gradient until there are moments."""
        chains = [part[len(part) // 2 :] for part in sides[:2]]
        for moment, rows in zip(self.moments, chains, strict=True):
            moment += rows.T @ rows
        self.seen += len(chains[0])
        if update % REFRESHED == REFRESHED - 1:
            self.factors = [
                cho_factor((m / self.seen + self.damping * np.eye(len(m))).astype(np.float32))
                for m in self.moments
            ]
            self.moments, self.seen = [0.0 * moment for moment in self.moments], 0
        if not self.factors:
            return sides.gradient
        return cho_solve(self.factors[1], cho_solve(self.factors[0], sides.gradient).T).T


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + np.exp(-x))


class Machine:
    """An ordinary RBM with its persistent chains, float32."""

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows = rows
        mean = rows.mean(axis=0).clip(0.01, 0.99)
        self.weights = self.rng.normal(0, 0.01, (rows.shape[1], HIDDEN)).astype(np.float32)
        self.visible_bias = np.log(mean / (1 - mean)).astype(np.float32)
        self.hidden_bias = np.zeros(HIDDEN, np.float32)
        self.chains = rows[:BATCH].copy()
        self.offsets = [mean.astype(np.float32), np.full(HIDDEN, 0.5, np.float32)]

    def update(
        self, batch: np.ndarray, step: Step, number: int, rates: tuple[float, float]
    ) -> None:
        """Sweep the chains once, and step by (rate of the weights, rate of biases)."""
        hidden = sigmoid(batch @ self.weights + self.hidden_bias)
        own = sigmoid(self.chains @ self.weights + self.hidden_bias)
        drawn = (self.rng.random(own.shape, np.float32) < own).astype(np.float32)
        pixels = sigmoid(drawn @ self.weights.T + self.visible_bias)
        self.chains = (self.rng.random(pixels.shape, np.float32) < pixels).astype(np.float32)
        own = sigmoid(self.chains @ self.weights + self.hidden_bias)
        self.offsets[1] += 0.01 * (hidden.mean(axis=0) - self.offsets[1])
        visible_offset, hidden_offset = self.offsets
        sides = Sides(
            np.concatenate([batch, self.chains]) - visible_offset,
            np.concatenate([hidden, own]) - hidden_offset,
            np.repeat(np.array([1, -1], np.float32) / BATCH, BATCH),
        )
        direction = step(sides, number)
        rate, bias_rate = rates
        mean = sides.sign @ sides.visible, sides.sign @ sides.hidden
        self.weights += (rate * direction).astype(np.float32)
        self.visible_bias += bias_rate * mean[0] - rate * direction @ hidden_offset
        self.hidden_bias += bias_rate * mean[1] - rate * direction.T @ visible_offset

    def score(self, held_out: np.ndarray) -> float:
        """Return the mean log-likelihood of images by annealing forward, in nats."""
        model = tf.BernoulliRBM(self.weights, self.visible_bias, self.hidden_bias)
        options = {"n_temperatures": 1000, "schedule": "adaptive", "base": self.rows, "rng": 0}
        return float(tf.log_likelihood(model, held_out, tf.log_partition(model, **options)).mean())


def run(
    rows: np.ndarray, held_out: np.ndarray, step: Step, rate: float, warm: float
) -> tuple[list[float], float]:
    """Train; return scores of held-out images after each epoch, and seconds an update.

    warm : share of the run for which the step is taken, before the centred gradient
    """
    machine = Machine(rows, 0)
    total = EPOCHS * (len(rows) // BATCH)
    scores, seconds, number = [], 0.0, 0
    for _ in range(EPOCHS):
        order = machine.rng.permutation(len(rows))
        begun = time.process_time()
        for start in range(0, len(rows) - BATCH + 1, BATCH):
            share = number / total
            plain = LAST + (0.2 - LAST) * (1 + np.cos(np.pi * share)) / 2
            other = share < warm
            fade = plain / 0.2
            rates = (rate * fade if other else plain, plain)
            batch = rows[order[start : start + BATCH]]
            machine.update(batch, step if other else centred, number, rates)
            number += 1
        seconds += time.process_time() - begun
        if not np.isfinite(machine.weights).all():
            return [*scores, float("nan")], seconds / number
        scores.append(machine.score(held_out))
    return scores, seconds / number


def candidates() -> dict[str, tuple[Callable[[], Step], float, tuple[float, ...]]]:
    """Return steps with the share of the run that they take and the rates to choose from."""
    return {
        "centred gradient": (lambda: centred, 0.0, (0.2,)),
        "spectral, a fifth of the run": (lambda: spectral, WARM, (1e-3, 3e-3, 1e-2)),
        "Kronecker factors": (lambda: Natural(0.1), 1.0, (3e-3, 1e-2, 3e-2, 0.1)),
    }


def main() -> None:
    """Print the curve of each step, at each of its rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    images = load_binarized_mnist(parser.parse_args().data_dir)
    rows = np.concatenate([images.train, images.valid]).astype(np.float32)
    rows, held_out = rows[:-HELD_OUT], rows[-HELD_OUT:]
    warnings.simplefilter("ignore", tf.evaluation.PartitionWarning)
    print("| step | rate | ms an update |", *(f"{epoch + 1} |" for epoch in range(EPOCHS)))
    for name, (step, warm, rates) in candidates().items():
        for rate in rates:
            scores, seconds = run(rows, held_out, step(), rate, warm)
            curve = (f"{score:.1f} |" for score in scores)
            print(f"| {name} | {rate:g} | {1e3 * seconds:.1f} |", *curve, flush=True)


if __name__ == "__main__":
    main()
