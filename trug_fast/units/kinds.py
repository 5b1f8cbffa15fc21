"""Kinds of units: all that is particular to one, a class with a singleton each.

Data have a column for each *site*.  Kernels see *columns*: a categorical site takes one for each of
its states, every other site one.  ``columns`` leads from data to those, ``states`` back; means, net
inputs and biases are of columns.  Compiled code knows a kind by its ``code``.

Tested in tests/units/test_kinds.py, to which a new kind is just added.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, hidden, visible
from trug_fast.kernels.rbm.hidden import HiddenUnits, trug_units

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ends = tuple[float, float]

SMOOTHING = 0.01  # added to pixel means and to their complements before their log-odds
TOGETHER = 2**22  # numbers that are turned into columns at a time
STEPS = 100  # of the search for a net input, more than it ever takes
CLOSE = 1e-10  # of a mean, in standard deviations of its unit


class Run(NamedTuple):
    """Neighbouring sites of one kind.  A site is what data have a column for."""

    kind: str
    sites: int
    states: int = 1  # columns of a site to the kernels, one for each state of a categorical one
    lower: float = -math.inf  # of truncated units; else -inf
    upper: float = math.inf  # of truncated units; else inf

    @property
    def columns(self) -> int:
        """How many columns of the kernels these sites take."""
        return self.sites * self.states


Runs = tuple[Run, ...]


class Own(NamedTuple):
    """The units of a run, as their kind sees them; ends are numbers, or one for each column."""

    run: Run
    precision: Any  # (columns,) float64, before truncation; None of kinds without
    lower: Any
    upper: Any
    sites: slice = slice(None)  # of the whole layer
    columns: slice = slice(None)

    @property
    def kind(self) -> Kind:
        """What kind they are."""
        return kind_named(self.run.kind)


class Kind:
    """One kind of unit: what is true of each, and what its columns do.

    Methods take the units they are about last, as :class:`Own`; rows of net inputs, of means and of
    columns are those of these units alone.
    """

    word: ClassVar[str]
    code: ClassVar[int]  # of visible units, in compiled code
    real: ClassVar[bool] = False  # has a precision, and a density where others have probabilities
    number: ClassVar[int | None] = None  # of states that a site may be in; None: no end of them
    counted: ClassVar[bool] = False  # each run says how many states there are
    cut: ClassVar[bool] = False  # each run says where units end
    soft: ClassVar[bool] = False  # means are data, too
    gaps: ClassVar[bool] = False  # NaN may stand for a missing value
    plain: ClassVar[bool] = False  # a model's parameters tell that units are of this kind
    standardised: ClassVar[bool] = False  # data are to have mean 0 and variance 1
    scale: ClassVar[float] = 1.0  # of the distance of two states, in that of 0 and 1

    @property
    def enumerable(self) -> bool:
        """Whether the states of a site have an end."""
        return self.counted or self.number is not None

    def states_of(self, run: Run) -> int | None:
        """Return how many states a site may be in, None if there is no end of them."""
        return run.states if self.counted else self.number

    def ends(self, run: Run) -> Ends:
        """Return the least and the largest that a unit can be."""
        raise NotImplementedError

    def fits(self, run: Run) -> bool:
        """Tell whether a run has what this kind needs, and nothing else."""
        cut = run.lower < run.upper and math.isfinite(max(run.lower, -run.upper))
        free = run[3:] == (-math.inf, math.inf)
        counted = run.states > 1 if self.counted else run.states == 1
        return run.sites > 0 and counted and (cut if self.cut else free)

    def words(self, own: Own, soft: bool) -> str:
        """Return what data must do, as in "X must be 0 or 1"."""
        raise NotImplementedError

    def are_states(self, x: Array, own: Own, soft: bool) -> Any:
        """Tell which finite numbers are data, means of units if ``soft``."""
        raise NotImplementedError

    def hint(self, X: Array) -> str:
        """Return what to do about data that are none."""
        return ""

    def columns(self, X: Array, own: Own) -> Array:
        """Return what kernels see of data."""
        return X

    def states(self, columns: Array, own: Own) -> Array:
        """Return data that kernels see so."""
        return columns

    def shown(self, mean: Array, own: Own) -> Array:
        """Return means of columns as users see them."""
        return mean

    def numbered(self, numbers: Array, own: Own) -> Array:
        """Return the states of these numbers, from 0, of kinds whose states have an end."""
        return numbers

    def numbers(self, states: Array, own: Own) -> Array:
        """Return the numbers of states."""
        return states

    def one_site(self, numbers: Array, own: Own) -> tuple[Array, Array]:
        """Return the one column of a site that is not 0 at such states, and what is in it."""
        return np.zeros_like(numbers), self.numbered(numbers.astype(np.float64), own)

    def energy(self, X: Floats, own: Own) -> Floats:
        """Return what each row's energy has beside the terms of biases and weights."""
        return np.zeros(len(X))

    def mean(self, net: Floats, own: Own) -> Floats:
        """Return the units' means at their net inputs."""
        raise NotImplementedError

    def variance(self, net: Floats, own: Own) -> Floats:
        """Return the variances of real units at their net inputs; of others 0."""
        return np.zeros_like(net)

    def log_norm(self, net: Floats, own: Own) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        raise NotImplementedError

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        """Return the biases of units with these means, finite ones also at means that have none."""
        raise NotImplementedError

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        """Return columns that know nothing of the weights: each state with equal chance."""
        raise NotImplementedError

    def drawn(self, rng: np.random.Generator, X: Array, own: Own) -> Floats:
        """Return states with these data as means; states stay what they are."""
        return X.astype(np.float64)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        """Return draws of units with these net inputs, in columns."""
        raise NotImplementedError

    def patterns(self, bias: Floats, weights: Floats, own: Own) -> Floats:
        """Return means of units with one hidden unit at 1 or at -1, and with none.

        weights : (hidden, columns)
        """
        return self.mean(one_by_one(bias, weights), own)

    def zero_sum(self, weights: FloatArray, bias: FloatArray, own: Own) -> Any:
        """Make parameters of kinds with a gauge sum to zero over the states of each site, in place.

        Returns what hidden biases are to get for it (mathematics 2.12).
        """
        return 0.0

    def as_hidden(self, own: Own) -> HiddenUnits:
        """Return hidden units of this kind as kernels take them, sharing memory."""
        raise ValueError(f"no hidden units are {self.word}")


class Bernoulli(Kind):
    """Units of 0 and 1; numbers between are taken as probabilities."""

    word, code = "bernoulli", visible.BERNOULLI
    number, soft, gaps, plain = 2, True, True, True

    def ends(self, run: Run) -> Ends:
        """Return 0 and 1."""
        return 0.0, 1.0

    def words(self, own: Own, soft: bool) -> str:
        return "lie in [0, 1]" if soft else "be 0 or 1"

    def are_states(self, x: Array, own: Own, soft: bool) -> Array:
        return np.asarray((x >= 0) & (x <= 1) if soft else (x == 0) | (x == 1))

    def hint(self, X: Array) -> str:
        if np.nanmin(X) < 0 or np.nanmax(X) > 1:
            return (
                " (grey levels need datasets.binarize, real numbers visible='gaussian' in "
                "training, visible_precision in a model)"
            )
        return " (binarize the data, or take BernoulliUnits(soft=True) for values in [0, 1])"

    def mean(self, net: Floats, own: Own) -> Floats:
        return np.asarray(np.exp(-np.logaddexp(0.0, -net)))

    def log_norm(self, net: Floats, own: Own) -> Floats:
        return np.asarray(np.logaddexp(0.0, net).sum(axis=-1))

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        return np.asarray(np.log((mean + SMOOTHING) / (1 - mean + SMOOTHING)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        return rng.integers(0, 2, (rows, bias.size)).astype(np.float64)

    def drawn(self, rng: np.random.Generator, X: Array, own: Own) -> Floats:
        return (rng.random(X.shape) < X).astype(np.float64)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        return (rng.random((rows, bias.size)) < self.mean(bias, own)).astype(np.float64)

    def patterns(self, bias: Floats, weights: Floats, own: Own) -> Floats:
        """Return all units off, all on, and those that each hidden unit wants on, or off."""
        ends = np.array([[0.0], [1.0]]) * np.ones(bias.size)
        return np.concatenate([ends, weights > 0, weights < 0])

    def as_hidden(self, own: Own) -> HiddenUnits:
        unused = np.ones(own.run.sites) if own.precision is None else own.precision
        return HiddenUnits(hidden.BERNOULLI, unused, unused, unused, 0)


class Spin(Kind):
    """Units of -1 and 1."""

    word, code = "spin", visible.SPIN
    number, scale = 2, 2.0

    def ends(self, run: Run) -> Ends:
        """Return -1 and 1."""
        return -1.0, 1.0

    def words(self, own: Own, soft: bool) -> str:
        return "be -1 or 1"

    def are_states(self, x: Array, own: Own, soft: bool) -> Array:
        return np.asarray((x == -1) | (x == 1))

    def numbered(self, numbers: Array, own: Own) -> Array:
        return 2 * numbers - 1

    def numbers(self, states: Array, own: Own) -> Array:
        return (states + 1) / 2

    def mean(self, net: Floats, own: Own) -> Floats:
        return np.asarray(np.tanh(net))

    def log_norm(self, net: Floats, own: Own) -> Floats:
        return np.asarray(np.logaddexp(net, -net).sum(axis=-1))

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        more = 2 * SMOOTHING
        return np.asarray(0.5 * np.log((1 + mean + more) / (1 - mean + more)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        return rng.integers(0, 2, (rows, bias.size)) * np.float64(2) - 1

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        return np.where(2 * rng.random((rows, bias.size)) - 1 < self.mean(bias, own), 1.0, -1.0)


class Categorical(Kind):
    """Units of several states: of the columns of a site one is 1, all others 0."""

    word, code = "categorical", visible.CATEGORICAL
    counted = True

    def ends(self, run: Run) -> Ends:
        """Return 0 and 1, which columns are."""
        return 0.0, 1.0

    def words(self, own: Own, soft: bool) -> str:
        return f"be a state, a whole number from 0 to {own.run.states - 1}"

    def are_states(self, x: Array, own: Own, soft: bool) -> Array:
        return np.asarray((x >= 0) & (x <= own.run.states - 1) & (x == np.floor(x)))

    def columns(self, X: Array, own: Own) -> Array:
        """Return zeros and a one for each site, bytes; where a site is NaN, its columns are."""
        (rows, sites), states = X.shape, own.run.states
        free = np.isnan(X) if X.dtype.kind == "f" else None
        held = free is not None and bool(free.any())
        result = np.zeros((rows, sites * states), X.dtype if held else np.uint8)
        offsets = np.arange(sites) * states
        step = max(1, TOGETHER // sites)
        for start in range(0, rows, step):
            part = X[start : start + step]
            if held and free is not None:
                part = np.where(free[start : start + step], 0, part)
            at = part.astype(np.int64) + offsets
            np.put_along_axis(result[start : start + step], at, 1, axis=1)
        if held and free is not None:
            result[np.repeat(free, states, axis=1)] = np.nan
        return result

    def states(self, columns: Array, own: Own) -> Array:
        """Return the states of the sites, int64."""
        return np.asarray(self.shown(columns, own).argmax(axis=-1))

    def shown(self, mean: Array, own: Own) -> Array:
        """Return the probabilities of states, (..., sites, states)."""
        return mean.reshape(*mean.shape[:-1], own.run.sites, own.run.states)

    def one_site(self, numbers: Array, own: Own) -> tuple[Array, Array]:
        return numbers, np.ones(numbers.shape)

    def mean(self, net: Floats, own: Own) -> Floats:
        """Return the probabilities of states at their net inputs."""
        each = self.shown(net, own)
        share = np.exp(each - each.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        return np.asarray(share.reshape(net.shape))

    def log_norm(self, net: Floats, own: Own) -> Floats:
        each = self.shown(net, own)
        most = each.max(axis=-1)
        rest = np.log(np.exp(each - most[..., None]).sum(axis=-1))
        return np.asarray((most + rest).sum(axis=-1))

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        """Return them; of two states they differ by as much as that of a unit of 0 and 1 says."""
        logs = self.shown(np.log(mean + 2 * SMOOTHING / own.run.states), own)
        return np.asarray((logs - logs.mean(axis=-1, keepdims=True)).reshape(mean.shape))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        states = rng.integers(0, own.run.states, (rows, own.run.sites))
        return self.columns(states, own).astype(np.float64)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        below = self.shown(self.mean(bias, own), own).cumsum(axis=-1)[:, :-1]
        draws = rng.random((rows, own.run.sites, 1))
        return self.columns((draws >= below).sum(axis=-1), own).astype(np.float64)

    def zero_sum(self, weights: FloatArray, bias: FloatArray, own: Own) -> Any:
        part = weights.reshape(own.run.sites, own.run.states, -1)
        mean = part.mean(axis=1, dtype=np.float64)
        part -= mean[:, None].astype(part.dtype)
        of_sites = bias.reshape(own.run.sites, own.run.states)
        middle = of_sites.mean(axis=1, keepdims=True, dtype=np.float64)
        of_sites -= middle.astype(bias.dtype)
        return mean.sum(axis=0)


class Gaussian(Kind):
    """Real numbers; given the other layer, of variance 1 / precision (mathematics 4.1)."""

    word, code = "gaussian", visible.GAUSSIAN
    real, soft, gaps, plain, standardised = True, True, True, True, True

    def ends(self, run: Run) -> Ends:
        """Return infinities."""
        return -math.inf, math.inf

    def are_states(self, x: Array, own: Own, soft: bool) -> Any:
        return True

    def energy(self, X: Floats, own: Own) -> Floats:
        """Return x'diag(a)x / 2 of each row."""
        return np.asarray(0.5 * (X * X) @ own.precision)

    def mean(self, net: Floats, own: Own) -> Floats:
        return np.asarray(net / own.precision)

    def variance(self, net: Floats, own: Own) -> Floats:
        return np.broadcast_to(1 / own.precision, net.shape)

    def log_norm(self, net: Floats, own: Own) -> Floats:
        each = np.log(2 * np.pi / own.precision) + net * net / own.precision
        return np.asarray(0.5 * each.sum(axis=-1))

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        return np.asarray((mean * own.precision).astype(mean.dtype))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        """Return draws of the units without the other layer, N(b / a, 1 / a)."""
        spread = rng.normal(size=(rows, bias.size)) / np.sqrt(own.precision)
        return np.asarray(bias / own.precision + spread)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        spread = rng.standard_normal((rows, bias.size)) / np.sqrt(own.precision)
        return np.asarray(self.mean(bias, own) + spread)


class Truncated(Gaussian):
    """Real numbers in an interval, truncated normals given the other layer (mathematics 2.11).

    Hidden TruG units are these, and all that they need of kernels is what visible ones take.
    """

    word, code = "truncated", visible.TRUNCATED
    cut, plain, standardised = True, False, False

    def ends(self, run: Run) -> Ends:
        """Return those of the run."""
        return run.lower, run.upper

    def words(self, own: Own, soft: bool) -> str:
        return f"be in {interval_of(own.run)}"

    def are_states(self, x: Array, own: Own, soft: bool) -> Any:
        # As float32 has them: models may be of that, and what they draw may end there.
        near, low, high = x.astype(np.float32), np.float32(own.lower), np.float32(own.upper)
        return np.asarray((near >= low) & (near <= high) & (abs(x) < np.inf))

    def mean(self, net: Floats, own: Own) -> Floats:
        return self._moments(net, own).mean

    def variance(self, net: Floats, own: Own) -> Floats:
        return self._moments(net, own).variance

    def log_norm(self, net: Floats, own: Own) -> Floats:
        rows = np.ascontiguousarray(np.atleast_2d(net), np.float64)
        with computing(work(len(rows), rows.shape[1], rows.shape[1])):
            found = log_norms_at(self._alone(own), rows)
        return found.reshape(np.shape(net)[:-1])

    def bias(self, mean: FloatArray, own: Own) -> FloatArray:
        low, high = own.run.lower, own.run.upper
        if math.isfinite(high - low):
            inwards = SMOOTHING * (high - low)
            wanted = low + (mean.astype(np.float64) - low + inwards) / (1 + 2 * SMOOTHING)
        else:
            room = SMOOTHING / np.sqrt(own.precision)
            wanted = np.clip(mean.astype(np.float64), low + room, high - room)
        return self._net_of(wanted, own).astype(mean.dtype)

    def _net_of(self, mean: Floats, own: Own) -> Floats:
        """Return the net inputs at which units inside their interval have these means.

        By Newton's steps, where they stay between bounds: away from an end a unit's mean is less
        than an exponential's, 1 over its steepness.
        """
        least, most = mean * own.precision, mean * own.precision
        if math.isfinite(own.lower):
            least = own.lower * own.precision - 1 / (mean - own.lower)
        if math.isfinite(own.upper):
            most = own.upper * own.precision + 1 / (own.upper - mean)
        net = np.clip(mean * own.precision, least, most)
        for _ in range(STEPS):
            found = self._moments(net, own)
            gap = mean - found.mean
            if (abs(gap) <= CLOSE * np.sqrt(found.variance)).all():
                break
            least, most = np.where(gap > 0, net, least), np.where(gap < 0, net, most)
            with np.errstate(all="ignore"):
                step = net + gap / found.variance
            inside = (step > least) & (step < most)
            net = np.where(gap == 0, net, np.where(inside, step, 0.5 * (least + most)))
        return np.asarray(net)

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray, own: Own) -> Floats:
        """Return draws of the units without the other layer."""
        return self.independent(rng, rows, bias.astype(np.float64), own)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats, own: Own) -> Floats:
        net, drawn = np.empty((rows, bias.size)), np.empty((rows, bias.size))
        net[:] = bias
        address = gibbs.Address(int(rng.integers(2**63)), HIDDEN, 0, 0)
        with computing(work(rows, bias.size, bias.size)):
            gibbs.draw_hidden(self._alone(own), net, address, drawn)
        return drawn

    def as_hidden(self, own: Own) -> HiddenUnits:
        found: HiddenUnits = trug_units(own.precision, own.lower, own.upper)
        return found

    def _alone(self, own: Own) -> gibbs.Layers:
        """Return the units as hidden ones, whose net inputs are given."""
        sites = own.run.sites
        low, high = (np.full(sites, end) for end in (own.lower, own.upper))
        units = self.as_hidden(Own(own.run, own.precision, low, high))
        return hidden_alone(np.zeros((1, sites)), np.zeros(sites), units)

    def _moments(self, net: Floats, own: Own) -> gibbs.Moments:
        """Return the moments of units at these net inputs, of any shape (..., sites)."""
        rows = np.ascontiguousarray(np.atleast_2d(net), np.float64)
        mean, variance, none = np.empty_like(rows), np.empty_like(rows), np.empty((0, 0))
        found = gibbs.Moments(rows, mean, variance, none, none)
        with computing(work(len(rows), 1, rows.shape[1])):
            gibbs.moments_from_net(self._alone(own), found)
        mean, variance = mean.reshape(np.shape(net)), variance.reshape(np.shape(net))
        return gibbs.Moments(net, mean, variance, none, none)


BERNOULLI, SPIN, CATEGORICAL = Bernoulli(), Spin(), Categorical()
GAUSSIAN, TRUNCATED = Gaussian(), Truncated()
KINDS = {kind.word: kind for kind in (BERNOULLI, SPIN, CATEGORICAL, GAUSSIAN, TRUNCATED)}


def kind_named(word: str) -> Kind:
    """Return the kind of this word."""
    if word not in KINDS:
        raise ValueError(f"a kind of units must be one of {', '.join(KINDS)}, got {word!r}")
    return KINDS[word]


def interval_of(run: Run) -> str:
    """Return an interval in words."""
    left = "(" if math.isinf(run.lower) else "["
    return f"{left}{run.lower:g}, {run.upper:g}{')' if math.isinf(run.upper) else ']'}"


def one_by_one(bias: Floats, weights: Floats) -> Floats:
    """Return net inputs with one hidden unit at 1 or at -1, and with none."""
    return np.concatenate([bias[None], bias + weights, bias - weights])


def hidden_alone(weights: FloatArray, bias: FloatArray, units: HiddenUnits) -> gibbs.Layers:
    """Return hidden units as layers for their moments and draws; of weights (inputs, hidden)."""
    inputs, dtype = len(weights), weights.dtype
    return gibbs.Layers(
        read_only(np.ascontiguousarray(weights)),
        np.zeros((1, inputs), dtype),
        bias[None],
        *units,
        visible.one_kind(inputs, np.empty(0, dtype)),
    )


def log_norms(layers: gibbs.Layers, rows: Floats) -> Floats:
    """Return the sum over hidden units of L at their net inputs (mathematics 2.1), for each row.

    Of layers in float64; BLAS must be held to one thread.
    """
    return np.asarray(gibbs.log_norm_parts(layers, rows).sum(axis=1))


def log_norms_at(layers: gibbs.Layers, net: Floats) -> Floats:
    """Return the same at net inputs of the hidden units, (rows, hidden)."""
    units = net.shape[1]
    same = layers._replace(weights=read_only(np.eye(units)), hidden_bias=np.zeros((1, units)))
    return log_norms(same, net)
