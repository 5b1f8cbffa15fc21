"""Figures of the machines of Table 1: Figure 2 of the paper and those of its supplement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, files
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.plots import basic as plots
from trug_fast.plots import training as plots_training

from . import results, table1
from .protocol import Cell, Options, read_sections, select
from .results import Line
from .runner import RESULTS, Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME, FOLDER = "figures", "figures"
CONVERGENCE = "convergence.jsonl"
SECTIONS = {
    "samples": ("n", "n_gibbs"),
    "dictionary": ("n",),
    "convergence": table1.SECTIONS["annealing"],
}
COLOURS = (plots.BLUE, plots.ORANGE, plots.GREEN, plots.GREY)
SIZE = 3.4  # inches, of a panel


@dataclass(frozen=True, eq=False)
class Machine:
    """A finished cell of Table 1: its result and its files."""

    cell: Cell
    line: Line
    model: TruGRBM | BernoulliRBM
    history: Mapping[str, NDArray[Any]]

    @property
    def learns(self) -> str | None:
        """How upper truncation points were learned: None, "shared" or "per_unit"."""
        if "upper_mean" not in self.history:
            return None
        apart = self.history["upper_max"][-1] > self.history["upper_min"][-1]
        return "per_unit" if apart else "shared"


def settings(config: str | None, *, quick: bool) -> dict[str, Options]:
    """Return the sections of a configuration file, checked."""
    found = read_sections(NAME, config, SECTIONS, quick=quick)
    for section, name in (("samples", "n"), ("samples", "n_gibbs"), ("dictionary", "n")):
        checks.count(f"{section}.{name}", found[section].get(name))
    numbers = found["convergence"].get("n_temperatures")
    if not isinstance(numbers, list) or not numbers:
        raise TypeError(f"convergence.n_temperatures must be a list of ints, got {numbers!r}")
    for number in numbers:
        checks.count("convergence.n_temperatures", number)
    return found


def draw(session: Session, settings: Mapping[str, Options], only: Sequence[str]) -> list[Path]:
    """Draw all figures that the finished cells give, into a folder of the session's.

    Raises
    ------
    FileNotFoundError
        If no cell is finished.
    """
    machines = finished(session, only)
    folder = session.out / FOLDER
    folder.mkdir(exist_ok=True)
    written = []

    def save(name: str, figure: Figure | None) -> None:
        if figure is not None:
            written.append(folder / f"{name}.png")
            figure.savefig(written[-1])

    save("nonlinearities", nonlinearities(machines))
    save("truncation-points", truncation_points(machines))
    for machine in machines:
        name = machine.cell.name.replace("/", "-")
        session.say(f"{machine.cell.name}: samples and dictionary")
        samples, dictionary = _images(machine, session, settings)
        save(f"samples-{name}", samples)
        save(f"dictionary-{name}", dictionary)
    save("convergence", convergence(machines, session, settings["convergence"]))
    return written


def finished(session: Session, only: Sequence[str]) -> list[Machine]:
    """Return the machines of the cells that have a result, the latest of each."""
    lines = {
        line["cell"]: line
        for line in results.read(session.out / RESULTS)
        if line.get("table") == table1.TABLE.name and line.get("seed") == session.seed
    }
    cells = {
        name: Cell(name, line["data"], line["label"], line["paper"], line["options"])
        for name, line in lines.items()
        if (session.out / name / table1.MODEL).exists()
    }
    if not cells:
        raise FileNotFoundError(
            f"no finished cells with seed {session.seed} in {session.out}; "
            f"trug-fast reproduce {table1.TABLE.name} makes them"
        )
    return [_machine(session, cell, lines[cell.name]) for cell in select([*cells.values()], only)]


def nonlinearities(machines: Sequence[Machine]) -> Figure | None:
    """Draw Figure 2: nonlinearities learned in common, and histograms of points per unit."""
    shared = [machine for machine in machines if machine.learns == "shared"]
    single = [machine for machine in machines if machine.learns == "per_unit"]
    panels = [*([shared] if shared else []), *single]
    if not panels:
        return None
    figure, axes = _panels(len(panels))
    if shared:
        _draw_shared(shared, axes[0])
    for machine, ax in zip(single, axes[-len(single) :] if single else (), strict=True):
        assert isinstance(machine.model, TruGRBM)
        plots.truncation_histogram(machine.model, ax)
        ax.set_title(f"{machine.cell.data}, {machine.cell.label}", fontsize="medium")
        ax.set_xlabel("upper truncation point")
    return figure


def truncation_points(machines: Sequence[Machine]) -> Figure | None:
    """Draw the upper truncation points over the epochs: their mean, least and greatest."""
    groups = _by_data([machine for machine in machines if "upper_mean" in machine.history])
    if not groups:
        return None
    figure, axes = _panels(len(groups))
    for ax, (data, group) in zip(axes, groups.items(), strict=True):
        for machine, colour in zip(group, _colours(group), strict=True):
            plots_training.truncation_points(
                machine.history, ax, label=machine.cell.label, color=colour
            )
        _finish(ax, data, "epoch", "upper truncation points")
    return figure


def convergence(machines: Sequence[Machine], session: Session, options: Options) -> Figure | None:
    """Draw the test log-probability against the number of temperatures that estimate log Z."""
    groups = _by_data([machine for machine in machines if machine.learns == "per_unit"])
    if not groups:
        return None
    figure, axes = _panels(len(groups))
    for ax, (data, group) in zip(axes, groups.items(), strict=True):
        for machine, colour in zip(group, _colours(group), strict=True):
            found = [_estimate(machine, n, session, options) for n in options["n_temperatures"]]
            for direction in found[0]["directions"]:
                sides = [each["directions"][direction] for each in found]
                ax.errorbar(
                    [each["n_temperatures"] for each in found],
                    [machine.line["test"] + machine.line["log_z"] - s["log_z"] for s in sides],
                    [side["std_error"] for side in sides],
                    color=colour,
                    marker="o",
                    ms=3,
                    ls="--" if direction == "reverse" else "-",
                    label=f"{machine.cell.label}, {direction}",
                )
        ax.set_xscale("log")
        _finish(ax, data, "temperatures", "test log-probability (nats)")
    return figure


def _machine(session: Session, cell: Cell, line: Line) -> Machine:
    folder = session.folder(cell)
    kind: Any = (
        BernoulliRBM if files.read_kind(folder / table1.MODEL) == "BernoulliRBM" else TruGRBM
    )
    history = files.read(folder / table1.HISTORY, "history")
    return Machine(cell, line, kind.load(folder / table1.MODEL), history)


def _images(
    machine: Machine, session: Session, settings: Mapping[str, Options]
) -> tuple[Figure, Figure]:
    """Draw samples and the weights of the strongest units."""
    data, model = table1.load(machine.cell, session), machine.model
    count = settings["samples"]["n"]
    rows = data.fixed[np.linspace(0, len(data.fixed) - 1, count).astype(int)]
    samples = model.sample(
        start=rows, n_gibbs=settings["samples"]["n_gibbs"], rng=session.seed, return_mean=True
    )
    strongest = np.argsort(-np.linalg.norm(model.weights, axis=0), kind="stable")
    filters = model.weights.T[strongest[: settings["dictionary"]["n"]]]
    return _figure(plots.images(samples, data.shape)), _figure(plots.images(filters, data.shape))


def _estimate(machine: Machine, temperatures: int, session: Session, options: Options) -> Line:
    """Return an estimate of log Z, from the file of those that were made before if it is there."""
    path = session.folder(machine.cell) / CONVERGENCE
    own = options | {"n_temperatures": temperatures}
    known_by = ("seed", "options", "source")  # the machine
    key = results.plain({name: machine.line[name] for name in known_by} | {"own": own})
    for line in results.read(path):
        if line.get("key") == key:
            return line
    session.say(f"{machine.cell.name}: {temperatures} temperatures")
    base = table1.load(machine.cell, session).fixed
    estimate = table1.anneal(machine.model, base, session, own)
    fresh: Line = {
        "key": key,
        "n_temperatures": temperatures,
        "directions": table1.bounds(estimate),
    }
    results.append(path, fresh)
    return fresh


def _draw_shared(machines: Sequence[Machine], ax: Axes) -> None:
    """Draw the one nonlinearity of each machine, over the net inputs where it bends."""
    shapes = [
        tuple(float(end[0]) for end in (model.precision, model.lower, model.upper))
        for model in (machine.model for machine in machines)
        if isinstance(model, TruGRBM)
    ]
    reach = max(3.0, *(abs(d) * max(abs(a), abs(b)) + 3.0 for d, a, b in shapes))
    net = np.linspace(-reach, reach, 401)
    for machine, shape, colour in zip(machines, shapes, _colours(machines), strict=True):
        words = f"{machine.cell.data}, [{shape[1]:.3g}, {shape[2]:.3g}]"
        ax.plot(net, plots.unit_mean(net, *shape)[:, 0], color=colour, lw=2, label=words)
    _finish(ax, "learned in common", "net input", "mean of the hidden unit")


def _by_data(machines: Sequence[Machine]) -> dict[str, list[Machine]]:
    groups: dict[str, list[Machine]] = {}
    for machine in machines:
        groups.setdefault(machine.cell.data, []).append(machine)
    return groups


def _panels(n: int) -> tuple[Figure, list[Axes]]:
    figure = plots.new_figure(SIZE * n + 0.4, SIZE * 0.85)
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def _colours(machines: Sequence[Machine]) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(len(machines))]


def _figure(ax: Axes) -> Figure:
    figure: Any = ax.figure
    return figure  # type: ignore[no-any-return]


def _finish(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
