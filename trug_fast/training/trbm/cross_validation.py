"""Choosing how to train a temporal RBM by the forecasts of sequences that were held out.

Tested in tests/training/trbm/test_cross_validation.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, frames
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast._common.workers import gathered
from trug_fast.evaluation.forecasts import prediction_error
from trug_fast.models.sequences import Sequences, SequencesLike, as_sequences
from trug_fast.training.going_on import units_from
from trug_fast.training.run import divergence_raises

from .settings import checked_start
from .train import UNITS, train_trbm

OWN = {"sequences", "sample_weight", "validation", "checkpoint", "progress", "rng", "callbacks"}
Floats = NDArray[np.float64]


class CrossValidation(NamedTuple):
    """Errors of forecasts of sequences that the models had not seen, for each choice."""

    choices: tuple[str, ...]
    folds: Floats  # (choices, n_folds): mean over the fold's sequences of tf.prediction_error
    mean: Floats  # (choices,) over the folds
    std_error: Floats  # (choices,) of the mean: the folds' standard deviation over their root
    difference: Floats  # (choices,) mean of the folds' differences to the best choice, 0 or more
    difference_error: Floats  # (choices,) its standard error, in which what is hard for all cancels

    @property
    def best(self) -> str:
        """The choice with the lowest mean error."""
        return self.choices[int(self.mean.argmin())]

    def __str__(self) -> str:
        width = max(map(len, self.choices))
        return "\n".join(
            f"{self.choices[k]:{width}}  {self.mean[k]:.4g} +- {self.std_error[k]:.2g}, "
            f"{self.difference[k]:.4g} +- {self.difference_error[k]:.2g} above the best"
            for k in np.argsort(self.mean, kind="stable")
        )


def cross_validate(
    sequences: SequencesLike,
    choices: Mapping[str, Mapping[str, Any]],
    *,
    n_folds: int = 5,
    executor: Executor | None = None,
    progress: bool | None = None,
    rng: RngLike = None,
) -> CrossValidation:
    """Compare ways to train a temporal RBM by forecasts of sequences that are held out in turn.

    Parameters
    ----------
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
        Each of two frames or more.
    choices : mapping
        Of each way, by a name, the arguments of :func:`train_trbm`, such as
        ``{"few": {"n_hidden": 50}, "sparse": {"n_hidden": 200, "optimizer": Adam(l1=0.01)}}``.
        All have visible units of one kind.  Nothing is scored on the way.
    n_folds : int
        Parts into which the sequences fall, from 2 to their number; each is held out once.
    executor : concurrent.futures.Executor, optional
        Trains several models at once, each on one thread.  The numbers are the same on computers
        of one kind.  Processes must be spawned, not forked.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.
    rng : None, int or numpy.random.Generator
        Draws the parts, and the seed of each, with which all choices train.

    Returns
    -------
    CrossValidation
        Named tuple of ``choices``, and arrays: ``folds`` (mean over the sequences of each part of
        :func:`prediction_error`, by mean field), their ``mean`` and its ``std_error``, the
        ``difference`` to the best choice and its ``difference_error``.  Standard errors take the
        parts for independent; since they share training sequences, they are somewhat too small.
        ``best`` is the name of the best choice, and ``print`` shows a line for each.

    Raises
    ------
    TypeError, ValueError
        Before anything is trained but what :func:`train_trbm` itself says, naming the argument.
    RuntimeError
        If a worker has another version of the package or dies, or its scheduler is gone.
    KeyboardInterrupt
        After Ctrl-C.

    Examples
    --------
    >>> import trug_fast as tf
    >>> videos = tf.datasets.bouncing_balls(6, 10, size=6, rng=0)
    >>> ways = {"small": {"n_hidden": 4, "epochs": 1}, "large": {"n_hidden": 8, "epochs": 1}}
    >>> found = tf.training.cross_validate(videos, ways, n_folds=3, rng=0)
    >>> found.folds.shape, found.best in ways
    ((2, 3), True)
    """
    ways = _checked_choices(choices)
    data = _checked_sequences(sequences, ways)
    n = data.shape[0]
    if checks.count("n_folds", n_folds, 2) > n:
        raise ValueError(f"n_folds must be at most the number of sequences, {n}, got {n_folds}")
    if executor is not None:
        checks.kind("executor", executor, Executor)
    seed = seed_from(rng, "cross_validate")
    parts = np.array_split(np.random.default_rng(seed).permutation(n), n_folds)
    split = data.split(data.frames)
    jobs = []
    for way in ways.values():
        for k, part in enumerate(parts):
            held_out = set(part.tolist())
            rest = [each for i, each in enumerate(split) if i not in held_out]
            options = {**way, "monitor": None, "progress": False}
            options["rng"] = seed_from(seed, f"fold {k}")
            jobs.append((rest, [split[i] for i in part], options))
    with Progress(len(jobs), "cross-validation", progress) as bar:
        errors = _run(jobs, executor, bar)
    return _summary(tuple(ways), np.array(errors).reshape(len(ways), n_folds))


def _checked_choices(choices: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the arguments of each choice, all of which a training knows and may be told."""
    checks.kind("choices", choices, Mapping)
    if not choices:
        raise ValueError("choices must hold a choice or more, got none")
    known = inspect.signature(train_trbm).parameters.keys() - OWN - {"monitor"}
    for name, way in choices.items():
        checks.kind(f"choices: {name!r}", way, Mapping)
        for argument in way:
            if argument not in known:
                raise ValueError(
                    f"choices: {name!r} has {argument!r}, which is no choice of train_trbm"
                    + (", but made here" if argument in OWN | {"monitor"} else "")
                )
    return {str(name): dict(way) for name, way in choices.items()}


def _checked_sequences(sequences: SequencesLike, ways: Mapping[str, dict[str, Any]]) -> Sequences:
    """Return the sequences, if all choices have visible units that take them."""
    kinds = set()
    for way in ways.values():
        start, size = checked_start(way.get("start")), way.get("n_hidden")
        units = units_from(start, size, way.get("hidden"), way.get("visible"), UNITS)
        kinds.add(units.visible.kind)
    if len(kinds) > 1:
        raise ValueError(f"choices must have visible units of one kind, got {sorted(kinds)}")
    sequences = frames.arranged("sequences", sequences, frames.names_of(sequences))
    data = as_sequences("sequences", sequences, visible=kinds.pop())
    if data.lengths.min() < 2:
        k = int(data.lengths.argmin())
        raise ValueError(f"sequences need two frames or more, got one frame in sequence {k}")
    return data


Frames = list[NDArray[Any]]  # of each sequence
Job = tuple[Frames, Frames, dict[str, Any]]


def _run(jobs: list[Job], executor: Executor | None, bar: Progress) -> list[float]:
    if executor is not None:
        with one_blas_thread():
            return gathered(executor, _error, jobs, lambda: bar.advance(1))
    errors = []
    for job in jobs:
        errors.append(_error(*job))
        bar.advance(1)
    return errors


def _error(rest: Frames, held_out: Frames, options: dict[str, Any]) -> float:
    with divergence_raises():
        fit = train_trbm(rest, **options)
    if fit.interrupted:
        raise KeyboardInterrupt
    return float(prediction_error(fit.model, held_out, method="mean_field").mean())


def _summary(choices: tuple[str, ...], folds: Floats) -> CrossValidation:
    mean, root = folds.mean(axis=1), np.sqrt(folds.shape[1])
    above = folds - folds[mean.argmin()]
    return CrossValidation(
        choices,
        folds,
        mean,
        folds.std(axis=1, ddof=1) / root,
        above.mean(axis=1),
        above.std(axis=1, ddof=1) / root,
    )
