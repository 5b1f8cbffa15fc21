"""The ladder of models that a training by trajectory tempering leaves behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, files
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.models.rbm import RBM, BernoulliRBM, TruGRBM
from trug_fast.units.layer import IN_FILES, from_file, to_file

from . import mean_field
from .climbing import Climber, Gains, acceptance, along, as_rung, exact_log_z, log_density, stream
from .judgement import LogPartition, broken, fingerprint, impossible, tell
from .weights import Step, between, standard_error

Floats = NDArray[np.float64]

SWEEPS = 2  # of Gibbs sampling before each exchange
SETTLE = 10  # exchanges of a new rung with those below it before its draws count
WAIT = 30  # exchanges of all rungs for each new one, and as many more, before draws count
HOP = 1.3  # spread of the gain that a new rung should have: an acceptance of about 0.35
STRIDE = 1.2  # a model is reached at once from so many times that
NEIGHBOURS = 0.2  # least acceptance between two rungs, else the way to the upper one is halved
DEEPEST = 10  # times
BESIDE = ("chains", "anchors", "draws", "forward", "reverse", "place")  # the rungs, in files
MOST = 400  # draws of each pair of rungs that are kept


class Ladder:
    """Models from one without weights, whose log Z is exact, each near the one before.

    What :func:`train_rbm` leaves behind with ``sampler=TrajectoryTempering()``.  Chains on all
    rungs exchange their states, so that those on the last one come from everywhere; Bennett's
    acceptance ratio between neighbours leads from the exact log Z to that of each rung
    (mathematics 3.8).

    Rows of the training data, up to 500 of them, lie with it, in its file too: chains on the last
    rung are offered hidden states that were drawn given one of these.

    Attributes
    ----------
    models : tuple of TruGRBM or BernoulliRBM
        The rungs, first the one without weights.
    log_z : ndarray, shape (rungs,), float64
        Log Z of each rung.
    std_error : ndarray, shape (rungs,), float64
        Their standard errors, from the spread of independent columns of chains; that of the first
        is 0.  They see only modes that some chain has visited.
    acceptance : ndarray, shape (rungs - 1,), float64
        Of exchanges between neighbours: near 0 the ladder is broken there.
    n_chains : int
        Independent columns of chains.

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold")
    >>> fit = tf.train_rbm(digits.train, 10, epochs=10, sampler="ptt", rng=0)
    >>> estimate = fit.ladder.log_partition(fit.model, rng=0)
    >>> estimate.std_error < 0.1
    True
    """

    def __init__(
        self, base: RBM, n_chains: int, seed: int, anchors: FloatArray | None = None
    ) -> None:
        self._rungs, self._seed, self._sweeps = [base], seed, 0
        self._anchors = np.empty((0, base.n_columns), base.dtype) if anchors is None else anchors
        self._gains: list[Gains] = []
        self._start = exact_log_z(base)
        bias = np.float64(1) * base.column_bias
        self._visible = np.empty((1, n_chains, base.n_columns), base.dtype)
        drawn = base.visible_units.independent(stream(seed, "first rung", 0), n_chains, bias)
        self._visible[0] = drawn.astype(base.dtype)
        self._steps: list[Step] | None = None

    @property
    def models(self) -> tuple[RBM, ...]:
        """The rungs, first the one without weights."""
        return tuple(self._rungs)

    @property
    def n_chains(self) -> int:
        """Independent columns of chains."""
        return int(self._visible.shape[1])

    @property
    def log_z(self) -> Floats:
        """Log Z of each rung."""
        return self._start + np.cumsum([0.0, *(step.log_ratio for step in self._found())])

    @property
    def shares(self) -> Floats:
        """What each column adds to the error of each rung's log Z, (rungs, columns)."""
        none = np.zeros(self.n_chains)
        return np.cumsum([none, *(step.shares for step in self._found())], axis=0)

    @property
    def std_error(self) -> Floats:
        """Standard error of each rung's log Z."""
        return np.array([standard_error(shares) for shares in self.shares])

    @property
    def acceptance(self) -> Floats:
        """Share of exchanges accepted between neighbours."""
        return np.array([gains.acceptance for gains in self._gains])

    @property
    def overlap(self) -> float:
        """The least overlap of neighbours, from 0 to 1."""
        return min((step.overlap for step in self._found()), default=1.0)

    def __len__(self) -> int:
        """Return the number of rungs."""
        return len(self._rungs)

    def __eq__(self, other: object) -> bool:
        """Tell whether two ladders agree in every number."""
        if not isinstance(other, Ladder):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        same = map(np.array_equal, mine.values(), theirs.values())
        return mine.keys() == theirs.keys() and all(same)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return what is known of the last rung."""
        return (
            f"Ladder({len(self)} rungs, n_chains={self.n_chains}, "
            f"log_z={self.log_z[-1]:.3f} +- {self.std_error[-1]:.2g} of the last)"
        )

    def log_partition(
        self, model: RBM | None = None, *, n_draws: int = 40, rng: RngLike = None
    ) -> LogPartition:
        """Log Z of a model near the last rung, such as the one that training returned.

        A rung is added for the model, and more where it is far away; then all chains move on.
        The ladder stays as it is.

        Parameters
        ----------
        model : TruGRBM or BernoulliRBM, optional
            With as many units as the rungs, of the same kinds; by default the last rung.
        n_draws : int
            Further draws of each chain, two Gibbs sweeps and an exchange apart: time is in
            proportion, and the error to one over its root once there are many.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        LogPartition
            With ``path`` and ``direction`` "ladder", ``log_weights`` by column, whose spread is the
            error; ``ess`` is the number of columns times the least overlap of neighbours.

        Raises
        ------
        TypeError, ValueError
            If the model is of another kind or size, naming the difference.

        Warns
        -----
        PartitionWarning
            If two rungs hardly overlap, or the estimate is below a bound that is certain.
        """
        target = as_rung("Ladder.log_partition", model, self._rungs)
        own = self.towards(target, checks.count("n_draws", n_draws), rng)
        log_z, shares = float(own.log_z[-1]), own.shares[-1]
        points = mean_field.starting_points(target, None, seed_from(0, "mean field"))
        estimate = LogPartition(
            log_z=log_z,
            std_error=standard_error(shares),
            ess=own.overlap * shares.size,
            log_weights=log_z + shares.size * shares,
            path="ladder",
            direction="ladder",
            mean_field=mean_field.bound(target, points),
            temperatures=np.empty(0),
            fingerprint=fingerprint(target),
        )
        reasons = (*impossible(estimate), *broken(own.overlap))
        tell(reasons)
        return replace(estimate, warnings=reasons)

    def sample(
        self, n: int, model: RBM | None = None, *, n_exchanges: int = 40, rng: RngLike = None
    ) -> NDArray[Any]:
        """Draw rows from a model near the last rung, such as the one that training returned.

        Chains come to the model from everywhere, by way of the first rung, whose draws are
        independent: modes that lie apart have the shares that the model gives them, where plain
        chains (:meth:`TruGRBM.sample`) stay in the mode that they fall into.  The ladder itself
        stays as it is.

        Parameters
        ----------
        n : int
            Rows.  Each column of chains gives one, then each another, and so on: rows of one
            column are ``n_exchanges`` apart, and not independent.
        model : TruGRBM or BernoulliRBM, optional
            With as many units as the rungs, of the same kinds; by default the last rung.
        n_exchanges : int
            Exchanges on all rungs, each after two Gibbs sweeps, before each row of a column.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        ndarray, shape (n, n_visible)
            States of the visible units, as of :meth:`TruGRBM.sample`.

        Raises
        ------
        TypeError, ValueError
            If the model is of another kind or size, naming the difference, or a number is not at
            least 1.

        Warns
        -----
        PartitionWarning
            If two rungs hardly overlap: shares of modes are then those of lower rungs.
        """
        count, exchanges = checks.count("n", n), checks.count("n_exchanges", n_exchanges)
        target = as_rung("Ladder.sample", model, self._rungs)
        own = self.towards(target, exchanges, seed_from(rng, "Ladder.sample"))
        draws = [own.run(exchanges)[-1] for _ in range(-(-count // self.n_chains))]
        tell(broken(own.overlap))
        return target.visible_units.states(np.concatenate(draws)[:count])

    def towards(self, model: RBM, draws: int, rng: RngLike) -> Ladder:
        """Return another ladder, whose last rung is this model, after so many further draws."""
        own = self._copy(seed_from(rng, "Ladder.log_partition"))
        if fingerprint(model) != fingerprint(own._rungs[-1]):
            own.reach(model)
        own.run(draws)
        return own

    def first(self, count: int) -> Ladder:
        """Return another ladder of the first rungs only."""
        return self._copy(self._seed, self._sweeps)._keep(count)

    def reach(self, model: RBM) -> None:
        """Add a rung for a model, and more on the way where it is far away.

        What lies beyond the rung that is nearest to it is left: a way round that training took.
        """
        nearest = np.argmin([self._spread(model, k) for k in range(len(self))])
        self._keep(int(nearest) + 1)
        before = len(self)
        share, tries = 1.0, 0
        while True:
            share = min(share, HOP / max(self._spread(model, -1), 1e-9))
            last = share >= 1.0 / STRIDE  # so short a way is not worth two
            target = model if last else along(self._rungs[-1], model, share)
            if self._step_to(target) >= NEIGHBOURS or tries >= DEEPEST:
                self._gains.append(Gains.none(self.n_chains))
                share, tries = 1.0, 0
                if last:
                    self._run(WAIT * (1 + len(self) - before))
                    return
                continue
            self._rungs.pop()
            self._visible = self._visible[:-1].copy()
            share, tries = min(share, 1.0) / 2, tries + 1

    def _spread(self, model: RBM, k: int) -> float:
        """Return how far a model is from a rung: the spread of its gain over that one's chains."""
        rung, rows = self._rungs[k], self._visible[k]
        energy = model.visible_units.energy(rows.astype(np.float64))
        with computing(work(len(rows), rung.n_columns, rung.n_hidden)):
            gain = log_density(model.layers(), energy, rows)
            gain -= log_density(rung.layers(), energy, rows)
        return float(gain.std())

    def _keep(self, count: int) -> Ladder:
        """Leave all rungs but the first ones; return itself."""
        self._rungs, self._gains = self._rungs[:count], self._gains[: count - 1]
        self._visible, self._steps = self._visible[:count].copy(), None
        return self

    def _step_to(self, model: RBM) -> float:
        """Add a rung whose chains begin at those of the last; return the acceptance between."""
        self._rungs.append(model)
        self._visible = np.concatenate([self._visible, self._visible[-1:]])
        gains = self._run(SETTLE, lowest=max(0, len(self) - 3))[-1]
        return acceptance(*(part[SETTLE // 2 :].ravel() for part in gains))

    def run(self, draws: int) -> FloatArray:
        """Move all chains on; return the draws of the last rung, (draws, columns, n_visible)."""
        top: list[FloatArray] = []
        found = self._run(draws, top=top)
        self._gains = [
            kept.and_then(more, MOST) for kept, more in zip(self._gains, found, strict=True)
        ]
        self._steps = None
        return np.array(top)

    def _run(
        self, exchanges: int, lowest: int = 0, top: list[FloatArray] | None = None
    ) -> list[Gains]:
        climber = Climber(self._rungs, self._visible, self._seed, self._sweeps, self._anchors)
        found = climber.run(exchanges, SWEEPS, lowest, top)
        self._sweeps = climber.sweeps
        return found

    def _found(self) -> list[Step]:
        """Return the steps from rung to rung."""
        if self._steps is None or len(self._steps) < len(self._gains):
            self._steps = [between(*gains) for gains in self._gains]
        return self._steps

    def _copy(self, seed: int, sweeps: int = 0) -> Ladder:
        other = object.__new__(Ladder)
        vars(other).update(vars(self), _seed=seed, _sweeps=sweeps, _visible=self._visible.copy())
        other._rungs, other._gains = list(self._rungs), list(self._gains)
        return other

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays by their names."""
        found = {
            name: np.array([getattr(rung, name) for rung in self._rungs])
            for name in self._rungs[0].names
        } | to_file(self._rungs[0].runs)
        sizes = [len(gains.forward) for gains in self._gains]
        none = Gains.none(self.n_chains)
        return found | {
            "chains": self._visible,
            "anchors": self._anchors,
            "draws": np.array(sizes, np.int64),
            "forward": np.concatenate([none.forward, *(g.forward for g in self._gains)]),
            "reverse": np.concatenate([none.reverse, *(g.reverse for g in self._gains)]),
            "place": np.array([self._seed, self._sweeps], np.int64),
        }

    @classmethod
    def of_arrays(cls, found: dict[str, NDArray[Any]]) -> Ladder:
        """Return the ladder of such arrays; raises ValueError if they are those of none."""
        kind = TruGRBM if "lower" in found else BernoulliRBM
        lacking = {*kind.names, *BESIDE} - found.keys()
        if lacking == {"anchors"}:
            raise files.FormerLayoutError("its ladder keeps no rows of the data; train it anew")
        if lacking:
            raise ValueError(f"a ladder lacks {', '.join(sorted(lacking))}")
        ladder = object.__new__(cls)
        count, draws = len(found["weights"]), found["draws"]
        names = [*kind.names, *(["visible_precision"] if "visible_precision" in found else [])]
        runs = from_file({name: found[name] for name in IN_FILES if name in found})
        rungs: list[RBM] = [
            kind(**{name: found[name][k] for name in names}, visible=runs) for k in range(count)
        ]
        chains, anchors, place = found["chains"], found["anchors"], found["place"]
        columns = chains.shape[1] if chains.ndim == 3 else 0
        shape = int(draws.sum()), columns
        sound = chains.shape == (count, columns, rungs[0].n_columns)
        sound &= anchors.shape[1:] == chains.shape[2:] and anchors.dtype == chains.dtype
        sound = bool(sound and np.isfinite(anchors).all())
        sound &= chains.dtype == rungs[0].dtype and draws.shape == (count - 1,) and columns > 1
        sound &= found["forward"].shape == found["reverse"].shape == shape
        sound = sound and place.shape == (2,) and bool((place >= 0).all() and (draws >= 0).all())
        if not sound:
            raise ValueError("the arrays of a ladder do not fit together")
        ends, sides = np.cumsum(draws)[:-1], ("forward", "reverse")
        parts = (np.split(found[side], ends) if count > 1 else [] for side in sides)
        ladder._rungs, ladder._visible, ladder._anchors = rungs, chains.copy(), anchors.copy()
        ladder._gains = list(map(Gains, *parts))
        ladder._seed, ladder._sweeps = (int(number) for number in place)
        ladder._start, ladder._steps = exact_log_z(rungs[0]), None
        return ladder

    def require_like(self, other: Ladder) -> None:
        """Refuse to stand for a ladder of other models, columns or random numbers."""
        for rung in (self._rungs[0], self._rungs[-1]):
            as_rung("Ladder", rung, other._rungs)
        mine = self.n_chains, self._seed, self._rungs[0].dtype
        if mine != (other.n_chains, other._seed, other._rungs[0].dtype):
            raise ValueError("its ladder is that of another run")

    def save(self, path: str | Path) -> None:
        """Write the ladder to ``path``, an ``.npz`` file that :meth:`load` reads back exactly."""
        files.write(path, "Ladder", self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Ladder:
        """Read a ladder that :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, of a former layout, or holds something else.
        """
        found = files.read(path, "Ladder")
        with files.building_from(path):
            return cls.of_arrays(found)
