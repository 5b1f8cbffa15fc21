"""Training of the TruG-TGGM regression: validation, choice of the learning rate, refit."""

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
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.training.diagnosis import TrainingWarning
from trug_fast.training.former.checkpoints import Checkpoint, Resume, data_identity
from trug_fast.training.former.optimizers import OptimiserName

from .learner import Method, Noise, Settings
from .loop import Plan, Training

History = dict[str, NDArray[np.float64]]

# Measured on the UCI sets; see docs/tggm.md.
BEST_TRUNCATION = Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)
RATES = {"sgd": 0.1, "rmsprop": 0.01, "adam": 0.01}


class TGGMFit(NamedTuple):
    """What training a regression returns."""

    model: TruGTGGM  # in the data's own units
    history: History  # of the run with the chosen learning rate
    learning_rate: float  # the chosen one
    best_epoch: int  # after which the model was taken
    interrupted: bool


def train_tggm(
    X: ArrayLike,
    y: ArrayLike,
    n_hidden: int = 50,
    *,
    truncation: TruncationLike | None = None,
    method: Method = "ml",
    n_cycles: int = 10,
    tolerance: float = 0.1,
    noise: Noise = "shared",
    learn_noise: bool = True,
    noise_variance: float = 0.1,
    hidden_variance: float = 0.1,
    batch_size: int = 50,
    epochs: int = 300,
    optimizer: OptimiserName = "adam",
    learning_rate: float | Sequence[float] | None = None,
    decay: float = 0.02,
    truncation_rate: float | None = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    validation_fraction: float = 0.1,
    score: Literal["rmse", "log_likelihood"] = "rmse",
    patience: int | None = None,
    refit: bool = True,
    calibrate: bool = True,
    start: TruGTGGM | None = None,
    dtype: Any = "float32",
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    resume: Resume = False,
    progress: bool | None = None,
    rng: RngLike = None,
) -> TGGMFit:
    """Train a TruG-TGGM regression.

    Inputs and targets are standardised inside, and the model returned takes and gives the units of
    the data.  A part of the rows is held back; on it the epoch is chosen at which to stop, and the
    learning rate if several are given.  Then all rows are trained on that long.

    Parameters
    ----------
    X : array_like, shape (rows, inputs)
    y : array_like, shape (rows,) or (rows, outputs)
    n_hidden : int
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default both ends are learned per unit from [-1, 1].
    method : {"ml", "moments", "bp"}
        What is ascended (math.md 5): the evidence lower bound at the mean field, as in the paper;
        the likelihood of y as a normal of the exact mean and variance of p(y | x), each output
        alone; or minus the squared error of the mean (back-propagation), while the noise follows
        that likelihood.
    n_cycles : int
        Passes of the mean field over the units, for "ml".
    tolerance : float
        The passes end earlier once none of a batch's means moves by more standard deviations.
    noise : {"shared", "separate"}
        Whether the hidden units have the noise variance of the (standardised) y, as in the paper,
        or ``hidden_variance``, with a noise variance for each output.
    learn_noise : bool
        Learn the noise variance, or keep it.
    noise_variance, hidden_variance : float
        Where they start, in units of the standardised y; ``hidden_variance`` is not learned: its
        scale is that of the ends.
    batch_size, epochs : int
    optimizer : {"sgd", "rmsprop", "adam"}
    learning_rate : float or sequence of floats, optional
        Several are tried, and the best on the held back rows is taken.  Default 0.01
        (SGD 0.1).
    decay : float
        Factor that the rate has lost at the end; it decays geometrically.
    truncation_rate : float, optional
        Rate of the ends as a multiple of the learning rate; 1 by default.  The ends move as the
        lower one and the log of the width, so they cannot cross.
    momentum : float
        Of SGD's velocity, in [0, 1); of Adam's mean (0 stands for its usual 0.9).
    weight_decay : float
        Factor of the L2 penalty on the weights.
    validation_fraction : float
        Rows held back, in [0, 1); 0 trains on all rows to the last epoch.
    score : {"rmse", "log_likelihood"}
        By what the epoch and the rate are chosen.
    patience : int, optional
        End a run after so many epochs without a new best score.
    refit : bool
        Train on all rows in the end; otherwise the model of the best epoch is returned.
    calibrate : bool
        Set the noise variance to that of the highest likelihood on the held back rows (moment-
        matched, at the best epoch): what the training rows say is too low after a close fit.
    start : TruGTGGM, optional
        A model to start from instead of random weights, e.g. one trained by another method.
    dtype : float32 or float64
        Of all arithmetic; the model is float64 always.
    checkpoint, checkpoint_every, resume
        As in :func:`train_rbm`, but written between two epochs.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.

    Returns
    -------
    TGGMFit
        ``model``; ``history``, arrays with an entry an epoch: "objective" (mean over the training
        rows), "validation_rmse" (in standard deviations of y) and "validation_log_likelihood";
        ``learning_rate``, ``best_epoch`` and ``interrupted``.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument; also if the checkpoint is damaged or
        belongs to another run, naming each setting that differs.
    FileExistsError, FileNotFoundError
        If ``checkpoint`` exists without ``resume``, or does not with ``resume=True``.
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
    data = checks.matrix("X", X)
    aims = checks.targets("y", y, len(data))
    settings = Settings(
        truncation=as_truncation(BEST_TRUNCATION if truncation is None else truncation),
        method=checks.choice("method", method, ("ml", "moments", "bp")),  # type: ignore[arg-type]
        n_cycles=checks.count("n_cycles", n_cycles),
        tolerance=checks.number("tolerance", tolerance, least=0.0),
        noise=checks.choice("noise", noise, ("shared", "separate")),  # type: ignore[arg-type]
        learn_noise=checks.flag("learn_noise", learn_noise),
        noise_variance=_positive("noise_variance", noise_variance),
        hidden_variance=_positive("hidden_variance", hidden_variance),
        batch_size=checks.count("batch_size", batch_size),
        optimizer=checks.choice("optimizer", optimizer, tuple(RATES)),  # type: ignore[arg-type]
        momentum=checks.number("momentum", momentum, least=0.0, below=1.0),
        weight_decay=checks.number("weight_decay", weight_decay, least=0.0),
        dtype=checks.float_dtype("dtype", dtype),
    )
    epochs = checks.count("epochs", epochs)
    rates = _rates(learning_rate, optimizer)
    plan = Plan(
        epochs,
        tuple(rates),
        _positive("decay", decay),
        None if truncation_rate is None else _positive("truncation_rate", truncation_rate),
        epochs if patience is None else checks.count("patience", patience),
        checks.choice("score", score, ("rmse", "log_likelihood")),
        checks.flag("refit", refit),
    )
    fraction = checks.number("validation_fraction", validation_fraction, least=0.0, below=1.0)
    held = int(round(fraction * len(data)))
    if len(rates) > 1 and held == 0:
        raise ValueError("several learning rates need a validation_fraction that holds rows back")
    if held >= len(data):
        raise ValueError(f"X has {len(data)} rows, too few to hold {held} back")
    hidden = checks.count("n_hidden", n_hidden)
    calibrate = checks.flag("calibrate", calibrate)
    if start is not None:
        _check_start(start, data.shape[1], hidden, aims.shape[1])
    saved = None if checkpoint is None else Checkpoint(checkpoint, checkpoint_every, resume)
    seed = None if saved is None or rng is not None else saved.seed
    if seed is None:
        seed = seed_from(rng, "train_tggm")
    if saved is not None:
        saved.belong_to(_identity(data, aims, held, hidden, settings, plan, start), seed)
    training = Training(data, aims, held, hidden, settings, plan, start, seed)
    interrupted = _carry_out(training, progress, saved)
    chosen = training.best()
    history = {name: np.array(values) for name, values in chosen.history.items()}
    model = training.model(calibrate)
    return TGGMFit(model, history, chosen.rate, chosen.best_epoch, interrupted)


def _carry_out(training: Training, progress: bool | None, saved: Checkpoint | None) -> bool:
    """Train to the end; return whether Ctrl-C ended it before."""
    interrupted = terminated = False
    plan = training.plan
    total = plan.epochs * (len(plan.rates) + bool(plan.refit and training.held.size))
    with Progress(total, "training", progress) as bar, one_blas_thread():
        if saved is not None and saved.found is not None:
            try:
                training.restore(saved.found)
            except ValueError as error:
                raise ValueError(f"checkpoint {saved.path} is damaged: {error}") from error
        if training.finished:
            _judge(training)
            return False
        if saved is not None:
            saved.start(training.state())
        try:
            with Interrupts(terminate=saved is not None) as interrupts:
                training.train(bar, interrupts, saved)
        except KeyboardInterrupt:
            interrupted = True
            words = "" if saved is None else f", which {saved.path} continues"
            warnings.warn(
                f"training was interrupted; returning the fit so far{words}", stacklevel=3
            )
        except Terminated:
            terminated = True
        finally:
            if saved is not None and training.whole:
                saved.save(training.state())
    if terminated:  # nobody handles the signal: die of it, now that all is saved
        signal.raise_signal(signal.SIGTERM)
    if not interrupted:
        _judge(training)
    return interrupted


def _judge(training: Training) -> None:
    """Warn if the result is of no use, or of a run that diverged."""
    words = training.verdict()
    if words is not None:
        warnings.warn(words, TrainingWarning, stacklevel=4)


def _identity(
    data: NDArray[Any],
    aims: NDArray[Any],
    held: int,
    hidden: int,
    settings: Settings,
    plan: Plan,
    start: TruGTGGM | None,
) -> dict[str, Any]:
    """Return what makes a run the same run, as numbers and words."""
    first = None
    if start is not None:
        first = np.concatenate([np.ravel(getattr(start, name)) for name in start.names])
    return {
        "machine": "regression",
        "X": data_identity(data),
        "y": data_identity(aims),
        "rows held back": held,
        "n_hidden": hidden,
        "start": data_identity(first),
        **asdict(settings),
        "dtype": str(settings.dtype),
        **asdict(plan),
    }


def _positive(name: str, value: float) -> float:
    result = checks.number(name, value, least=0.0)
    if result == 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return result


def _rates(value: float | Sequence[float] | None, optimizer: str) -> list[float]:
    if value is None:
        return [RATES[optimizer]]
    if isinstance(value, int | float | np.number) or not isinstance(value, Iterable):
        return [_positive("learning_rate", value)]
    rates = [_positive("learning_rate", rate) for rate in value]
    if not rates:
        raise ValueError("learning_rate must be a number or a sequence of some, got none")
    return rates


def _check_start(start: TruGTGGM, inputs: int, hidden: int, outputs: int) -> None:
    if not isinstance(start, TruGTGGM):
        raise TypeError(f"start must be a TruGTGGM, got {type(start).__name__}")
    for what, expected, found in (
        ("inputs", inputs, start.n_inputs),
        ("hidden units", hidden, start.n_hidden),
        ("outputs", outputs, start.n_outputs),
    ):
        if expected != found:
            raise ValueError(f"start must have {expected} {what}, got {found}")
