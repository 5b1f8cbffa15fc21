"""The estimate of one direction or of both, and reasons not to believe it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .log_weights import bennett, one_sided
from .result import Floats, LogPartition

# Share of the chains below which the effective ones are too few.  Where reverse chains did not
# start from draws of the model, the spread of their weights is the only sign.  Measured on trained
# models (notes/partition.md).
FEW = {"forward": 0.3, "reverse": 0.5}
OVERLAP = 0.1  # share of the chains that must lie where the other direction's do
DOUBTFUL = 2.0  # standard errors between two directions beyond which half their gap is the error
APART = 3.0  # standard errors between two numbers that do not agree, beyond ...
ROUNDING = 1e-3  # ... nats, far more than single precision leaves in a weight


def judge(
    forward: Floats | None,
    reverse: Floats | None,
    *,
    path: str,
    temperatures: Floats,
    mean_field: float,
    fingerprint: str,
    starts: float | None = None,
) -> LogPartition:
    """Return what the log-weights of one direction, or of both, say, and whether to believe it.

    starts : effective number of draws at which reverse chains began, where it is known
    """
    sides = []
    for log_weights, direction in ((forward, "forward"), (reverse, "reverse")):
        if log_weights is not None:
            found = one_sided(log_weights, direction)
            side = LogPartition(
                *found, log_weights, path, direction, mean_field, temperatures, fingerprint
            )
            reasons = (*impossible(side), *collapsed(side), *repeated(side, starts))
            sides.append(replace(side, warnings=reasons))
    return sides[0] if len(sides) == 1 else together(sides[0], sides[1], starts)


def together(low: LogPartition, high: LogPartition, starts: float | None) -> LogPartition:
    """Return what both directions say; what speaks against a side speaks against the whole."""
    log_z, error, overlap = bennett(low.log_weights, high.log_weights)
    gap, expected = abs(high.log_z - low.log_z), np.hypot(low.std_error, high.std_error)
    if gap > DOUBTFUL * expected or not np.isfinite(error):
        error = max(error if np.isfinite(error) else 0.0, gap / 2)
    every = np.concatenate([low.log_weights, high.log_weights])
    whole = replace(
        low,
        log_z=log_z,
        std_error=error,
        ess=min(low.ess, high.ess),
        log_weights=every,
        direction="both",
        forward=low,
        reverse=high,
    )
    found = [*impossible(whole), *apart(low, high, overlap)]
    for side in (low, high):
        reasons = [*collapsed(side), *repeated(side, starts)]
        reasons += [] if impossible(whole) else impossible(side)
        found += [f"{side.direction}: {reason}" for reason in reasons]
    return replace(whole, warnings=tuple(found))


def impossible(estimate: LogPartition) -> list[str]:
    """Return the reason if the estimate lies below what is certain."""
    if estimate.mean_field <= estimate.log_z + APART * estimate.std_error + ROUNDING:
        return []
    return [
        f"impossible: log Z = {estimate.log_z:.2f} +- {estimate.std_error:.2f} is below the "
        f"mean-field bound {estimate.mean_field:.2f}, which is certain; the chains have missed "
        "most of the mass"
    ]


def collapsed(estimate: LogPartition) -> list[str]:
    """Return the reason if few weights carry the estimate of one direction."""
    size = estimate.log_weights.size
    if estimate.ess >= FEW[estimate.direction] * size:
        return []
    return [
        f"weights collapsed: {estimate.ess:.1f} of {size} chains are effective, and the "
        f"log-weights spread by {estimate.log_weights.std():.2f}; take more temperatures"
    ]


def repeated(estimate: LogPartition, starts: float | None) -> list[str]:
    """Return the reason if reverse chains began at the same few draws."""
    size = estimate.n_chains
    if estimate.direction != "reverse" or starts is None or starts >= FEW["forward"] * size:
        return []
    return [
        f"few draws: the {size} reverse chains started from what counts as {starts:.1f} draws of "
        "the model; take more temperatures, or better draws (start)"
    ]


def apart(low: LogPartition, high: LogPartition, overlap: float) -> list[str]:
    """Return the reasons if forward and reverse chains do not agree."""
    found = []
    gap = high.log_z - low.log_z
    allowed = APART * float(np.hypot(low.std_error, high.std_error)) + ROUNDING
    values = f"{low.log_z:.2f} +- {low.std_error:.2f} and {high.log_z:.2f} +- {high.std_error:.2f}"
    if gap > allowed:
        found.append(f"forward and reverse apart: {values}; take more temperatures")
    if -gap > allowed:
        found.append(
            f"forward above reverse: {values}; the reverse chains did not start from draws of the "
            "model: take more Gibbs sweeps (n_gibbs), or better draws (start)"
        )
    size = low.log_weights.size
    if overlap < OVERLAP * size:
        found.append(
            f"forward and reverse weights hardly overlap: {overlap:.1f} of {2 * size} chains; "
            "take more temperatures"
        )
    return found
