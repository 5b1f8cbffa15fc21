"""Chains of block Gibbs sampling: where they start, what they hold, and how they run.

Tested in tests/kernels/rbm/test_gibbs.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs

from .two_layers import TwoLayers

STRETCH = 100  # sweeps between two looks at Ctrl-C, and at how busy the computer is


def checked_clamp(model: TwoLayers, clamp: ArrayLike) -> NDArray[np.float64]:
    """Return the clamp as a matrix of one or more rows, NaN where a unit is free."""
    n_visible = model.n_visible
    found = checks.numbers("clamp", model.by_name("clamp", clamp))
    if found.dtype == bool:
        raise TypeError(
            "clamp must hold the values at which units are held, and NaN where they are free, got "
            "truth values; for zeros and ones held everywhere pass clamp.astype(float)"
        )
    array = np.atleast_2d(found.astype(np.float64))
    if array.ndim != 2 or array.shape[1] != n_visible or not len(array):
        raise ValueError(
            f"clamp must have shape ({n_visible},) or (n, {n_visible}), got {np.shape(clamp)}"
        )
    model.visible_units.require_held("clamp", array)
    return array


def starting_rows(
    model: TwoLayers,
    n: int | None,
    start: ArrayLike | None,
    held: NDArray[np.float64] | None,
    seed: int,
) -> NDArray[np.float64]:
    """Return columns of the chains' first states, as many as n, start and clamp agree on."""
    units = model.visible_units
    start = model.by_name("start", start)
    begin = None if start is None else units.checked("start", start, model.n_visible)
    begin = None if begin is None else units.columns(begin)
    counts = {
        name: int(size)
        for name, size in (
            ("n", None if n is None else checks.count("n", n)),
            ("start", None if begin is None else begin.shape[0]),
            ("clamp", None if held is None or held.shape[0] == 1 else held.shape[0]),
        )
        if size is not None
    }
    if len(set(counts.values())) > 1:
        raise ValueError(f"n, start and clamp must agree on the number of chains, got {counts}")
    rows = next(iter(counts.values()), 1)
    if begin is None:
        begin = units.noise(np.random.default_rng(seed), rows, model.column_bias)
    return np.array(begin, dtype=np.float64)


def run(
    model: TwoLayers, begin: FloatArray, held: FloatArray | None, n_gibbs: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return the chains' states after ``n_gibbs`` sweeps and the means they were drawn from.

    All are columns, also those of ``begin`` and of ``held``.
    """
    layers = model.layers()
    visible = np.array(begin, dtype=model.dtype, order="C")
    chains = gibbs.Chains.new(visible, model.n_hidden, statistics=False)
    mean = chains.visible_mean
    size = work(visible.shape[0], model.n_columns, model.n_hidden)
    value = None if held is None else np.broadcast_to(held, visible.shape).astype(model.dtype)
    if value is not None:
        np.copyto(visible, value, where=~np.isnan(value))
    for first in range(0, n_gibbs, STRETCH):
        with computing(size):
            run_held(layers, chains, value, min(STRETCH, n_gibbs - first), seed, first)
    if value is not None:
        np.copyto(mean, value, where=~np.isnan(value))
    return visible, mean


def run_held(
    layers: gibbs.Layers,
    chains: gibbs.Chains,
    value: FloatArray | None,
    n_gibbs: int,
    seed: int,
    first_step: int,
) -> None:
    """Run sweeps that leave visible units where they are held; ``value`` is NaN at free ones."""
    if value is None:
        gibbs.run_chains(layers, chains, n_gibbs, seed, first_step)
        return
    fixed = ~np.isnan(value)
    for step in range(first_step, first_step + n_gibbs):
        gibbs.run_chains(layers, chains, 1, seed, step)
        np.copyto(chains.phase.visible, value, where=fixed)
