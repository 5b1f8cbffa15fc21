"""Training of several regressions as one: an ensemble, by any executor.

Tested in tests/training/tggm/test_ensemble.py.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import CheckpointLike
from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress, require_progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast._common.workers import Reply, WorkersError, result, submit
from trug_fast.kernels.announcing import announced
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.training.diagnosis import noted
from trug_fast.training.drawing import printed_together
from trug_fast.training.options import Monitor, Optimizer
from trug_fast.training.rates import Rate
from trug_fast.training.run import File, History, Job, NoFile, begin, part, run_training
from trug_fast.units.truncation import TruncationLike

from .calibration import calibrated_mixture
from .options import MeanField, NoiseLike, RateSearch, Validation
from .plans import RegressionPlan, planned
from .stages import Regression, TGGMFit

WORDED = (FloatingPointError, ValueError, TypeError)  # errors that keep their class


class EnsembleFit(NamedTuple):
    """What training an ensemble returns."""

    model: TGGMEnsemble  # in the data's own units
    fits: tuple[TGGMFit, ...]  # of its models, each as train_tggm returns it
    interrupted: bool
    held_back_log_likelihood: float | None = None  # of rows under the models that held them back
    held_back_rmse: float | None = None  # of these rows, of the mean of those models
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
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


def trained(plan: RegressionPlan, seed: int, parts: int, state: State | None) -> State:
    """Train one model to its end, from a state or from its beginning; return the state then."""
    job = Regression(plan, seed, parts=parts)
    if state is not None:
        job.restore(state)
    with Progress(job.total, "training", False) as bar:
        job.train(bar, Interrupts(terminate=False), NoFile())
    return job.state()


class Members(Job):
    """The trainings of all models, a job for ``run_training``.

    By an executor whole ones are trained: what workers have under way is no part of the state.
    """

    def __init__(
        self, plan: RegressionPlan, n_models: int, seed: int, executor: Executor | None
    ) -> None:
        self.plan, self._executor, self._parts = plan, executor, seed
        self._seeds = [seed_from(seed, f"model {number}") for number in range(n_models)]
        self.begun: dict[int, Regression] = {}
        self._said: dict[int, str] = {}  # of models that have learned nothing, by number
        self._each = self._job(0).total

    def _job(self, k: int) -> Regression:
        return Regression(self.plan, self._seeds[k], parts=self._parts)

    @property
    def total(self) -> int:
        """Epochs of all models, at most."""
        return self._each * len(self._seeds)

    @property
    def finished(self) -> bool:
        return not self._open()

    @property
    def whole(self) -> bool:
        return all(job.whole for job in self.begun.values())

    def _open(self) -> list[int]:
        numbers = range(len(self._seeds))
        return [k for k in numbers if k not in self.begun or not self.begun[k].finished]

    def state(self) -> State:
        state: State = {"begun": np.array([k in self.begun for k in range(len(self._seeds))])}
        for k, job in self.begun.items():
            state |= {f"{k}.{name}": values for name, values in job.state().items()}
        return state

    def restore(self, state: State) -> None:
        begun = state.get("begun")
        if begun is None or begun.dtype != bool or begun.shape != (len(self._seeds),):
            raise ValueError(f"it does not say which of {len(self._seeds)} models are begun")
        for k in np.flatnonzero(begun).tolist():
            self._take(k, part(state, f"{k}."))

    def _take(self, k: int, state: State) -> None:
        job = self._job(k)
        job.restore(state)
        self.begun[k] = job

    def train(self, bar: Progress, interrupts: Interrupts, file: File) -> None:
        left = self._open()
        bar.advance(self._each * (len(self._seeds) - len(left)))
        if self._executor is not None:
            self._hand_out(self._executor, left, bar, interrupts, file)
            return
        for k in left:
            try:
                self.begun.setdefault(k, self._job(k)).train(bar, interrupts, file)
            except Exception as error:
                raise self._named(k, error) from error

    def _hand_out(
        self,
        executor: Executor,
        left: list[int],
        bar: Progress,
        interrupts: Interrupts,
        file: File,
    ) -> None:
        """Train all models at once; at Ctrl-C those that workers have begun are waited for."""
        futures: dict[Future[Reply], int] = {}
        try:
            for k in left:
                state = self.begun[k].state() if k in self.begun else None
                own = self.plan, self._seeds[k], self._parts, state
                futures[submit(executor, trained, *own)] = k
            while futures:
                done, _ = wait(futures, return_when=FIRST_COMPLETED)
                with interrupts.held():
                    for future in sorted(done, key=lambda each: futures[each]):
                        self._collect(future, futures.pop(future))
                        bar.advance(self._each)
                    file.keep()
        except KeyboardInterrupt:
            kept = [future for future in futures if not future.cancel()]
            for future in wait(kept).done:
                self._collect(future, futures.pop(future))
            raise
        finally:
            for future in futures:
                future.cancel()
            wait([future for future in futures if not future.cancelled()])  # as in workers.py

    def _collect(self, future: Future[Reply], k: int) -> None:
        try:
            self._take(k, result(future, f", training model {k + 1}"))
        except WorkersError:
            raise
        except Exception as error:
            raise self._named(k, error) from error

    def _named(self, k: int, error: Exception) -> Exception:
        words = f"model {k + 1} of {len(self._seeds)}: {error}"
        kind = next((each for each in WORDED if isinstance(error, each)), RuntimeError)
        return kind(words)

    def jobs(self) -> list[Regression]:
        """Return the trainings that have been begun, in order; the first in any case."""
        self.begun.setdefault(0, self._job(0))
        return [self.begun[k] for k in sorted(self.begun)]

    def verdict(self) -> str | None:
        said = {k: words for k, job in enumerate(self.jobs(), 1) if (words := job.verdict())}
        self._said = said
        if not said:
            return None
        first, *others = said
        more = f"; much the same of {', '.join(map(str, others))}" if others else ""
        return f"model {first} of {len(self._seeds)}: {said[first]}{more}"

    def fit(self, interrupted: bool, said: list[str]) -> EnsembleFit:
        """Return the ensemble, whose models share the mixture's noise, and each as it is alone.

        And the scores of rows under the models that left them out, if there are some.
        """
        jobs = self.jobs()
        own = [[self._said[k]] if k in self._said else [] for k in range(1, len(jobs) + 1)]
        fits = tuple(job.fit(not job.finished, words) for job, words in zip(jobs, own, strict=True))
        left = [rows for job in jobs if (rows := job.left_out()) is not None and rows.rows.size]
        if not (left and self.finished):
            model = TGGMEnsemble(fit.model for fit in fits)
            return EnsembleFit(model, fits, interrupted, warnings=tuple(said))
        noise = calibrated_mixture(left, jobs[0].sets.known)
        factors = None if (noise.factors == 1).all() else noise.factors
        model = TGGMEnsemble([job.model(noise.log_noise) for job in jobs], noise_factors=factors)
        unit = jobs[0].scales.targets.deviation
        likelihood = float((noise.log_density - np.log(unit)).sum())
        rmse = float(np.sqrt(np.mean(noise.square_error * unit**2)))
        return EnsembleFit(model, fits, interrupted, likelihood, rmse, tuple(said))


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
        One file for all models, as in :func:`train_rbm`.  Of models that an executor trains only
        those are in it that are done.
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
        After Ctrl-C these are the models that were begun; what workers have begun is waited for.

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
        job = Members(plan, n_models, begun.seed, executor)
        interrupted = run_training(job, begun.file, progress)
        return job.fit(interrupted, said)
