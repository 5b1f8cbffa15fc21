"""Connectivity of a known network of neurons, recovered from simulated recordings.

Called as ``python -m reproduction.scripts.recover_neurons --channels 200 --frames 20000``.

Assemblies, the hidden units of a temporal RBM, excite channels of their own; each drives itself and
another from frame to frame, and holds two others back.  A static RBM is trained on single frames
with a penalty that keeps connections few, then a temporal one that starts at it.  They have three
times as many units as there are assemblies: the penalty must find how many are needed.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

import trug_fast as tf

STRETCH = 100  # frames of each sequence
QUIET, REST = -3.0, -2.5  # log-odds of a channel, and of an assembly, by themselves
KINDS = {"itself": 2.0, "another": 2.0, "held back": -1.5}  # what an assembly gives to assemblies
SPARE = 3  # units for each assembly
STATIC = {"learning_rate": (0.5, 0.05), "optimizer": tf.training.SGD(l1=(4e-4, 1e-4))}
TEMPORAL = {
    "learning_rate": (1e-2, 1e-3),
    "optimizer": tf.training.Adam(
        l1={
            "weights": (3e-3, 5e-4),
            "hidden_to_hidden": 2e-4,
            "visible_to_hidden": 3e-2,
            "visible_to_visible": 3e-2,
        }
    ),
    "sampler": tf.training.SequenceCD(n_gibbs=(1, 5), begin="data"),
    "batch_size": 2,
}


class Network(NamedTuple):
    """A model and which assemblies it connects how: indices of KINDS, -1 without connection."""

    model: tf.BernoulliTRBM
    kinds: np.ndarray  # (units, units), to a row from a column


class Recovery(NamedTuple):
    """What was found again, up to the order and the signs of units."""

    cosines: np.ndarray  # of each assembly's weights and those of its unit, absolute
    between: np.ndarray  # (assemblies, assemblies) what was found of connections between them
    spare: int  # units beyond the assemblies that are connected with a channel


def network(n_channels: int, n_units: int, rng: np.random.Generator) -> Network:
    """Return a network.

    Given the frame before, an assembly is on with the log-odds REST and what drives it: its bias
    makes up for what its channels give back.
    """
    if n_units < 4:
        raise ValueError(f"units must be at least 4, an assembly and three others, got {n_units}")
    owner = rng.permutation(np.arange(n_channels) % n_units)
    strength = rng.uniform(1.5, 3.0, (n_channels, 1))
    weights = np.where(owner[:, None] == np.arange(n_units), strength, 0.0)
    kinds = np.full((n_units, n_units), -1)
    for j in range(n_units):
        others = rng.permutation(np.delete(np.arange(n_units), j))[:3]
        kinds[[j, *others], j] = 0, 1, 2, 2
    between = np.append(list(KINDS.values()), 0.0)[kinds]
    bias = REST - (np.logaddexp(0, QUIET + weights) - np.logaddexp(0, QUIET)).sum(axis=0)
    n, m, zero = n_channels, n_units, np.zeros
    model = tf.BernoulliTRBM(
        weights.astype(np.float32), zero((m, n)), zero((n, n)), between, QUIET, bias, QUIET, bias
    )
    return Network(model, kinds)


def recordings(model: tf.BernoulliTRBM, n_frames: int, seed: int) -> np.ndarray:
    """Return spikes, shape (sequences, STRETCH, channels)."""
    n = n_frames // STRETCH
    return model.forecast(None, STRETCH, n_samples=n, n_gibbs=20, rng=seed).draws


def static_model(spikes: np.ndarray, n_units: int, epochs: int, seed: int) -> tf.BernoulliRBM:
    """Return an RBM of single frames with few connections."""
    rows = spikes.reshape(-1, spikes.shape[2])
    rate = np.clip(rows.mean(axis=0, dtype=np.float64), 1e-6, 1 - 1e-6)
    weights = np.random.default_rng(seed).normal(0, 0.02, (rows.shape[1], n_units))
    start = tf.BernoulliRBM(weights.astype(np.float32), np.log(rate / (1 - rate)), 0.0)
    options = {"epochs": epochs, "monitor": None, "progress": False, "rng": seed}
    return tf.train_rbm(rows, start=start, **STATIC, **options).model


def compare(true: tf.BernoulliTRBM, found: tf.BernoulliTRBM | tf.BernoulliRBM) -> Recovery:
    """Pair units so that the sum of absolute cosines of their weights is largest."""
    both = (model.weights.astype(np.float64) for model in (true, found))
    ours, theirs = (w - w.mean(axis=0) for w in both)
    sizes = np.linalg.norm(ours, axis=0)[:, None] * np.linalg.norm(theirs, axis=0)
    cosines = (ours.T @ theirs) / np.maximum(sizes, 1e-300)
    rows, columns = linear_sum_assignment(-np.abs(cosines))
    signs = np.sign(cosines[rows, columns])
    between = getattr(found, "hidden_to_hidden", np.zeros((found.n_hidden, found.n_hidden)))
    used = np.flatnonzero(found.weights.any(axis=0))
    return Recovery(
        np.abs(cosines[rows, columns]),
        between[np.ix_(columns, columns)] * np.outer(signs, signs),
        int(np.setdiff1d(used, columns).size),
    )


def report(name: str, found: Recovery, seconds: float, passes: int) -> None:
    """Print how well weights agree, and what a pass took."""
    c = found.cosines
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name}: cosines median {np.median(c):.3f}, mean {c.mean():.3f}, least {c.min():.3f}, "
        f"above 0.9 {(c > 0.9).sum()} of {c.size}; {found.spare} more units are connected; "
        f"{passes} passes of {seconds / passes:.1f} processor seconds; {memory:.2f} GiB at most",
        flush=True,
    )


def report_between(kinds: np.ndarray, found: Recovery) -> None:
    """Print what was found of the connections between assemblies."""
    for number, (name, size) in enumerate([*KINDS.items(), ("none", 0.0)]):
        chosen = found.between[kinds == (number if name != "none" else -1)]
        print(f"  {name} ({size}): {chosen.mean():.2f} +- {chosen.std():.2f}")
    strongest = np.argsort(-np.abs(found.between), axis=None)[: (kinds >= 0).sum()]
    true = kinds.ravel()[strongest] >= 0
    print(f"  of the {true.size} strongest {true.mean():.0%} are there, by chance "
          f"{(kinds >= 0).mean():.0%}")  # fmt: skip


def run(asked: argparse.Namespace) -> Recovery:
    """Simulate, train, compare, print."""
    rng = np.random.default_rng(asked.seed)
    known = network(asked.channels, asked.units, rng)
    begun = time.process_time()
    spikes = recordings(known.model, asked.frames, asked.seed)
    took = time.process_time() - begun
    print(f"simulated in {took:.0f} s, {spikes.dtype}; a channel fires in {spikes.mean():.1%} "
          "of the frames", flush=True)  # fmt: skip
    model = known.model
    if asked.missing:
        seen = np.sort(rng.permutation(asked.channels)[asked.missing :])
        spikes, model = spikes[:, :, seen], visible_part(model, seen)
    begun = time.process_time()
    static = static_model(spikes, SPARE * asked.units, asked.static_epochs, asked.seed)
    took = time.process_time() - begun
    report("single frames", compare(model, static), took, asked.static_epochs)
    begun = time.process_time()
    options = {"epochs": asked.epochs, "monitor": None, "progress": False, "rng": asked.seed}
    fit = tf.train_trbm(spikes, start=static, **TEMPORAL, **options)
    took = time.process_time() - begun
    found = compare(model, fit.model)
    report("sequences", found, took, asked.epochs)
    report_between(known.kinds, found)
    return found


def visible_part(model: tf.BernoulliTRBM, seen: np.ndarray) -> tf.BernoulliTRBM:
    """Return the weights of the channels that are seen."""
    n, m = seen.size, model.n_hidden
    return tf.BernoulliTRBM(
        model.weights[seen], np.zeros((m, n)), np.zeros((n, n)), model.hidden_to_hidden,
        QUIET, model.hidden_bias, QUIET, model.hidden_bias,
    )  # fmt: skip


def arguments(line: list[str] | None = None) -> argparse.Namespace:
    """Return what the command asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (
        *(("channels", 200), ("units", 20), ("frames", 20_000), ("static-epochs", 100)),
        *(("epochs", 40), ("missing", 0), ("seed", 0)),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args(line)


if __name__ == "__main__":
    run(arguments())
