"""Sequence logos: letters as high as the weights of a unit, or as what is known at each site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.datasets.letters import GAP, as_alphabet
from trug_fast.models.rbm import BernoulliRBM, TruGRBM, require_rbm

from .canvas import BLUE, GREEN, GREY, ORANGE, axes_for, new_figure, set_title, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

BLACK, YELLOW, SKY, PURPLE = "#222222", "#C79A00", "#56B4E9", "#AA4499"
# Amino acids by what their side chains do; the gap is grey.
PROTEIN = {
    "AILMV": BLACK,  # aliphatic
    "FWY": YELLOW,  # aromatic
    "NQST": PURPLE,  # polar
    "HKR": BLUE,  # positive
    "DE": ORANGE,  # negative
    "C": GREEN,
    "GP": SKY,
}
NUCLEOTIDES = {"A": GREEN, "C": BLUE, "G": YELLOW, "TU": ORANGE}
OTHERS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, BLACK)
LEAST = 0.004  # of the axis' height: lower letters are not drawn
WIDTH = 0.9  # of a letter, between sites
TOLERANCE = 1e-6

Floats = NDArray[np.float64]


def weight_logo(
    weights: ArrayLike, alphabet: str = "protein", ax: Axes | None = None, *, first: int = 1
) -> Axes:
    """Draw the weights of a hidden unit as letters: above 0 those that excite it.

    At each site letters are stacked, the larger the farther from the axis; the height of a stack is
    the sum of its weights.

    Parameters
    ----------
    weights : array_like, shape (sites, states)
        Such as ``model.weights[:, :, unit]`` of a model with categorical visible units.  Weights
        whose sums over the states are 0 (the zero-sum gauge) show all that the model knows.
    alphabet : "protein", "rna", "dna" or str
        The letters of the states, as of :func:`datasets.load_fasta`.
    ax : matplotlib Axes, optional
    first : int
        The number of the first site.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError, ValueError
        If these are no weights of that many states.
    """
    heights, letters = _heights("weights", weights, alphabet)
    return _logo(heights, letters, alphabet, ax, first, "weight")


def unit_logos(
    model: TruGRBM | BernoulliRBM,
    n_units: int = 8,
    alphabet: str | None = None,
    *,
    first: int = 1,
) -> Figure:
    """Draw the weights of the strongest hidden units as logos, one below the other.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
        Whose visible units are all categorical.  Logos show it in the zero-sum gauge.
    n_units : int
        How many, those with the largest norm of their weights first; all if there are fewer.
    alphabet : "protein", "rna", "dna" or str, optional
        The letters of the states; by default those that the model remembers.
    first : int
        The number of the first site.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    TypeError, ValueError
        If the model has other units, or no letters are known, or not as many as states.
    """
    require_rbm("model", model)
    if model.visible != "categorical":
        raise ValueError(
            f"model must have categorical visible units alone for logos, got {model.visible!r}"
        )
    letters = model.letters if alphabet is None else as_alphabet(alphabet).letters
    if letters is None:
        raise ValueError("alphabet is needed: the model does not know the letters of its states")
    if len(letters) != model.n_states:
        raise ValueError(
            f"alphabet must have a letter for each of the {model.n_states} states, got {letters!r}"
        )
    weights = np.asarray(model.zero_sum().weights, np.float64)
    norms = np.sqrt((weights**2).sum(axis=(0, 1)))
    units = np.argsort(-norms, kind="stable")[: checks.count("n_units", n_units)]
    figure = new_figure(max(4.0, 0.2 * len(weights) + 0.8), 1.6 * len(units) + 0.3)
    for ax, unit in zip(figure.subplots(len(units), squeeze=False)[:, 0], units, strict=True):
        weight_logo(weights[:, :, unit], letters, ax, first=first)
        set_title(ax, f"unit {unit + 1}, norm {norms[unit]:.2g}")
        ax.set_xlabel("site" if unit == units[-1] else "")
    return figure


def information_logo(
    frequencies: ArrayLike, alphabet: str = "protein", ax: Axes | None = None, *, first: int = 1
) -> Axes:
    """Draw what is known of each site of a family: the letters that stand there, in bits.

    The height of a stack is log2(states) less the entropy of the site's frequencies (Schneider and
    Stephens, Nucleic Acids Research 18, 1990, 6097), each letter's share of it its frequency.

    Parameters
    ----------
    frequencies : array_like, shape (sites, states)
        From :func:`site_frequencies`; each row sums to 1.
    alphabet, ax, first
        As of :func:`weight_logo`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError, ValueError
        If these are no frequencies of that many states.
    """
    share, letters = _heights("frequencies", frequencies, alphabet)
    if (share < 0).any() or not np.allclose(share.sum(axis=1), 1, rtol=0, atol=TOLERANCE):
        raise ValueError(
            "frequencies must be 0 or more, and sum to 1 at each site, got a sum of "
            f"{share.sum(axis=1).max():.6g} and {share.min():.6g} among them"
        )
    plogp = np.zeros_like(share)
    np.log2(share, out=plogp, where=share > 0)
    information = np.log2(len(letters)) + (share * plogp).sum(axis=1, keepdims=True)
    ax = _logo(share * np.maximum(information, 0), letters, alphabet, ax, first, "bits")
    ax.set_ylim(bottom=0)
    return ax


def _heights(name: str, value: ArrayLike, alphabet: str) -> tuple[Floats, str]:
    """Return heights of letters, and the letters."""
    letters = as_alphabet(alphabet).letters
    matrix = checks.matrix(name, value, len(letters))
    return matrix.astype(np.float64), letters


def _logo(
    heights: Floats, letters: str, alphabet: str, ax: Axes | None, first: int, what: str
) -> Axes:
    """Draw stacks of letters, those above 0 upwards and the others downwards."""
    if isinstance(first, bool) or not isinstance(first, int | np.integer):
        raise TypeError(f"first must be the number of a site, got {first!r}")
    ax = axes_for(ax, max(3.0, 0.2 * len(heights) + 0.8), 2.0)
    from matplotlib.collections import PathCollection

    top = float(np.maximum(heights, 0).sum(axis=1).max())
    bottom = float(np.minimum(heights, 0).sum(axis=1).min())
    reach = (top - bottom) or 1.0
    shapes, colours = [_outline(letter) for letter in letters], _colours(letters, alphabet)
    paths: list[Path] = []
    faces: list[str] = []
    for site, stack in enumerate(heights):
        for sign in (1, -1):
            base = 0.0
            for state in np.argsort(np.abs(stack), kind="stable"):
                high = float(stack[state])
                if high * sign <= 0:
                    continue
                if abs(high) > LEAST * reach:
                    paths.append(_placed(shapes[state], first + site, base, high))
                    faces.append(colours[state])
                base += high
    ax.add_collection(PathCollection(paths, facecolors=faces, linewidths=0), autolim=False)
    ax.axhline(0, color=GREY, lw=0.6)
    margin = 0.03 * reach
    ax.set(xlabel="site", ylabel=what, xlim=(first - 0.7, first + len(heights) - 0.3))
    ax.set_ylim(bottom - margin if bottom < 0 else 0, top + margin)
    ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    tidy(ax)
    return ax


def _outline(letter: str) -> Path:
    """Return a letter as a path in the unit square, from -1/2 to 1/2 across; a gap as a bar."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    if letter == GAP:
        return Path([(-0.5, 0), (0.5, 0), (0.5, 1), (-0.5, 1), (-0.5, 0)], closed=True)
    font = FontProperties(family="DejaVu Sans", weight="bold")  # comes with Matplotlib
    widest = TextPath((0, 0), "H", size=10, prop=font).get_extents().width
    path = TextPath((0, 0), letter, size=10, prop=font)
    box = path.get_extents()
    across = min(1.0, box.width / widest)  # an I stays narrow
    vertices = (path.vertices - [box.x0 + box.width / 2, box.y0]) / [box.width, box.height or 1.0]
    return Path(vertices * [across, 1.0], path.codes)


def _placed(shape: Path, x: float, base: float, high: float) -> Path:
    """Return a letter at its place; those below the axis stand upright too."""
    from matplotlib.path import Path

    low = min(base, base + high)
    return Path(np.asarray(shape.vertices) * [WIDTH, abs(high)] + [x, low], shape.codes)


def _colours(letters: str, alphabet: str) -> list[Any]:
    """Return a colour for each letter."""
    groups = NUCLEOTIDES if set(letters) <= set("-ACGTU") else PROTEIN
    known = {letter: colour for group, colour in groups.items() for letter in group}
    if not set(letters) <= set(known) | {GAP}:
        known = {letter: OTHERS[k % len(OTHERS)] for k, letter in enumerate(letters)}
    known[GAP] = "#D0D0D0"
    return [known[letter] for letter in letters]
