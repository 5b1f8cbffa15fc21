"""Training of several regressions as one: an ensemble, by any executor."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checkpoints import CheckpointLike
from trug_fast._common.progress import require_progress
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.announcing import announced
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.truncation import TruncationLike
from trug_fast.training.diagnosis import noted
from trug_fast.training.drawing import printed_together
from trug_fast.training.options import Monitor, Optimizer
from trug_fast.training.rates import Rate
from trug_fast.training.run import History, begin, run_training

from .members import EnsembleJob
from .options import MeanField, NoiseLike, RateSearch, Validation
from .plans import TGGMFit, planned


class EnsembleFit(NamedTuple):
    """What training an ensemble returns."""

    model: TGGMEnsemble  # in the data's own units
    fits: tuple[TGGMFit, ...]  # of its models, each as train_tggm returns it
    interrupted: bool
    held_back_log_likelihood: float | None = None  # of rows under the models that held them back
    held_back_rmse: float | None = None  # of these rows, of the mean of those models
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
        """Return the model, how long it was trained, and its last scores, a line each."""
        return printed_together(self)

    @property
    def updates(self) -> int:
        """Sum of the updates of its models."""
        return sum(fit.updates for fit in self.fits)

    @property
    def history(self) -> History:
        """Means over the models of what their histories hold, of the epochs that all have."""
        first = self.fits[0].history
        least = min(len(fit.history["epoch"]) for fit in self.fits)
        return {
            name: np.mean([fit.history[name][:least] for fit in self.fits], axis=0)
            for name in first
        }


def train_ensemble(
    X: ArrayLike,
    y: ArrayLike,
    n_models: int = 10,
    n_hidden: int | None = None,
    *,
    truncation: TruncationLike | None = None,
    objective: MeanField | Literal["ml", "moments", "bp", "probit"] = "ml",
    noise: NoiseLike = "shared",
    optimizer: Optimizer | Literal["sgd", "rmsprop", "adam"] = "adam",
    learning_rate: Rate | RateSearch | None = None,
    batch_size: int = 50,
    epochs: int = 300,
    dtype: Any = "float32",
    sample_weight: ArrayLike | None = None,
    validation: Validation = 0.1,
    monitor: Monitor | Literal["auto", "rmse", "log_likelihood"] | None = "auto",
    executor: Executor | None = None,
    checkpoint: CheckpointLike = None,
    progress: bool | None = None,
    rng: RngLike = None,
) -> EnsembleFit:
    """Train several TruG-TGGM regressions of the same data, whose mixture predicts.

    Each model is trained as by :func:`train_tggm`, from a seed of its own: with other weights and
    batches, and other rows held back.  Their mixture has a lower error than each of them nearly
    always, and knows where they disagree.

    Parameters
    ----------
    X : array_like, shape (rows, inputs)
    y : array_like, shape (rows,) or (rows, outputs)
    n_models : int
    n_hidden, truncation, objective, noise, optimizer, learning_rate
        As in :func:`train_tggm`, for all models alike.
    batch_size, epochs, dtype, sample_weight, monitor
        As there.
    validation : float, HoldOut, pair (X, y) or None
        As there; each model draws the rows that it holds back.  Calibration finds one noise for
        all, by the density of each row under the mixture of the models that held it back, or, with
        ``HoldOut(calibrate="cross_validation")``, were trained without it; and, where these rows
        ask for it, with tails heavier than a normal's (mathematics 5.7).
    executor : concurrent.futures.Executor, optional
        Who trains: a pool of threads or processes, Dask's ``client.get_executor()``, or any other.
        By default the models are trained one after the other.  The numbers are the same on
        computers of one kind.  Threads suffice: training holds no lock of Python.
    checkpoint : Checkpoint, str or Path, optional
        One file for all models, as in :func:`train_rbm`.  What workers have under way is not in it;
        that is a second of work or less.
    progress : bool, optional
        Show one bar for all; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        The result depends on it alone.

    Returns
    -------
    EnsembleFit
        ``model``, a :class:`TGGMEnsemble`; ``fits``, the :class:`TGGMFit` of each of its models,
        with the noise that it has alone; ``interrupted``; ``held_back_log_likelihood``, the mean
        log-density, in nats, of rows under the mixture of those models that held them back, and
        ``held_back_rmse``, the error of its mean (both None without calibration): by them options
        of ensembles can be chosen without other rows.  They are those of fewer models than the
        ensemble has, so worse than the ensemble's.  ``warnings`` is what was said in warnings.
        After Ctrl-C these are the models that were begun.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is damaged or
        belongs to another run.
    FileExistsError, FileNotFoundError
        If the checkpoint exists without ``resume``, or does not with ``resume=True``.
    FloatingPointError
        If the training of a model diverges at every learning rate, naming the model.
    RuntimeError
        If a worker has another version of the package or dies, or its scheduler is gone.

    Warns
    -----
    RuntimeWarning
        Once, if a worker has another processor or other libraries.
    TrainingWarning
        As :func:`train_tggm`, naming the models.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import trug_fast as tf
    >>> X, y, X_test, y_test = tf.datasets.load_yacht().split(0)
    >>> with ThreadPoolExecutor(2) as executor:
    ...     fit = tf.train_ensemble(X, y, 3, 10, epochs=60, executor=executor, rng=0)
    >>> fit.model
    TGGMEnsemble(n_models=3, n_inputs=6, n_outputs=1, dtype=float64)
    >>> lower, upper = fit.model.predict_interval(X_test, 0.9)
    """
    plan = planned(
        X,
        y,
        n_hidden,
        truncation=truncation,
        objective=objective,
        noise=noise,
        optimizer=optimizer,
        learning_rate=learning_rate,
        batch_size=batch_size,
        epochs=epochs,
        dtype=dtype,
        sample_weight=sample_weight,
        validation=validation,
        monitor=monitor,
    )
    n_models = checks.count("n_models", n_models)
    if executor is not None:
        checks.kind("executor", executor, Executor)
    require_progress(progress)

    def identity() -> dict[str, Any]:
        return plan.identity() | {"training": "ensemble of regressions", "n_models": n_models}

    begun = begin("train_ensemble", identity, checkpoint, rng, extends=plan.extends)
    with announced("train_tggm", progress), one_blas_thread(), noted() as said:
        job = EnsembleJob(plan, n_models, begun.seed, executor)
        interrupted = run_training(job, begun.file, progress)
        model, fits, scores = job.outcome()
    likelihood, rmse = scores or (None, None)
    return EnsembleFit(model, fits, interrupted, likelihood, rmse, tuple(said))
