"""Training of the TruG-TGGM regression: validation, choice of the learning rate, refit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks
from .checks import FloatArray
from .kernels.philox import USER
from .optimisers import OptimiserName, Schedule
from .progress import Progress
from .randomness import RngLike, seed_from
from .tggm import TruGTGGM
from .tggm_learner import Learner, Method, Noise, Scale, Settings
from .threads import one_blas_thread
from .truncation import Truncation, TruncationLike, as_truncation

History = dict[str, NDArray[np.float64]]
Copies = tuple[FloatArray, ...]

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


@dataclass(frozen=True)
class Plan:
    """How long and how fast, checked by the caller."""

    epochs: int
    decay: float
    truncation_rate: float | None
    patience: int
    score: str


@dataclass
class Run:
    """One run over the epochs: its records, and its best model so far."""

    learner: Learner
    records: dict[str, list[float]]
    best_epoch: int
    best_score: float
    best: Copies


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
        Before anything is computed, naming the argument.
    FloatingPointError
        If the weights overflow at every learning rate.

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
        learn_noise=bool(learn_noise),
        noise_variance=_positive("noise_variance", noise_variance),
        hidden_variance=_positive("hidden_variance", hidden_variance),
        batch_size=checks.count("batch_size", batch_size),
        optimizer=checks.choice("optimizer", optimizer, tuple(RATES)),  # type: ignore[arg-type]
        momentum=checks.number("momentum", momentum, least=0.0, below=1.0),
        weight_decay=checks.number("weight_decay", weight_decay, least=0.0),
        dtype=checks.float_dtype("dtype", dtype),
    )
    epochs = checks.count("epochs", epochs)
    plan = Plan(
        epochs,
        _positive("decay", decay),
        None if truncation_rate is None else _positive("truncation_rate", truncation_rate),
        epochs if patience is None else checks.count("patience", patience),
        checks.choice("score", score, ("rmse", "log_likelihood")),
    )
    rates = _rates(learning_rate, optimizer)
    fraction = checks.number("validation_fraction", validation_fraction, least=0.0, below=1.0)
    held = int(round(fraction * len(data)))
    if len(rates) > 1 and held == 0:
        raise ValueError("several learning rates need a validation_fraction that holds rows back")
    if held >= len(data):
        raise ValueError(f"X has {len(data)} rows, too few to hold {held} back")
    hidden = checks.count("n_hidden", n_hidden)
    if start is not None:
        _check_start(start, data.shape[1], hidden, aims.shape[1])
    task = _Task(data, aims, held, hidden, settings, plan, start, seed_from(rng, "train_tggm"))
    with Progress(epochs * (len(rates) + bool(refit and held)), "training", progress) as bar:
        with one_blas_thread():
            return task.fit(rates, bar, refit=bool(refit), calibrate=bool(calibrate))


class _Task:
    """Everything that the runs of one training share."""

    def __init__(
        self,
        data: NDArray[Any],
        aims: NDArray[Any],
        held: int,
        hidden: int,
        settings: Settings,
        plan: Plan,
        start: TruGTGGM | None,
        seed: int,
    ) -> None:
        self.settings, self.plan, self.start, self.seed = settings, plan, start, seed
        self.hidden = hidden
        self.scale_x, self.scale_y = Scale.of(data, np.inf), Scale.of(aims, 1.0)
        self.inputs = self.scale_x.apply(data, settings.dtype)
        self.targets = self.scale_y.apply(aims, settings.dtype)
        generator = np.random.Generator(np.random.Philox(key=[seed, USER]))
        order = generator.permutation(len(data))
        self.held, self.kept = np.sort(order[:held]), np.sort(order[held:])

    def fit(
        self, rates: Sequence[float], bar: Progress, *, refit: bool, calibrate: bool
    ) -> TGGMFit:
        """Run with every rate, choose, and train on all rows."""
        best: tuple[float, Run] | None = None
        interrupted = False
        for rate in rates:
            run = self._new_run()
            interrupted, finite = self._train(run, rate, self.kept, self.plan.epochs, bar)
            if finite and (best is None or run.best_score > best[1].best_score):
                best = rate, run
            if interrupted:
                warnings.warn("training was interrupted; returning the fit so far", stacklevel=3)
                break
        if best is None:
            raise FloatingPointError(
                "training diverged: weights are no longer finite; use a lower learning_rate"
            )
        rate, run = best
        run.learner.restore(run.best)
        log_noise = self._calibrated(run.learner) if calibrate and self.held.size else None
        chosen = run.learner
        if refit and self.held.size and not interrupted and run.best_epoch:
            again = self._new_run()
            every = np.arange(len(self.inputs))
            interrupted, finite = self._train(again, rate, every, run.best_epoch, bar)
            if finite and not interrupted:
                chosen = again.learner
        history = {name: np.array(values) for name, values in run.records.items()}
        model = chosen.model(self.scale_x, self.scale_y, log_noise)
        return TGGMFit(model, history, rate, run.best_epoch, interrupted)

    def _new_run(self) -> Run:
        widths = self.inputs.shape[1], self.targets.shape[1]
        learner = Learner(*widths, self.hidden, self.settings, self.seed)
        if self.start is not None:
            learner.begin_at(self.start, self.scale_x, self.scale_y)
        return Run(learner, {}, 0, -np.inf, learner.copy())

    def _train(
        self, run: Run, rate: float, rows: NDArray[np.int64], epochs: int, bar: Progress
    ) -> tuple[bool, bool]:
        """Train on these rows; return whether Ctrl-C ended it, and whether all is finite.

        Rates follow the whole plan, of which ``epochs`` may be a part.
        """
        plan, learner = self.plan, run.learner
        inputs, targets = (np.ascontiguousarray(a[rows]) for a in (self.inputs, self.targets))
        validated = self.held.size > 0 and len(rows) < len(self.inputs)
        schedule = Schedule(rate, rate * plan.decay)
        begun = time.perf_counter()
        try:
            for epoch in range(epochs):
                now = schedule.at(epoch / plan.epochs)
                ends = now if plan.truncation_rate is None else now * plan.truncation_rate
                objective = learner.run_epoch(inputs, targets, epoch, now, ends)
                if not learner.finite():
                    return False, run.best_epoch > 0
                record = {"epoch": epoch + 1.0, "learning_rate": now, "objective": objective}
                if validated:
                    record |= self._score(learner)
                record["seconds"] = time.perf_counter() - begun
                for name, value in record.items():
                    run.records.setdefault(name, []).append(value)
                self._keep_best(run, validated)
                bar.advance(1, score=record.get("validation_rmse", objective))
                if epoch + 1 - run.best_epoch >= plan.patience:
                    break
        except KeyboardInterrupt:
            return True, True
        return False, True

    def _score(self, learner: Learner) -> dict[str, float]:
        rmse, likelihood = learner.score(self.inputs[self.held], self.targets[self.held])
        likelihood -= float(np.log(self.scale_y.deviation).sum())
        return {"validation_rmse": rmse, "validation_log_likelihood": likelihood}

    def _keep_best(self, run: Run, validated: bool) -> None:
        """Keep the model if its score is the best so far; without validation keep the last."""
        score = 0.0
        if validated and self.plan.score == "rmse":
            score = -run.records["validation_rmse"][-1]
        elif validated:
            score = run.records["validation_log_likelihood"][-1]
        if score > run.best_score or not validated:
            run.best_score, run.best = score, run.learner.copy()
            run.best_epoch = len(run.records["epoch"])

    def _calibrated(self, learner: Learner) -> NDArray[np.float64]:
        """Return each output's log noise variance of highest likelihood on the held back rows."""
        from scipy.optimize import minimize_scalar  # here, since its import takes a while

        plain_x, plain_y = (
            Scale(np.zeros(width), np.ones(width))
            for width in (self.inputs.shape[1], self.targets.shape[1])
        )
        model = learner.model(plain_x, plain_y)
        mean, deviation = model.predict(self.inputs[self.held], return_std=True)
        shape = (self.held.size, -1)
        variance = deviation.reshape(shape) ** 2 - model.noise_variance
        square = (self.targets[self.held] - mean.reshape(shape)) ** 2
        result = np.empty(square.shape[1])
        for o in range(result.size):

            def loss(log_noise: float, o: int = o) -> float:
                spread = variance[:, o] + np.exp(log_noise)
                return float((np.log(spread) + square[:, o] / spread).mean())

            found = minimize_scalar(loss, bounds=(-18.0, 5.0), method="bounded")
            result[o] = found.x
        return result


def _positive(name: str, value: float) -> float:
    result = checks.number(name, value, least=0.0)
    if result == 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return result


def _rates(value: float | Sequence[float] | None, optimizer: str) -> list[float]:
    if value is None:
        return [RATES[optimizer]]
    if isinstance(value, int | float | np.number):
        return [_positive("learning_rate", float(value))]
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
