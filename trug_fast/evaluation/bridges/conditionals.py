"""Log-probabilities that need a log Z each: of pixels given others, of frames given their past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.progress import Progress, require_progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation import exact
from trug_fast.kernels.announcing import announced
from trug_fast.models.filter import filtered
from trug_fast.models.missing_frames import Gain, particles, precise
from trug_fast.models.rbm import RBM, require_rbm
from trug_fast.models.sequences import Sequences, SequencesLike
from trug_fast.models.trbm import TRBM

from .annealer import AnnealingPlan
from .estimate import Direction, estimated
from .judgement import LogProbability, tell

Floats = NDArray[np.float64]
Method = Literal["auto", "exact", "annealing"]
Estimate = tuple[float, float, tuple[str, ...]]  # its standard error, and reasons not to trust it

FEW_UNITS = 12  # so many visible units of zeros and ones, or fewer, are gone through by default
BASE_SWEEPS = 50  # of Gibbs sampling, whose means are where annealing begins


class _LogZ:
    """How each log Z is found, checked."""

    def __init__(
        self, method: str, n_chains: int, n_temperatures: int, direction: str, rng: RngLike
    ) -> None:
        self._direction = checks.choice("direction", direction, ("forward", "reverse", "both"))
        self._method = checks.choice("method", method, ("auto", "exact", "annealing"))
        self.n_chains = checks.count("n_chains", n_chains, least=2)
        self._n_temperatures = checks.count("n_temperatures", n_temperatures)
        self.seed = seed_from(rng, "log Z of each")

    def of(self, model: RBM, number: int) -> Estimate:
        """Return log Z, its standard error, and reasons not to trust it."""
        units = model.visible_units
        few = units.enumerable and units.n_states <= 2**FEW_UNITS
        if self._method == "exact" or (self._method == "auto" and few):
            return exact.log_partition(model), 0.0, ()
        seed = seed_from(self.seed, f"log Z {number}")
        soft = units.are("soft")  # others have states alone
        base = model.sample(self.n_chains, n_gibbs=BASE_SWEEPS, return_mean=soft, rng=seed)
        plan = AnnealingPlan(
            model,
            base=base,
            direction=self._direction,
            n_chains=self.n_chains,
            n_temperatures=self._n_temperatures,
        )
        found = estimated(model, plan, seed)
        return found.log_z, found.std_error, found.warnings

    def of_row(self, model: RBM, row: Floats, number: int) -> Estimate:
        """Return the log-probability of a row, its standard error, and reasons not to trust it."""
        log_z, error, reasons = self.of(model, number)
        return -float(model.free_energy(row[None])[0]) - log_z, error, reasons


def log_conditional(
    model: RBM,
    X: ArrayLike,
    known: ArrayLike,
    *,
    method: Method = "auto",
    n_chains: int = 100,
    n_temperatures: int = 1000,
    direction: Direction = "forward",
    rng: RngLike = None,
    progress: bool | None = None,
) -> LogProbability:
    """Log-probability of some visible units of each row given the others.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    X : array_like, shape (rows, n_visible)
        Values of all units.
    known : array_like of bool, shape (n_visible,) or (rows, n_visible)
        Which units are given; the result is of all others together.
    method : {"auto", "exact", "annealing"}
        Each row has a log Z of its own: that of the free units while the others are held
        (:meth:`TruGRBM.clamped`).  "exact" goes through their states, or integrates, where
        :func:`exact.log_partition` can; "annealing" estimates it; "auto" is exact for up to 12
        free units of zeros and ones, or as many states of others.
    n_chains, n_temperatures, direction
        Of annealing, as in :func:`log_partition`; it begins at the means of as many Gibbs chains.
    rng : None, int or numpy.random.Generator
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.

    Returns
    -------
    LogProbability
        ``value`` and ``std_error``, each (rows,), and ``warnings``.

    Raises
    ------
    TypeError, ValueError
        If X does not hold what the visible units are, ``known`` is no such mask or leaves no unit
        of a row free, or exact results need too many units.

    Warns
    -----
    PartitionWarning
        If some estimates cannot be trusted.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM([[2.0], [2.0], [-2.0]], -1.0, 0.0)
    >>> tf.log_conditional(model, [[1, 1, 0], [1, 0, 0]], [True, False, True]).value.round(3)
    array([-0.344, -1.235])
    """
    require_rbm("log_conditional(model, X, known)", model)
    array = model.checked_rows("X", X).astype(np.float64)
    mask = _checked_mask(model.by_name("known", known), array.shape)
    rule = _LogZ(method, n_chains, n_temperatures, direction, rng)
    require_progress(progress)
    found = []
    with (
        announced("log_conditional", progress),
        one_blas_thread(),
        Progress(len(array), "rows", progress) as bar,
    ):
        for number, (row, given) in enumerate(zip(array, mask, strict=True)):
            free = model.clamped(np.where(given, row, np.nan))
            found.append(rule.of_row(free, row[~given], number))
            bar.advance(1)
    return _collected(found, "row")


def frame_log_likelihood(
    model: TRBM,
    sequences: SequencesLike,
    *,
    method: Method = "auto",
    n_chains: int = 100,
    n_temperatures: int = 300,
    direction: Direction = "forward",
    rng: RngLike = None,
    progress: bool | None = None,
) -> LogProbability:
    """Log-likelihood of each frame of sequences given those before it.

    Parameters
    ----------
    model : TruGTRBM or BernoulliTRBM
    sequences : array_like, shape (n, T, n_visible), or list of (T_i, n_visible)
        NaN marks what was not observed: results are of what was, given all that was before.
    method : {"auto", "exact", "annealing"}
        Each frame has a log Z of its own, that of the RBM that it is given its past; found as in
        :func:`log_conditional`.
    n_chains, n_temperatures, direction, rng, progress
        As there.

    Returns
    -------
    LogProbability
        ``value`` and ``std_error``, lists of an array (T_i,) for each sequence, and ``warnings``.
        A frame's is log p(x_t | x_{t-1}, filtered h_{t-1}) (mathematics 4.2); errors of frames are
        independent, so that of a sum is the root of the sum of their squares.
        From the first gap of a sequence on they are estimates by ``n_chains`` particles, whatever
        the method (mathematics 4.6), and their errors not quite independent; 0 of a frame of which
        nothing was observed.

    Raises
    ------
    TypeError, ValueError
        If ``model`` is no temporal model, frames are not of its kind, or exact results need too
        many units.

    Warns
    -----
    PartitionWarning
        If some estimates cannot be trusted.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> model = tf.BernoulliTRBM(zero((3, 2)), zero((2, 3)), zero((3, 3)), zero((2, 2)), 0, 0, 0, 0)
    >>> tf.evaluation.frame_log_likelihood(model, [[[1, 0, 1], [0, 0, 0]]]).value[0].round(3)
    array([-2.079, -2.079])
    """
    checks.kind("model", model, TRBM)
    checked = model.checked_sequences(sequences, missing=True)
    rule = _LogZ(method, n_chains, n_temperatures, direction, rng)
    require_progress(progress)
    found: list[Any] = [None] * len(checked.frames)
    bar = Progress(len(found), "frames", progress)
    with announced("frame_log_likelihood", progress), one_blas_thread(), bar:
        for place, estimate in _each_frame(model, checked, rule):
            found[place] = estimate
            bar.advance(1)
    each = _collected(found, "frame")
    return LogProbability(checked.split(each.value), checked.split(each.std_error), each.warnings)


def _each_frame(model: TRBM, checked: Sequences, rule: _LogZ) -> Iterator[tuple[int, Estimate]]:
    """Yield frames' places and estimates: those before gaps, then the others by particles."""
    own, frames = model.parameters(), checked.frames.astype(np.float64)
    parts = checked.split(frames)
    gaps = [np.isnan(part).any(axis=1) for part in parts]
    lengths = np.array([gap.argmax() if gap.any() else len(gap) for gap in gaps], np.int64)
    starts = checked.offsets[:-1]
    whole = np.concatenate([start + np.arange(n) for start, n in zip(starts, lengths, strict=True)])
    if whole.size:
        seen_all = Sequences(checked.frames[whole], lengths[lengths > 0]).astype(model.dtype)
        for batch, seen in filtered(own, seen_all):
            biases = zip(seen.layers.visible_bias, seen.layers.hidden_bias, strict=True)
            for place, pair in zip(whole[batch.rows].tolist(), biases, strict=True):
                yield place, rule.of_row(model.frame_model(*pair), frames[place], place)
    for start, length, part in zip(starts.tolist(), lengths.tolist(), parts, strict=True):
        if length < len(part):
            seed = seed_from(rule.seed, f"particles of the sequence at {start}")
            found = particles(precise(own), part, rule.n_chains, BASE_SWEEPS, seed)
            for t, gain in enumerate(found.gains, length):
                yield start + t, _log_observed(model, part[t], gain, rule, start + t)


def _log_observed(model: TRBM, row: Floats, gain: Gain, rule: _LogZ, number: int) -> Estimate:
    """Return log p(observed | observed before) (mathematics 4.6), its error, and reasons."""
    known = ~np.isnan(row)
    if not known.any():
        return 0.0, 0.0, ()
    frame = model.frame_model(*gain.biases, np.float64)
    log_z, error, reasons = rule.of(frame, number)
    there = np.where(known, row, 0.0)
    value = gain.log_mean - log_z - float(frame.visible_units.energy(there[None])[0])
    errors = [gain.error, error]
    if not known.all():
        log_z, error, more = rule.of(frame.clamped(row), -1 - number)
        value += log_z + float(there @ gain.biases[0])
        errors, reasons = [*errors, error], reasons + more
    return value, float(np.linalg.norm(errors)), reasons


def _checked_mask(known: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the mask with a row for each of the data; each leaves a unit free."""
    mask = checks.numbers("known", known)
    if mask.dtype != bool:
        raise TypeError(f"known must hold True and False, got dtype {mask.dtype}")
    if mask.shape not in (shape[1:], shape):
        raise ValueError(f"known must have shape ({shape[1]},) or {shape}, got {mask.shape}")
    full = np.broadcast_to(mask, shape)
    if full.all(axis=1).any():
        row = int(np.argmax(full.all(axis=1)))
        raise ValueError(f"known must leave a unit free in each row, got none in row {row}")
    return full


def _collected(found: Sequence[Estimate], what: str) -> LogProbability:
    """Return all estimates in arrays; warn once of those not to be trusted."""
    doubtful = [(number, reasons) for number, (_, _, reasons) in enumerate(found) if reasons]
    said = tuple(f"{what} {number}: {'; '.join(reasons)}" for number, reasons in doubtful)
    if said:
        few = f"{len(said)} of {len(found)} estimates cannot be trusted, the first of {said[0]}"
        tell([few], stacklevel=3)
    value, error = (np.array([each[k] for each in found]) for k in (0, 1))
    return LogProbability(value, error, said)
