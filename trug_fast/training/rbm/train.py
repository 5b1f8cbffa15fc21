"""The training loop of the RBM."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.interrupts import Interrupts, Terminated
from trug_fast._common.numerics import rows_together
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.datasets import Resampler
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.models.visible_units import units_of
from trug_fast.training.checkpoints import Checkpoint, Resume, data_identity
from trug_fast.training.diagnosis import TrainingWarning
from trug_fast.training.loop import Callback, EpochEnd, Plan, Run
from trug_fast.training.optimizers import OptimiserName, Rate, Schedule, as_schedule

from .defaults import N_CHAINS, ByData
from .learner import Learner, Settings
from .tempering import as_betas

__all__ = ["Callback", "EpochEnd", "Fit", "train_rbm"]

History = dict[str, NDArray[np.float64]]

# Measured on binarized MNIST with 500 hidden units; see docs/training.md.
BEST_TRUNCATION = Truncation(0.0, 4.0, learn="per_unit")
TRUNCATION_RATES = {"sgd": (0.005, 0.0005), "rmsprop": (1e-4, 1e-6), "adam": (1e-4, 1e-6)}
PRECISION_RATES = {"sgd": (30.0, 3.0), "rmsprop": (1e-2, 1e-4), "adam": (1e-2, 1e-4)}


class Fit(NamedTuple):
    """What training returns."""

    model: TruGRBM | BernoulliRBM
    history: History
    interrupted: bool


def train_rbm(
    X: ArrayLike | Resampler,
    n_hidden: int,
    *,
    truncation: TruncationLike | None = None,
    hidden: Literal["trug", "bernoulli"] = "trug",
    visible: Literal["bernoulli", "gaussian"] = "bernoulli",
    visible_precision: float | None = None,
    precision: float = 1.0,
    learn_precision: bool = False,
    method: Literal["pcd", "cd", "pt"] = "pcd",
    betas: int | ArrayLike = 10,
    k: int | tuple[int, int] = 1,
    n_chains: int | None = None,
    batch_size: int | None = None,
    epochs: int = 30,
    optimizer: OptimiserName = "sgd",
    learning_rate: Rate = None,
    truncation_rate: Rate = None,
    precision_rate: Rate = None,
    momentum: float = 0.0,
    centred: bool = True,
    weight_decay: float = 0.0,
    init_scale: float | None = None,
    average: float = 0.1,
    soft: bool = False,
    dtype: Any = "float32",
    validation: ArrayLike | None = None,
    score: Literal["auto", "pseudo", "reconstruction", "ais"] | None = "auto",
    score_every: int = 1,
    patience: int | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    resume: Resume = False,
    progress: bool | None = None,
    rng: RngLike = None,
) -> Fit:
    """Train a TruG-RBM, or an ordinary RBM, by contrastive divergence.

    Parameters
    ----------
    X : array_like, shape (rows, n_visible), or datasets.Resampler
        Training data, 0 or 1 (in [0, 1] with ``soft=True``), or any finite numbers with
        ``visible="gaussian"``; a Resampler binarizes grey images anew for each epoch.
    n_hidden : int
        Number of hidden units.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default learned per unit from [0, 4].
    hidden : {"trug", "bernoulli"}
        "bernoulli" trains the ordinary RBM by the same code.
    visible : {"bernoulli", "gaussian"}
        "gaussian" is for real-valued data, which should be standardised: each column to mean 0 and
        standard deviation 1.  Where ends of hidden units are infinite, weights are scaled down
        whenever they would leave no density (math.md 4.1).
    visible_precision : float, optional
        a of all Gaussian visible units, given the hidden ones: 1 over the variance that those leave
        unexplained.  It is not learned; default 1.
    precision : float
        d of every TruG unit: only ``sqrt(d) * (upper - lower)`` matters (math.md 2.4), so it is
        fixed by default.
    learn_precision : bool
        Learn d of each unit, between finite ends as any real number: d far below 0 is a binary
        unit (math.md 1.4), so this nests the ordinary RBM.  Units with d <= 0 are slow.
    method : {"pcd", "cd", "pt"}
        Chains of the model's side: persistent, begun at the batch for every update, or persistent
        with replicas at higher temperatures that exchange their states with them (parallel
        tempering), which mixes between modes at the cost of a chain for each temperature.
    betas : int or array_like
        Inverse temperatures of "pt": so many from 0 to 1, or a list that rises to 1.
    k : int or (start, end)
        Gibbs sweeps for each update; a pair rises geometrically over the run, in whole numbers.
    n_chains : int, optional
        Persistent chains; by default 100, or ``batch_size`` if that is more.
    batch_size : int, optional
        By default a 200th of the rows, but at least 10 and at most 100.
    epochs : int
    optimizer : {"sgd", "rmsprop", "adam"}
    learning_rate : float or (start, end), optional
        Decays geometrically over the run.  By default chosen by the data and the kind of units
        (docs/training.md): (0.2, 0.01) for SGD and the default units on data of moderate variance.
    truncation_rate : float or (start, end), optional
        The same for truncation points, which move as the log of the interval's width, so
        lower < upper holds by construction.  Default (0.005, 0.0005) for SGD, else the paper's
        (1e-4, 1e-6).
    precision_rate : float or (start, end), optional
        The same for ``d * (upper - lower)**2``, with the width at the start, or for log d where an
        end is infinite.  Default (30, 3) for SGD, (1e-2, 1e-4) for others.
    momentum : float
        Of SGD's velocity, in [0, 1); of Adam's mean (0 stands for its usual 0.9).
    centred : bool
        Use the centred gradient (math.md 2.5): learns faster, and makes [-1, 1] as good as [0, 2].
    weight_decay : float
        Factor of the L2 penalty on the weights.
    init_scale : float, optional
        Standard deviation of the initial weights (the paper prints 0.1).  By default such that the
        input of a unit has 0.2 of its natural spread: 0.2 / (s * sqrt(V)), s the standard deviation
        of the unit without input, V the sum of the variances of the columns of X.
    average : float
        Fraction of the updates so far over which the returned (and scored) model's parameters are
        averaged, latest ones most; 0 takes those of the last update, 1 the mean over all.
    soft : bool
        Accept values between 0 and 1, used as probabilities.
    dtype : float32 or float64
        Float type of the model and of all matrix products.
    validation : array_like, shape (rows, n_visible), optional
        Scored beside the training data.
    score : {"auto", "pseudo", "reconstruction", "ais"} or None
        Scored on up to 1,000 rows of each set: pseudo-log-likelihood, which Gaussian visible units
        do not have; minus the squared error of reconstructions from the hidden units' means, which
        shows progress but not how probable data are; or log-likelihood by a short AIS run (100
        chains, 1,000 temperatures).  "auto" is "pseudo" or, with Gaussian units, "reconstruction".
    score_every : int
        Epochs between scores; those between hold NaN in the history.
    patience : int, optional
        End after so many validation scores in a row without a new best one, and return the model
        of the best.  A number as large as the run's only keeps the best.
    callbacks : sequence of callables
        Called after each epoch with an :class:`EpochEnd`; training ends if one returns True.
    checkpoint : str or Path, optional
        File that keeps the state of the run, so that a run that was interrupted, or killed at any
        moment, continues as if it had never stopped, to the same bits.  Written between two
        updates: at once, every ``checkpoint_every`` seconds, when the run is interrupted
        (Ctrl-C, SIGTERM) and when it ends.
    checkpoint_every : float
        Least number of seconds between two writes: the most that kill -9 can cost.
    resume : bool or "auto"
        Continue the run in ``checkpoint``: True, which needs the file; False, which refuses to
        overwrite one; "auto" continues if there is a file and starts if not.  Settings, data and
        seed must be those of the run (the state of callbacks is not kept; ``rng=None`` takes the
        run's seed).  A finished run is returned without training.
    progress : bool, optional
        Show a bar with rate and score; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    Fit
        ``model``, ``history`` (arrays, one entry an epoch) and ``interrupted``: after Ctrl-C the
        fit so far is returned with a warning.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is damaged or
        belongs to another run, naming each setting that differs.
    FileExistsError, FileNotFoundError
        If ``checkpoint`` exists without ``resume``, or does not with ``resume=True``.
    OSError
        If the checkpoint cannot be written at the start.  Later that is only a warning.
    FloatingPointError
        If training diverges: a parameter is no longer finite or absurdly large, or the score has
        fallen far below that at the start.  The message names it, and what to change.

    Warns
    -----
    TrainingWarning
        If a run of five epochs or 100 updates has not raised the pseudo-log-likelihood (with
        Gaussian units, the score of reconstructions) of up to 1,000 training rows by two standard
        errors, whatever ``score`` is, or any run has lowered it.

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold")
    >>> fit = tf.train_rbm(digits.train, n_hidden=20, epochs=2, rng=0)
    >>> fit.model
    TruGRBM(n_visible=64, n_hidden=20, visible='bernoulli', dtype=float32)
    """
    first = X.epoch(0) if isinstance(X, Resampler) else X
    checks.choice("hidden", hidden, ("trug", "bernoulli"))
    real = checks.choice("visible", visible, ("bernoulli", "gaussian")) == "gaussian"
    if checks.flag("soft", soft) and real:
        raise ValueError("soft is for visible='bernoulli'; Gaussian units take any finite numbers")
    a = _visible_precision(real, visible_precision)
    units = units_of(None if a is None else np.array([a]))
    data = rows_together(units.checked("X", first, soft=soft))
    held_out = (
        None
        if validation is None
        else units.checked("validation", validation, data.shape[1], soft=soft)
    )
    checks.choice("method", method, ("pcd", "cd", "pt"))
    checks.choice("optimizer", optimizer, ("sgd", "rmsprop", "adam"))
    if score is not None:
        checks.choice("score", score, ("auto", "pseudo", "reconstruction", "ais"))
    if score == "pseudo" and real:
        raise ValueError(
            "score='pseudo' is for visible='bernoulli': Gaussian visible units have no "
            "pseudo-likelihood in closed form; use 'reconstruction', 'ais' or None"
        )
    if score == "auto":
        score = "reconstruction" if real else "pseudo"
    for name, given in (("truncation", truncation), ("learn_precision", learn_precision)):
        if hidden == "bernoulli" and given:
            raise ValueError(f"{name} is for hidden='trug'; Bernoulli units have none")
    ends = as_truncation(BEST_TRUNCATION if truncation is None else truncation)
    precision = checks.number("precision", precision)
    by_data = ByData(data, None if hidden == "bernoulli" else ends, precision)
    size = by_data.batch_size if batch_size is None else checks.count("batch_size", batch_size)
    if n_chains is None:
        n_chains = size if method == "cd" else max(N_CHAINS, size)
    settings = Settings(
        truncation=ends,
        bernoulli=hidden == "bernoulli",
        visible_precision=a,
        precision=precision,
        learn_precision=checks.flag("learn_precision", learn_precision),
        persistent=method != "cd",
        betas=as_betas(betas) if method == "pt" else (),
        batch_size=size,
        n_chains=checks.count("n_chains", n_chains),
        optimizer=optimizer,
        momentum=checks.number("momentum", momentum, least=0.0, below=1.0),
        centred=checks.flag("centred", centred),
        weight_decay=checks.number("weight_decay", weight_decay, least=0.0),
        init_scale=by_data.init_scale
        if init_scale is None
        else checks.number("init_scale", init_scale, least=0.0),
        average=checks.number("average", average, least=0.0, most=1.0),
        dtype=checks.float_dtype("dtype", dtype),
    )
    if learning_rate is None:
        learning_rate = by_data.learning_rate(optimizer, real=real)
    plan = Plan(
        epochs=checks.count("epochs", epochs),
        learning_rate=as_schedule("learning_rate", learning_rate),
        truncation_rate=as_schedule(
            "truncation_rate", truncation_rate, TRUNCATION_RATES[optimizer]
        ),
        precision_rate=as_schedule("precision_rate", precision_rate, PRECISION_RATES[optimizer]),
        k=as_sweeps(k),
        score=score,
        score_every=checks.count("score_every", score_every),
        patience=None if patience is None else checks.count("patience", patience),
    )
    if patience is not None and (held_out is None or score is None):
        raise ValueError("patience needs validation data and a score")
    n_hidden = checks.count("n_hidden", n_hidden)
    saved = None if checkpoint is None else Checkpoint(checkpoint, checkpoint_every, resume)
    seed = None if saved is None or rng is not None else saved.seed
    if seed is None:
        seed = seed_from(rng, "train_rbm")
    run = Run(
        X if isinstance(X, Resampler) else data,
        held_out,
        Learner(data, n_hidden, settings, seed),
        plan,
    )
    if saved is not None:
        saved.belong_to(_identity(run, n_hidden), seed)
    interrupted = carry_out(run, callbacks, progress, saved)
    history = {name: np.array(values) for name, values in run.records.items()}
    return Fit(run.model(), history, interrupted)


def _visible_precision(real: bool, value: float | None) -> float | None:
    """Return the precision of Gaussian visible units, None for Bernoulli ones."""
    if not real:
        if value is not None:
            raise ValueError("visible_precision is for visible='gaussian'")
        return None
    precision = checks.number("visible_precision", 1.0 if value is None else value)
    checks.positive("visible_precision", np.array([precision]))
    return precision


def as_sweeps(k: int | tuple[int, int]) -> Schedule:
    pair = k if isinstance(k, tuple | list) else (k, k)
    if len(pair) != 2:
        raise ValueError(f"k must be an int or a pair (start, end), got {k!r}")
    return Schedule(*(float(checks.count("k", number)) for number in pair))


def _identity(run: Run, n_hidden: int) -> dict[str, Any]:
    """Return what makes a run the same run, as numbers and words."""
    settings = asdict(run.learner.settings) | {"dtype": str(run.learner.settings.dtype)}
    return {
        "X": data_identity(run.data),
        "validation": data_identity(run.held_out),
        "n_hidden": n_hidden,
        **settings,
        **asdict(run.plan),
    }


def _functions(callbacks: Sequence[Callback]) -> list[Callback]:
    """Return the callbacks as a list; refuse others than functions before an epoch is trained."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of functions, got {callbacks!r}")
    functions = list(callbacks)
    for each in functions:
        if not callable(each):
            raise TypeError(f"callbacks must hold functions, got {each!r}")
    return functions


def carry_out(
    run: Run, callbacks: Sequence[Callback], progress: bool | None, saved: Checkpoint | None
) -> bool:
    """Train to the end; return whether Ctrl-C ended it before."""
    interrupted = terminated = False
    callbacks = _functions(callbacks)
    total = run.plan.epochs * run.updates
    with Progress(total, "training", progress) as bar:
        if saved is not None and saved.found is not None:
            try:
                run.restore(saved.found)
            except ValueError as error:
                raise ValueError(f"checkpoint {saved.path} is damaged: {error}") from error
        if run.finished:
            _judge(run)
            return False
        if saved is not None:
            saved.start(run.state())
        try:
            with Interrupts(terminate=saved is not None) as interrupts:
                run.train(callbacks, bar, interrupts, saved)
        except KeyboardInterrupt:
            interrupted = True
            words = "" if saved is None else f", which {saved.path} continues"
            warnings.warn(
                f"training was interrupted; returning the fit so far{words}", stacklevel=3
            )
        except Terminated:
            terminated = True
        except FloatingPointError:  # diverged: the last checkpoint is worth more than this state
            saved = None
            raise
        finally:
            if saved is not None and run.whole:
                saved.save(run.state())
    if terminated:  # nobody handles the signal: die of it, now that all is saved
        signal.raise_signal(signal.SIGTERM)
    if not interrupted:
        _judge(run)
    return interrupted


def _judge(run: Run) -> None:
    """Warn if a whole run has learned nothing."""
    words = run.verdict()
    if words is not None:
        warnings.warn(words, TrainingWarning, stacklevel=4)
