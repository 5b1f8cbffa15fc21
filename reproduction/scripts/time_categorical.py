"""Time updates of an RBM whose visible units have several states, beside the package rbms.

Persistent contrastive divergence with one sweep: 100 sequences of 53 sites of 21 states, 200 hidden
units, centred gradient, zero-sum gauge, float32.  Prints milliseconds an update, the least of many,
and those of the five dense products of an update::

    NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m reproduction.scripts.time_categorical
    python -m reproduction.scripts.time_categorical --rbms --threads 1  # with torch and rbms
"""

import argparse
import time
import warnings

import numpy as np

BATCH, SITES, STATES, HIDDEN, ROWS = 100, 53, 21, 200, 2000
COLUMNS = SITES * STATES


def clocks():
    """Return the time, and the processor time of all threads."""
    return np.array([time.perf_counter(), time.process_time()])


def least(what, count):
    """Return the least time and the least processor time of so many calls, in ms."""
    found = []
    for _ in range(count):
        begun = clocks()
        what()
        found.append(clocks() - begun)
    return 1e3 * np.min(found, axis=0)


def letters():
    """Return sequences that have no structure."""
    return np.random.default_rng(0).integers(0, STATES, (ROWS, SITES))


def ours(hidden, epochs):
    """Return the times of our update."""
    import trug_fast as tf

    warnings.simplefilter("ignore", tf.training.TrainingWarning)  # there is nothing to learn
    times = []
    tf.train_rbm(
        letters(),
        HIDDEN,
        hidden=hidden,
        visible=tf.CategoricalUnits(n_states=STATES),
        batch_size=BATCH,
        epochs=epochs,
        learning_rate=0.01,
        monitor=None,
        callbacks=[lambda event: times.append(clocks())],
        progress=False,
        rng=0,
    )
    return 1e3 * np.min(np.diff(times, axis=0), axis=0) / (ROWS // BATCH)


def theirs(updates):
    """Return the times of an update of rbms, as its training makes them."""
    import torch
    from rbms.potts_bernoulli.classes import PBRBM
    from rbms.potts_bernoulli.utils import ensure_zero_sum_gauge
    from rbms.training.pcd import fit_batch_pcd

    torch.manual_seed(0)
    X, weights = torch.from_numpy(letters()).float(), torch.ones(ROWS)
    start = 0.05 * torch.randn(SITES, STATES, HIDDEN)
    model = PBRBM(start, torch.zeros(SITES, STATES), torch.zeros(HIDDEN))
    for each in model.parameters():
        each.grad = torch.zeros_like(each)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, maximize=True)

    def update():
        rows = torch.randperm(ROWS)[:BATCH]
        optimizer.zero_grad(set_to_none=False)
        state[0], _ = fit_batch_pcd((X[rows], weights[rows]), state[0], model, 1, 1.0)
        optimizer.step()
        ensure_zero_sum_gauge(model)

    with torch.no_grad():
        state = [model.init_chains(BATCH)]
        least(update, 20)  # compiles
        return least(update, updates)


def products(count):
    """Return the times of the five dense products of an update, by NumPy."""
    rng = np.random.default_rng(1)
    x, h, w = (
        rng.random(shape, dtype=np.float32)
        for shape in ((BATCH, COLUMNS), (BATCH, HIDDEN), (COLUMNS, HIDDEN))
    )

    def five():
        return x @ w, x @ w, h @ w.T, x.T @ h, x.T @ h

    return least(five, count)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rbms", action="store_true", help="time that package instead of ours")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=30, help="in a round: epochs of 20 updates")
    arguments = parser.parse_args()
    if arguments.rbms:
        import torch

        torch.set_num_threads(arguments.threads)
        print(f"rbms, torch {torch.__version__}, {arguments.threads} threads of torch")
        cases = {"rbms": lambda: theirs(20 * arguments.repeats)}
    else:
        from tools.processor import describe

        print(describe())
        cases = {
            "Bernoulli": lambda: ours("bernoulli", arguments.repeats),
            "TruG, learned per unit": lambda: ours("trug", arguments.repeats),
            "five dense products": lambda: products(20 * arguments.repeats),
        }
    rounds = [[case() for case in cases.values()] for _ in range(arguments.rounds + 1)][1:]
    print("| hidden units | ms | ms of processor time |\n| --- | --- | --- |")
    for name, (wall, cpu) in zip(cases, np.min(rounds, axis=0), strict=True):
        print(f"| {name} | {wall:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    main()
