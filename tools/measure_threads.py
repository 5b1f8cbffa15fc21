"""Print Markdown tables of how much work pays for a second thread, alone and beside a busy process.

    python -m tools.measure_threads [--rounds 15] [--seconds 0.03] [--only update ...]

For a ladder of sizes, of each kind of call: the time on one thread, the time on all threads over
it, and the time as the library chooses over it; then the same while another process keeps one core
busy.  Above 1 the threads cost more than they bring.  All are timed in turns, a few hundredths of
a second each; medians over the rounds.  ``trug_fast.threads.WORTH_THREADS`` is the work from which
the library takes more than one thread: it belongs where both columns of all threads fall below 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numba
import numpy as np

import trug_fast as tf
from asv_benchmarks.benchmarks import temporal as sequence_training
from asv_benchmarks.benchmarks import training
from tools.processor import describe, versions
from trug_fast._common import threads
from trug_fast.evaluation.bridges import paths
from trug_fast.evaluation.bridges.bridge import Bridge
from trug_fast.models.sequences import as_sequences
from trug_fast.training.rates import Time

Call = Callable[[], object]
STEPS = 20  # sweeps, temperatures or frames in a call
# rows, visible and hidden units
SIZES = [
    (1, 3, 10),
    (20, 16, 16),
    (20, 64, 100),
    (100, 64, 100),
    (20, 256, 200),
    (100, 200, 200),
    (100, 784, 100),
    (100, 400, 400),
    (100, 784, 500),
    (500, 784, 500),
]
BUSY = "while True: pass"


def model(visible: int, hidden: int) -> tf.TruGRBM:
    """Return a model with small random weights."""
    weights = np.random.default_rng(0).normal(0.0, 0.05, (visible, hidden)).astype("float32")
    return tf.TruGRBM(weights, -0.5, -0.2, 1.0, 0.0, 4.0)


def pixels(*shape: int) -> np.ndarray:
    """Return zeros and ones."""
    return (np.random.default_rng(1).random(shape) < 0.2).astype("float32")


def update(
    rows: int, visible: int, hidden: int, units: str = "trug", count: int = 1
) -> tuple[Call, float]:
    """Return so many CD-1 updates in a call, and the work of one."""
    data, batch = pixels(10 * rows, visible), np.arange(rows)
    learner = training.learner(units, rows=rows, visible=visible, hidden=hidden)
    call = lambda: learner.update(data, [batch] * count, [Time(0.0, 1)] * count)  # noqa: E731
    return call, threads.work(rows, visible, hidden)


def sweeps(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return Gibbs sweeps."""
    own = model(visible, hidden)
    call = lambda: own.sample(rows, n_gibbs=STEPS, rng=0)  # noqa: E731
    return call, threads.work(rows, visible, hidden)


def annealing(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return annealing steps."""
    own = model(visible, hidden)
    path = paths.along("quad", paths.uniform(10_000), np.zeros(visible))
    begun = Bridge(own.layers(), path, 0).begun(rows)
    there = begun.at(begun.values, 5000)
    call = lambda: there.travel(there.step + STEPS)  # noqa: E731
    return call, threads.work(rows, visible, hidden)


def energy(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return free energies."""
    own, data = model(visible, hidden), pixels(rows, visible)
    return lambda: own.free_energy(data), threads.work(rows, visible, hidden)


def temporal(visible: int, hidden: int) -> tf.TruGTRBM:
    """Return a temporal model."""
    rng = np.random.default_rng(0)
    w = (rng.normal(0, 0.05, s) for s in ((hidden, visible), (visible, visible), (hidden, hidden)))
    weights = rng.normal(0.0, 0.05, (visible, hidden)).astype("float32")
    return tf.TruGTRBM(weights, *w, 0, 0, 0, 0, 1.0, 0.0, 4.0)


def generation(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return frames of a video, ten sweeps each."""
    own = temporal(visible, hidden)
    return lambda: own.generate(STEPS, n_gibbs=10, rng=0), threads.work(rows, visible, hidden)


def filtering(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return the mean-field forecast of a video of so many frames: filter and sweeps."""
    own, data = temporal(visible, hidden), pixels(1, max(rows, 2), visible)
    call = lambda: tf.prediction_error(own, data, method="mean_field")  # noqa: E731
    return call, threads.work(max(rows, 2), visible, hidden)


def temporal_update(rows: int, visible: int, hidden: int) -> tuple[Call, float]:
    """Return an update of the temporal model from two videos of so many frames together."""
    frames = max(rows // 2, 2)
    data = as_sequences("data", pixels(4, frames, visible), visible="bernoulli")
    learner, batch = sequence_training.learner(data, videos=2, hidden=hidden), np.arange(2)
    return lambda: learner.update(data, [batch], [Time(0.0, 1)]), threads.work(
        2 * frames, visible, hidden
    )


KINDS = {
    "update": update,
    "sweeps": sweeps,
    "annealing": annealing,
    "energy": energy,
    "generation": generation,
    "forecast": filtering,
    "temporal update": temporal_update,
}


@contextmanager
def neighbour(busy: bool) -> Iterator[None]:
    """Keep one core busy, if so wished."""
    process = subprocess.Popen([sys.executable, "-c", BUSY]) if busy else None
    try:
        if process is not None:
            time.sleep(0.3)
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def time_of(call: Call, least: float) -> float:
    """Return the time of a call, from as many as fill some seconds."""
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < least:
        call()
        calls += 1
    return (time.perf_counter() - begun) / calls


def measure(call: Call, rounds: int, least: float) -> list[float]:
    """Return the median times on one thread, on all, and as the library chooses."""
    most = numba.config.NUMBA_NUM_THREADS
    worth, gain = threads.WORTH_THREADS, threads.GAIN
    ways = [(1, 0.0, 0.0), (most, 0.0, 0.0), (most, worth, gain)]
    watches = [threads._Watch() for _ in ways]  # what one way has found out is not another's
    times: list[list[float]] = [[] for _ in ways]
    try:
        for _ in range(rounds):
            for found, threads._watch, (count, *bounds) in zip(times, watches, ways, strict=True):
                numba.set_num_threads(count)
                threads.WORTH_THREADS, threads.GAIN = bounds
                call()  # the first after a change wakes the threads
                found.append(time_of(call, least))
    finally:
        threads.WORTH_THREADS, threads.GAIN = worth, gain
        numba.set_num_threads(most)
    return [float(np.median(found)) for found in times]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS))
    options = parser.parse_args()
    print(f"{describe()}, {numba.config.NUMBA_NUM_THREADS} threads; {versions()}\n")
    for kind in options.only:
        rows = []
        for size in SIZES:
            if kind == "generation":  # one frame follows another
                if size[0] not in (1, 100):
                    continue
                size = (1, *size[1:])
            call, work = KINDS[kind](*size)
            call()
            cells = []
            for busy in (False, True):
                with neighbour(busy):
                    one, every, chosen = measure(call, options.rounds, options.seconds)
                cells += [f"{one * 1e3:.3g}", f"{every / one:.2f}", f"{chosen / one:.2f}"]
            rows.append((work, size, cells))
        print(f"**{kind}**\n")
        print("| rows x visible x hidden | work | alone: 1 thread, ms | all | chosen "
              "| beside a busy process: 1 thread, ms | all | chosen |")  # fmt: skip
        print("|---" * 8 + "|")
        for work, size, cells in sorted(rows):
            print(f"| {'x'.join(map(str, size))} | {work:.2g} | {' | '.join(cells)} |", flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
