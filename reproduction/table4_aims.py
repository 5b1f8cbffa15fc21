"""What is published of the regressions of Table 4, beside what was found: who does as well.

Tested in tests/reproduction/test_table4.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import results
from .results import Line

# Mean log-densities of test rows: MC-dropout's (Gal and Ghahramani's code, grid search), and those
# of networks with one hidden layer of 50 units whose weights were sampled by Hamiltonian Monte
# Carlo (Bui and others 2016), on the same splits.
DENSITIES = {
    "boston": (-2.39, -2.27),
    "concrete": (-2.94, -2.72),
    "energy": (-1.72, -0.93),
    "kin8nm": (0.97, 1.35),
    "naval": (3.92, 7.31),
    "power": (-2.79, -2.70),
    "protein": (-2.87, -2.77),
    "wine": (-0.92, -0.91),
    "yacht": (-1.38, -1.62),
}
KINDS = {"per unit": ("per-unit", "ensemble"), "common": ("common", "ensemble-common")}
CELLS = tuple(cell for pair in KINDS.values() for cell in pair)
HEADER = (
    *("data", "per unit: paper", "one", "ten", "common: paper", "one", "ten", "MC-dropout"),
    *("log-density: ten", "MC-dropout", "HMC"),
)
WORDS = (
    "RMSE and log-density beside published figures. Ours are bold where the error is at most the\n"
    "paper's and its standard error, MC-dropout's and HMC's where ten models with points learned\n"
    "per unit are as good:"
)


def table(sets: Mapping[str, Mapping[str, Line]]) -> str:
    """Return a row for each set, by the lines of its cells, and how many columns' aims are met."""
    rows = [_row(name, found) for name, found in sets.items() if name in DENSITIES]
    counts = [_count([row[k] for row in rows]) for k in range(len(HEADER))]
    marked = [[_bold(each) for each in row] for row in rows]
    return results.markdown(HEADER, [*marked, ["met", *counts[1:]]])


def _row(name: str, found: Mapping[str, Line]) -> list[tuple[str, bool | None]]:
    """Return the words of each column and whether its aim is met, None if it has none."""
    row: list[tuple[str, bool | None]] = [(str(next(iter(found.values()))["data"]), None)]
    for single, several in KINDS.values():
        paper, error = None, 0.0
        if single in found:
            paper = found[single]["paper"]
            error = found[single]["options"]["trials"].get("paper_error", 0.0)
        row.append(("" if paper is None else f"{paper:g} ± {error:.2g}", None))
        for cell in (single, several):
            met = found[cell]["rmse"] <= paper + error if cell in found and paper else None
            row.append((f"{found[cell]['rmse']:#.4g}" if cell in found else "", met))
    ten = found.get("ensemble")
    dropout = next(iter(found.values()))["options"]["trials"].get("dropout")
    met = None if ten is None or dropout is None else ten["rmse"] <= dropout
    row.append(("" if dropout is None else f"{dropout:g}", met))
    row.append(("" if ten is None else f"{ten['log_likelihood']:.3f}", None))
    for density in DENSITIES[name]:
        met = None if ten is None else ten["log_likelihood"] >= density
        row.append((f"{density:.2f}", met))
    return row


def _count(column: list[tuple[str, bool | None]]) -> str:
    """Return how many of those that were judged are met."""
    judged = [met for _, met in column if met is not None]
    return f"{sum(judged)} of {len(judged)}" if judged else ""


def _bold(cell: tuple[str, bool | None]) -> str:
    words, met = cell
    return f"**{words}**" if met else words
