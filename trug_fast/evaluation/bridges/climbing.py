"""Chains on all rungs of a ladder: sweeps, exchanges between neighbours, and offers from data.

Tested in tests/evaluation/bridges/test_ladder.py and test_anchors.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs, trajectory
from trug_fast.kernels.rbm.gibbs import Chains, Layers
from trug_fast.models.rbm import RBM, require_rbm

from .paths import hidden_log_z

Floats = NDArray[np.float64]

FEW = 0.02  # share of offers taken below which they are rare
RARE = 20  # exchanges for each such offer
TRIED = 20  # offers by which it is judged


class Gains(NamedTuple):
    """Log p_upper*(x) - log p_lower*(x) of neighbours, each (draws, chains) float64."""

    forward: Floats  # of the lower rung's chains
    reverse: Floats  # of the upper rung's

    @classmethod
    def none(cls, chains: int) -> Gains:
        """Return those of no draws."""
        return cls(np.empty((0, chains)), np.empty((0, chains)))

    def and_then(self, more: Gains, most: int) -> Gains:
        """Return these and more, but only so many of the latest draws."""
        both = (np.concatenate(parts)[-most:] for parts in zip(self, more, strict=True))
        return Gains(*both)

    @property
    def acceptance(self) -> float:
        """Share of exchanges that would be accepted between independent draws."""
        return acceptance(self.forward.ravel(), self.reverse.ravel())


def acceptance(forward: Floats, reverse: Floats) -> float:
    """Return how often an exchange is accepted: the mean of min(1, exp(f - r)) over all pairs.

    forward, reverse : gains at independent draws of the lower and of the upper rung
    """
    low = np.sort(forward)
    below = np.concatenate([[0.0], np.cumsum(np.exp(low - low[-1]))])
    smaller = np.searchsorted(low, reverse)  # so many of ``low`` are below each of ``reverse``
    shares = np.exp(np.minimum(low[-1] - reverse, 700.0)) * below[smaller]
    return float((shares + (low.size - smaller)).mean() / low.size)


def log_density(layers: Layers, energy: Floats, rows: FloatArray) -> Floats:
    """Return log p*(x) of rows, with the hidden layer's product in the layers' float type."""
    linear = rows.astype(np.float64) @ layers.visible_bias[0].astype(np.float64)
    return np.asarray(linear - energy + log_norms(layers, rows))


def log_norms(layers: Layers, rows: FloatArray) -> Floats:
    """Return sum_j L(a_j(x)) of rows, as quickly as exchanges need it."""
    out = np.empty(len(rows))
    net = np.empty((len(rows), layers.weights.shape[1]), rows.dtype)
    trajectory.quick_log_norms(layers, rows, net, out)
    return out


class Anchored:
    """Offers of hidden states of data to the chains of one rung (mathematics 3.8)."""

    def __init__(self, rung: RBM, anchors: FloatArray, chains: int, seed: int) -> None:
        self._layers, self._anchors = rung.layers(), anchors
        self._seed = seed_from(seed, "offers")
        self._units = rung.visible_units
        self._net = np.empty((len(anchors), rung.n_hidden), anchors.dtype)
        self._norm = np.empty(len(anchors))
        trajectory.quick_log_norms(self._layers, anchors, self._net, self._norm)
        room = np.empty((chains, rung.n_columns), anchors.dtype)
        self._offers = gibbs.Chains.new(room, rung.n_hidden, statistics=False)
        # Exchanges for each offer.
        self.every = 1 if self._promise(seed_from(seed, "promise")) >= FEW else RARE

    def _promise(self, seed: int) -> float:
        """Return the share of offers that others would take, each weighed as a draw of the rung."""
        rows = self._anchors[np.arange(TRIED) * len(self._anchors) // TRIED]
        tried = gibbs.Chains.new(rows, self._net.shape[1], statistics=False)
        gibbs.run_chains(self._layers, tried, 1, seed, 0)
        ratio = self._log_ratio(tried.hidden)
        weight = np.exp(ratio - ratio.max())
        taken = np.minimum.outer(weight, weight).sum() - weight.sum()
        return float(taken / ((TRIED - 1) * weight.sum()))

    def _log_ratio(self, hidden: FloatArray) -> Floats:
        """Return log p(h) - log q(h) up to a constant, in which the units' own energy cancels."""
        layers = self._layers
        net = (hidden @ layers.weights.T).astype(np.float64) + layers.visible_bias[0]
        own = (hidden @ layers.hidden_bias[0]).astype(np.float64)
        given = (hidden @ self._net.T).astype(np.float64) - self._norm
        return np.asarray(self._units.log_norm(net) + own - _log_sums(given))

    def move(self, chains: gibbs.Chains, step: int, generator: np.random.Generator) -> None:
        """Make each chain an offer after a sweep, which leaves the h that its x was drawn given."""
        offers, count = self._offers, len(chains.hidden)
        chosen = generator.integers(len(self._anchors), size=count)
        np.take(self._anchors, chosen, axis=0, out=offers.phase.visible)
        gibbs.run_chains(self._layers, offers, 1, self._seed, step)
        gain = self._log_ratio(offers.hidden) - self._log_ratio(chains.hidden)
        taken = np.log(generator.random(count)) < gain
        chains.phase.visible[taken] = offers.phase.visible[taken]


def _log_sums(terms: Floats) -> Floats:
    """Return log sum exp of each row, which it changes."""
    most = terms.max(axis=1)
    terms -= most[:, None]
    np.exp(terms, out=terms)
    return np.asarray(most + np.log(terms.sum(axis=1)))


class Climber:
    """The chains of a ladder: one on each rung for each of so many columns, which are independent.

    visible : (rungs, columns, n_columns), where they are, changed in place
    sweeps : behind them; numbers the steps of their streams
    anchors : rows from which chains on the last rung get offers; there may be none
    """

    def __init__(
        self, rungs: list[RBM], visible: FloatArray, seed: int, sweeps: int, anchors: FloatArray
    ) -> None:
        self.visible, self.seed, self.sweeps = visible, seed, sweeps
        self._rungs = rungs
        self._layers = [rung.layers() for rung in rungs]
        self._seeds = [seed_from(seed, f"rung {k}") for k in range(len(rungs))]
        columns, n_hidden = visible.shape[1], rungs[0].n_hidden
        own = Chains.new(visible[0], n_hidden, statistics=False)  # working arrays of all rungs
        self._chains = [own._replace(phase=own.phase._replace(visible=each)) for each in visible]
        self._work = work(columns, rungs[0].n_columns, n_hidden)
        self._anchored: Anchored | None = None
        if len(anchors):
            with computing(self._work):
                self._anchored = Anchored(rungs[-1], anchors, columns, seed)

    def run(
        self, exchanges: int, n_gibbs: int, lowest: int = 0, top: list[FloatArray] | None = None
    ) -> list[Gains]:
        """Run sweeps and then exchange, so many times; return the gains seen before each.

        lowest : rung below which chains rest
        top : where copies of the last rung's states go, if they are wanted
        """
        pairs = len(self._layers) - 1
        seen: list[tuple[list[Floats], list[Floats]]] = [([], []) for _ in range(pairs)]
        for _ in range(exchanges):
            for k in range(lowest, pairs + 1):
                with computing(self._work):
                    gibbs.run_chains(
                        self._layers[k], self._chains[k], n_gibbs, self._seeds[k], self.sweeps
                    )
            offers = self._anchored  # to the last rung, whose states are still in working arrays
            if offers is not None and self.sweeps // n_gibbs % offers.every == 0:
                with computing(self._work):
                    generator = stream(self.seed, "anchors", self.sweeps)
                    offers.move(self._chains[-1], self.sweeps, generator)
            self.sweeps += n_gibbs
            if top is not None:
                top.append(self.visible[-1].copy())
            found = self._gains(lowest)
            for k, gains in found.items():
                seen[k][0].append(gains.forward)
                seen[k][1].append(gains.reverse)
            self._exchange(found)
        none = Gains.none(self.visible.shape[1])
        return [Gains(np.array(f), np.array(r)) if f else none for f, r in seen]

    def _gains(self, lowest: int) -> dict[int, Gains]:
        """Return the gains of each pair of neighbours, by the lower one."""
        last = len(self._layers) - 1
        units = self._rungs[0].visible_units
        energies = [units.energy(each.astype(np.float64)) for each in self.visible]
        density: dict[tuple[int, int], Floats] = {}
        for k in range(lowest, last + 1):  # the model k, at states of rungs around it
            near = range(max(k - 1, lowest), min(k + 1, last) + 1)
            rows = self.visible[near[0] : near[-1] + 1].reshape(-1, self.visible.shape[2])
            energy = np.concatenate([energies[at] for at in near])
            with computing(3 * self._work):
                found = log_density(self._layers[k], energy, rows)
            density |= zip(((k, at) for at in near), np.split(found, len(near)), strict=True)
        return {
            k: Gains(density[k + 1, k] - density[k, k], density[k + 1, k + 1] - density[k, k + 1])
            for k in range(lowest, last)
        }

    def _exchange(self, found: dict[int, Gains]) -> None:
        """Let neighbours exchange their states: pairs (0, 1), (2, 3), ..., or the others."""
        generator = stream(self.seed, "exchanges", self.sweeps)
        numbers = np.log(generator.random((len(self._layers), self.visible.shape[1])))
        turn = int(generator.integers(2))
        for k, gains in found.items():
            if k % 2 != turn:
                continue
            swapped = numbers[k] < gains.forward - gains.reverse
            low, high = self.visible[k], self.visible[k + 1]
            low[swapped], high[swapped] = high[swapped], low[swapped]


def stream(seed: int, purpose: str, number: int) -> np.random.Generator:
    """Return random numbers that are known by what they are for."""
    key = [seed_from(seed, purpose), number]
    return np.random.Generator(np.random.Philox(key=key))


def along(low: RBM, high: RBM, share: float) -> RBM:
    """Return the model whose parameters have gone this share of the way from one to another."""
    found: dict[str, Any] = {}
    for name in high.names:
        a, b = getattr(low, name), getattr(high, name)
        with np.errstate(invalid="ignore"):  # infinite ends are alike
            found[name] = np.where(a == b, b, a + share * (b - a)).astype(b.dtype)
    return high.remade(found)


def exact_log_z(base: RBM) -> float:
    """Return log Z of a first rung."""
    if base.weights.any():
        raise ValueError("the first rung of a ladder must have no weights")
    layers = base.layers(np.float64)
    return float(base.visible_units.log_norm(layers.visible_bias[0])) + hidden_log_z(layers)


def as_rung(caller: str, model: RBM | None, rungs: Sequence[RBM]) -> RBM:
    """Return a model in the rungs' float type, or the last of them; refuse one of other units."""
    if model is None:
        return rungs[-1]
    first = rungs[0]
    require_rbm(f"{caller}(model)", model)
    for what in ("visible", "n_visible", "n_states", "n_hidden", "runs"):
        wanted, found = getattr(first, what), getattr(model, what)
        if wanted != found:
            raise ValueError(f"model must have {what}={wanted!r} as the ladder, got {found!r}")
    own, other = type(first).__name__, type(model).__name__
    if own != other:
        raise ValueError(f"model must be a {own} as the ladder's, got a {other}")
    if model.visible_precision is not None and not np.array_equal(
        model.visible_precision, np.asarray(first.visible_precision)
    ):
        raise ValueError("model must have the visible_precision of the ladder's models")
    if model.dtype == first.dtype:
        return model
    arrays = model.column_arrays().items()
    return model.remade({name: np.asarray(value, first.dtype) for name, value in arrays})
