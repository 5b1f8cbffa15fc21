"""Sequence logos: letters as high as the weights of a unit, or as what is known at each site.

Tested in tests/reproduction/test_logos.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.datasets.alignments import GAP, as_alphabet
from trug_fast.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    axes_for,
    finish,
    new_figure,
    set_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, YELLOW, SKY, PURPLE = "#222222", "#C79A00", "#56B4E9", "#AA4499"
# Amino acids by what their side chains do: aliphatic, aromatic, polar, positive, negative.
PROTEIN = {"AILMV": BLACK, "FWY": YELLOW, "NQST": PURPLE, "HKR": BLUE, "DE": ORANGE, "C": GREEN,
           "GP": SKY}  # fmt: skip
NUCLEOTIDES = {"A": GREEN, "C": BLUE, "G": YELLOW, "TU": ORANGE}
OTHERS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, BLACK)
LEAST = 0.004  # of the axis' height: lower letters are not drawn
WIDTH = 0.9  # of a letter, between sites

Floats = NDArray[np.float64]


def weight_logo(
    weights: ArrayLike, alphabet: str = "protein", ax: Axes | None = None, *, first: int = 1
) -> Axes:
    """Draw the weights of a hidden unit, (sites, states), as letters: those that excite it above 0.

    The larger a letter the farther from the axis it stands.  Weights whose sums over the states are
    0 (the zero-sum gauge) show all that the model knows.  ``first`` numbers the first site.
    """
    letters = as_alphabet(alphabet).letters
    heights = checks.matrix("weights", weights, len(letters)).astype(np.float64)
    return _logo(heights, letters, ax, first, "weight")


def information_logo(
    frequencies: ArrayLike, alphabet: str = "protein", ax: Axes | None = None, *, first: int = 1
) -> Axes:
    """Draw what is known of each site from its frequencies, (sites, states), in bits.

    The height of a stack is log2(states) less the entropy of the site's frequencies (Schneider and
    Stephens, Nucleic Acids Research 18, 1990, 6097), each letter's share of it its frequency.
    """
    letters = as_alphabet(alphabet).letters
    share = checks.matrix("frequencies", frequencies, len(letters)).astype(np.float64)
    if (share < 0).any() or not np.allclose(share.sum(axis=1), 1, rtol=0, atol=1e-6):
        raise ValueError("frequencies must be 0 or more, and sum to 1 at each site")
    plogp = np.zeros_like(share)
    np.log2(share, out=plogp, where=share > 0)
    information = np.log2(len(letters)) + (share * plogp).sum(axis=1, keepdims=True)
    return _logo(share * np.maximum(information, 0), letters, ax, first, "bits")


def unit_logos(model: Any, n_units: int = 8, alphabet: str | None = None) -> Figure:
    """Draw the weights of the strongest units of a model of categories, one below the other.

    By default with the letters that the model remembers; in the zero-sum gauge.
    """
    if model.visible != "categorical":
        raise ValueError(f"model must have categorical visible units, got {model.visible!r}")
    letters = model.letters if alphabet is None else alphabet
    if letters is None:
        raise ValueError("alphabet is needed: the model does not know the letters of its states")
    weights = np.asarray(model.zero_sum().weights, np.float64)
    norms = np.sqrt((weights**2).sum(axis=(0, 1)))
    units = np.argsort(-norms, kind="stable")[:n_units]
    figure = new_figure(max(4.0, 0.2 * len(weights) + 0.8), 1.6 * len(units) + 0.3)
    for ax, unit in zip(figure.subplots(len(units), squeeze=False)[:, 0], units, strict=True):
        weight_logo(weights[:, :, unit], letters, ax)
        set_title(ax, f"unit {unit + 1}, norm {norms[unit]:.2g}")
        ax.label_outer()
    return figure


def _logo(heights: Floats, letters: str, ax: Axes | None, first: int, what: str) -> Axes:
    """Draw stacks of letters, those above 0 upwards and the others downwards."""
    ax = axes_for(ax, max(3.0, 0.2 * len(heights) + 0.8), 2.0)
    top = float(np.maximum(heights, 0).sum(axis=1).max())
    bottom = float(np.minimum(heights, 0).sum(axis=1).min())
    reach = (top - bottom) or 1.0
    shapes, colours = [_outline(letter) for letter in letters], _colours(letters)
    paths: list[Path] = []
    faces: list[str] = []
    for site, stack in enumerate(heights):
        for sign in (1, -1):
            base = 0.0
            for state in np.argsort(np.abs(stack), kind="stable"):
                high = float(stack[state])
                if high * sign <= 0:
                    continue
                if abs(high) > LEAST * reach:  # a letter below the axis stands upright too
                    place = [first + site, min(base, base + high)]
                    vertices = np.asarray(shapes[state].vertices) * [WIDTH, abs(high)] + place
                    paths.append(Path(vertices, shapes[state].codes))
                    faces.append(colours[state])
                base += high
    ax.add_collection(PathCollection(paths, facecolors=faces, linewidths=0), autolim=False)
    ax.axhline(0, color=GREY, lw=0.6)
    margin = 0.03 * reach
    ax.set(xlim=(first - 0.7, first + len(heights) - 0.3))
    ax.set_ylim(bottom - margin if bottom < 0 else 0, top + margin)
    finish(ax, "", "site", what)
    return ax


def _outline(letter: str) -> Path:
    """Return a letter as a path in the unit square, from -1/2 to 1/2 across; a gap as a bar."""
    if letter == GAP:
        return Path([(-0.5, 0), (0.5, 0), (0.5, 1), (-0.5, 1), (-0.5, 0)], closed=True)
    font = FontProperties(family="DejaVu Sans", weight="bold")  # comes with Matplotlib
    widest = TextPath((0, 0), "H", size=10, prop=font).get_extents().width
    path = TextPath((0, 0), letter, size=10, prop=font)
    box = path.get_extents()
    across = min(1.0, box.width / widest)  # an I stays narrow
    vertices = (path.vertices - [box.x0 + box.width / 2, box.y0]) / [box.width, box.height or 1.0]
    return Path(vertices * [across, 1.0], path.codes)


def _colours(letters: str) -> list[str]:
    """Return a colour for each letter; the gap is grey."""
    groups = NUCLEOTIDES if set(letters) <= set("-ACGTU") else PROTEIN
    known = {letter: colour for group, colour in groups.items() for letter in group}
    if not set(letters) <= set(known) | {GAP}:
        known = {letter: OTHERS[k % len(OTHERS)] for k, letter in enumerate(letters)}
    return ["#D0D0D0" if letter == GAP else known[letter] for letter in letters]
