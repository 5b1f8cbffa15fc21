"""The log-partition function by annealed importance sampling, in one or both directions."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, Literal

from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checkpoints import CheckpointLike, RunFile, as_checkpoint, seed_of
from trug_fast._common.progress import require_progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.announcing import announced
from trug_fast.models.rbm import RBM, require_rbm

from . import mean_field
from .annealer import KIND, VERSION, Annealer, AnnealingFile, AnnealingPlan
from .judgement import LogPartition, judge, tell
from .paths import PathName

Direction = Literal["forward", "reverse", "both"]

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
    checkpoint: CheckpointLike = None,
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
        Sweeps of the reverse chains at the model after that; by default none if ``start`` is given,
        else a tenth of the temperatures.
    executor : concurrent.futures.Executor, optional
        Runs blocks of 100 chains, each on one thread: threads, spawned processes,
        ``dask.distributed``'s ``client.get_executor()``.  The numbers are the same for each, on
        computers of one kind.
    checkpoint : Checkpoint, str or Path, optional
        A file written at the start, now and then, and at the end, from which the run can be
        continued; a path alone stands for ``Checkpoint(path)``, which overwrites no file.
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
    FileExistsError, FileNotFoundError
        If the checkpoint must not exist and does, or must and does not.
    OSError
        If the checkpoint cannot be written at the start.  Later that is only a warning.
    RuntimeError
        If a worker has another version of the package or dies, or its scheduler is gone.

    Warns
    -----
    RuntimeWarning
        Once, if a worker has another processor or other libraries.
    PartitionWarning
        If the weights have collapsed, if the two directions are apart, if the reverse chains began
        at few different draws, or if the estimate is below a bound that is certain.

    Notes
    -----
    mathematics 3; Neal, "Annealed importance sampling" (2001); reverse: Burda, Grosse and
    Salakhutdinov, "Accurate and conservative estimates of MRF log-likelihood" (2015).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.TruGRBM(np.full((4, 3), 0.5), 0.0, 0.0, 1.0, 0.0, 1.0)
    >>> estimate = tf.log_partition(model, n_temperatures=300, direction="both", rng=0)
    >>> abs(estimate.log_z - tf.exact.log_partition(model)) < 4 * estimate.std_error
    True
    """
    require_rbm("log_partition(model)", model)
    plan = AnnealingPlan(
        model,
        path=path,
        base=base,
        start=start,
        direction=direction,
        schedule=schedule,
        weights_on=weights_on,
        n_chains=n_chains,
        n_temperatures=n_temperatures,
        n_gibbs=n_gibbs,
    )
    if executor is not None:
        checks.kind("executor", executor, Executor)
    require_progress(progress)
    option = as_checkpoint(checkpoint)
    file = None if option is None else RunFile(option, KIND, VERSION, "annealing")
    seed = seed_of(file, rng, "log_partition")
    if file is not None:
        file.belong_to(plan.identity(), seed)
    with announced("log_partition", progress), one_blas_thread():
        estimate = estimated(model, plan, seed, file, executor, progress)
    tell(estimate.warnings)
    return estimate


def estimated(
    model: RBM,
    plan: AnnealingPlan,
    seed: int,
    file: RunFile | None = None,
    executor: Executor | None = None,
    progress: bool | None = False,
) -> LogPartition:
    """Carry out a plan; warnings are in the result alone."""
    with AnnealingFile(file) as kept:
        annealer = Annealer(model, plan, seed, kept, executor, progress)
        forward = annealer.forward() if plan.direction != "reverse" else None
        reverse = annealer.reverse() if plan.direction != "forward" else None
        starts = annealer.effective_starts()
    points = mean_field.starting_points(model, plan.base, seed_from(seed, "mean field"))
    return judge(
        forward,
        reverse,
        path=plan.path,
        temperatures=annealer.temperatures,
        mean_field=mean_field.bound(model, points),
        fingerprint=plan.fingerprint,
        starts=starts,
    )
