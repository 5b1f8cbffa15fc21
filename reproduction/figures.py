"""Figures of the models of Table 1: Figure 2 of the paper and those of its supplement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trug_fast import plots
from trug_fast._common import checks, files
from trug_fast.evaluation.regimes import UnitRegimes, unit_regimes
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load
from trug_fast.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    axes_for,
    finish,
    new_figure,
    set_title,
)
from trug_fast.training.gathering import spaced

from . import results, table1, trainings
from .images import Images
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
COLOURS = (BLUE, ORANGE, GREEN, GREY)
SIZE = 3.4  # inches, of a panel
PARTS = ("score", "validation_score")  # of a history
BELOW, ABOVE = 6.0, 1.0  # nats about the last scores: the first epochs are not of interest
ROWS = 5000  # training images on which units are judged


@dataclass(frozen=True, eq=False)
class FinishedCell:
    """A cell of Table 1 that is done: its result and its files."""

    cell: Cell
    line: Line
    model: TruGRBM | BernoulliRBM
    history: Mapping[str, NDArray[Any]]
    folder: Path

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
    cells = finished(session, only)
    folder = session.out / FOLDER
    folder.mkdir(exist_ok=True)
    written = []

    def save(name: str, figure: Figure | None) -> None:
        if figure is not None:
            written.append(folder / f"{name}.png")
            figure.savefig(written[-1])

    save("nonlinearities", nonlinearities(cells))
    save("truncation-points", truncation_points(cells))
    save("scores", scores(cells))
    for done in cells:
        name = done.cell.name.replace("/", "-")
        session.say(f"{done.cell.name}: samples and dictionary")
        data = table1.load(done.cell, session, alone=True)
        samples, dictionary = _images(done, data, session, settings)
        save(f"samples-{name}", samples)
        save(f"dictionary-{name}", dictionary)
        save(f"units-{name}", units(done, data, session))
    save("convergence", convergence(cells, session, settings["convergence"]))
    return written


def finished(session: Session, only: Sequence[str]) -> list[FinishedCell]:
    """Return the cells that have a result, the latest of each."""
    lines = {
        line["cell"]: line
        for line in results.read(session.out / RESULTS)
        if line.get("table") == table1.TABLE.name and line.get("seed") == session.seed
    }
    # Of several seeds each has a folder of its own.
    places = [replace(session, several=several) for several in (False, True)]
    cells = {
        name: Cell(name, line["data"], line["label"], line["paper"], line["options"])
        for name, line in lines.items()
    }
    folders = {
        name: place.folder(cell)
        for name, cell in cells.items()
        for place in places
        if (place.folder(cell) / trainings.MODEL).exists()
    }
    if not folders:
        raise FileNotFoundError(
            f"no finished cells with seed {session.seed} in {session.out}; "
            f"python -m reproduction {table1.TABLE.name} makes them"
        )
    return [
        _finished_cell(cell, lines[cell.name], folders[cell.name])
        for cell in select([cells[name] for name in folders], only)
    ]


def nonlinearities(cells: Sequence[FinishedCell]) -> Figure | None:
    """Draw Figure 2: nonlinearities learned in common, and histograms of points per unit."""
    shared = [done for done in cells if done.learns == "shared"]
    single = [done for done in cells if done.learns == "per_unit"]
    panels = [*([shared] if shared else []), *single]
    if not panels:
        return None
    figure, axes = _panels(len(panels))
    if shared:
        _draw_shared(shared, axes[0])
    for done, ax in zip(single, axes[-len(single) :] if single else (), strict=True):
        assert isinstance(done.model, TruGRBM)
        plots.truncation_histogram(done.model, ax)
        set_title(ax, f"{done.cell.data}, {done.cell.label}")
        ax.set_xlabel("upper truncation point")
    return figure


def truncation_points(cells: Sequence[FinishedCell]) -> Figure | None:
    """Draw the upper truncation points over the epochs: their mean, least and greatest."""
    learned = [done for done in cells if "upper_mean" in done.history]

    def draw(done: FinishedCell, ax: Axes, colour: str) -> None:
        plots.truncation_points(done.history, ax, label=done.cell.label, color=colour)

    return _beside(learned, draw, "epoch", "upper truncation points")


def scores(cells: Sequence[FinishedCell]) -> Figure | None:
    """Draw the scores over the epochs, of training images and, dashed, of images held out."""
    scored = [done for done in cells if "score" in done.history]

    def draw(done: FinishedCell, ax: Axes, colour: str) -> None:
        plots.scores(done.history, ax, label=done.cell.label, color=colour)

    figure = _beside(scored, draw, "epoch", "score (nats per image)")
    for ax, group in zip(figure.axes if figure else (), _by_data(scored).values(), strict=True):
        curves = [done.history[name] for done in group for name in PARTS if name in done.history]
        ends = [known[-1] for known in (each[np.isfinite(each)] for each in curves) if known.size]
        if ends:  # not all epochs are scored
            ax.set_ylim(min(ends) - BELOW, max(ends) + ABOVE)
    return figure


def convergence(cells: Sequence[FinishedCell], session: Session, options: Options) -> Figure | None:
    """Draw the test log-probability against the number of temperatures that estimate log Z."""
    single = [done for done in cells if done.learns == "per_unit"]

    def draw(done: FinishedCell, ax: Axes, colour: str) -> None:
        found = [_estimate(done, n, session, options) for n in options["n_temperatures"]]
        for direction in found[0]["directions"]:
            sides = [each["directions"][direction] for each in found]
            ax.errorbar(
                [each["n_temperatures"] for each in found],
                [done.line["test"] + done.line["log_z"] - s["log_z"] for s in sides],
                [side["std_error"] for side in sides],
                color=colour,
                marker="o",
                ms=3,
                ls="--" if direction == "reverse" else "-",
                label=f"{done.cell.label}, {direction}",
            )
        ax.set_xscale("log")

    return _beside(single, draw, "temperatures", "test log-probability (nats)")


def units(done: FinishedCell, data: Images, session: Session) -> Figure | None:
    """Draw what units with points or precisions of their own have become, and say how many."""
    model = done.model
    if not isinstance(model, TruGRBM) or not (done.learns == "per_unit" or np.ptp(model.precision)):
        return None
    found = unit_regimes(model, data.fixed[spaced(len(data.fixed), ROWS)])
    counts = ", ".join(f"{count} {name}" for name, count in found.counts.items())
    session.say(f"{done.cell.name}: units: {counts}")
    return _figure(regimes(model, found))


def regimes(model: TruGRBM, found: UnitRegimes, ax: Axes | None = None) -> Axes:
    """Draw widths and precisions of units, a point each, coloured by what they have become.

    Those with an infinite end are at the right edge.
    """
    ax = axes_for(ax, 4.6, 3.4)
    width = np.asarray(model.upper, np.float64) - model.lower
    finite = np.isfinite(width)
    edge = 1.5 * float(width[finite].max()) if finite.any() else 1.0
    place = np.where(finite, width, edge)
    precision = np.broadcast_to(model.precision, width.shape)
    colours = (BLUE, ORANGE, GREEN, PURPLE, GREY)
    for (name, count), colour in zip(found.counts.items(), colours, strict=True):
        if count:
            at = found.regime == name
            own: Any = {
                "ms": 3.5,
                "alpha": 0.6,
                "mew": 0,
                "color": colour,
                "label": f"{name} ({count})",
            }
            ax.plot(place[at], precision[at], "o", **own)
    what = "width" + ("" if finite.all() else f"; {int((~finite).sum())} infinite ones at the edge")
    finish(ax, "what the units have become", what, "precision", "best")
    return ax


def _finished_cell(cell: Cell, line: Line, folder: Path) -> FinishedCell:
    history = files.read(folder / trainings.HISTORY, "history")
    model = load(folder / trainings.MODEL, TruGRBM, BernoulliRBM)
    return FinishedCell(cell, line, model, history, folder)


def _images(
    done: FinishedCell, data: Images, session: Session, settings: Mapping[str, Options]
) -> tuple[Figure, Figure]:
    """Draw samples and the weights of the strongest units."""
    model = done.model
    rows = data.fixed[spaced(len(data.fixed), settings["samples"]["n"])]
    samples = model.sample(
        start=rows, n_gibbs=settings["samples"]["n_gibbs"], rng=session.seed, return_mean=True
    )
    weights = plots.weights(model, data.shape, n=settings["dictionary"]["n"])
    return _figure(plots.images(samples, data.shape)), weights


def _estimate(done: FinishedCell, temperatures: int, session: Session, options: Options) -> Line:
    """Return an estimate of log Z, from the file of those that were made before if it is there."""
    path = done.folder / CONVERGENCE
    own = options | {"n_temperatures": temperatures}
    known_by = ("seed", "options", "source")  # the model
    key = results.plain({name: done.line[name] for name in known_by} | {"own": own})
    for line in results.read(path):
        if line.get("key") == key:
            return line
    session.say(f"{done.cell.name}: {temperatures} temperatures")
    base = table1.load(done.cell, session, alone=True).fixed
    estimate = table1.anneal(done.model, base, session, own)
    fresh: Line = {
        "key": key,
        "n_temperatures": temperatures,
        "directions": table1.bounds(estimate),
    }
    results.append(path, fresh)
    return fresh


def _draw_shared(cells: Sequence[FinishedCell], ax: Axes) -> None:
    """Draw the one nonlinearity of each model, over the net inputs where it bends."""
    shapes = [
        tuple(float(end[0]) for end in (model.precision, model.lower, model.upper))
        for model in (done.model for done in cells)
        if isinstance(model, TruGRBM)
    ]
    reach = max(3.0, *(abs(d) * max(abs(a), abs(b)) + 3.0 for d, a, b in shapes))
    net = np.linspace(-reach, reach, 401)
    for done, shape, colour in zip(cells, shapes, _colours(cells), strict=True):
        words = f"{done.cell.data}, [{shape[1]:.3g}, {shape[2]:.3g}]"
        ax.plot(net, plots.unit_mean(net, *shape)[:, 0], color=colour, lw=2, label=words)
    finish(ax, "learned in common", "net input", "mean of the hidden unit", "best")


def _beside(
    cells: Sequence[FinishedCell],
    draw: Callable[[FinishedCell, Axes, str], None],
    xlabel: str,
    ylabel: str,
) -> Figure | None:
    """Draw a panel for each data set, with all its cells; no cells, no figure."""
    groups = _by_data(cells)
    if not groups:
        return None
    figure, axes = _panels(len(groups))
    for ax, (data, group) in zip(axes, groups.items(), strict=True):
        for done, colour in zip(group, _colours(group), strict=True):
            draw(done, ax, colour)
        finish(ax, data, xlabel, ylabel, "best")
    return figure


def _by_data(cells: Sequence[FinishedCell]) -> dict[str, list[FinishedCell]]:
    groups: dict[str, list[FinishedCell]] = {}
    for done in cells:
        groups.setdefault(done.cell.data, []).append(done)
    return groups


def _panels(n: int) -> tuple[Figure, list[Axes]]:
    figure = new_figure(SIZE * n + 0.4, SIZE * 0.85)
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def _colours(cells: Sequence[FinishedCell]) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(len(cells))]


def _figure(ax: Axes) -> Figure:
    figure: Any = ax.figure
    return figure  # type: ignore[no-any-return]
