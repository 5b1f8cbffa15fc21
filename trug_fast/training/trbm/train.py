"""Training of the temporal RBM, and how it is watched: by forecasts.

Tested in tests/training/trbm/test_train.py and test_watch.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, frames
from trug_fast._common.checkpoints import CheckpointLike
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.forecasts import frame_errors
from trug_fast.kernels.announcing import announced
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.training.chunks import data_identity
from trug_fast.training.diagnosis import ContrastiveWatch, noted
from trug_fast.training.drawing import plot, printed
from trug_fast.training.going_on import columns_of, units_from
from trug_fast.training.options import LinearStart, Monitor, Optimizer, as_optimizer
from trug_fast.training.rates import Rate
from trug_fast.training.run import Callback, History, Loop, Plan, as_callbacks, begin, run_training
from trug_fast.training.samplers import SequenceCD
from trug_fast.training.settings import checked_monitor
from trug_fast.training.transform import SCORED, Call, Function, as_transform, transform_identity
from trug_fast.training.units import GaussianUnits, HiddenLike, VisibleLike, plain
from trug_fast.training.weighing import Weights, as_weights, mean_of, normalised, weights_identity
from trug_fast.units.truncation import Truncation, TruncationLike

from .learner import TRBMLearner
from .settings import AVERAGE, SequenceSettings, checked, checked_lags, checked_start, over

UNITS = 400  # hidden ones, where nothing says how many
JUDGED = 20  # sequences of each set


class TRBMFit(NamedTuple):
    """What training returns."""

    model: TruGTRBM | BernoulliTRBM
    history: History
    interrupted: bool
    updates: int = 0  # that were made
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
        return printed(self)

    def plot(self) -> Any:
        """Draw the hidden units, scores and learned truncation points: a Matplotlib figure."""
        return plot(self)


def train_trbm(
    sequences: SequencesLike,
    n_hidden: int | None = None,
    *,
    n_lags: int | None = None,
    truncation: TruncationLike | None = None,
    hidden: HiddenLike | None = None,
    visible: VisibleLike | None = None,
    sampler: SequenceCD | None = None,
    optimizer: Optimizer | Literal["sgd", "rmsprop", "adam"] = "adam",
    learning_rate: Rate | None = None,
    batch_size: int = 4,
    epochs: int = 30,
    dtype: Any = "float32",
    sample_weight: ArrayLike | None = None,
    validation: SequencesLike | None = None,
    monitor: Monitor | Literal["auto", "prediction"] | None = "auto",
    callbacks: Sequence[Callback] = (),
    start: TruGTRBM | BernoulliTRBM | TruGRBM | BernoulliRBM | LinearStart | None = None,
    transform: Function | None = None,
    checkpoint: CheckpointLike = None,
    progress: bool | None = None,
    rng: RngLike = None,
) -> TRBMFit:
    """Train a temporal TruG-RBM, or an ordinary temporal RBM, by contrastive divergence.

    Parameters
    ----------
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
        Values between 0 and 1, or real numbers (best standardised) with ``visible="gaussian"``.
    n_hidden : int, optional
        Number of hidden units; by default 400, or that of ``start``.
    n_lags : int, optional
        How many frames before it each frame depends on: 1, the paper's model, if not said
        otherwise, or that of ``start``.  More are for data whose next frame needs them, as motion
        needs two.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default learned per unit from [-1, 1], of Gaussian visible units
        from [-4, 4].
    hidden : TruGUnits, "trug" or "bernoulli", optional
        "bernoulli" trains the ordinary temporal RBM by the same code.  Left out, it is as in
        ``start``, or "trug".
    visible : BernoulliUnits, GaussianUnits, "bernoulli" or "gaussian", optional
        The own connections of the visible units start at a linear forecast, whose residuals say how
        precise Gaussian ones are, if nothing else does.  Left out, it is as in ``start``, or
        "bernoulli".
    sampler : SequenceCD, optional
        Chains, Gibbs sweeps, and the kind of gradient.
    optimizer : SGD, RMSprop, Adam, "sgd", "rmsprop" or "adam"
        With momentum, weight decay, the averaging of parameters (over a twentieth of the updates
        so far, if not said otherwise) and the rate of truncation points, of Adam by default
        (5e-4, 5e-5), of Gaussian visible units (1e-4, 1e-5), as of both kinds of precisions.
    learning_rate : float, (start, end), callable or array, optional
        As in :func:`train_rbm`; default of Adam (8e-3, 2e-4), of Gaussian visible units
        (1e-4, 1e-5).
    batch_size : int
        Sequences for each update.
    epochs : int
    dtype : float32 or float64
        Float type of the model and of all matrix products.
    sample_weight : array_like, shape (n,), optional
        What each sequence counts for, with all its frames, 0 or more, as of the rows of
        :func:`train_rbm`.  Sequences of weight 0 are left out at once.
    validation : array_like or list, optional
        Scored beside the training data, each sequence alike.
    monitor : Monitor, "prediction" or None
        Up to 20 sequences of each set are scored by minus the prediction error (by mean field).
    callbacks : sequence of callables
        Called after each epoch with an :class:`EpochEnd`; training ends if one returns True.
    start : TruGTRBM, BernoulliTRBM, TruGRBM, BernoulliRBM or LinearStart, optional
        A model to go on from, as in :func:`train_rbm`, or a linear forecast, the default.  An RBM,
        trained on single frames, is where nothing depends on the past yet.
    transform : callable(batch, generator, share), optional
        Changes the sequences of each update, as of :func:`train_rbm`.  ``batch`` is a list of
        arrays (frames, n_visible), one a sequence, as are results.  It may return a pair of such
        lists instead: the frames that are to be learned, and what later frames know of them, such
        as ``batch`` and a noisy copy: a model that has only seen clean frames soon leaves them when
        it generates.  Without a parameter ``model`` it is called once before the first update too,
        at the share 0, for up to 1,000 sequences: training begins at a forecast of what it returns
        to be learned.
    checkpoint, progress
        As in :func:`train_rbm`.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    TRBMFit
        ``model``, ``history`` (arrays, one entry an epoch), ``interrupted``, ``updates`` and
        ``warnings``, as of :func:`train_rbm`.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument.
    FileExistsError, FileNotFoundError, OSError
        As in :func:`train_rbm`.
    FloatingPointError
        If training diverges, as of :func:`train_rbm`.

    Warns
    -----
    TrainingWarning
        If a run of five epochs or 100 updates has not lowered the errors of forecasts on up to
        20 training sequences by two standard errors, against the linear forecast at which it
        began, or any run (or one from a model) has raised them.

    Examples
    --------
    >>> import trug_fast as tf
    >>> videos = tf.datasets.bouncing_balls(8, 20, size=8, rng=0)
    >>> fit = tf.train_trbm(videos, 10, epochs=2, rng=0)
    >>> fit.model
    TruGTRBM(n_visible=64, n_hidden=10, visible='bernoulli', dtype=float32)
    """
    origin = checked_start(start)
    units = units_from(origin, n_hidden, hidden, visible, UNITS)
    kind = plain("train_trbm", units.visible)
    real = isinstance(kind, GaussianUnits)
    names = columns_of(origin, sequences)
    sequences, validation = (
        frames.arranged(name, given, names)
        for name, given in (("sequences", sequences), ("validation", validation))
    )
    data, held_out = _checked_data(sequences, sample_weight, validation, real)
    watched = checked_monitor(monitor, ("prediction",), held_out)
    chosen = as_optimizer(optimizer)
    settings = SequenceSettings(
        n_visible=data.shape[1],
        n_hidden=units.n_hidden,
        truncation=Truncation(),
        hidden=units.hidden,
        visible=kind,
        sampler=_checked_sampler(sampler),
        optimizer=chosen,
        average=AVERAGE if chosen.average is None else chosen.average,
        batch_size=checks.count("batch_size", batch_size),
        epochs=checks.count("epochs", epochs),
        monitor=watched,
        dtype=checks.float_dtype("dtype", dtype),
        start=origin,
        rates={},
        n_lags=checked_lags(n_lags, origin, int(data.lengths.max())),
    )
    settings = checked(settings, truncation)
    settings = over(settings, learning_rate)
    functions, hook = as_callbacks(callbacks), as_transform(transform)
    data = data.astype(settings.dtype)
    held_out = None if held_out is None else held_out.astype(settings.dtype)

    def identity() -> dict[str, Any]:
        sets = {"sequences": _identity(data), "validation": _identity(held_out)}
        own = weights_identity(data.weights) | transform_identity(hook)
        return {"model": "temporal"} | sets | settings.identity() | own

    begun = begin("train_trbm", identity, checkpoint, rng)
    with announced("train_trbm", progress), one_blas_thread(), noted() as said:
        learner = TRBMLearner(data, settings, begun.seed, hook)
        some = judged(data)
        if hook is not None and not hook.sees_model:
            some = hook.sequences(some, Call(begun.seed, SCORED, 1.0), kind.kind)[0]
        watch = TRBMWatch(
            learner,
            some,
            held_out,
            weights=some.frame_weights(1),
        )
        loop = Loop(data, learner, watch, Plan(settings.epochs, watched), functions)
        learner.shrinking.expect(loop.total)
        interrupted = run_training(loop, begun.file, progress)
    model = loop.model().with_columns(names)
    return TRBMFit(model, loop.history(), interrupted, loop.done, tuple(said))


def _checked_data(
    sequences: SequencesLike,
    sample_weight: ArrayLike | None,
    validation: SequencesLike | None,
    real: bool,
) -> tuple[Sequences, Sequences | None]:
    """Return training and validation data, each with a frame that has one before it."""
    kind = "gaussian" if real else "bernoulli"
    data = as_sequences("sequences", sequences, visible=kind)
    weights = as_weights(sample_weight, data.shape[0], "sequence")
    if weights is not None:
        data, weights = data.take(np.flatnonzero(weights)), weights[weights > 0]
        even = (weights == weights[0]).all()
        data.weights = None if even else normalised(weights, data.lengths)
    _with_past("sequences", data)
    if validation is None:
        return data, None
    held_out = as_sequences("validation", validation, data.shape[1], visible=kind)
    return data, _with_past("validation", held_out)


def _with_past(name: str, sequences: Sequences) -> Sequences:
    """Refuse sequences of which no frame has one before it."""
    if sequences.lengths.max() < 2:
        raise ValueError(
            f"{name} must hold a sequence of two frames or more, got one frame in each: without a "
            "past there is nothing to forecast; rows without order are for train_rbm"
        )
    return sequences


def _checked_sampler(sampler: SequenceCD | None) -> SequenceCD:
    if sampler is None:
        return SequenceCD()
    checks.kind("sampler", sampler, SequenceCD)
    return sampler


def _identity(data: Sequences | None) -> str | None:
    if data is None:
        return None
    lengths = hashlib.sha256(data.lengths.tobytes()).hexdigest()[:16]
    return f"{data_identity(data.frames)}, lengths {lengths}"


class TRBMWatch(ContrastiveWatch):
    """Watches forecasts: what can be learned is to forecast better than linearly."""

    yardstick = "score of forecasts (minus the squared error)"
    name = "sequences"

    def frames(self) -> NDArray[Any]:
        return np.asarray(self.rows.frames)

    def each(self, model: Any) -> NDArray[np.float64]:
        return np.concatenate(_frame_scores(model, self.rows))

    def frame_weights(self) -> Weights | None:
        found: Weights | None = self.rows.frame_weights()
        return found

    def blind(self) -> float:
        frames = self.frames().astype(np.float64)
        mean = mean_of(frames, weights := self.frame_weights())
        return float(mean_of((frames - mean) ** 2, weights).sum())

    def measure(self, model: Any, sets: dict[str, Any]) -> dict[str, float]:
        """Return minus the mean prediction error of evenly spread sequences of each set."""
        if callable(score := self.score):
            parts = {name: judged(data) for name, data in sets.items()}
            listed = {name: some.split(some.frames) for name, some in parts.items()}
            return {k: checks.number("score", score(model, v)) for k, v in listed.items()}
        some = {name: judged(data) for name, data in sets.items()}
        means = {k: np.array([v.mean() for v in _frame_scores(model, x)]) for k, x in some.items()}
        return {k: float(mean_of(v, some[k].weights)) for k, v in means.items()}

    def faster(self) -> str:
        return (
            f"take more epochs or smaller batches ({self.learner.updates} updates were made), a "
            "higher learning_rate or more hidden units; if nothing helps, the linear forecast at "
            "which training begins may be all that there is to learn"
        )


def judged(sequences: Sequences) -> Sequences:
    """Return evenly spread sequences of two frames or more."""
    usable = np.flatnonzero(sequences.lengths > 1)
    return sequences.take(usable[:: max(1, usable.size // JUDGED)][:JUDGED])


def _frame_scores(model: Any, some: Sequences) -> list[NDArray[np.float64]]:
    """Return, of each sequence, minus the squared error of each frame from the second on."""
    return [-errors for errors in frame_errors(model, some, "mean_field", None, 0)]
