"""Print a Markdown table of the time of an update, a sweep and an annealing step beside others.

    python -m tools.compare_training [--threads 1 2] [--rounds 6]

Batches of 100, 784 visible and 500 hidden units, float32.  All rows in turns in one run; medians,
on one thread of processor time.  The floor is NumPy's matrix products alone, five an update, two
a sweep or annealing step.  Rows of scikit-learn (persistent chains, plain SGD), torch (CD-1,
RMSprop; a plain RBM, every step on whole arrays in place) and rbms (persistent chains, plain SGD;
annealing) appear where these are installed; they have Bernoulli hidden units.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from asv_benchmarks.benchmarks import ais, gibbs, training
from asv_benchmarks.benchmarks.common import (
    CHAINS,
    HIDDEN,
    VISIBLE,
    Products,
    random_model,
    random_pixels,
    seconds,
)
from tools.processor import describe, versions

Call = Callable[[], object]


class Row(NamedTuple):
    """What is timed, the number of steps in a call, whether it is ours, what times it if not we."""

    call: Call
    steps: int = 1
    ours: bool = True
    elsewhere: Callable[[int], float] | None = None


Rows = dict[str, Row]
Times = NDArray[np.float64]  # of a step, a median for each round


def scikit_learn(rows: int = CHAINS, visible: int = VISIBLE, hidden: int = HIDDEN) -> Call:
    """Return an update of scikit-learn's RBM."""
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(hidden, batch_size=rows, learning_rate=1e-3, random_state=0)
    batch = random_pixels(rows, visible, "float32")
    return lambda: model.partial_fit(batch)


def torch_rbm() -> Call:
    """Return an update of a Bernoulli RBM in torch: CD-1 with RMSprop."""
    import torch

    generator = torch.Generator().manual_seed(0)
    weights = 0.01 * torch.randn(VISIBLE, HIDDEN, generator=generator)
    visible_bias, hidden_bias = torch.zeros(VISIBLE), torch.zeros(HIDDEN)
    parameters = (weights, visible_bias, hidden_bias)
    squares = tuple(torch.zeros_like(parameter) for parameter in parameters)
    data = torch.from_numpy(random_pixels(CHAINS, VISIBLE, "float32"))

    def update() -> None:
        with torch.no_grad():
            hidden = torch.sigmoid(torch.addmm(hidden_bias, data, weights))
            drawn = torch.bernoulli(hidden, generator=generator)
            model = torch.bernoulli(
                torch.sigmoid(torch.addmm(visible_bias, drawn, weights.T)), generator=generator
            )
            model_hidden = torch.sigmoid(torch.addmm(hidden_bias, model, weights))
            slopes = (
                torch.addmm(data.T @ hidden, model.T, model_hidden, alpha=-1).div_(CHAINS),
                (data - model).mean(0),
                (hidden - model_hidden).mean(0),
            )
            for parameter, square, slope in zip(parameters, squares, slopes, strict=True):
                square.mul_(0.95).addcmul_(slope, slope, value=0.05)
                parameter.addcdiv_(slope, square.sqrt().add_(1e-6), value=1e-4)

    return update


def rbms_model() -> Any:
    """Return an RBM of rbms, in memory of PyTorch."""
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM

    trug = random_model(VISIBLE, HIDDEN, (0.0, 1.0), "float32")
    parameters = (trug.weights, trug.visible_bias, trug.hidden_bias)
    return BBRBM(*(torch.tensor(parameter) for parameter in parameters))


def rbms_update() -> Call:
    """Return an update of rbms: persistent chains, centred gradient, plain SGD."""
    import torch
    from rbms.training.pcd import fit_batch_pcd

    model = rbms_model()
    model.init_grad()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, maximize=True)
    batch = (torch.from_numpy(random_pixels(CHAINS, VISIBLE, "float32")), torch.ones(CHAINS))
    chains = model.init_chains(CHAINS)

    def update() -> None:
        nonlocal chains
        with torch.no_grad():
            optimizer.zero_grad(set_to_none=False)
            chains, _ = fit_batch_pcd(batch, chains, model, gibbs_steps=1, beta=1.0)
            optimizer.step()

    return update


def rbms_annealing() -> Call:
    """Return as many annealing steps of rbms as ours are timed for."""
    from rbms.partition_function.ais import compute_partition_function_ais

    model = rbms_model()
    return lambda: compute_partition_function_ais(CHAINS, ais.TEMPERATURES + 1, model)


def updates(threads: int) -> Rows:
    """Return our updates, after their floor."""
    found = {"five products (floor)": Row(Products(threads).of_update, ours=False)}
    for units in ("trug", "bernoulli"):
        update = training.Update()
        update.setup(units, threads)
        found[f"update, {units} units"] = Row(update.update)
    return found


def updates_of_others() -> Rows:
    """Return updates by the libraries that are installed."""
    peers = {
        "torch": ("torch", torch_rbm),
        "sklearn": ("scikit-learn", scikit_learn),
        "rbms": ("rbms", rbms_update),
    }
    return {
        f"update, {name}, Bernoulli units": Row(prepare(), ours=False)
        for library, (name, prepare) in peers.items()
        if importlib.util.find_spec(library)
    }


def annealing(threads: int) -> Rows:
    """Return our annealing steps, after their floor."""
    found = {"two products (floor)": Row(Products(threads).of_temperature, ours=False)}
    for units in ("[0, 1]", "[0, 4]", "Bernoulli"):
        temperatures = ais.Temperatures()
        temperatures.setup(units, threads)
        found[f"annealing step, {units}"] = Row(temperatures.anneal, ais.TEMPERATURES)
    return found


def sweeps(threads: int) -> Rows:
    """Return our Gibbs sweeps, which have the same floor."""
    found = {}
    for units in ("[0, 4]", "Bernoulli"):
        own = gibbs.Sweeps()
        own.setup(units, threads)
        found[f"Gibbs sweep, {units}"] = Row(partial(own.time_sweeps, units, threads), gibbs.SWEEPS)
    return found


def annealing_of_others() -> Rows:
    """Return annealing steps by rbms, where it is installed."""
    if not importlib.util.find_spec("rbms"):
        return {}
    return {"annealing step, rbms, Bernoulli": Row(rbms_annealing(), ais.TEMPERATURES, ours=False)}


def rows(threads: int) -> Rows:
    """Return what is timed."""
    own = updates(threads) | updates_of_others()
    return own | annealing(threads) | sweeps(threads) | annealing_of_others()


def use_threads(threads: int) -> None:
    """Set the threads of Numba and of torch, where that is loaded."""
    numba.set_num_threads(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def measure(
    rows: Callable[[int], Rows], counts: list[int], rounds: int
) -> dict[int, dict[str, Times]]:
    """Return the seconds of a step of each row, for each number of threads."""
    calls, times = {}, {}
    for threads in counts:
        use_threads(threads)
        calls[threads] = rows(threads)
        times[threads] = {name: np.empty(rounds) for name in calls[threads]}
    for i in range(rounds):
        for name in calls[counts[0]]:
            for threads in counts:
                use_threads(threads)
                times[threads][name][i] = seconds_of(threads, calls[threads][name])
    return times


def seconds_of(threads: int, row: Row) -> float:
    """Return the median time of some calls."""
    if row.elsewhere is not None:
        return row.elsewhere(threads)
    # On one thread by the processor's time, which other processes disturb less.
    clock = time.process_time if threads == 1 else time.perf_counter
    # As in training, which holds BLAS to one thread inside Numba's for the whole run.
    with threadpool_limits(1 if row.ours else threads, "blas"):
        return float(np.median(seconds(row.call, 10, clock))) / row.steps


def arguments(words: str, rounds: int) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=words)
    most = numba.config.NUMBA_NUM_THREADS
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, most}))
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()


def over_floor(times: dict[str, Times]) -> dict[str, float]:
    """Return each time over that of the floor above it, taken in the same round."""
    found, floor = {}, np.empty(0)
    for name, own in times.items():
        floor = own if "floor" in name else floor
        found[name] = float(np.median(own / floor))
    return found


def show(results: dict[int, dict[str, Times]]) -> None:
    """Print a table of times, each also over the floor above it, and what more threads bring."""
    heads = [f"{threads} thread{'s' * (threads > 1)}, ms | over floor" for threads in results]
    several = len(results) > 1
    print(f"| | {' | '.join([*heads, *['times as fast'] * several])} |")
    print("|---" * (1 + 2 * len(results) + several) + "|")
    ratios = {threads: over_floor(times) for threads, times in results.items()}
    few, many = results[min(results)], results[max(results)]
    for name in few:
        cells = [
            f"{np.median(times[name]) * 1e3:.3g} | {ratios[threads][name]:.2f}"
            for threads, times in results.items()
        ]
        gain = [f"{np.median(few[name] / many[name]):.2f}"] * several
        print(f"| {' | '.join([name, *cells, *gain])} |")


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__.splitlines()[0], rounds=6)
    print(f"{describe()}; {versions()}\n")
    show(measure(rows, options.threads, options.rounds))


if __name__ == "__main__":
    main()
