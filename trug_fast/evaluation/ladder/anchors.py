"""Moves of the last rung's chains to rows of data, by way of the hidden units (mathematics 3.8).

A chain is offered hidden states h' that were drawn given one of the anchors, rows x_1 .. x_n taken
at random.  With q(h) = mean of p(h|x_i), it takes them where

    log u < log p(h') - log q(h') - (log p(h) - log q(h)),

which leaves the rung's distribution as it is, whatever the anchors are.  If they are data that the
model knows, q is nearly its own distribution of hidden states, and chains go from mode to mode at
once.  With hundreds of hidden units hardly a state fits two rows, and few offers are taken: how
many is seen beforehand, and where it is next to none, offers are rare.  That choice knows nothing
of the chains, so it leaves the distribution as it is, too.

Tested in tests/evaluation/ladder/test_anchors.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import seed_from
from trug_fast.kernels.rbm import gibbs, trajectory
from trug_fast.models.rbm import RBM
from trug_fast.units.layer import Layer

Floats = NDArray[np.float64]

FEW = 0.02  # share of offers taken below which they are rare
RARE = 20  # exchanges for each such offer
TRIED = 20  # offers by which it is judged


class Anchored:
    """Offers to the chains of one rung.

    Parameters
    ----------
    rung : model
    anchors : ndarray, shape (anchors, n_columns)
    chains : int
    seed : int

    Attributes
    ----------
    every : int
        Exchanges for each offer: 1, or RARE where hardly any would be taken.
    """

    def __init__(self, rung: RBM, anchors: FloatArray, chains: int, seed: int) -> None:
        self._layers, self._anchors = rung.layers(), anchors
        self._seed = seed_from(seed, "offers")
        self._units: Layer = rung.visible_units
        self._net = np.empty((len(anchors), rung.n_hidden), anchors.dtype)
        self._norm = np.empty(len(anchors))
        trajectory.quick_log_norms(self._layers, anchors, self._net, self._norm)
        room = np.empty((chains, rung.n_columns), anchors.dtype)
        self._offers = gibbs.Chains.new(room, rung.n_hidden, statistics=False)
        self.every = 1 if self._promise(seed_from(seed, "promise")) >= FEW else RARE

    def _promise(self, seed: int) -> float:
        """Return the share of offers that others would take, each weighed as a draw of the rung.

        Of log ratios r_i this is sum_(i != j) min(w_i, w_j) / ((n - 1) sum_i w_i), w = exp(r).
        """
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
