"""The log-partition function by annealed importance sampling, in one or both directions."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.models.rbm import RBM, require_rbm

from . import mean_field, paths, weights
from .checkpoint import Checkpoint
from .fingerprint import fingerprint
from .legs import Annealer, Plan
from .weights import LogPartition, PartitionWarning

PathName = Literal["auto", "quad", "quad2", "paper"]
Direction = Literal["forward", "reverse", "both"]

SWEEP_SHARE = 10  # reverse chains have so many times fewer Gibbs sweeps at the model by default

# The paper's setting; its path is the one whose end factors are left out.
PAPER: dict[str, Any] = {
    "n_chains": 100,
    "n_temperatures": 500_000,
    "path": "paper",
    "schedule": "uniform",
}


def log_partition(
    model: RBM,
    *,
    n_chains: int = 100,
    n_temperatures: int = 10_000,
    path: PathName = "auto",
    base: ArrayLike | None = None,
    direction: Direction = "forward",
    schedule: Literal["uniform", "adaptive"] = "uniform",
    weights_on: Literal["visible", "hidden"] = "visible",
    start: ArrayLike | None = None,
    n_gibbs: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | Path | None = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> LogPartition:
    """Estimate log Z by annealed importance sampling.

    Forward, chains go from the base to the model.  The estimate of Z is unbiased, hence that of
    log Z low on average and log-likelihoods that use it optimistic.  Reverse, chains go back from
    draws of the model, and log Z comes out high on average.  Both together bracket it.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    n_chains : int
        Independent chains in each direction.
    n_temperatures : int
        Steps from the base to the model.
    path : {"auto", "quad", "quad2", "paper"}
        "quad" keeps the hidden units' quadratic term along the path; "quad2" also brings the
        visible biases in with the square of the temperature, better for wide or infinite
        intervals; "paper" is the paper's, with its undefined end factors left out; "auto" takes
        quad up to a whitened width of 3, else quad2.
    base : array_like, shape (rows, n_visible), optional
        Data, usually the training set, whose pixel means make the base distribution; divides the
        spread of the weights by up to 13.  Without it the base is uniform; for Gaussian visible
        units it is the model without hidden ones, N(b / a, 1 / a).
    direction : {"forward", "reverse", "both"}
    schedule : {"uniform", "adaptive"}
        Equally spaced temperatures, or denser where a pilot run, a twentieth as long, has seen the
        weights spread.
    weights_on : {"visible", "hidden"}
        Weigh x with h summed out, or h with x summed out.  Both are unbiased; not for the paper's
        path, which leaves no density of h at its start.
    start : array_like, shape (rows, n_visible), optional
        Draws of the model for the reverse chains, e.g. the persistent chains of a
        training run; chain r starts at row r, counted round.  By default a run of its own anneals
        to the model as the forward chains do, and its ends are drawn by their weights.
    n_gibbs : int, optional
        Gibbs sweeps at the model after that; by default none if ``start`` is given, else a tenth of
        the temperatures.
    executor : concurrent.futures.Executor, optional
        Runs blocks of 100 chains, each on one thread: threads, spawned processes,
        ``dask.distributed``'s ``client.get_executor()``.  The numbers are the same for each.
    checkpoint : str or Path, optional
        A file written at the start and now and then.  If it exists, the run goes on where it
        stopped, and gives the numbers it would have given.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.
    progress : bool, optional
        Show a bar with the running estimate; by default if standard error is a terminal.

    Returns
    -------
    LogPartition

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is another run's.
    OSError
        If the checkpoint cannot be written at the start.  Later that is only a warning.

    Warns
    -----
    PartitionWarning
        If the weights have collapsed, if the two directions are apart, if the reverse chains began
        at few different draws, or if the estimate is below a bound that is certain.

    Notes
    -----
    math.md 3; Neal, "Annealed importance sampling" (2001); reverse: Burda, Grosse and
    Salakhutdinov, "Accurate and conservative estimates of MRF log-likelihood" (2015).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> machine = tf.TruGRBM(np.full((4, 3), 0.5), 0.0, 0.0, 1.0, 0.0, 1.0)
    >>> estimate = tf.log_partition(machine, n_temperatures=300, direction="both", rng=0)
    >>> abs(estimate.log_z - tf.exact.log_partition(machine)) < 4 * estimate.std_error
    True
    """
    require_rbm("log_partition(model)", model)
    plan = _plan(
        model, n_chains, n_temperatures, path, base, direction, schedule, weights_on, start, n_gibbs
    )
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    with Checkpoint(checkpoint) as file:
        stored = file.settings.get("seed")
        seed = seed_from(rng, "log_partition")
        # Without a seed of the caller's, that of the run to be continued.
        plan = replace(plan, seed=stored if rng is None and isinstance(stored, int) else seed)
        file.bind(plan.settings())
        annealer = Annealer(plan, file, executor, progress)
        forward = annealer.forward() if direction != "reverse" else None
        reverse = annealer.reverse() if direction != "forward" else None
        starts = annealer.effective_starts()
    points = mean_field.starting_points(model, plan.base, seed_from(plan.seed, "mean field"))
    estimate = weights.estimate(
        forward,
        reverse,
        path=plan.path,
        temperatures=annealer.temperatures,
        mean_field=mean_field.bound(model, points),
        fingerprint=fingerprint(model),
        starts=starts,
    )
    for reason in estimate.warnings:
        warnings.warn(reason, PartitionWarning, stacklevel=2)
    return estimate


def _plan(
    model: RBM,
    n_chains: int,
    n_temperatures: int,
    path: str,
    base: ArrayLike | None,
    direction: str,
    schedule: str,
    weights_on: str,
    start: ArrayLike | None,
    n_gibbs: int | None,
) -> Plan:
    """Check all arguments and fill in the defaults."""
    name = checks.choice("path", path, paths.PATHS)
    name = paths.automatic(model) if name == "auto" else name
    if checks.choice("weights_on", weights_on, ("visible", "hidden")) == "hidden":
        if name == "paper":
            raise ValueError("weights_on='hidden' needs path 'quad' or 'quad2', got 'paper'")
    units, columns = model.visible_units, model.n_visible
    data = None if base is None else units.checked("base", base, columns)
    draws = None if start is None else units.checked("start", start, columns, soft=False)
    checks.choice("direction", direction, ("forward", "reverse", "both"))
    if draws is not None and direction == "forward":
        raise ValueError("start is for the reverse chains; pass direction='reverse' or 'both'")
    temperatures = checks.count("n_temperatures", n_temperatures)
    sweeps = -(-temperatures // SWEEP_SHARE) if draws is None else 0
    return Plan(
        model=model,
        path=name,
        base=data,
        start=draws,
        direction=direction,
        schedule=checks.choice("schedule", schedule, ("uniform", "adaptive")),
        weights_on=weights_on,
        n_chains=checks.count("n_chains", n_chains, least=2),
        n_temperatures=temperatures,
        n_gibbs=sweeps if n_gibbs is None else checks.count("n_gibbs", n_gibbs, least=0),
        seed=0,
    )
