"""Pictures of motion: rows of stick figures, and animations."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.lazy import need
from trug_fast.plots.canvas import BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]

# The side that is away from the viewer is drawn first.
SIDES = ((1, ORANGE), (0, GREY), (-1, BLUE))


def stick_figures(
    motions: Mapping[str, ArrayLike],
    bones: ArrayLike,
    *,
    every: int = 4,
    sides: ArrayLike | None = None,
) -> Figure:
    """Draw motions below each other, each as a row of stick figures that go to the right.

    Every figure stands at its own place, however fast the body moves; the line is the ground.

    Parameters
    ----------
    motions : mapping from a name to array_like, shape (T, n_joints, 3)
        Positions of joints, y upwards; see :func:`reproduction.datasets.joint_positions`.
    bones : array_like, shape (n_bones, 2)
        Numbers of the joints at the ends of each bone; see `Skeleton.pairs`.
    every : int
        Frames from one figure to the next.
    sides : array_like, shape (n_bones,), optional
        1 for bones of the left side, -1 for the right, 0 for others; see `Skeleton.sides`.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    TypeError, ValueError
        If a motion has another shape or is not finite, or a bone names no joint.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.stick_figures import stick_figures
    >>> stick = np.array([[[0, 2, 0], [0, 0, 0]], [[1, 2, 0], [1, 0, 0]]])
    >>> len(stick_figures({"a stick": stick}, [[0, 1]], every=1).axes)
    1
    """
    step = checks.count("every", every)
    views, ends, side = _checked(motions, bones, sides)
    views = {name: view[::step] for name, view in views.items()}
    height, room = _extent(views)
    longest = max(len(view) for view in views.values())
    scale = min(0.85 / height, 8.0 / (longest * room))  # inches a unit
    figure = new_figure(scale * longest * room + 0.2, (scale * 1.1 * height + 0.3) * len(views))
    rows = np.atleast_1d(figure.subplots(len(views), 1))
    for ax, (name, view) in zip(rows, views.items(), strict=True):
        shifted = view + np.arange(len(view))[:, None, None] * [room, 0.0]
        _sticks(ax, shifted, ends, side)
        _stage(ax, name, (longest - 0.5) * room, room, height)
    return figure


def save_motion(
    motions: Mapping[str, ArrayLike],
    bones: ArrayLike,
    path: str | Path,
    *,
    sides: ArrayLike | None = None,
    frames_per_second: float = 30.0,
) -> None:
    """Write an animation: motions beside each other, each seen as it goes to the right.

    Parameters
    ----------
    motions, bones, sides
        As in `stick_figures`.  A motion that is shorter than others stops at its last frame.
    path : str or Path
    frames_per_second : float
        Rounded to hundredths of a second for each frame, as the format has them.

    Raises
    ------
    ImportError
        If Matplotlib or Pillow, which comes with it, is not installed.
    TypeError, ValueError
        As in `stick_figures`.
    """
    Image = need("PIL.Image", "animations need Pillow", "plot")
    rate = checks.number("frames_per_second", frames_per_second, least=1, most=50)
    views, ends, side = _checked(motions, bones, sides)
    height, room = _extent(views)
    figure = new_figure(1.7 * len(views), 2.0 * height / max(room, 0.7 * height) + 0.3)
    figure.set_dpi(100)
    columns = np.atleast_1d(figure.subplots(1, len(views)))
    canvas: Any = figure.canvas
    images: list[Any] = []
    for t in range(max(len(view) for view in views.values())):
        for ax, (name, view) in zip(columns, views.items(), strict=True):
            ax.clear()
            now = min(t, len(view) - 1)
            _sticks(ax, view[now : now + 1], ends, side)
            _stage(ax, textwrap.fill(name, 22), room / 2, room, height)
        if t == 0:  # a layout that is made anew for each frame would tremble
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        canvas.draw()
        images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    palette = images[0].quantize(32)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    duration = 10 * round(100 / rate)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=duration, loop=0)


def side_view(positions: FloatArray) -> FloatArray:
    """Give each pose as seen from the side, so that the body goes to the right.

    Parameters
    ----------
    positions : array, shape (T, n_joints, 3)
        The first joint is the body's root.

    Returns
    -------
    ndarray, shape (T, n_joints, 2)
        Forward from the root and upwards.  Forward is the way of the root from the first frame to
        the last; z if it does not move.
    """
    root = positions[:, 0]
    way = (root[-1] - root[0])[[0, 2]]
    length = np.linalg.norm(way)
    forward = way / length if length > 0 else np.array([0.0, 1.0])
    ahead = (positions - root[:, None])[..., [0, 2]] @ forward
    return np.stack([ahead, positions[..., 1]], axis=-1)


def _checked(
    motions: Mapping[str, ArrayLike], bones: ArrayLike, sides: ArrayLike | None
) -> tuple[dict[str, FloatArray], NDArray[np.intp], NDArray[np.intp]]:
    checks.kind("motions", motions, Mapping)
    if not motions:
        raise ValueError("motions must not be empty")
    ends = checks.numbers("bones", bones)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu" or not len(ends):
        raise ValueError(f"bones must be pairs of joints, shape (n_bones, 2), got {ends.shape}")
    side = np.zeros(len(ends), np.intp) if sides is None else checks.numbers("sides", sides)
    if side.shape != (len(ends),) or not np.isin(side, (-1, 0, 1)).all():
        raise ValueError(f"sides must hold -1, 0 or 1 for each of the {len(ends)} bones")
    views = {}
    for name, motion in motions.items():
        array = checks.numbers(name, motion)
        if array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
            raise ValueError(f"{name} must have shape (T, n_joints, 3), got {array.shape}")
        checks.matrix(name, array.reshape(len(array), -1))
        if not (0 <= ends.min() and ends.max() < array.shape[1]):
            raise ValueError(f"bones must name joints below {array.shape[1]}, the joints of {name}")
        views[name] = side_view(array.astype(np.float64))
    return views, ends, side


def _extent(views: Mapping[str, FloatArray]) -> tuple[float, float]:
    """Height of the highest joint, and room for the widest figure."""
    points = np.concatenate([view.reshape(-1, 2) for view in views.values()])
    height = max(float(points[:, 1].max()), 1e-9)
    return height, max(2.1 * float(np.abs(points[:, 0]).max()), 0.3 * height)


def _sticks(ax: Axes, view: FloatArray, ends: NDArray[np.intp], sides: NDArray[np.intp]) -> None:
    for side, color in SIDES:
        chosen = ends[sides == side]
        # One line for all: x and y of both ends of each bone, then a gap.
        lines = np.full((len(view), len(chosen), 3, 2), np.nan)
        lines[:, :, :2] = view[:, chosen]
        x, y = lines.reshape(-1, 2).T
        ax.plot(x, y, color=color, lw=1.2, solid_capstyle="round")


def _stage(ax: Axes, name: str, right: float, room: float, height: float) -> None:
    ax.axhline(0.0, color=GREY, lw=0.6)
    ax.set(xlim=(-room / 2, right), ylim=(-0.03 * height, 1.06 * height), aspect="equal")
    ax.set_title(name, fontsize="small", loc="left")
    ax.set_axis_off()
