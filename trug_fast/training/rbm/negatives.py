"""The model's side of an RBM's gradient: where its chains come from, a class for each sampler.

Tested in tests/kernels/rbm/test_tempering.py, tests/training/rbm/test_train.py and
test_trajectory.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import copy_into
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing, work
from trug_fast.evaluation.bridges.climbing import acceptance, log_density, log_norms, stream
from trug_fast.evaluation.bridges.ladder import Ladder
from trug_fast.evaluation.bridges.weights import beyond, standard_error
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, tempering, trajectory
from trug_fast.kernels.rbm.updates import FROM_DATA, GIVEN, PERSISTENT
from trug_fast.models.rbm import RBM
from trug_fast.training.chunks import LOOKED, RowSource
from trug_fast.training.diagnosis import require_finite, tell
from trug_fast.training.gathering import spaced
from trug_fast.training.learner import Part, Update
from trug_fast.training.rates import Schedule, Time
from trug_fast.training.samplers import CD, PCD, ParallelTempering, TrajectoryTempering

from .parts import Filling

Floats = NDArray[np.float64]

MEMORY = 0.5  # of the running mean of the acceptance, per update
FEW = 0.2  # least effective share of the unseen draws by which log Z is followed
ANCHORS = 500  # rows of data that lie with the ladder
# Rungs, and updates for each of them, below which a run is told so. With 784 pixels and 500 TruG
# units at the default rate they are 3 to 7 updates apart and take 10 to 45 s each; 40 and more in
# runs that get on.
OFTEN, CLOSE = 3, 20
# Rates are divided by this at such a rung, down to LEAST of what they are, and go up again by RISE
# with each update.
BRAKE, RISE, LEAST = 3.0, 1.001, 1 / 256
LADDER = "ladder."  # begins the names of its arrays in a checkpoint


class FromData(Part):
    """Chains that begin at the batch for every update: contrastive divergence.

    Others differ from it in what they override.
    """

    alone = False
    mode = FROM_DATA  # of the kernel
    exchanged = False  # whether states are exchanged after they were drawn: means are not theirs
    turned = False  # chains may be turned over into another phase of the data
    slower = 1.0  # the share of the usual learning rate that is taken
    brake = 1.0  # by which rates are multiplied, as training goes

    def __init__(self, chains: gibbs.Chains, sweeps: Schedule) -> None:
        self.chains, self._sweeps = chains, sweeps

    @classmethod
    def of(cls, learner: Any, base: FloatArray, data: Any) -> FromData:
        """Return the chains of a learner whose visible units alone have the biases ``base``."""
        settings = learner.settings
        visible = np.zeros((settings.n_chains, settings.n_visible), settings.dtype)
        return cls(gibbs.Chains.new(visible, settings.n_hidden), settings.rates["n_gibbs"])

    def n_gibbs(self, time: Time) -> int:
        """Return the Gibbs sweeps of an update."""
        return round(self._sweeps.at(*time))

    def start(self, learner: Any, net: FloatArray) -> None:
        """Begin where the kernel has begun at data, whose net inputs these are."""

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Return the chains for the kernel, which it runs unless that is done here."""
        return self.chains.first(u.size)

    def ladder_of(self, update: int | None) -> Ladder | None:
        """Return the ladder of the run's models up to an update, or of all, if it leaves one."""
        return None

    def grown(self) -> State:
        """Return what later updates depend on beside ``arrays``: of shapes that grow."""
        return {}

    def restore(self, state: State) -> None:
        """Go back to such arrays; raises ValueError if they are those of no such run."""


class Persistent(FromData):
    """Chains that go on from update to update."""

    mode = PERSISTENT
    turned = True

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Return the chains, which the kernel runs."""
        return self.chains

    def arrays(self) -> State:
        return {"chains": self.chains.hidden}


class Tempered(FromData):
    """Persistent chains that exchange their states with replicas at higher temperatures."""

    alone = exchanged = True
    mode = GIVEN

    def __init__(self, replicas: Replicas, sweeps: Schedule) -> None:
        super().__init__(replicas.chains, sweeps)
        self.replicas = replicas

    @classmethod
    def of(cls, learner: Any, base: FloatArray, data: Any) -> Tempered:
        own = learner.settings
        replicas = Replicas(own.sampler.ladder, own.n_chains, base, own.n_hidden)
        return cls(replicas, own.rates["n_gibbs"])

    def start(self, learner: Any, net: FloatArray) -> None:
        with computing(learner.work(len(net))):
            self.replicas.start(learner.core.layers(), net, learner.seed, 0)

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Run sweeps, each with an exchange."""
        sweeps, layers = self.n_gibbs(u.times[0]), learner.core.layers()
        self.replicas.sweep(layers, sweeps, learner.seed, 1 + learner.sweeps)
        return self.chains

    def arrays(self) -> State:
        return {"chains": self.replicas.scaled, "accepted": self.replicas.accepted}

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        swaps = self.replicas.rates(learner.sweeps)
        return {"swap_mean": float(swaps.mean()), "swap_min": float(swaps.min())}


class Replicas:
    """Chains, each with a replica at every inverse temperature; see kernels/rbm/tempering.py."""

    def __init__(
        self, betas: tuple[float, ...], chains: int, base: FloatArray, n_hidden: int
    ) -> None:
        dtype, rows = base.dtype, len(betas) * chains
        self.base = base
        self.states = tempering.ReplicaStates(
            t=np.repeat(np.array(betas), chains).astype(dtype),
            tilt=np.zeros_like(base),
            scaled=np.zeros((rows, n_hidden), dtype),
            visible=np.zeros((rows, base.size), dtype),
            visible_mean=np.zeros((rows, base.size), dtype),
            net=np.zeros((rows, n_hidden), dtype),
            accepted=np.zeros((len(betas) - 1, chains), np.int64),
        )
        self._bias = np.zeros((rows, base.size), dtype)
        phase = gibbs.Phase.new(self.states.visible[-chains:], n_hidden)
        self.chains = gibbs.Chains(self.states.scaled, self.states.visible_mean, phase)

    @property
    def scaled(self) -> FloatArray:
        """The hidden states times t: with ``accepted``, all that an update leaves behind."""
        return self.states.scaled

    @property
    def accepted(self) -> NDArray[np.int64]:
        """How often each pair of neighbours was exchanged, (temperatures - 1, chains)."""
        return self.states.accepted

    def start(self, layers: gibbs.Layers, net: FloatArray, seed: int, step: int) -> None:
        """Draw the hidden states of all replicas given the net inputs of data."""
        self.states.net[:] = np.resize(net, self.states.net.shape)
        tempering.draw_scaled(layers, self.states, gibbs.Address(seed, HIDDEN, step, 0))

    def sweep(self, layers: gibbs.Layers, n_gibbs: int, seed: int, first_step: int) -> gibbs.Phase:
        """Run sweeps with an exchange in each; return the phase of the replicas at t = 1.

        It is that of ``chains``, too, as updates take it.
        """
        bias = layers.visible_bias
        self.states.tilt[:] = bias[0] - self.base
        np.multiply(self.states.t[:, None], self.states.tilt, out=self._bias)
        self._bias += self.base
        tempered = layers._replace(visible_bias=self._bias)
        tempering.sweeps(tempered, self.states, n_gibbs, seed, first_step)
        gibbs.hidden_statistics(layers, self.chains.phase)
        return self.chains.phase

    def rates(self, sweeps: int) -> NDArray[np.float64]:
        """Return the share of exchanges accepted by each pair of neighbours in so many sweeps."""
        offered: NDArray[Any] = np.maximum(1, (sweeps + np.arange(len(self.accepted)) % 2) // 2)
        rates: NDArray[np.float64] = self.accepted.mean(axis=1) / offered
        return rates


class LogZ(NamedTuple):
    """Log Z of a model beside the run, and its standard error."""

    log_z: float
    std_error: float


class Trajectory(Persistent):
    """Chains that exchange their states with draws of the last rung, and freeze new rungs.

    Half of the ladder's columns give the draws that chains exchange with, from which the model
    learns; the other half are draws that it never sees, by which log Z is followed beyond the last
    rung.
    """

    alone = True
    mode = GIVEN
    turned = False
    slower = 0.25  # rungs cost time, and chains must follow the model

    @classmethod
    def check(cls, settings: Any) -> None:
        """Refuse visible precisions that move."""
        if settings.learns_visible_precision:
            raise ValueError(
                "visible: learn_precision does not go with TrajectoryTempering, whose rungs have "
                "the same visible precisions"
            )

    @classmethod
    def of(cls, learner: Any, base: FloatArray, data: NDArray[Any] | RowSource) -> Trajectory:
        """Return the chains of a learner; the first rung is a model without weights."""
        core, own = learner.core, learner.settings
        none = {name: np.zeros_like(getattr(core, name)) for name in ("weights", "hidden_bias")}
        first = learner.model(core.parameters() | none | {"visible_bias": base})
        anchors = anchors_of(data, learner.filling, own.dtype)
        sweeps = own.rates["n_gibbs"]
        return cls(own.sampler, sweeps, first, anchors, own.n_chains, learner.seed)

    def __init__(
        self,
        sampler: TrajectoryTempering,
        sweeps: Schedule,
        base: RBM,
        anchors: FloatArray,  # rows of data, from which chains on the last rung get offers
        chains: int,
        seed: int,
    ) -> None:
        visible = np.zeros((chains, base.n_columns), base.dtype)
        super().__init__(gibbs.Chains.new(visible, base.n_hidden), sweeps)
        self._sampler, self._seed = sampler, seed_from(seed, "trajectory")
        self.ladder = Ladder(base, 2 * -(-chains // 2), self._seed, anchors)
        self._halves = [_no_offers(self.chains, (chains + 1) // 2)]
        self._halves.append(_no_offers(self.chains, chains // 2))
        self.recent = np.ones(2)  # running mean of the acceptance, and the share of rates taken
        # Updates at which the last rungs were made.
        self._frozen = np.full(OFTEN, -1, np.int64)
        self._told = np.zeros(1, bool)
        self._made = [0]  # at which update each rung was
        self._work = work(chains, base.n_columns, base.n_hidden)
        self._look(self.ladder.run(self._draws))

    @property
    def _draws(self) -> int:
        """Draws of each column: half of the columns make a reservoir."""
        return 2 * self._sampler.reservoir

    @property
    def acceptance(self) -> float:
        """Share of exchanges accepted, of late."""
        return float(self.recent[0])

    def _look(self, draws: FloatArray) -> None:
        """Take draws of the last rung, (draws, columns, visible)."""
        last = self.ladder.models[-1]
        self._layers = last.layers()
        half = draws.shape[1] // 2
        units = last.visible_units
        self._all = draws
        self._pool = np.ascontiguousarray(draws[:, :half].reshape(-1, draws.shape[2]))
        self._unseen = np.ascontiguousarray(draws[:, half:].reshape(-1, draws.shape[2]))
        self._energy = units.energy(self._unseen.astype(np.float64))
        with computing(self._work):
            self._pool_norm = log_norms(self._layers, self._pool)
            self._unseen_density = log_density(self._layers, self._energy, self._unseen)

    def start(self, learner: Any, net: FloatArray) -> None:
        if learner.settings.from_model:
            self.freeze(learner.seen(), 0)

    def before(self, learner: Any, u: Update) -> None:
        """Make a new rung, or draw from the last one anew, if that is due."""
        if self.due:
            require_finite(learner.learned)  # the loop looks less often
            self.freeze(learner.seen(), learner.updates)
        self.renew(learner.updates)

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        first, sweeps = 1 + learner.sweeps, self.n_gibbs(u.times[0])
        self.exchange(learner.core.layers(), sweeps, learner.seed, first, learner.updates)
        return self.chains

    def exchange(
        self, layers: gibbs.Layers, n_gibbs: int, seed: int, first_step: int, update: int
    ) -> None:
        """Run sweeps and an exchange, in a context for kernels."""
        half = update % 2
        offers, first = self._halves[half], half * self._halves[0].gain.size
        chosen = stream(self._seed, "offers", update).integers(
            len(self._pool), size=len(offers.visible)
        )
        np.take(self._pool, chosen, axis=0, out=offers.visible)
        np.take(self._pool_norm, chosen, out=offers.log_norm)
        trajectory.sweeps_and_exchange(
            layers, self._layers, self.chains, offers, first, n_gibbs, seed, first_step
        )
        self.recent[1] = min(1.0, self.recent[1] * RISE)
        rate = acceptance(offers.own_gain, offers.gain)
        self.recent[0] = MEMORY * self.recent[0] + (1 - MEMORY) * rate

    @property
    def due(self) -> bool:
        """Whether the model has come far enough from the last rung for a new one.

        To wait longer loses modes: chains that find nothing to exchange with are those of plain
        persistent contrastive divergence.
        """
        return self.acceptance < self._sampler.freeze

    @property
    def brake(self) -> float:  # type: ignore[override]
        """By what rates are multiplied, for chains to follow the model."""
        return float(self.recent[1])

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        return {"swap_mean": self.acceptance, "rungs": float(len(self.ladder))}

    def freeze(self, model: RBM, update: int) -> None:
        """Make the present model a rung, and draw from it.

        Warns
        -----
        TrainingWarning
            Once in a run whose rungs follow each other so closely that it stands still.
        """
        before = self.ladder.models
        self.ladder.reach(model)
        if update - self._frozen[-1] < CLOSE and self._frozen[-1] >= 0:
            self.recent[1] = max(self.recent[1] / BRAKE, LEAST)
        after = self.ladder.models
        kept = sum(old is new for old, new in zip(before, after, strict=False))
        self._made[kept:] = [update] * (len(after) - kept)
        self._look(self.ladder.run(self._draws))
        self.recent[0] = 1.0
        self._frozen[:] = *self._frozen[1:], update
        apart = (update - self._frozen[0]) / (OFTEN - 1)
        if self._frozen[0] >= 0 and apart < CLOSE and not self._told[0]:
            self._told[0] = True
            said = (
                f"a new rung was due every {apart:.0f} updates of late, and most of the time goes "
                "into rungs: the model moves too far in each update for TrajectoryTempering; take "
                "a lower learning_rate, such as a fifth of it, or larger batches"
            )
            tell(said, stacklevel=2)

    def ladder_of(self, update: int | None) -> Ladder:
        if update is None:
            return self.ladder
        return self.ladder.first(sum(made <= update for made in self._made))

    def renew(self, update: int) -> None:
        """Draw from the last rung anew if it is time, so that their error is not learned for good.

        Draws of one column are not independent: shares of modes among them are off by as much as
        those of one or two draws a column.
        """
        if update and update % (self._sampler.renew * len(self.ladder)) == 0:
            self._look(self.ladder.run(self._draws))

    def log_partition(self, model: RBM) -> LogZ:
        """Return log Z of a model near the last rung, by draws that training has not seen."""
        with computing(self._work):
            density = log_density(model.layers(), self._energy, self._unseen)
        columns = self.ladder.n_chains
        gain = (density - self._unseen_density).reshape(-1, columns - columns // 2)
        step = beyond(gain)
        if step.overlap < FEW:  # too far away
            ladder = self.ladder.towards(model, self._draws, self._seed)
            return LogZ(float(ladder.log_z[-1]), float(ladder.std_error[-1]))
        shares = self.ladder.shares[-1]
        shares[columns // 2 :] += step.shares
        return LogZ(float(self.ladder.log_z[-1]) + step.log_ratio, standard_error(shares))

    def arrays(self) -> State:
        return super().arrays() | {"acceptance": self.recent}

    def grown(self) -> State:
        """Return what freezing leaves behind, by names of its own: more with every rung."""
        own = {"reservoir": self._all, "frozen": self._frozen.copy(), "told": self._told.copy()}
        own["made"] = np.array(self._made, np.int64)
        return {LADDER + name: array for name, array in (self.ladder.arrays() | own).items()}

    def restore(self, state: State) -> None:
        found = {k.removeprefix(LADDER): v for k, v in state.items() if k.startswith(LADDER)}
        draws = np.empty_like(self._all)
        copy_into({"reservoir": draws, "frozen": self._frozen, "told": self._told}, found)
        ladder = Ladder.of_arrays(found)
        ladder.require_like(self.ladder)
        made = np.zeros(len(ladder), np.int64)
        copy_into({"made": made}, found)
        self.ladder, self._made = ladder, made.tolist()
        self._look(draws)


def anchors_of(data: NDArray[Any] | RowSource, filling: Filling, dtype: Any) -> FloatArray:
    """Return rows of the data for the ladder, with means in place of what is missing."""
    rows = data.spaced if isinstance(data, RowSource) else data[spaced(len(data), LOOKED)]
    rows = rows[spaced(len(rows), ANCHORS)]
    return np.ascontiguousarray(filling.by_means(rows), dtype)


def _no_offers(chains: gibbs.Chains, count: int) -> trajectory.Offers:
    visible, net = chains.phase.visible[:count], chains.phase.net[:count]
    return trajectory.Offers(
        visible=np.zeros_like(visible),
        log_norm=np.zeros(count),
        net=np.zeros_like(net),
        last_net=np.zeros_like(net),
        gain=np.zeros(count),
        own_gain=np.zeros(count),
    )


NEGATIVES: dict[type, type[FromData]] = {
    CD: FromData,
    PCD: Persistent,
    ParallelTempering: Tempered,
    TrajectoryTempering: Trajectory,
}
