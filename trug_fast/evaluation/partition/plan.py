"""What a call has decided before anything is computed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import array_identity
from trug_fast.models.rbm import RBM

from . import paths

SWEEP_SHARE = 10  # reverse chains have so many times fewer Gibbs sweeps at the model by default


def fingerprint(model: RBM) -> str:
    """Return the class of a model and a hash of its parameters, whatever float type holds them."""
    sha = hashlib.sha256()
    if not model.visible_units.are("plain"):  # else parameters tell
        ends = 5 if model.visible_units.some("cut") else 3
        sha.update(str([tuple(run)[:ends] for run in model.runs]).encode())
    for name in model.names:
        parameter = np.ascontiguousarray(getattr(model, name), dtype=np.float64)
        sha.update(f"{parameter.dtype.str}{parameter.shape}".encode())
        sha.update(parameter.tobytes())
    return f"{type(model).__name__} {sha.hexdigest()[:16]}"


@dataclass(frozen=True)
class AnnealingPlan:
    """All choices of a run, checked."""

    model: RBM
    path: str
    base: NDArray[Any] | None  # by columns, as the draws to start at
    start: NDArray[Any] | None
    direction: str
    schedule: str
    weights_on: str
    n_chains: int
    n_temperatures: int
    n_gibbs: int

    def identity(self) -> dict[str, Any]:
        """Return all of it as numbers and words, arrays as hashes."""
        own = {name: value for name, value in vars(self).items() if isinstance(value, str | int)}
        return own | {
            "model": f"{fingerprint(self.model)} {self.model.dtype}",
            "base": None if self.base is None else array_identity(self.base),
            "start": None if self.start is None else array_identity(self.start),
        }


def checked_plan(
    model: RBM,
    *,
    path: str,
    base: ArrayLike | None,
    start: ArrayLike | None,
    direction: str,
    schedule: str,
    weights_on: str,
    n_chains: int,
    n_temperatures: int,
    n_gibbs: int | None,
) -> AnnealingPlan:
    """Check all arguments of :func:`log_partition` that say what is computed; fill in defaults."""
    name = checks.choice("path", path, ("auto", *paths.PATHS))
    name = paths.automatic(model) if name == "auto" else name
    if checks.choice("weights_on", weights_on, ("visible", "hidden")) == "hidden":
        if name == "paper":
            raise ValueError("weights_on='hidden' needs path 'quad' or 'quad2', got 'paper'")
    data = None if base is None else model.checked_columns("base", base)
    draws = None if start is None else model.checked_columns("start", start, soft=False)
    if checks.choice("direction", direction, ("forward", "reverse", "both")) == "forward":
        for argument, value in (("start", draws), ("n_gibbs", n_gibbs)):
            if value is not None:
                raise ValueError(
                    f"{argument} is for the reverse chains; pass direction='reverse' or 'both'"
                )
    temperatures = checks.count("n_temperatures", n_temperatures)
    if n_gibbs is None:
        n_gibbs = -(-temperatures // SWEEP_SHARE) if draws is None else 0
    return AnnealingPlan(
        model=model,
        path=name,
        base=data,
        start=draws,
        direction=direction,
        schedule=checks.choice("schedule", schedule, ("uniform", "adaptive")),
        weights_on=weights_on,
        n_chains=checks.count("n_chains", n_chains, least=2),
        n_temperatures=temperatures,
        n_gibbs=checks.count("n_gibbs", n_gibbs, least=0),
    )
