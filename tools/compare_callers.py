"""Compare 48 large calls in the main thread, another, a pool of eight and asyncio: bits, times.

    python -m tools.compare_callers [--rounds 3]

Prints what differs from the main thread in a bit, and the processor time of other callers over that
of the main thread: of each call the least of so many rounds, by turns.  In the pool all are under
way at once, which tells bits alone.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import trug_fast as tf
from tools.processor import describe, versions

Call = Callable[[], Any]
SHORT = {"epochs": 1, "rng": 0, "progress": False}
CHAINS = {"n_chains": 200, "n_temperatures": 10, "rng": 1, "progress": False}


def machines(dtype: str) -> Iterator[tuple[str, Call]]:
    """Yield calls of machines of 784 units and 500."""
    rng = np.random.default_rng(0)
    pixels, real = (rng.random((300, 784)) < 0.2).astype(dtype), rng.normal(size=(300, 784))
    for visible, rows in (("bernoulli", pixels), ("gaussian", real.astype(dtype))):
        ready = {**SHORT, "visible": visible, "learning_rate": 1e-3, "dtype": dtype}
        for hidden in ("trug", "bernoulli"):
            kind = {**ready, "hidden": "bernoulli"} if hidden == "bernoulli" else ready
            train = lambda X=rows, kind=kind: tf.train_rbm(X, 500, **kind).model  # noqa: E731
            yield f"train {visible} {hidden}", train
        m = tf.train_rbm(rows, 500, **ready).model
        hidden = m.sample_hidden(rows, rng=1)
        yield f"hidden_moments {visible}", lambda m=m, X=rows: m.hidden_moments(X)
        yield f"free_energy {visible}", lambda m=m, X=rows: m.free_energy(X)
        yield f"sample_hidden {visible}", lambda m=m, X=rows: m.sample_hidden(X, rng=1)
        yield f"sample_visible {visible}", lambda m=m, H=hidden: m.sample_visible(H, rng=1)
        yield f"sample {visible}", lambda m=m: m.sample(100, n_gibbs=3, rng=1)
        yield f"log_partition {visible}", lambda m=m: tf.log_partition(m, **CHAINS).log_weights
        yield f"log_likelihood {visible}", lambda m=m, X=rows: tf.log_likelihood(m, X, 1.0)


def others(dtype: str) -> Iterator[tuple[str, Call]]:
    """Yield calls of a temporal model and of a regression."""
    rng = np.random.default_rng(1)
    videos = (rng.random((4, 40, 200)) < 0.3).astype(dtype)
    train = lambda: tf.train_trbm(videos, 300, dtype=dtype, **SHORT).model  # noqa: E731
    moving = train()
    yield "train_trbm", train
    yield "filter", lambda: moving.filter(videos[0])
    yield "generate", lambda: moving.generate(10, rng=1)
    yield "prediction_error", lambda: tf.prediction_error(moving, videos, rng=0)
    X, more = rng.normal(size=(400, 60)), rng.normal(size=(3000, 60))
    y = X[:, 0] + rng.normal(size=400)
    fit = lambda: tf.train_tggm(X, y, 100, dtype=dtype, **SHORT).model  # noqa: E731
    regression = fit()
    yield "train_tggm", fit
    yield "predict", lambda: regression.predict(more, return_std=True)


def calls() -> dict[str, Call]:
    """Return the 48 calls, by name."""
    found = {}
    for dtype in ("float32", "float64"):
        for name, call in (*machines(dtype), *others(dtype)):
            found[f"{name} {dtype}"] = call
    return found


def digest(result: Any) -> str:
    """Return a hash of all arrays of a result."""
    if not isinstance(result, (tuple, np.ndarray, float)):
        result = tuple(v for v in vars(result).values() if isinstance(v, np.ndarray))
    parts = result if isinstance(result, tuple) else (result,)
    arrays = [np.ascontiguousarray(part) for part in parts]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def timed(call: Call) -> tuple[str, float]:
    """Return what a call gives, and its processor time."""
    begun = time.process_time()
    result = call()
    taken = time.process_time() - begun
    return digest(result), taken


def compare(rounds: int) -> tuple[dict[str, list[str]], dict[str, dict[str, float]]]:
    """Return by caller which calls differ from the main thread's, and times over its."""
    every = calls()
    names = ("main", "thread", "asyncio")
    times: dict[str, dict[str, float]] = {name: {} for name in names}
    differ: dict[str, list[str]] = {name: [] for name in (*names, "pool of eight")}
    bits = {}
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(8) as eight:
        ways: dict[str, Callable[[Call], tuple[str, float]]] = {
            "main": timed,
            "thread": lambda call: one.submit(timed, call).result(),
            "asyncio": lambda call: asyncio.run(asyncio.to_thread(timed, call)),
        }
        for name, call in every.items():
            bits[name] = timed(call)[0]
            for _ in range(rounds):
                for way, run in ways.items():
                    found, taken = run(call)
                    times[way][name] = min(taken, times[way].get(name, np.inf))
                    if found != bits[name]:
                        differ[way].append(name)
        for name, (found, _) in zip(every, eight.map(timed, every.values()), strict=True):
            if found != bits[name]:
                differ["pool of eight"].append(name)
    main = times.pop("main")
    over = {way: {name: own[name] / main[name] for name in main} for way, own in times.items()}
    return differ, over


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{describe()}; {versions()}\n")
    differ, over = compare(options.rounds)
    for way, names in differ.items():
        print(f"{way}: {len(set(names))} of 48 differ {sorted(set(names)) or ''}")
    for way, ratios in over.items():
        slow = {name: round(ratio, 2) for name, ratio in ratios.items() if ratio > 1.15}
        print(f"{way}: median time {np.median(list(ratios.values())):.3f}, above 1.15: {slow}")


if __name__ == "__main__":
    main()
