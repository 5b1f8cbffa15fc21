"""Regressions whose weights are drawn from their posterior, beside ensembles: a reference.

    python -m reproduction.scripts.sample_weights --data-dir DIR --set boston --set yacht --splits 5

Hamiltonian Monte Carlo over all weights, biases and the log noise of a regression, whose truncation
points stay where training has brought them: the likelihood is that of "moments", a normal of the
exact mean and variance of y given x, its gradient the one that training ascends.  Weights have
normal priors, a precision for those of each input, of the hidden biases and of the readout, each
with a gamma prior and drawn given the weights between paths (Neal 1996).  Table of notes/tggm.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from reproduction.datasets import load_uci
from reproduction.results import markdown
from tools.processor import describe
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.tggm import objectives
from trug_fast.kernels.tggm.objectives import WeightedRows
from trug_fast.training.rates import Schedule
from trug_fast.training.tggm.data import Examples, Scales
from trug_fast.training.tggm.learner import RegressionLearner
from trug_fast.training.tggm.options import Noise
from trug_fast.training.tggm.plans import RegressionSettings

Floats = NDArray[np.float64]
SHAPE, RATE = 1.0, 0.1  # of the gamma priors of precisions
WIDE = 1e-2  # precision of the prior of the readout's bias and of the log noise, of unit data
GOAL = 0.8  # acceptance that the step is adapted to
WINDOWS = (0.15, 0.3, 0.5, 0.75)  # of the warm-up, after which variances are learned anew


class Potential:
    """Minus the log posterior of some of a learner's parameters, given precisions of groups."""

    def __init__(
        self, learner: RegressionLearner, rows: Examples, free: Sequence[str] | None = None
    ) -> None:
        self.learner, self._rows = learner, WeightedRows(*rows)
        task, size = learner.task, learner.trained.theta.size
        names = ["input_weights", "output_weights", "input_bias", "output_bias", "log_noise"]
        place = learner.parts(np.arange(size, dtype=np.float64))._asdict()
        index = {name: place[name].astype(int) for name in names}
        self.free = np.concatenate([index[name].ravel() for name in free or names])
        self._theta = learner.trained.theta
        columns = [index["input_weights"][:, d] for d in range(task.inputs)]
        groups = [*columns, index["input_bias"], index["output_weights"].ravel()]
        self.groups = [each for each in groups if np.isin(each, self.free).all()]
        self.precision = np.zeros(size)  # of the prior of each parameter
        for name in ("output_bias", "log_noise"):
            self.precision[index[name]] = WIDE

    def renew(self, rng: np.random.Generator) -> None:
        """Draw the precision of each group given its weights, exactly."""
        for group in self.groups:
            square = float((self._theta[group] ** 2).sum())
            self.precision[group] = rng.gamma(SHAPE + 0.5 * group.size, 1 / (RATE + 0.5 * square))

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        """Return it and its gradient at values of the free parameters."""
        self._theta[self.free] = values
        own, n = self.learner, len(self._rows.inputs)
        total = -n * objectives.gradient_of(own.task, own.trained, self._rows)
        pull = self.precision[self.free] * values
        gradient = -n * own.trained.gradient[self.free] + pull
        return float(total + 0.5 * pull @ values), gradient

    @property
    def values(self) -> Floats:
        """The free parameters, copied."""
        return np.array(self._theta[self.free], np.float64)


class Chain(NamedTuple):
    """What a run of Hamiltonian Monte Carlo came to."""

    draws: Floats  # (n, parameters)
    acceptance: float
    step: float
    gradients: int


def sample(
    potential: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    warm_up: int,
    n: int,
    steps: int,
    rng: np.random.Generator,
    renew: Callable[[np.random.Generator], None] | None = None,
) -> Chain:
    """Draw by paths of up to ``steps`` leapfrog steps; step and variances are adapted before.

    The step follows the acceptance by dual averaging (Hoffman and Gelman 2014); ``renew`` changes
    the potential between paths, leaving the joint distribution as it is.
    """
    q, scale, seen = start.copy(), np.full(start.size, 0.01), []
    mu, log_step, averaged, gap, count = np.log(0.1), np.log(0.01), np.log(0.01), 0.0, 0
    marks = {int(share * warm_up) for share in WINDOWS}
    draws, taken, gradients = np.empty((n, q.size)), 0.0, 0
    for path in range(warm_up + n):
        if renew is not None:
            potential(q)
            renew(rng)
        warm = path < warm_up
        step = np.exp(log_step if warm else averaged) * rng.uniform(0.8, 1.2)
        length = int(rng.integers(max(1, steps // 2), steps + 1))
        q, share = _path(potential, q, scale, step, length, rng)
        gradients += length + 1
        if warm:
            count += 1
            gap += ((GOAL - share) - gap) / (count + 10)
            log_step = mu - np.sqrt(count) / 0.05 * gap
            weight = count**-0.75
            averaged = weight * log_step + (1 - weight) * averaged
            seen.append(q)
            if path + 1 in marks:
                scale = np.array(seen).std(axis=0) + 1e-9
                seen, count, gap = [], 0, 0.0
                mu = log_step = averaged = np.log(0.1)
        else:
            draws[path - warm_up], taken = q, taken + share
    return Chain(draws, taken / max(n, 1), float(np.exp(averaged)), gradients)


def _path(
    potential: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    scale: Floats,
    step: float,
    length: int,
    rng: np.random.Generator,
) -> tuple[Floats, float]:
    """Return where a path ends, or its start if that is refused, and the acceptance."""
    energy, gradient = potential(start)
    momentum = rng.normal(size=start.size)
    before = energy + 0.5 * momentum @ momentum
    q = start.copy()
    move = step * scale
    momentum -= 0.5 * move * gradient
    for k in range(length):
        q += move * momentum
        energy, gradient = potential(q)
        if not np.isfinite(energy):
            return start, 0.0
        momentum -= (0.5 if k + 1 == length else 1.0) * move * gradient
    rise = energy + 0.5 * momentum @ momentum - before
    share = float(np.exp(min(0.0, -rise)))
    return (q, share) if rng.uniform() < share else (start, share)


def learner_at(model: tf.TruGTGGM, X: Any, y: Any) -> tuple[RegressionLearner, Examples]:
    """Return a learner of standardised rows, in float64, at a model's parameters."""
    scales = Scales.of(X, y.reshape(len(y), -1))
    settings = RegressionSettings(
        *(model.n_inputs, model.n_hidden, model.n_outputs),
        truncation=tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True),
        objective="moments",
        noise=Noise("separate", hidden_variance=model.hidden_variance),
        optimizer=tf.training.Adam(),
        learning_rate=Schedule("learning_rate", 0.01, 0.01),
        truncation_rate=None,
        batch_size=len(X),
        dtype=np.dtype(np.float64),
        start=model,
    )
    rows = scales.apply(X, y.reshape(len(y), -1), np.dtype(np.float64))
    return RegressionLearner(settings, scales, 0), rows


def drawn_ensemble(
    X: Any, y: Any, options: dict[str, Any], own: dict[str, int], seed: int
) -> tuple[tf.TGGMEnsemble, tf.TGGMEnsemble, Chain]:
    """Return an ensemble of draws, one of two halves of the chain, and the chain."""
    model = tf.train_tggm(X, y, rng=seed, progress=False, **options).model
    learner, rows = learner_at(model, X, y)
    potential, rng = Potential(learner, rows), np.random.default_rng(seed)
    how = {name: own[name] for name in ("warm_up", "n", "steps")}
    with one_blas_thread():
        chain = sample(potential, potential.values, rng=rng, renew=potential.renew, **how)
    models = []
    for draw in chain.draws[:: max(1, own["n"] // own["kept"])]:
        learner.trained.theta[potential.free] = draw
        models.append(learner.model())
    return tf.TGGMEnsemble(models), tf.TGGMEnsemble(models[len(models) // 2 :]), chain


def main(words: Sequence[str] | None = None) -> None:
    """Draw on splits of some sets, and print scores of the test rows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--set", action="append", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--n-hidden", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=200)
    for name, default in (("warm_up", 600), ("n", 1000), ("steps", 60), ("kept", 100)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, dest=name)
    given = parser.parse_args(words)
    print(describe())
    options = {"n_hidden": given.n_hidden, "epochs": given.epochs, "objective": "moments"}
    header = ["split", "RMSE", "log-density", "second half", "50 %", "90 %", "accepted", "s"]
    for name in given.set:
        data, lines = load_uci(name, given.data_dir), []
        for split in range(given.first, given.first + given.splits):
            begun = time.thread_time()
            X, y, *test = data.split(split)
            every, half, chain = drawn_ensemble(X, y, options, vars(given), split)
            found = tf.regression_scores(every, *test)
            later = tf.regression_scores(half, *test).log_likelihood
            inside = [found.coverage[level] for level in (0.5, 0.9)]
            spent = time.thread_time() - begun
            lines.append(
                [found.rmse, found.log_likelihood, later, *inside, chain.acceptance, spent]
            )
            print(name, split, [float(f"{each:.4g}") for each in lines[-1]], flush=True)
        table = np.array(lines)
        body = [[str(given.first + k), *(f"{v:.3f}" for v in row)] for k, row in enumerate(table)]
        body.append(["mean", *(f"{v:.3f}" for v in table.mean(axis=0))])
        print(markdown(header, body))


if __name__ == "__main__":
    main()
