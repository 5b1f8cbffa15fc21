"""Training of the RBM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checkpoints import CheckpointLike
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.bridges.ladder import Ladder
from trug_fast.kernels.announcing import announced
from trug_fast.models.rbm import RBM, BernoulliRBM, TruGRBM
from trug_fast.training import diagnosis
from trug_fast.training.chunks import Chunks, data_identity
from trug_fast.training.drawing import plot, printed
from trug_fast.training.going_on import (
    UnitKinds,
    checked_truncation,
    require_agreement,
    units_from,
)
from trug_fast.training.options import (
    Monitor,
    Optimizer,
    RandomWeights,
    as_optimizer,
)
from trug_fast.training.rates import Rate
from trug_fast.training.run import Callback, History, Loop, Plan, as_callbacks, begin, run_training
from trug_fast.training.samplers import CD, Sampler, as_sampler
from trug_fast.training.settings import VISIBLE_RATE
from trug_fast.training.transform import SCORED, Call, Function, as_transform, transform_identity
from trug_fast.training.units import HiddenLike, VisibleLike
from trug_fast.training.weighing import Weights, weights_identity
from trug_fast.units.layer import Layer
from trug_fast.units.truncation import TruncationLike

from .data import Data, checked_data, transformed
from .defaults import (
    AVERAGE,
    BEST_TRUNCATION,
    N_CHAINS,
    PRECISION_RATES,
    TRUNCATION_RATES,
    VISIBLE_RATES,
    ByData,
    usual_batch_size,
    usual_truncation,
)
from .learner import RBMLearner
from .negatives import NEGATIVES
from .settings import RBMSettings, StaticModel, checked_start
from .turning import Turns
from .watch import RBMWatch, scored

__all__ = ["Callback", "RBMFit", "train_rbm"]


class RBMFit(NamedTuple):
    """What training returns."""

    model: TruGRBM | BernoulliRBM
    history: History
    interrupted: bool
    ladder: Ladder | None = None  # of the run's models, by trajectory tempering
    updates: int = 0  # that were made
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
        return printed(self)

    def plot(self) -> Any:
        """Draw the hidden units, scores and learned truncation points: a Matplotlib figure."""
        return plot(self)


def train_rbm(
    X: ArrayLike | Chunks,
    n_hidden: int | None = None,
    *,
    truncation: TruncationLike | None = None,
    hidden: HiddenLike | None = None,
    visible: VisibleLike | None = None,
    sampler: Sampler | Literal["pcd", "cd", "pt", "ptt"] = "pcd",
    optimizer: Optimizer | Literal["sgd", "rmsprop", "adam"] = "sgd",
    learning_rate: Rate | None = None,
    batch_size: int | None = None,
    epochs: int = 30,
    dtype: Any = "float32",
    sample_weight: ArrayLike | None = None,
    validation: ArrayLike | Chunks | None = None,
    monitor: Monitor
    | Literal["auto", "pseudo", "reconstruction", "ais", "log_likelihood"]
    | None = "auto",
    callbacks: Sequence[Callback] = (),
    start: StaticModel | RandomWeights | None = None,
    transform: Function | None = None,
    checkpoint: CheckpointLike = None,
    progress: bool | None = None,
    rng: RngLike = None,
) -> RBMFit:
    """Train a TruG-RBM, or an ordinary RBM, by contrastive divergence.

    Parameters
    ----------
    X : array_like, sparse matrix or Chunks, shape (rows, n_visible)
        Training data, 0 or 1 (in [0, 1] with ``visible=BernoulliUnits(soft=True)``), or any finite
        numbers with ``visible="gaussian"``, those of an interval with :class:`TruncatedUnits`.
        States of categorical units, whole numbers from 0, are kept as zeros and ones: a byte for
        each state of each unit.  The model remembers the names of a frame's columns; those of
        another frame are found by them.
        An array in a file need not fit into memory: one that is mapped to memory is shuffled as a
        whole, others that give slices of rows, as those of HDF5, are taken as :class:`Chunks`.
    n_hidden : int, optional
        Number of hidden units.  It may be left out beside a model as ``start``.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default learned per unit from [0, 4], of discrete data that look
        the same turned over (docs/training.md) from [-4, 4].
    hidden : TruGUnits, "trug" or "bernoulli", optional
        "bernoulli" trains the ordinary RBM by the same code.  Left out, it is as in ``start``, or
        "trug".
    visible : word, BernoulliUnits, GaussianUnits, TruncatedUnits, SpinUnits, CategoricalUnits, list
        "gaussian" is for real-valued data, which should be standardised: each column to mean 0 and
        standard deviation 1.  Where ends of hidden units are infinite, weights are scaled down
        whenever they would leave no density (mathematics 4.1); :class:`GaussianUnits` says whether
        the units' precision is learned.  "relu" and "truncated" are for numbers in [0, inf) and in
        [0, 1], :class:`TruncatedUnits` for those in other intervals.  These, Gaussian units and
        :class:`BernoulliUnits` may have ``missing="draw"``: then NaN in X and in ``validation`` is
        a missing value; each row, and each column of X, needs a value.  "spin" is for -1 and 1,
        "categorical" for states 0, 1, 2, ... (:class:`CategoricalUnits` says how many); a list has
        the kind of each column.  Left out, it is as in ``start``, or "bernoulli".
    sampler : PCD, CD, ParallelTempering, TrajectoryTempering, "pcd", "cd", "pt" or "ptt"
        The chains of the model's side: persistent, begun at the batch for every update, or
        persistent with replicas at higher temperatures or on earlier models of the run; with the
        number of Gibbs sweeps.
    optimizer : SGD, RMSprop, Adam, "sgd", "rmsprop" or "adam"
        With momentum, weight decay, the averaging of parameters (over a tenth of the updates so
        far, if not said otherwise) and the rate of truncation points, by default (0.005, 0.0005)
        of SGD, else the paper's (1e-4, 1e-6).  That of precisions, which :class:`TruGUnits` may
        learn, is (30, 3) of SGD, else (1e-2, 1e-4).
    learning_rate : float, (start, end), callable or array, optional
        A pair decays geometrically over the run; (start, end, "linear") or (start, end, "cosine")
        do so in that form, and stay high for longer; a callable gives the rate by the share of
        the run that is done; an array has one an epoch (a list of two is a pair).  By
        default chosen by the data and the kind of units (docs/training.md): (0.2, 0.01) for SGD
        and the default units on data of moderate variance; with :class:`TrajectoryTempering` a
        quarter of that.
    batch_size : int, optional
        By default a 200th of the rows, but at least 10 and at most 100.
    epochs : int
    dtype : float32 or float64
        Float type of the model and of all matrix products.
    sample_weight : array_like, shape (rows,), optional
        What each row of X counts for, 0 or more: the weighted mean of the rows' log-likelihoods is
        ascended, scored and compared (mathematics 2.10), so that a weight of 2 is worth the row
        twice.  Their scale does not matter.  Rows of weight 0 are left out; in a file or in
        :class:`Chunks` they stay in their batches, and add nothing.
    validation : array_like, sparse matrix or Chunks, shape (rows, n_visible), optional
        Scored beside the training data, each row alike.
    monitor : Monitor, name of a score, or None
        Scored on up to 1,000 rows of each set: "pseudo", the pseudo-log-likelihood, which Gaussian
        visible units do not have; "reconstruction", minus the squared error of reconstructions from
        the hidden units' means, which shows progress but not how probable data are; "ais",
        the log-likelihood by a short AIS run (100 chains, 1,000 temperatures); "log_likelihood",
        the same by the ladder that :class:`TrajectoryTempering` keeps, with the standard error of
        log Z as ``score_error``.  "auto" is the last of these with that sampler, else the first
        that the units have.  :class:`Monitor` says how often, and may choose the model.
        Where values are missing, they are drawn, and the score is of those that are there;
        functions are given drawn rows; there is no "ais" and no "log_likelihood".  Functions are
        not told of weights.
    callbacks : sequence of callables
        Called after each epoch with an :class:`EpochEnd`; training ends if one returns True.
        :class:`EpochLog` is one that writes to a file.
    start : TruGRBM, BernoulliRBM or RandomWeights, optional
        A model to go on from: weights, biases, precisions and truncation points start there.  What
        is said beside it of the units must agree with it.  ``truncation`` says which points are
        learned (and, if it keeps them, must name the model's; by default they are learned per unit
        if finite).  A model knows nothing of the run it came from: chains start at the data, the
        optimizer and the averages anew, rates at their beginning.  By default random weights.
    transform : callable(batch, generator, share), optional
        Called for each update; returns the rows that it learns from.  ``batch`` is an array of the
        type of ``dtype`` with the rows of X, a copy that it may write into; the result has its
        shape, any type of real numbers, and values that X may have.  ``generator``, a
        :class:`numpy.random.Generator`, draws the same in each update of a seed, ``share`` is that
        of the run that is done, from 0 to 1.  By these alone the result must be decided: a batch
        may be asked for twice, or after a run goes on.  A function that has a parameter ``model``
        is given the current one there, too; then updates of small models take longer.  Training
        begins at X as it is.  Scores are of rows that the function was given once, at the share 1
        (if it needs no model), and of ``validation`` as it is.  docs/training.md has examples.
    checkpoint : Checkpoint, str or Path, optional
        File that keeps the state of the run, so that a run that was interrupted, or killed at any
        moment, continues as if it had never stopped, to the same bits.  Settings, data and seed
        must be those of the run (the state of callbacks is not kept, of a ``transform`` its name
        is; ``rng=None`` takes the run's seed), but ``epochs`` may be more: then the run goes on, at
        the rates that a run of so many has from there.  A finished run is returned without
        training.  See :class:`Checkpoint`.
    progress : bool, optional
        Show a bar with rate and score; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    RBMFit
        ``model``, ``history`` (arrays, one entry an epoch), ``interrupted``: after Ctrl-C the
        fit so far is returned with a warning, and after a divergence the model of the last epoch
        that was sound (where scores are recorded, that of the best); ``ladder``, a :class:`Ladder`
        by trajectory tempering, else None; ``updates``, how many were made; and ``warnings``, what
        was said of it in warnings.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is damaged or
        belongs to another run, naming each setting that differs.
    FileExistsError, FileNotFoundError
        If the checkpoint exists without ``resume``, or does not with ``resume=True``.
    OSError
        If the checkpoint cannot be written at the start.  Later that is only a warning.
    FloatingPointError
        If training diverges before there is a sound model: a parameter is no longer finite or
        absurdly large, or the score has fallen far below that at the start.  The message names it,
        and what to change.

    Warns
    -----
    TrainingWarning
        If a run of five epochs or 100 updates has not raised the pseudo-log-likelihood (with
        Gaussian units, the score of reconstructions) of up to 1,000 training rows by two standard
        errors, whatever ``monitor`` is, or any run (or one from a model) has lowered it; if the
        model gives a part of the data far less probability than it has, because chains did not go
        from phase to phase (after epochs 4, 8, 16, ... too), or has its mass where there are no
        data, to which chains that begin at the data go; and if training diverged after a sound
        epoch, whose model is returned.  While it trains, if :class:`TrajectoryTempering` has made
        three rungs that were fewer than 20 updates apart: most of the time goes into rungs then,
        and rates are lowered.

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold")
    >>> fit = tf.train_rbm(digits.train, n_hidden=20, epochs=2, rng=0)
    >>> fit.model
    TruGRBM(n_visible=64, n_hidden=20, visible='bernoulli', dtype=float32)
    """
    origin = checked_start(start)
    units = units_from(origin, n_hidden, hidden, visible)
    given = checked_data(X, sample_weight, validation, units.visible, origin)
    weights, data, held_out = given[:3]
    units = units._replace(visible=given.visible)
    chains = as_sampler(sampler)
    watched = scored(monitor, units.visible, held_out, chains)
    settings, turns = _settings(
        data,
        weights,
        units,
        origin,
        truncation=truncation,
        sampler=chains,
        optimizer=as_optimizer(optimizer),
        learning_rate=learning_rate,
        batch_size=batch_size,
        epochs=checks.count("epochs", epochs),
        monitor=watched,
        dtype=checks.float_dtype("dtype", dtype),
    )
    functions, hook = as_callbacks(callbacks), as_transform(transform)

    def identity() -> dict[str, Any]:
        sets = {"X": data_identity(data), "validation": data_identity(held_out)}
        own = weights_identity(weights) | transform_identity(hook)
        return sets | settings.identity() | own

    begun = begin("train_rbm", identity, checkpoint, rng)
    with announced("train_rbm", progress), one_blas_thread(), diagnosis.noted() as said:
        learner = RBMLearner(data, settings, begun.seed, weights, turns, hook)
        seen = diagnosis.spread(data)
        if hook is not None and not hook.sees_model:
            seen, call = seen.astype(settings.dtype), Call(begun.seed, SCORED, 1.0)
            transformed(hook, seen, [1.0], call, settings, learner.core.visible_units)
        watch = RBMWatch(
            learner,
            seen,
            None if held_out is None else diagnosis.spread(held_out),
            weights=None if weights is None else diagnosis.spread(weights),
        )
        plan = Plan(settings.epochs, watched)
        loop = Loop(data, learner, watch, plan, functions, weights=weights)
        learner.shrinking.expect(loop.total)
        interrupted = run_training(loop, begun.file, progress)
    ladder = learner.negative.ladder_of(loop.best_epoch() * loop.n_batches if loop.fallen else None)
    model = loop.model().with_columns(given.columns)
    return RBMFit(model, loop.history(), interrupted, ladder, loop.done, tuple(said))


def _settings(
    data: Data,
    weights: Weights | None,
    units: UnitKinds,
    origin: StaticModel | RandomWeights,
    *,
    truncation: TruncationLike | None,
    sampler: Sampler,
    optimizer: Optimizer,
    learning_rate: Rate | None,
    batch_size: int | None,
    epochs: int,
    monitor: Monitor | None,
    dtype: np.dtype[Any],
) -> tuple[RBMSettings, Turns | None]:
    """Return how to train, by the data where it is not said, and how chains are turned over."""
    best, anew = BEST_TRUNCATION, isinstance(origin, RandomWeights)
    if truncation is None and units.hidden is not None and anew:
        best = usual_truncation(data, real=units.visible.real)
    ends = checked_truncation(truncation, units.hidden, origin, best)
    if isinstance(origin, RBM):
        require_agreement(origin, data.shape[1], units)
    size = usual_batch_size(data.shape[0]) if batch_size is None else batch_size
    size = checks.count("batch_size", size)
    if isinstance(sampler, CD):
        chains = size
    else:
        chains = max(N_CHAINS, size) if sampler.n_chains is None else sampler.n_chains
    settings = RBMSettings(
        n_visible=data.shape[1],
        n_hidden=units.n_hidden,
        truncation=ends,
        hidden=units.hidden,
        visible=units.visible,
        sampler=sampler,
        optimizer=optimizer,
        average=AVERAGE if optimizer.average is None else optimizer.average,
        batch_size=size,
        n_chains=chains,
        epochs=epochs,
        monitor=monitor,
        dtype=dtype,
        start=origin,
        rates={},
    )
    if settings.gauge and isinstance(origin, RBM):
        settings = replace(settings, start=origin.zero_sum())
    negative = NEGATIVES[type(sampler)]
    negative.check(settings)
    by_data = ByData.of(data, settings.shape(), weights)
    if anew and settings.start.scale is None:
        settings = replace(settings, start=RandomWeights(by_data.scale))
    turns = by_data.turns(settings.runs) if negative.turned else None
    if learning_rate is None:
        scale, turned = Layer(settings.runs).scale, turns is not None
        usual = by_data.learning_rate(
            optimizer.name, real=settings.real, scale=scale, turned=turned
        )
        learning_rate = (negative.slower * usual[0], negative.slower * usual[1])
    rates = {
        "truncation_rate": TRUNCATION_RATES[optimizer.name],
        "precision_rate": PRECISION_RATES[optimizer.name],
        VISIBLE_RATE: VISIBLE_RATES[optimizer.name],
    }
    return settings.over(learning_rate, rates), turns
