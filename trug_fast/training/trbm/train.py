"""Training of the temporal RBM."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.evaluation.prediction import frame_errors
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.training.diagnosis import QUIET
from trug_fast.training.former.checkpoints import Checkpoint, Resume, data_identity
from trug_fast.training.former.loop import Callback, Plan, Run
from trug_fast.training.former.optimizers import OptimiserName, Rate, as_schedule
from trug_fast.training.former.train import History, as_sweeps, carry_out
from trug_fast.training.former.watch import Watch

from .learner import TemporalLearner, TemporalSettings

# The best that we know: of binary visibles on bouncing balls, of real ones on motion capture.
BEST_TRUNCATION = {
    "binary": Truncation(-1.0, 1.0, learn="per_unit"),
    "real": Truncation(-4.0, 4.0, learn="per_unit"),
}
BEST_ORDER = {"binary": 1, "real": 2}
RATES = {
    "binary": {"sgd": (0.05, 0.0005), "rmsprop": (1e-3, 1e-5), "adam": (8e-3, 2e-4)},
    "real": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}
UNIT_RATES = {
    "binary": {"sgd": (0.05, 0.0005), "rmsprop": (5e-4, 5e-5), "adam": (5e-4, 5e-5)},
    "real": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}
SCORED = 20  # sequences of each set


class TemporalFit(NamedTuple):
    """What training returns."""

    model: TruGTRBM | BernoulliTRBM
    history: History
    interrupted: bool


def train_trbm(
    sequences: SequencesLike,
    n_hidden: int = 400,
    *,
    truncation: TruncationLike | None = None,
    hidden: Literal["trug", "bernoulli"] = "trug",
    visible: Literal["binary", "real"] = "binary",
    precision: float = 1.0,
    learn_precision: bool = False,
    visible_precision: float | None = None,
    learn_visible_precision: bool = False,
    gradient: Literal["paper", "full"] = "full",
    filtering: Literal["mean", "sample"] = "mean",
    k: int | tuple[int, int] = (3, 25),
    chains: Literal["both", "data", "past"] = "both",
    batch_size: int = 4,
    epochs: int = 30,
    optimizer: OptimiserName = "adam",
    learning_rate: Rate = None,
    truncation_rate: Rate = None,
    precision_rate: Rate = None,
    momentum: float = 0.9,
    centred: bool = True,
    weight_decay: float = 0.0,
    init_scale: float = 0.01,
    start_order: int | None = None,
    noise: float = 0.0,
    average: float = 0.05,
    dtype: Any = "float32",
    validation: SequencesLike | None = None,
    score: bool = True,
    score_every: int = 1,
    patience: int | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    resume: Resume = False,
    progress: bool | None = None,
    rng: RngLike = None,
) -> TemporalFit:
    """Train a temporal TruG-RBM, or an ordinary temporal RBM, by contrastive divergence.

    Parameters
    ----------
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
        Values between 0 and 1, or real numbers (best standardised) with ``visible="real"``.
    n_hidden : int
        Number of hidden units.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default learned per unit from [-1, 1], of real visible units
        from [-4, 4].
    hidden : {"trug", "bernoulli"}
        "bernoulli" trains the ordinary temporal RBM by the same code.
    visible : {"binary", "real"}
        Real visible units are Gaussian; their own connections start at a linear forecast.
    precision, learn_precision
        d of the TruG units, as in :func:`train_rbm`.
    visible_precision : float, optional
        a of real visible units; by default one over the mean square residual of a linear forecast.
    learn_visible_precision : bool
        Learn a of each unit, from that of the linear forecast's residuals.
    gradient : {"full", "paper"}
        Go back through the filter in time, or hold its past fixed as the paper does (math.md 4.2).
    filtering : {"mean", "sample"}
        What stands for the hidden units of the past: their means or draws, which need
        ``gradient="paper"``.
    k : int or (start, end)
        Gibbs sweeps for each update; a pair rises over the run.  Few are enough while weights are
        small: three all the way end with forecasts that get worse.
    chains : {"both", "data", "past"}
        Where the chains of each frame start: at its data (contrastive divergence), at the frame
        before it, as forecasts do, or one half of the frames each.
    batch_size : int
        Sequences for each update.
    epochs : int
    optimizer : {"adam", "sgd", "rmsprop"}
    learning_rate : float or (start, end), optional
        Decays geometrically; default of Adam (8e-3, 2e-4), of real visible units (1e-4, 1e-5).
    truncation_rate, precision_rate : float or (start, end), optional
        The same for truncation points (the log of the width) and for both kinds of precisions.
    momentum : float
        Of SGD's velocity and of Adam's mean.
    centred : bool
        Use the centred gradient (math.md 2.5), also for connections from the past.
    weight_decay, init_scale, average, dtype
        As in :func:`train_rbm`.
    start_order : {1, 2}, optional
        Training starts at a linear forecast from so many frames.  2, for real visible units alone
        and their default, spends up to three quarters of the hidden units on holding the frame
        before.
    noise : float
        Share of pixels that a coin replaces, anew each time a sequence is seen; of real visible
        units, standard deviation of what is added.  A machine that has seen only clean frames soon
        leaves them when it generates; with a little noise (0.05) it has learned to come back, but
        forecasts by one frame are less exact.
    validation : array_like or list, optional
        Scored beside the training data.
    score : bool
        Score up to 20 sequences of each set by minus the prediction error (by mean field).
    score_every, patience, callbacks, checkpoint, checkpoint_every, resume, progress
        As in :func:`train_rbm`.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    TemporalFit
        ``model``, ``history`` (arrays, one entry an epoch) and ``interrupted``.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument.
    FloatingPointError
        If training diverges, as of :func:`train_rbm`.

    Warns
    -----
    TrainingWarning
        If a run of five epochs or 100 updates has not lowered the errors of forecasts on up to
        20 training sequences by two standard errors, against the linear forecast at which it
        began, or any run has raised them.

    Examples
    --------
    >>> import trug_fast as tf
    >>> videos = tf.datasets.bouncing_balls(8, 20, size=8, rng=0)
    >>> fit = tf.train_trbm(videos, 10, epochs=2, rng=0)
    >>> fit.model
    TruGTRBM(n_visible=64, n_hidden=10, visible='bernoulli', dtype=float32)
    """
    for name, given, allowed in (
        ("hidden", hidden, ("trug", "bernoulli")),
        ("visible", visible, ("binary", "real")),
        ("gradient", gradient, ("paper", "full")),
        ("filtering", filtering, ("mean", "sample")),
        ("chains", chains, ("both", "data", "past")),
        ("optimizer", optimizer, ("sgd", "rmsprop", "adam")),
    ):
        checks.choice(name, given, allowed)
    if filtering == "sample" and gradient == "full":
        raise ValueError("a filter of draws has no gradient: filtering='sample' needs 'paper'")
    for name, value in (("truncation", truncation), ("learn_precision", learn_precision)):
        if hidden == "bernoulli" and value:
            raise ValueError(f"{name} is for hidden='trug'; Bernoulli units have none")
    if learn_visible_precision and visible != "real":
        raise ValueError("learn_visible_precision is for visible='real'")
    start_order = BEST_ORDER[visible] if start_order is None else start_order
    if start_order not in (1, 2) or (start_order == 2 and visible != "real"):
        raise ValueError(f"start_order must be 1, or 2 with visible='real', got {start_order!r}")
    kind = "gaussian" if visible == "real" else "bernoulli"
    data = _with_past("sequences", as_sequences("sequences", sequences, visible=kind))
    held_out = (
        None
        if validation is None
        else _with_past(
            "validation",
            as_sequences("validation", validation, data.shape[1], visible=kind),
        )
    )
    size = checks.count("batch_size", batch_size)
    settings = TemporalSettings(
        truncation=as_truncation(BEST_TRUNCATION[visible] if truncation is None else truncation),
        bernoulli=hidden == "bernoulli",
        precision=checks.number("precision", precision),
        learn_precision=checks.flag("learn_precision", learn_precision),
        persistent=False,
        betas=(),
        batch_size=size,
        n_chains=size,
        optimizer=optimizer,
        momentum=checks.number("momentum", momentum, least=0.0, below=1.0),
        centred=checks.flag("centred", centred),
        weight_decay=checks.number("weight_decay", weight_decay, least=0.0),
        init_scale=checks.number("init_scale", init_scale, least=0.0),
        average=checks.number("average", average, least=0.0, most=1.0),
        dtype=checks.float_dtype("dtype", dtype),
        real=visible == "real",
        visible_precision=None
        if visible_precision is None
        else checks.number("visible_precision", visible_precision, least=1e-6),
        learn_visible_precision=checks.flag("learn_visible_precision", learn_visible_precision),
        full=gradient == "full",
        draw=filtering == "sample",
        chains=chains,
        start_order=checks.count("start_order", start_order),
        noise=checks.number("noise", noise, least=0.0, most=1.0 if visible == "binary" else None),
    )
    own_rates = UNIT_RATES[visible][optimizer]
    plan = Plan(
        epochs=checks.count("epochs", epochs),
        learning_rate=as_schedule("learning_rate", learning_rate, RATES[visible][optimizer]),
        truncation_rate=as_schedule("truncation_rate", truncation_rate, own_rates),
        precision_rate=as_schedule("precision_rate", precision_rate, own_rates),
        k=as_sweeps(k),
        score="prediction" if checks.flag("score", score) else None,
        score_every=checks.count("score_every", score_every),
        patience=None if patience is None else checks.count("patience", patience),
    )
    if patience is not None and (held_out is None or not score):
        raise ValueError("patience needs validation data and a score")
    n_hidden = checks.count("n_hidden", n_hidden)
    ends = (np.full(1, v) for v in (settings.precision, *_ends(settings)))
    checks.intervals(*ends)
    saved = None if checkpoint is None else Checkpoint(checkpoint, checkpoint_every, resume)
    seed = None if saved is None or rng is not None else saved.seed
    if seed is None:
        seed = seed_from(rng, "train_trbm")
    data = data.astype(settings.dtype)
    held_out = None if held_out is None else held_out.astype(settings.dtype)
    run = TemporalRun(data, held_out, TemporalLearner(data, n_hidden, settings, seed), plan)
    if saved is not None:
        saved.belong_to(_identity(run, n_hidden), seed)
    interrupted = carry_out(run, callbacks, progress, saved)
    history = {name: np.array(values) for name, values in run.records.items()}
    return TemporalFit(run.model(), history, interrupted)  # type: ignore[arg-type]


class TemporalRun(Run):
    """A training run on sequences."""

    data: Any  # Sequences
    held_out: Any

    def __init__(
        self, data: Sequences, held_out: Sequences | None, learner: TemporalLearner, plan: Plan
    ) -> None:
        super().__init__(data, held_out, learner, plan)  # type: ignore[arg-type]

    def _watch(self) -> Watch:
        return TemporalWatch(self.data, self.learner, self.plan.learning_rate)

    @QUIET
    def _scores(self, data: Any, due: bool) -> dict[str, float]:
        if self.plan.score is None:
            return {}
        sets = {"score": data} | (
            {} if self.held_out is None else {"validation_score": self.held_out}
        )
        if not due:
            return dict.fromkeys(sets, np.nan)
        model = self.learner.model()
        return {name: _score(model, values) for name, values in sets.items()}

    def _keep_best(self, due: bool) -> None:
        super()._keep_best(due)
        # Binary visibles have no precision, and a checkpoint holds arrays only.
        self.best = {k: v for k, v in self.best.items() if v is not None}


class TemporalWatch(Watch):
    """Watches forecasts: what can be learned is to forecast better than linearly."""

    yardstick = "score of forecasts (minus the squared error)"
    name = "sequences"

    def _choose(self, data: Any) -> Any:
        return _scored(data)

    def _frames(self) -> NDArray[Any]:
        return np.asarray(self.rows.frames)

    def _scores(self, model: Any) -> NDArray[np.float64]:
        return np.concatenate(_frame_scores(model, self.rows))

    def _blind(self) -> float:
        return float(self._frames().var(axis=0, dtype=np.float64).sum())

    def _faster(self) -> str:
        return (
            f"take more epochs or smaller batches ({self.learner.updates} updates were made), a "
            "higher learning_rate or more hidden units; if nothing helps, the linear forecast at "
            "which training begins may be all that there is to learn"
        )


def _scored(sequences: Sequences) -> Sequences:
    """Return evenly spread sequences of two frames or more."""
    usable = np.flatnonzero(sequences.lengths > 1)
    return sequences.take(usable[:: max(1, usable.size // SCORED)][:SCORED])


def _frame_scores(model: Any, some: Sequences) -> list[NDArray[np.float64]]:
    """Return, of each sequence, minus the squared error of each frame from the second on."""
    return [-errors for errors in frame_errors(model, some, "mean_field", None, 0)]


def _score(model: Any, sequences: Sequences) -> float:
    """Return minus the mean prediction error of evenly spread sequences."""
    scores = _frame_scores(model, _scored(sequences))
    return float(np.mean([values.mean() for values in scores]))


def _with_past(name: str, sequences: Sequences) -> Sequences:
    """Refuse sequences of which no frame has one before it."""
    if sequences.lengths.max() < 2:
        raise ValueError(
            f"{name} must hold a sequence of two frames or more, got one frame in each: without a "
            "past there is nothing to forecast; rows without order are for train_rbm"
        )
    return sequences


def _ends(settings: TemporalSettings) -> tuple[float, float]:
    return settings.truncation.lower, settings.truncation.upper


def _identity(run: TemporalRun, n_hidden: int) -> dict[str, Any]:
    """Return what makes a run the same run, as numbers and words."""
    settings = asdict(run.learner.settings) | {"dtype": str(run.learner.settings.dtype)}
    return {
        "machine": "temporal",
        "sequences": _data_identity(run.data),
        "validation": _data_identity(run.held_out),
        "n_hidden": n_hidden,
        **settings,
        **asdict(run.plan),
    }


def _data_identity(data: Sequences | None) -> str | None:
    if data is None:
        return None
    lengths = hashlib.sha256(data.lengths.tobytes()).hexdigest()[:16]
    return f"{data_identity(data.frames)}, lengths {lengths}"
