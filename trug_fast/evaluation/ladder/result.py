"""What a ladder says of a model, as other estimates of log Z say it.

Tested in tests/evaluation/ladder/test_ladder.py.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from trug_fast._common.randomness import seed_from
from trug_fast.evaluation.partition import LogPartition, PartitionWarning, mean_field
from trug_fast.evaluation.partition.judgement import impossible
from trug_fast.evaluation.partition.plan import fingerprint
from trug_fast.models.rbm import RBM

FEW = 0.05  # least overlap of neighbours that carries an estimate


def as_partition(ladder: Any, model: RBM) -> LogPartition:
    """Return the estimate for the last rung, with warnings given where it cannot be trusted."""
    log_z, shares = float(ladder.log_z[-1]), ladder.shares[-1]
    points = mean_field.starting_points(model, None, seed_from(0, "mean field"))
    estimate = LogPartition(
        log_z=log_z,
        std_error=float(ladder.std_error[-1]),
        ess=ladder.overlap * shares.size,
        log_weights=log_z + shares.size * shares,
        path="ladder",
        direction="ladder",
        mean_field=mean_field.bound(model, points),
        temperatures=np.empty(0),
        fingerprint=fingerprint(model),
    )
    reasons = impossible(estimate) + broken(ladder)
    for reason in reasons:
        warnings.warn(reason, PartitionWarning, stacklevel=3)
    return LogPartition(**(vars(estimate) | {"warnings": tuple(reasons)}))


def broken(ladder: Any) -> list[str]:
    """Say where chains cannot climb, if they cannot."""
    if ladder.overlap >= FEW:
        return []
    return [
        f"rungs hardly overlap: {ladder.overlap:.2g} of their draws; the ladder is broken there"
    ]


def tell_broken(ladder: Any) -> None:
    """Warn, for a method of a ladder, where chains cannot climb."""
    for reason in broken(ladder):
        warnings.warn(reason, PartitionWarning, stacklevel=3)
