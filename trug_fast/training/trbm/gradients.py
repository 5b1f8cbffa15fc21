"""The contrastive estimate of a temporal RBM's gradient (math.md 4.2)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN, ORDER
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm import gradients as kernels
from trug_fast.kernels.rbm.hidden import TRUG
from trug_fast.kernels.tiles import STRIPS
from trug_fast.kernels.trbm.filter import run_backward
from trug_fast.kernels.trbm.frames import add_product, slope_sums
from trug_fast.models.filter import Filtered, TemporalLayers
from trug_fast.models.sequences import Batch, Sequences

ChainStart = Literal["data", "past", "both"]

# Their own ranges of step numbers keep these draws apart from those of the sweeps.
STARTS, FILTERS = 1 << 40, 1 << 41


class How(NamedTuple):
    """What kind of estimate, and where its random numbers come from."""

    k: int
    full: bool
    draw: bool
    seed: int
    number: int  # of the update
    first_step: int  # of its sweeps
    chains: ChainStart = "data"
    units: bool = True  # the gradients by the units' own parameters too: a seventh of an update


class Centre(NamedTuple):
    """Offsets of the centred gradient; zeros give the plain one."""

    visible: FloatArray
    hidden: FloatArray


def estimate(
    own: TemporalLayers,
    sequences: Sequences,
    batch: Batch,
    centre: Centre,
    how: How,
    start: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the estimated gradient of the log-likelihood per frame, by all parameters.

    Matrices lead from past to present, as in Parameters.  The initial biases' gradients are per
    sequence instead: few frames have them, and they would hardly move.

    Parameters
    ----------
    start : ndarray, shape (rows, hidden), optional
        Hidden states from which the chains start; by default draws given what ``how`` says.
    """
    layers = own.layers
    seen = own.filter(sequences, batch, draw=how.draw, seed=how.seed, step=FILTERS + how.number)
    mean, variance = seen.state, np.empty((0, 0), seen.net.dtype)
    if how.full or how.draw:
        mean, variance = np.empty_like(seen.net), np.empty_like(seen.net)
        kernels.net_moments(layers, seen.net, mean, variance)
    hidden = _starts(own, seen, batch.first, how) if start is None else start
    visible, visible_mean = np.empty_like(seen.visible), np.empty_like(seen.visible)
    net, model_mean = np.empty_like(seen.net), np.empty_like(seen.net)
    units = how.units and layers.kind == TRUG
    sums = np.zeros((gibbs.tile_count(net.shape[0], 1, 1) if units else 0, 4, net.shape[1]))
    kernels.model_phase(
        seen.layers, own.visible_precision, how.k, how.seed, how.first_step,
        hidden, visible, visible_mean, net, model_mean, sums,
    )  # fmt: skip
    by_hidden, delta = mean - model_mean, np.zeros_like(seen.net)
    if how.full:
        error = np.empty_like(delta)
        back = np.ascontiguousarray(own.hidden_to_hidden.T)
        filtering.run_backward(back, batch.starts, by_hidden, variance, delta, error)
        by_hidden += error
        mean = mean + error
    data, model = learning.Phase(seen.visible, mean), learning.Phase(visible, model_mean)
    result = _weights(data, model, centre)
    # Means in place of the last draws: the same on average, with less noise.
    by_visible = seen.visible - visible_mean
    past = seen.past_visible, seen.past_hidden
    _biases(result, past, by_visible, by_hidden, batch.first, centre)
    result["hidden_offset"] = seen.state.mean(axis=0)
    if units:
        slopes = np.zeros((sums.shape[0], 6, net.shape[1]))
        kernels.slope_sums(layers, seen.net, delta, slopes)
        ours, theirs = slopes.sum(axis=0) / len(net), sums.sum(axis=0) / len(net)
        result["precision"] = 0.5 * (theirs[1] - ours[0]) + ours[3]
        result["lower"] = theirs[2] - ours[1] + ours[4]
        result["upper"] = ours[2] - theirs[3] + ours[5]
    if own.visible_precision.size:
        squares = (visible_mean**2 - seen.visible**2).mean(axis=0)
        result["visible_precision"] = 0.5 * (squares + 1 / own.visible_precision)
    return result


def _starts(own: TemporalLayers, seen: Filtered, first: int, how: How) -> FloatArray:
    """Draw the hidden states from which chains start: given the data, or the frame before."""
    address = gibbs.Address(how.seed, HIDDEN, STARTS + how.number, 0)
    hidden = np.empty_like(seen.net)
    if how.chains == "data":
        gibbs.draw_hidden(own.layers, seen.net, address, hidden)
        return hidden
    visible = seen.visible.copy()
    past = np.arange(len(visible)) >= first
    if how.chains == "both":
        stream = np.random.Philox(key=[how.seed, ORDER], counter=(STARTS + how.number) << 128)
        past &= np.random.Generator(stream).random(len(visible)) < 0.5
    visible[past] = seen.past_visible[past[first:]]
    gibbs.step_hidden(seen.layers, visible, address, np.empty_like(hidden), hidden)
    return hidden


def _weights(data: learning.Phase, model: learning.Phase, centre: Centre) -> dict[str, Any]:
    """Return the centred gradient of W1, and what it takes from the biases' gradients."""
    gradient = np.empty((data.visible.shape[1], data.hidden_mean.shape[1]), data.visible.dtype)
    hidden_shift = np.zeros((learning.TILES, gradient.shape[1]), gradient.dtype)
    visible_shift = np.zeros(gradient.shape[0], gradient.dtype)
    centring = learning.Centring(
        centre.visible,
        centre.hidden,
        data.visible.mean(axis=0) - model.visible.mean(axis=0),
        data.hidden_mean.mean(axis=0) - model.hidden_mean.mean(axis=0),
    )
    learning.weight_gradient(data, model, centring, gradient, hidden_shift, visible_shift)
    return {
        "weights": gradient,
        "hidden_shift": hidden_shift.sum(axis=0),
        "visible_shift": visible_shift,
    }


def _biases(
    result: dict[str, Any],
    past: tuple[FloatArray, FloatArray],
    by_visible: FloatArray,
    by_hidden: FloatArray,
    first: int,
    centre: Centre,
) -> None:
    """Add the gradients of biases and of what stands for biases given the past."""
    rows = by_visible.shape[0]
    visible_shift, hidden_shift = result.pop("visible_shift"), result.pop("hidden_shift")
    totals = by_visible[first:].sum(axis=0) / rows, by_hidden[first:].sum(axis=0) / rows
    for name, source, offset, by, total in (
        ("visible_to_visible", past[0], centre.visible, by_visible, totals[0]),
        ("visible_to_hidden", past[0], centre.visible, by_hidden, totals[1]),
        ("hidden_to_hidden", past[1], centre.hidden, by_hidden, totals[1]),
    ):
        gradient = np.multiply.outer(-offset, total)
        if len(source):
            kernels.product(True, False, source, by[first:], 1.0 / rows, 1.0, gradient)
        result[name] = gradient
    result["hidden_mean"] = by_hidden.mean(axis=0)  # the uncentred gradient by all hidden biases
    from_visible = centre.visible @ result["visible_to_hidden"]
    from_hidden = centre.hidden @ result["hidden_to_hidden"]
    result["visible_bias"] = (
        totals[0] - visible_shift - centre.visible @ result["visible_to_visible"]
    )
    result["hidden_bias"] = totals[1] - hidden_shift - from_visible - from_hidden
    result["initial_visible_bias"] = by_visible[:first].mean(axis=0) - visible_shift
    result["initial_hidden_bias"] = by_hidden[:first].mean(axis=0) - hidden_shift
