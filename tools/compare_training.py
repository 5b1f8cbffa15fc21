"""Print a Markdown table of the time of an update, a sweep and an annealing step beside others.

    python -m tools.compare_training [--threads 1 2] [--rounds 6]

Batches of 100, 784 visible and 500 hidden units, float32.  All rows in turns in one run; medians.
The floor is NumPy's matrix products alone, five an update, two a sweep or annealing step.  Rows of
scikit-learn (persistent chains, plain SGD), torch (CD-1, RMSprop; a plain RBM, every step on
whole arrays in place) and rbms (persistent chains, plain SGD; annealing) appear where these are
installed; they have Bernoulli hidden units.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
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

Call = Callable[[], object]
Rows = dict[str, tuple[Call, int]]  # what is timed, with the number of steps in a call


def scikit_learn() -> Call:
    """Return an update of scikit-learn's RBM."""
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(HIDDEN, batch_size=CHAINS, learning_rate=1e-3, random_state=0)
    batch = random_pixels(CHAINS, VISIBLE, "float32")
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


def rows(threads: int) -> Rows:
    """Return what is timed, with the number of steps in a call."""
    products = Products(threads)
    found: Rows = {"five products (floor)": (products.of_update, 1)}
    for units in ("trug", "bernoulli"):
        update = training.Update()
        update.setup(units, threads)
        found[f"update, {units} units"] = (update.update, 1)
    if importlib.util.find_spec("torch"):
        found["update, torch, Bernoulli units"] = (torch_rbm(), 1)
    if importlib.util.find_spec("sklearn"):
        found["update, scikit-learn, Bernoulli units"] = (scikit_learn(), 1)
    if importlib.util.find_spec("rbms"):
        found["update, rbms, Bernoulli units"] = (rbms_update(), 1)
    found["two products (floor)"] = (products.of_temperature, 1)
    for units in ("[0, 1]", "[0, 4]", "Bernoulli"):
        temperatures = ais.Temperatures()
        temperatures.setup(units, threads)
        found[f"annealing step, {units}"] = (temperatures.anneal, ais.TEMPERATURES)
    for units in ("[0, 4]", "Bernoulli"):
        sweeps = gibbs.Sweeps()
        sweeps.setup(units, threads)
        found[f"Gibbs sweep, {units}"] = (
            partial(sweeps.time_sweeps, units, threads),
            gibbs.SWEEPS,
        )
    if importlib.util.find_spec("rbms"):
        found["rbms: annealing step, Bernoulli"] = (rbms_annealing(), ais.TEMPERATURES)
    return found


def use_threads(threads: int) -> None:
    """Set the threads of Numba and of torch, where that is loaded."""
    numba.set_num_threads(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def measure(
    rows: Callable[[int], Rows], counts: list[int], rounds: int
) -> dict[int, dict[str, float]]:
    """Return the median seconds of a step of each row, for each number of threads."""
    calls, times = {}, {}
    for threads in counts:
        use_threads(threads)
        calls[threads] = rows(threads)
        times[threads] = {name: [] for name in calls[threads]}
    for _ in range(rounds):
        for name in calls[counts[0]]:
            for threads in counts:
                use_threads(threads)
                times[threads][name] += seconds_of(name, threads, *calls[threads][name])
    return {
        threads: {name: float(np.median(found)) for name, found in of_rows.items()}
        for threads, of_rows in times.items()
    }


def seconds_of(name: str, threads: int, call: Call, steps: int) -> list[float]:
    """Time some calls."""
    # As in training, which holds BLAS to one thread inside Numba's for the whole run.
    ours = name.startswith(("update, trug", "update, bernoulli", "annealing", "Gibbs"))
    with threadpool_limits(1 if ours else threads, "blas"):
        return [second / steps for second in seconds(call, 10)]


def arguments(words: str, rounds: int) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=words)
    most = numba.config.NUMBA_NUM_THREADS
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, most}))
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()


def show(results: dict[int, dict[str, float]]) -> None:
    """Print a table of times, each also over the floor above it, and what more threads bring."""
    heads = [f"{threads} threads, ms | over floor" for threads in results]
    print(f"| | {' | '.join(heads)} |")
    print("|---" + "|---|---" * len(heads) + "|")
    floor = ""
    for name in next(iter(results.values())):
        floor = name if "floor" in name else floor
        cells = [f"{t[name] * 1e3:.2f} | {t[name] / t[floor]:.2f}" for t in results.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    if len(results) > 1:
        few, many = results[min(results)], results[max(results)]
        for name in few:
            print(f"{name}: {few[name] / many[name]:.2f} times as fast with all threads")


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__.splitlines()[0], rounds=6)
    show(measure(rows, options.threads, options.rounds))


if __name__ == "__main__":
    main()
