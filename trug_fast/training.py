"""The training loop of the RBM."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks, scoring
from .datasets import Resampler
from .learner import Learner, Settings
from .optimisers import OptimiserName, Rate, as_schedule
from .progress import Progress
from .randomness import RngLike, seed_from
from .rbm import BernoulliRBM, TruGRBM
from .truncation import Truncation, TruncationLike, as_truncation

History = dict[str, NDArray[np.float64]]

# Measured on binarized MNIST with 500 hidden units; see docs/training.md.
BEST_TRUNCATION = Truncation(0.0, 4.0, learn="per_unit")
RATES = {"sgd": (0.1, 0.001), "rmsprop": (1e-3, 1e-5), "adam": (1e-3, 1e-5)}
TRUNCATION_RATES = {"sgd": (0.005, 0.0005), "rmsprop": (1e-4, 1e-6), "adam": (1e-4, 1e-6)}


class Fit(NamedTuple):
    """What training returns."""

    model: TruGRBM | BernoulliRBM
    history: History
    interrupted: bool


@dataclass(frozen=True)
class EpochEnd:
    """What a callback sees after each epoch."""

    epoch: int  # from 1
    history: dict[str, list[float]]  # so far
    snapshot: Callable[[], TruGRBM | BernoulliRBM]  # makes the current model


Callback = Callable[[EpochEnd], bool | None]


def train_rbm(
    X: ArrayLike | Resampler,
    n_hidden: int,
    *,
    truncation: TruncationLike | None = None,
    hidden: Literal["trug", "bernoulli"] = "trug",
    precision: float = 1.0,
    method: Literal["pcd", "cd"] = "pcd",
    k: int = 1,
    n_chains: int | None = None,
    batch_size: int = 100,
    epochs: int = 30,
    optimizer: OptimiserName = "sgd",
    learning_rate: Rate = None,
    truncation_rate: Rate = None,
    momentum: float = 0.0,
    centred: bool = True,
    weight_decay: float = 0.0,
    init_scale: float = 0.01,
    soft: bool = False,
    dtype: Any = "float32",
    validation: ArrayLike | None = None,
    score: Literal["pseudo", "ais"] | None = "pseudo",
    score_every: int = 1,
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
    rng: RngLike = None,
) -> Fit:
    """Train a TruG-RBM, or an ordinary RBM, by contrastive divergence.

    Parameters
    ----------
    X : array_like, shape (rows, n_visible), or datasets.Resampler
        Training data, 0 or 1 (in [0, 1] with ``soft=True``); a Resampler binarizes grey images
        anew for each epoch.
    n_hidden : int
        Number of hidden units.
    truncation : Truncation, name or pair, optional
        See :class:`Truncation`; by default learned per unit from [0, 4].
    hidden : {"trug", "bernoulli"}
        "bernoulli" trains the ordinary RBM by the same code.
    precision : float
        d of every TruG unit, fixed: only ``sqrt(d) * (upper - lower)`` matters (math.md 2.4).
    method : {"pcd", "cd"}
        Chains of the model's side: persistent, or begun at the batch for every update.
    k : int
        Gibbs sweeps for each update.
    n_chains : int, optional
        Persistent chains; by default ``batch_size``.
    batch_size, epochs : int
    optimizer : {"sgd", "rmsprop", "adam"}
    learning_rate : float or (start, end), optional
        Decays geometrically over the run; default (0.1, 0.001) for SGD, (1e-3, 1e-5) for others.
    truncation_rate : float or (start, end), optional
        The same for truncation points, which move as the log of the interval's width, so
        lower < upper holds by construction.  Default (0.005, 0.0005) for SGD, else the paper's
        (1e-4, 1e-6).
    momentum : float
        Of SGD's velocity, in [0, 1); of Adam's mean (0 stands for its usual 0.9).
    centred : bool
        Use the centred gradient (math.md 2.5): learns faster, and makes [-1, 1] as good as [0, 2].
    weight_decay : float
        Factor of the L2 penalty on the weights.
    init_scale : float
        Standard deviation of the initial weights (the paper prints 0.1).
    soft : bool
        Accept values between 0 and 1, used as probabilities.
    dtype : float32 or float64
        Float type of the model and of all matrix products.
    validation : array_like, shape (rows, n_visible), optional
        Scored beside the training data.
    score : {"pseudo", "ais"} or None
        Scored on up to 1,000 rows of each set: pseudo-log-likelihood, or log-likelihood by a short
        AIS run (100 chains, 1,000 temperatures).
    score_every : int
        Epochs between scores; those between hold NaN in the history.
    callbacks : sequence of callables
        Called after each epoch with an :class:`EpochEnd`; training ends if one returns True.
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
        Before anything is computed, naming the argument.
    FloatingPointError
        If the weights overflow: the learning rate is too high.

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold")
    >>> fit = tf.train_rbm(digits.train, n_hidden=20, epochs=2, rng=0)
    >>> fit.model
    TruGRBM(n_visible=64, n_hidden=20, dtype=float32)
    """
    first = X.epoch(0) if isinstance(X, Resampler) else X
    data = checks.visible("X", first, soft=soft)
    held_out = (
        None
        if validation is None
        else checks.visible("validation", validation, data.shape[1], soft=soft)
    )
    checks.choice("hidden", hidden, ("trug", "bernoulli"))
    checks.choice("method", method, ("pcd", "cd"))
    checks.choice("optimizer", optimizer, ("sgd", "rmsprop", "adam"))
    if score is not None:
        checks.choice("score", score, ("pseudo", "ais"))
    if hidden == "bernoulli" and truncation is not None:
        raise ValueError("truncation is for hidden='trug'; Bernoulli units have none")
    settings = Settings(
        truncation=as_truncation(BEST_TRUNCATION if truncation is None else truncation),
        bernoulli=hidden == "bernoulli",
        precision=checks.number("precision", precision),
        persistent=method == "pcd",
        k=checks.count("k", k),
        batch_size=checks.count("batch_size", batch_size),
        n_chains=checks.count("n_chains", batch_size if n_chains is None else n_chains),
        optimizer=optimizer,
        momentum=checks.number("momentum", momentum, least=0.0, below=1.0),
        centred=bool(centred),
        weight_decay=checks.number("weight_decay", weight_decay, least=0.0),
        init_scale=checks.number("init_scale", init_scale, least=0.0),
        dtype=checks.float_dtype("dtype", dtype),
    )
    rate = as_schedule("learning_rate", learning_rate, RATES[optimizer])
    end_rate = as_schedule("truncation_rate", truncation_rate, TRUNCATION_RATES[optimizer])
    epochs = checks.count("epochs", epochs)
    score_every = checks.count("score_every", score_every)
    seed = seed_from(rng, "train_rbm")
    learner = Learner(data, checks.count("n_hidden", n_hidden), settings, seed)
    records: dict[str, list[float]] = {}
    updates = -(-data.shape[0] // settings.batch_size)
    interrupted = False
    begun = time.perf_counter()
    with Progress(epochs * updates, "training", progress) as bar:
        try:
            for epoch in range(epochs):
                if isinstance(X, Resampler):
                    data = X.epoch(epoch)
                for batch, rows in enumerate(learner.batches(data.shape[0], epoch)):
                    done = (epoch + batch / updates) / epochs
                    learner.update(data, rows, rate.at(done), end_rate.at(done))
                    bar.advance(1)
                learner.require_finite(epoch + 1)
                record = {"epoch": epoch + 1.0, "seconds": time.perf_counter() - begun}
                record |= {"learning_rate": rate.at(done), "truncation_rate": end_rate.at(done)}
                record |= learner.brief()
                due = (epoch + 1) % score_every == 0 or epoch + 1 == epochs
                record |= scoring.scores(learner.model, score, due, data, held_out, seed)
                for name, value in record.items():
                    records.setdefault(name, []).append(value)
                bar.advance(0, score=record.get("validation_score", record.get("score", np.nan)))
                event = EpochEnd(epoch + 1, records, learner.model)
                if any([callback(event) for callback in callbacks]):
                    break
        except KeyboardInterrupt:
            interrupted = True
            warnings.warn("training was interrupted; returning the fit so far", stacklevel=2)
    return Fit(learner.model(), {k: np.array(v) for k, v in records.items()}, interrupted)
