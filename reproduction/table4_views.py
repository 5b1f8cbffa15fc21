"""Table 4 as the paper prints it, the learned truncation points, and the learned nonlinearities.

Tested in tests/reproduction/test_table4.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trug_fast import plots
from trug_fast.models.tggm import TruGTGGM
from trug_fast.plots.canvas import BLUE, finish, new_figure

from . import results, table4_aims
from .results import Line
from .runner import RESULTS, Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = "figures"
SETTINGS = {
    "sigmoid": "[0, 1]",
    "relu": "[0, inf)",
    "tanh": "[-1, 1]",
    "common": "common",
    "per-unit": "per unit",
    "perceptron": "perceptron",
}
ENSEMBLE = "ensemble"  # a cell of all splits, so not beside the settings
BESIDE = {  # what other models of the same splits are called
    "ensemble": "ten TruG-TGGMs",
    "perceptrons": "ten perceptrons",
    "process": "Gaussian process",
    "boosting": "boosted trees",
}
ENSEMBLE_SCORES = {"rmse": "RMSE", "log_likelihood": "log-density", "crps": "CRPS"}
INSIDE = ("coverage", "coverage_50", "coverage_95")
COLUMNS, SIZE = 3, 3.0  # panels in a row; inches, of each
MARGIN = 1.5  # drawn beyond the ends


def views(lines: Sequence[Line]) -> str:
    """Return all tables below that the lines give, in Markdown."""
    sets = _by_set(lines, tuple(SETTINGS))
    ensembles = [found[ENSEMBLE] for found in _by_set(lines, (ENSEMBLE,)).values()]
    tables = [] if not sets else _of_settings(sets)
    if ensembles:
        tables += [
            "Ensembles beside one of their models on average, means over splits; of the gain its\n"
            "standard error; s is seconds of processor time of ten models:",
            _ensembles(ensembles),
            "Their continuous ranked probability scores, and test rows inside intervals:",
            _spreads(ensembles),
            table4_aims.WORDS,
            table4_aims.table(_by_set(lines, table4_aims.CELLS)),
        ]
    beside = {
        name: found for name, found in _by_set(lines, tuple(BESIDE)).items() if len(found) > 1
    }
    if beside:
        tables += [
            "Beside scikit-learn's models, means over splits and standard errors; differences\n"
            "from the ensemble are over the splits that both have, s is seconds of processor time:",
            _beside(beside),
        ]
    return "\n\n".join(tables)


def _of_settings(sets: dict[str, dict[str, Line]]) -> list[str]:
    """Return the tables of the paper's settings, with what is said of each."""
    return [
        "RMSE, mean ± standard error over splits, and the paper's in brackets:",
        _grid(sets, _error, dropout=True),
        "Test rows inside the nominal 90 % interval, and mean log-density in nats:",
        _grid(sets, _spread),
        "Truncation points learned in common, and widths in deviations of the hidden units;\n"
        "per unit the median with the narrowest and the widest (all: means over splits):",
        _points(sets),
    ]


def _ensembles(lines: Sequence[Line]) -> str:
    """Return a row of errors and densities for each ensemble."""
    header = ["data", "splits"]
    for name in ("rmse", "log_likelihood"):
        header += _gain_titles(name)
    rows = [
        [
            *(line["data"], str(line["splits"])),
            *(cell for name in ("rmse", "log_likelihood") for cell in _gain(line, name)),
            f"{line['seconds']:.0f}",
        ]
        for line in lines
    ]
    return results.markdown([*header, "s a split"], rows)


def _spreads(lines: Sequence[Line]) -> str:
    """Return a row of scores of the whole distribution for each ensemble."""
    rows = [
        [
            *(line["data"], str(line["splits"]), *_gain(line, "crps")),
            *(f"{100 * line[name]:.0f} %" for name in ("one_coverage", *INSIDE)),
        ]
        for line in lines
    ]
    inside = ["90 %: one", "ten", "50 %: ten", "95 %: ten"]
    return results.markdown(["data", "splits", *_gain_titles("crps"), *inside], rows)


def _gain_titles(name: str) -> list[str]:
    return [f"{ENSEMBLE_SCORES[name]}: one", "ten", "gain"]


def _gain(line: Line, name: str) -> list[str]:
    """Return a score of one model and of the ensemble, and what the latter gains."""
    digits = _digits(float(line[f"{name}_gain_error"]))
    gain = _with_error(line[f"{name}_gain"], line[f"{name}_gain_error"])
    return [f"{line[f'one_{name}']:.{digits}f}", f"{line[name]:.{digits}f}", gain]


def _beside(sets: dict[str, dict[str, Line]]) -> str:
    """Return a row for each model of each set."""
    header = ["data", "model", "splits", "RMSE", "log-density", "CRPS", "CRPS less ours"]
    rows = []
    for found in sets.values():
        for setting in (name for name in BESIDE if name in found):
            line, ours = found[setting], found.get("ensemble")
            row = [line["data"], BESIDE[setting], str(line["splits"])]
            for name in ENSEMBLE_SCORES:
                row.append(_with_error(line[name], line[f"{name}_error"]) if name in line else "")
            row.append(_difference(line, ours) if ours is not None and ours is not line else "")
            for name in ("coverage_50", "coverage", "coverage_95"):
                row.append(f"{100 * line[name]:.0f} %")
            rows.append([*row, f"{line['seconds']:.1f}"])
    return results.markdown([*header, "50 %", "90 %", "95 %", "s a split"], rows)


def _difference(line: Line, ours: Line) -> str:
    """Return by how much the CRPS of a model is above ours, in the splits that both have."""
    name = "crps_by_split"
    if name not in line or name not in ours:
        return ""
    pairs = zip(line[name], ours[name], strict=False)  # both from the first split on
    apart = np.array([own - other for own, other in pairs])
    error = float(apart.std(ddof=1)) / np.sqrt(apart.size) if apart.size > 1 else 0.0
    return _with_error(float(apart.mean()), error)


def _with_error(value: float, error: float) -> str:
    """Return a figure and its standard error, to two digits of the latter."""
    digits = _digits(float(error))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def draw(session: Session) -> Path:
    """Draw what units have learned in common in each set, a line for each split.

    Raises
    ------
    FileNotFoundError
        If no cell with ends learned in common is finished.
    """
    found = {
        line["data"]: session.out / line["cell"]
        for line in results.read(session.out / RESULTS)
        if line["cell"].endswith("/common") and line.get("seed") == session.seed
    }
    if not found:
        raise FileNotFoundError(f"no finished cells with ends learned in common in {session.out}")
    rows = -(-len(found) // COLUMNS)
    figure: Figure = new_figure(SIZE * COLUMNS, SIZE * rows)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax in axes[len(found) :]:
        ax.remove()
    for ax, (name, folder) in zip(axes, found.items(), strict=False):
        _draw_units(ax, name, sorted(folder.glob("model-*.npz")))
    path = session.out / FOLDER / "nonlinearities.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    return path


def _draw_units(ax: Axes, title: str, paths: Sequence[Path]) -> None:
    """Draw the mean of a hidden unit over its location before truncation."""
    for path in paths:
        model = TruGTGGM.load(path)
        lower, upper = float(model.lower[0]), float(model.upper[0])
        z = np.linspace(lower - MARGIN, upper + MARGIN, 401)
        tau = 1 / model.hidden_variance
        mean = plots.unit_mean(tau * z, tau, lower, upper)[:, 0]
        ax.plot(z, mean, color=BLUE, lw=0.8)
    finish(ax, title, "location before truncation", "mean")


def _by_set(lines: Sequence[Line], settings: Sequence[str]) -> dict[str, dict[str, Line]]:
    """Return the latest line of each cell, by data set and setting, sets in one order always."""
    sets: dict[str, dict[str, Line]] = {}
    order = [str(line.get("cell", "")).partition("/")[0] for line in lines]
    for line in lines:
        name, _, setting = str(line.get("cell", "")).partition("/")
        if line.get("table") == "table4" and setting in settings:
            sets.setdefault(name, {})[setting] = line
    return {name: sets[name] for name in dict.fromkeys(order) if name in sets}


def _grid(
    sets: dict[str, dict[str, Line]], text: Callable[[Line], str], *, dropout: bool = False
) -> str:
    """Return a row for each set and a column for each setting."""
    header = ["data", *SETTINGS.values()] + (["MC-dropout"] if dropout else [])
    rows = []
    for found in sets.values():
        some = next(iter(found.values()))
        row = [some["data"], *(text(found[s]) if s in found else "" for s in SETTINGS)]
        rows.append(row + ([str(some["options"]["trials"].get("dropout", ""))] if dropout else []))
    return results.markdown(header, rows)


def _error(line: Line) -> str:
    """Return error and standard error to two digits of the latter, and the paper's error."""
    spread = float(line["rmse_error"])
    digits = _digits(spread)
    paper = "" if line["paper"] is None else f" ({line['paper']:g})"
    return f"{line['rmse']:.{digits}f} ± {spread:.{digits}f}{paper}"


def _digits(error: float) -> int:
    """Return how many decimals show two digits of a standard error."""
    return max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 4


def _spread(line: Line) -> str:
    return f"{100 * line['coverage']:.0f} %, {line['log_likelihood']:.2f}"


def _points(sets: dict[str, dict[str, Line]]) -> str:
    header = ["data", "common: lower", "upper", "width", "per unit: width", "narrowest", "widest"]
    rows = []
    for found in sets.values():
        row = [next(iter(found.values()))["data"]]
        for setting, names in (
            ("common", ("lower", "upper", "width")),
            ("per-unit", ("width", "narrowest", "widest")),
        ):
            line = found.get(setting)
            row += [f"{float(line[name]):.2f}" if line else "" for name in names]
        rows.append(row)
    return results.markdown(header, rows)
