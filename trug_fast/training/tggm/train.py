"""Training of the TruG-TGGM regression: validation, choice of the learning rate, refit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from trug_fast._common.checkpoints import CheckpointLike
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.announcing import announced
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.diagnosis import noted
from trug_fast.training.options import Monitor, Optimizer
from trug_fast.training.rates import Rate
from trug_fast.training.run import Callback, as_callbacks, begin, run_training
from trug_fast.units.truncation import TruncationLike

from .options import MeanField, NoiseLike, RateSearch, Validation
from .plans import planned
from .stages import Regression, TGGMFit

__all__ = ["TGGMFit", "train_tggm"]


def train_tggm(
    X: ArrayLike,
    y: ArrayLike,
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
    callbacks: Sequence[Callback] = (),
    start: TruGTGGM | None = None,
    checkpoint: CheckpointLike = None,
    progress: bool | None = None,
    rng: RngLike = None,
) -> TGGMFit:
    """Train a TruG-TGGM regression.

    Inputs and targets are standardised inside, and the model returned takes and gives the units of
    the data.  A part of the rows is held back; on it the epoch is chosen at which to stop, and the
    learning rate if several are tried.  Then all rows are trained on that long.

    Parameters
    ----------
    X : array_like, shape (rows, inputs)
    y : array_like, shape (rows,) or (rows, outputs)
    n_hidden : int, optional
        Number of hidden units; by default 50, or that of ``start``.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default both ends are learned per unit from [-1, 1].
    objective : MeanField, "ml", "moments", "bp" or "probit"
        What is ascended (mathematics 5): the evidence lower bound at the mean field, as in the
        paper ("ml" stands for ``MeanField()``); the likelihood of y as a normal of the exact mean
        and variance of p(y | x), each output alone; or minus the squared error of the mean
        (back-propagation), while the noise follows that likelihood.  "probit" is for classes: y is
        +1 or -1, the sign of what the model predicts, whose likelihood is ascended; targets are not
        standardised, the noise is not learned, and :meth:`TruGTGGM.probability_above` 0 is that of
        +1.
    noise : Noise, "shared", "separate" or "by_input"
        Whether the hidden units have the noise variance of the (standardised) y, as in the paper,
        or one of their own, with a noise variance for each output; "by_input" lets that depend on
        x: its log is a constant and a weighted sum of the hidden units' means (mathematics 5.8).
        That is for the objectives "moments" and "bp".
    optimizer : SGD, RMSprop, Adam, "sgd", "rmsprop" or "adam"
        With momentum, weight decay and the rate of truncation points, by default the learning
        rate: they move as the lower one and the log of the width, so they cannot cross.
        Parameters are not averaged.
    learning_rate : float, (start, end), callable, array or RateSearch, optional
        A pair decays geometrically over the run; (start, end, "linear") or (start, end, "cosine")
        do so in that form, and stay high for longer; a callable gives the rate by the share of
        the run that is done; an array has one an epoch.  Default
        (0.01, 0.0002); of SGD (0.1, 0.002).  :class:`RateSearch` has several to try; the best on
        the held out rows is taken.
    batch_size, epochs : int
    dtype : float32 or float64
        Of all arithmetic; the model is float64 always.
    sample_weight : array_like, shape (rows,), optional
        What each row counts for, 0 or more, in the objective, the scales, scores and calibration:
        a weight of 2 is worth the row twice (mathematics 5).  Their scale does not matter.  Rows of
        weight 0 are left out at once.
    validation : float, HoldOut, pair (X, y) or None
        The share of the rows that is held back, in (0, 1); :class:`HoldOut` says what follows.
        Or rows of your own: then all of X is trained on from the beginning, in its own scale, the
        model is that of the best epoch, and its noise is calibrated on them.  None trains on all
        rows to the last epoch.
    monitor : Monitor, "rmse", "log_likelihood" or None
        By what the epoch and the rate are chosen, and after how many scores without a new best one
        a run ends.  "auto" is "rmse"; None takes the last epoch.
    callbacks : sequence of callables
        Called after each epoch with an :class:`EpochEnd`, whose history is that of the present run:
        one for each rate, then that on all rows, which has no scores.  The run ends, and the next
        begins, if one returns True.
    start : TruGTGGM, optional
        A model to go on from instead of random weights, e.g. one trained by another objective:
        weights, biases, noise and truncation points start there.  ``truncation`` says which points
        are learned (and, if it keeps them, must name the model's; by default they are learned per
        unit if finite).  The optimizer begins anew, and so do rates and the choice of the epoch.
    checkpoint : Checkpoint, str or Path, optional
        As in :func:`train_rbm`, but written between two epochs.  More ``epochs`` than the run had
        are refused where they would change what has been chosen: with a :class:`RateSearch`, or
        where all rows are trained on in the end.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    TGGMFit
        ``model``; ``history``, arrays with an entry an epoch: "objective" (mean over the training
        rows), "validation_rmse" (in standard deviations of y), "validation_log_likelihood" and
        "validation_score", the higher the better; ``interrupted``; ``learning_rate``, as it was
        given; ``best_epoch``; ``updates``, of that run; ``warnings``, what was said in warnings.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is damaged or
        belongs to another run, naming each setting that differs.
    FileExistsError, FileNotFoundError
        If the checkpoint exists without ``resume``, or does not with ``resume=True``.
    FloatingPointError
        If training diverges at every learning rate: a parameter is no longer finite, or the error
        is ten times that at the start.

    Warns
    -----
    TrainingWarning
        If a run of five epochs or 100 updates ends with a model that forecasts up to 1,000 rows
        of the data no better than their mean, by two standard errors; and if training diverged
        after its best epoch, whose model is returned.

    Examples
    --------
    >>> import trug_fast as tf
    >>> data = tf.datasets.load_yacht()
    >>> fit = tf.train_tggm(data.X, data.y, n_hidden=10, epochs=20, rng=0)
    >>> fit.model
    TruGTGGM(n_inputs=6, n_hidden=10, n_outputs=1, dtype=float64)
    >>> mean, std = fit.model.predict(data.X, return_std=True)
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
        start=start,
    )
    functions = as_callbacks(callbacks)
    begun = begin("train_tggm", plan.identity, checkpoint, rng, extends=plan.extends)
    with announced("train_tggm", progress), one_blas_thread(), noted() as said:
        job = Regression(plan, begun.seed, functions)
        interrupted = run_training(job, begun.file, progress)
    return job.fit(interrupted, said)
