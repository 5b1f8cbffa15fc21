"""The contrastive estimate of a temporal RBM's gradient (mathematics 4.2)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN, ORDER
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.gradients import Centring, weight_gradient
from trug_fast.kernels.rbm.hidden import TRUG
from trug_fast.kernels.tiles import STRIPS, gather
from trug_fast.kernels.trbm.filter import run_backward
from trug_fast.kernels.trbm.frames import add_product, slope_sums
from trug_fast.models.filter import Filtered, TemporalLayers, of_lags
from trug_fast.models.sequences import Batch, Sequences
from trug_fast.training.samplers import SequenceCD
from trug_fast.training.weighing import mean_of

# Their own ranges of step numbers keep these draws apart from those of the sweeps.
STARTS, FILTERS = 1 << 40, 1 << 41


class Draws(NamedTuple):
    """How many sweeps an update takes, and where its random numbers come from."""

    n_gibbs: int
    seed: int
    update: int  # its number
    first_step: int  # of its sweeps


class Offsets(NamedTuple):
    """Offsets of the centred gradient; zeros give the plain one."""

    visible: FloatArray
    hidden: FloatArray


def estimate(
    own: TemporalLayers,
    sequences: Sequences,
    batch: Batch,
    offsets: Offsets,
    sampler: SequenceCD,
    draws: Draws,
    *,
    units: bool = True,
    start: FloatArray | None = None,
    known: Sequences | None = None,
) -> dict[str, Any]:
    """Return the estimated gradient of the log-likelihood per frame, by all parameters.

    Frames of sequences that have weights count by them, on both sides: each has its own chain.

    Matrices lead from past to present, lag below lag, as in TemporalLayers.  The initial biases'
    gradients are per sequence instead: few frames have them, and they would hardly move.

    Parameters
    ----------
    units : bool
        The gradients by the units' own parameters too: a seventh of an update.
    start : ndarray, shape (rows, hidden), optional
        Hidden states from which the chains start; by default draws as ``sampler`` says.
    known : Sequences, optional
        What each frame's past is, of the same lengths; by default the sequences themselves.
    """
    layers = own.layers
    full, draw = sampler.gradient == "full", sampler.gradient == "paper-draws"
    past, address = known or sequences, {"seed": draws.seed, "step": FILTERS + draws.update}
    before = own.filter(past, batch, draw=draw, **address)
    seen = before if known is None else _present(layers, before, sequences, batch)
    mean, variance = before.state, np.empty((0, 0), seen.net.dtype)
    if full or draw or known is not None:
        mean, variance = _moments(layers, seen.net)
    if full and known is not None:
        variance = _moments(layers, before.net)[1]
    hidden = _starts(own, seen, batch.first, sampler, draws) if start is None else start
    units = units and layers.kind == TRUG
    phase = gibbs.Phase.new(np.empty_like(seen.visible), seen.net.shape[1], statistics=units)
    chains = gibbs.Chains(hidden, np.empty_like(seen.visible), phase)
    n_gibbs, seed, _, first_step = draws
    gibbs.model_phase(seen.layers, chains, n_gibbs, False, seed, first_step)
    by_hidden, delta = mean - phase.mean, np.zeros_like(seen.net)
    # Means in place of the last draws: the same on average, with less noise.
    by_visible, weights = seen.visible - chains.visible_mean, _weights_of(sequences, batch)
    model_mean, error = phase.mean, np.zeros_like(delta)
    if weights is not None:
        for rows in (by_visible, by_hidden):
            rows *= weights[:, None]
        mean, model_mean = (rows * weights[:, None] for rows in (mean, model_mean))
    if full:
        back = of_lags(own.hidden_to_hidden, own.n_lags).reshape(-1, delta.shape[1])
        run_backward(np.ascontiguousarray(back), batch.starts, by_hidden, variance, delta, error)
        by_hidden += error
        mean = mean if known is not None else mean + error
    data = gibbs.Phase(seen.visible, seen.net, mean, phase.sums)
    result = _weights(data, phase._replace(mean=model_mean), weights, offsets)
    if full and known is not None:
        _add_of_filter(result, before.visible, error, offsets)
    past_rows = seen.past_visible, seen.past_hidden
    _biases(result, past_rows, by_visible, by_hidden, batch.first, offsets)
    result["hidden_offset"] = mean_of(seen.state, weights)
    if units:
        result |= _units(layers, (seen.net, before.net), delta, phase, weights)
    if layers.visible_kinds.precision.size:
        squares, each = chains.visible_mean**2 - seen.visible**2, 1.0
        if weights is not None:
            squares, each = squares * weights[:, None], weights.mean()
        own_noise = each / layers.visible_kinds.precision
        result["visible_precision"] = 0.5 * (squares.mean(axis=0) + own_noise)
    return result


def _present(
    layers: gibbs.Layers, before: Filtered, sequences: Sequences, batch: Batch
) -> Filtered:
    """Return the frames of some sequences, given a past of other ones."""
    visible, net = np.empty_like(before.visible), before.layers.hidden_bias.copy()
    gather(sequences.frames, batch.rows, visible)
    add_product(False, visible, layers.weights, 1.0, net)
    return before._replace(visible=visible, net=net)


def _moments(layers: gibbs.Layers, net: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean, variance, none = np.empty_like(net), np.empty_like(net), np.empty((0, 0), net.dtype)
    gibbs.moments_from_net(layers, gibbs.Moments(net, mean, variance, none, none))
    return mean, variance


def _add_of_filter(
    result: dict[str, Any], visible: FloatArray, error: FloatArray, offsets: Offsets
) -> None:
    """Add what W1 does to later frames through the filter, where that saw other frames."""
    of_filter = np.multiply.outer(-offsets.visible, error.sum(axis=0) / len(error))
    add_product(True, visible, error, 1.0 / len(error), of_filter)
    result["weights"] += of_filter
    result["hidden_shift"] += offsets.visible @ of_filter
    result["visible_shift"] += of_filter @ offsets.hidden


def _weights_of(sequences: Sequences, batch: Batch) -> FloatArray | None:
    """Return the weights of a batch's frames in the float type of the frames, if there are some."""
    every = sequences.frame_weights()
    return None if every is None else every[batch.rows].astype(sequences.frames.dtype)


def _starts(
    own: TemporalLayers, seen: Filtered, first: int, sampler: SequenceCD, draws: Draws
) -> FloatArray:
    """Draw the hidden states from which chains start: given the data, or the frame before."""
    address = gibbs.Address(draws.seed, HIDDEN, STARTS + draws.update, 0)
    net, hidden = seen.net, np.empty_like(seen.net)
    if sampler.begin != "data":
        past = np.arange(len(net)) >= first
        if sampler.begin == "both":
            counter = (STARTS + draws.update) << 128
            stream = np.random.Philox(key=[draws.seed, ORDER], counter=counter)
            past &= np.random.Generator(stream).random(len(net)) < 0.5
        weights, bias = seen.layers.weights, seen.layers.hidden_bias[past]
        frames = np.ascontiguousarray(seen.past_visible[past[first:], : len(weights)])
        add_product(False, frames, weights, 1.0, bias)
        net = net.copy()
        net[past] = bias
    gibbs.draw_hidden(own.layers, net, address, hidden)
    return hidden


def _weights(
    data: gibbs.Phase, model: gibbs.Phase, weights: FloatArray | None, offsets: Offsets
) -> dict[str, Any]:
    """Return the centred gradient of W1, and what it takes from the biases' gradients.

    The means of both phases are weighted already.
    """
    gradient = np.empty((data.visible.shape[1], data.mean.shape[1]), data.visible.dtype)
    hidden_shift = np.zeros((STRIPS, gradient.shape[1]), gradient.dtype)
    visible_shift = np.zeros(gradient.shape[0], gradient.dtype)
    centring = Centring(
        offsets.visible,
        offsets.hidden,
        _summed(data.visible, weights) - _summed(model.visible, weights),
        data.mean.mean(axis=0) - model.mean.mean(axis=0),
    )
    weight_gradient(data, model, centring, gradient, hidden_shift, visible_shift)
    return {
        "weights": gradient,
        "hidden_shift": hidden_shift.sum(axis=0),
        "visible_shift": visible_shift,
    }


def _summed(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.asarray(rows.mean(axis=0))
    return np.asarray(weights @ rows / len(rows), rows.dtype)


def _biases(
    result: dict[str, Any],
    past: tuple[FloatArray, FloatArray],
    by_visible: FloatArray,
    by_hidden: FloatArray,
    first: int,
    offsets: Offsets,
) -> None:
    """Add the gradients of biases and of what stands for biases given the past."""
    rows = by_visible.shape[0]
    visible_shift, hidden_shift = result.pop("visible_shift"), result.pop("hidden_shift")
    totals = by_visible[first:].sum(axis=0) / rows, by_hidden[first:].sum(axis=0) / rows
    n_lags = past[0].shape[1] // offsets.visible.size
    visible, hidden = (np.tile(offset, n_lags) for offset in offsets)
    for name, source, offset, by, total in (
        ("visible_to_visible", past[0], visible, by_visible, totals[0]),
        ("visible_to_hidden", past[0], visible, by_hidden, totals[1]),
        ("hidden_to_hidden", past[1], hidden, by_hidden, totals[1]),
    ):
        gradient = np.multiply.outer(-offset, total)
        if len(source):
            add_product(True, source, by[first:], 1.0 / rows, gradient)
        result[name] = gradient
    result["hidden_mean"] = by_hidden.mean(axis=0)  # the uncentred gradient by all hidden biases
    from_visible = visible @ result["visible_to_hidden"]
    from_hidden = hidden @ result["hidden_to_hidden"]
    result["visible_bias"] = totals[0] - visible_shift - visible @ result["visible_to_visible"]
    result["hidden_bias"] = totals[1] - hidden_shift - from_visible - from_hidden
    result["initial_visible_bias"] = by_visible[:first].mean(axis=0) - visible_shift
    result["initial_hidden_bias"] = by_hidden[:first].mean(axis=0) - hidden_shift


def _units(
    layers: gibbs.Layers,
    nets: tuple[FloatArray, FloatArray],
    delta: FloatArray,
    model: gibbs.Phase,
    weights: FloatArray | None,
) -> dict[str, Any]:
    """Return the gradients by the hidden units' own parameters.

    nets : net inputs given the frames, and those of the filter
    """
    net, of_filter = nets
    slopes = np.zeros((len(model.sums), 6, net.shape[1]))
    slope_sums(layers, of_filter, delta, slopes)
    ours, theirs = slopes.sum(axis=0) / len(net), model.means()
    if net is not of_filter:
        slope_sums(layers, net, delta, slopes)
        ours[:3] = slopes[:, :3].sum(axis=0) / len(net)
    if weights is not None:
        ours[:3] = _weighted_statistics(layers, net, weights)
        theirs[1:] = _weighted_statistics(layers, model.net, weights)
    return {
        "precision": 0.5 * (theirs[1] - ours[0]) + ours[3],
        "lower": theirs[2] - ours[1] + ours[4],
        "upper": ours[2] - theirs[3] + ours[5],
    }


def _weighted_statistics(
    layers: gibbs.Layers, net: FloatArray, weights: FloatArray
) -> NDArray[np.float64]:
    """Return the weighted sums, over the number of rows, of E[h^2] and of both end densities."""
    found = gibbs.Moments(net, *(np.empty_like(net) for _ in range(4)))
    gibbs.moments_from_net(layers, found)
    squares = found.variance + found.mean**2
    each = squares, np.exp(found.log_low), np.exp(found.log_high)
    return np.array([weights.astype(np.float64) @ rows / len(net) for rows in each])
