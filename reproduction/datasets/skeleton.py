"""Skeletons of motion capture: read from ASF files, and posed by the rotations of their joints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

FloatArray = NDArray[np.float64]
Lines = list[list[str]]

ROOT = "root"


@dataclass(frozen=True, eq=False)
class Bone:
    """A bone, which ends at the joint of its name and begins where its parent ends.

    Attributes
    ----------
    name, parent : str
    offset : array, shape (3,)
        From its beginning to its end while nothing is rotated, in the file's units of length.
    axes : array, shape (3, 3)
        Rotation from the bone's own axes, about which it turns, to those of the world.
    dof : str
        The axes about which it turns, in order: part of "xyz", "" for a fixed bone.
    """

    name: str
    parent: str
    offset: FloatArray
    axes: FloatArray
    dof: str


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones that hang on a root.

    Attributes
    ----------
    bones : list of Bone
        Each after the one that it hangs on.
    root_dof : str
        The axes about which the root turns, in order: "xyz" or another order of these.
    degrees : bool
        Whether the file's angles are in degrees; otherwise they are in radians.
    """

    bones: list[Bone]
    root_dof: str = "xyz"
    degrees: bool = True

    @property
    def joints(self) -> list[str]:
        """Names of the joints: the root, then the end of each bone."""
        return [ROOT, *(bone.name for bone in self.bones)]

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The joints at both ends of each bone, by their numbers; shape (n_bones, 2)."""
        number = {name: k for k, name in enumerate(self.joints)}
        ends = [(number[bone.parent], number[bone.name]) for bone in self.bones]
        return np.array(ends, np.intp).reshape(-1, 2)

    @property
    def sides(self) -> NDArray[np.intp]:
        """1 for bones of the left side, -1 for the right, 0 for others; shape (n_bones,).

        A side has names that begin with "l" or "r" and are alike but for that.
        """
        names = {bone.name for bone in self.bones}
        mirror = {"l": ("r", 1), "r": ("l", -1)}
        found = []
        for bone in self.bones:
            other, side = mirror.get(bone.name[0], ("", 0))
            found.append(side if other + bone.name[1:] in names else 0)
        return np.array(found, np.intp)

    def pose(
        self,
        root_position: ArrayLike,
        root_rotation: ArrayLike,
        rotations: Mapping[str, FloatArray],
    ) -> FloatArray:
        """Give the positions of all joints.

        Parameters
        ----------
        root_position : array_like, shape (T, 3)
        root_rotation : array_like, shape (T, 3, 3)
        rotations : mapping from a bone's name to an array, shape (T, 3, 3)
            About the bone's own axes.  Bones without an entry do not turn against their parent.

        Returns
        -------
        ndarray, shape (T, n_joints, 3)
            In the file's units of length, in the order of `joints`; y points upwards.

        Notes
        -----
        A bone's rotation in the world is its parent's times C M C', with C its axes and M its
        entry in `rotations`.

        Examples
        --------
        >>> import numpy as np
        >>> shin = Bone("shin", "root", np.array([0.0, -2.0, 0.0]), np.eye(3), "x")
        >>> quarter = np.array([[[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]])
        >>> leg = Skeleton([shin])
        >>> leg.pose(np.zeros((1, 3)), np.eye(3)[None], {"shin": quarter})[0, 1]
        array([ 0.,  0., -2.])
        """
        place = checks.numbers("root_position", root_position).astype(np.float64)
        if place.ndim != 2 or place.shape[1] != 3:
            raise ValueError(f"root_position must have shape (T, 3), got {place.shape}")
        own = {
            name: _rotations(f"rotations[{name!r}]", value, len(place))
            for name, value in rotations.items()
        }
        if unknown := own.keys() - {bone.name for bone in self.bones}:
            raise ValueError(f"rotations must name bones of the skeleton, got {min(unknown)!r}")
        position = {ROOT: place}
        rotation = {ROOT: _rotations("root_rotation", root_rotation, len(place))}
        for bone in self.bones:
            turn = rotation[bone.parent]
            if bone.name in own:
                turn = turn @ bone.axes @ own[bone.name] @ bone.axes.T
            rotation[bone.name] = turn
            position[bone.name] = position[bone.parent] + turn @ bone.offset
        return np.stack([position[name] for name in self.joints], axis=1)


def _rotations(name: str, value: ArrayLike, frames: int) -> FloatArray:
    """Return one rotation matrix, or one for each frame."""
    array = checks.numbers(name, value).astype(np.float64)
    if array.shape[-2:] != (3, 3) or array.shape[:-2] not in ((), (1,), (frames,)):
        raise ValueError(f"{name} must have shape ({frames}, 3, 3), got {array.shape}")
    return array


def euler(angles: ArrayLike, order: str, *, degrees: bool) -> FloatArray:
    """Give rotation matrices, shape (..., 3, 3), from angles about fixed axes.

    Parameters
    ----------
    angles : array_like, shape (..., k)
    order : str
        The k axes, the first one applied first, such as "xyz".
    degrees : bool

    Examples
    --------
    >>> euler([90.0], "z", degrees=True).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    values = checks.numbers("angles", angles).astype(np.float64)
    if values.ndim == 0 or values.shape[-1] != len(order):
        raise ValueError(
            f"angles must have {len(order)} columns for the axes {order!r}, got {values.shape}"
        )
    from scipy.spatial.transform import Rotation  # takes half a second, and few need it

    flat = Rotation.from_euler(order, values.reshape(-1, len(order)), degrees=degrees)
    return np.asarray(flat.as_matrix()).reshape(*values.shape[:-1], 3, 3)


def read_asf(path: str | PathLike[str]) -> Skeleton:
    """Read a skeleton from an Acclaim file (ASF), as the CMU data base has them.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Skeleton

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no skeleton or is damaged: a part or a number is missing, a bone hangs on
        nothing or on two others, or turns in a way that is not known.

    Examples
    --------
    >>> skeleton = read_asf("35.asf")  # doctest: +SKIP
    """
    try:
        parts = _parts(Path(path).read_text(encoding="utf-8"))
        degrees = _units(parts["units"])
        root_dof = _root(_keywords(parts["root"]))
        blocks = [_keywords(lines) for lines in _blocks(parts["bonedata"])]
        bones = {_word(block, "name"): block for block in blocks}
        if len(bones) < len(blocks):
            raise ValueError("two bones have the same name")
        hierarchy = [words for lines in _blocks(parts["hierarchy"]) for words in lines]
        order = _parents(hierarchy, list(bones))
        made = [_bone(name, parent, bones[name], degrees) for name, parent in order.items()]
    except ValueError as error:
        raise ValueError(f"{path} is damaged or no ASF skeleton: {error}") from error
    return Skeleton(made, root_dof, degrees)


def _parts(text: str) -> dict[str, Lines]:
    """Split a file at its lines ":name", without comments and empty lines."""
    parts: dict[str, Lines] = {}
    current: Lines = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0].startswith(":"):
            current = parts.setdefault(words[0][1:].lower(), [])
        elif words:
            current.append(words)
    for name in ("units", "root", "bonedata", "hierarchy"):
        if name not in parts:
            raise ValueError(f"it has no part :{name}")
    return parts


def _blocks(lines: Lines) -> list[Lines]:
    """Give what lies between each "begin" and its "end"."""
    blocks: list[Lines] = []
    is_open = False
    for words in lines:
        if words[0] in ("begin", "end"):
            if is_open == (words[0] == "begin"):
                raise ValueError('each "begin" needs an "end"')
            is_open = not is_open
            if is_open:
                blocks.append([])
        elif is_open:
            blocks[-1].append(words)
    if is_open:
        raise ValueError('the last "begin" has no "end"')
    return blocks


def _keywords(lines: Lines) -> dict[str, list[str]]:
    return {words[0].lower(): words[1:] for words in lines}


def _word(block: Mapping[str, list[str]], key: str) -> str:
    if not block.get(key):
        raise ValueError(f"a bone has no {key}")
    return block[key][0]


def _numbers(block: Mapping[str, list[str]], key: str, count: int) -> FloatArray:
    words = block.get(key, [])[:count]
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(f"{key} must be {count} finite numbers, got {' '.join(words) or 'none'}")
    return numbers


def _units(lines: Lines) -> bool:
    unit = _keywords(lines).get("angle", [])
    if unit not in (["deg"], ["rad"]):
        raise ValueError(f"angle must be deg or rad, got {' '.join(unit) or 'none'}")
    return unit == ["deg"]


def _root(block: Mapping[str, list[str]]) -> str:
    order = [word.lower() for word in block.get("order", [])]
    if sorted(order) != ["rx", "ry", "rz", "tx", "ty", "tz"]:
        raise ValueError(f"the root's order must hold TX TY TZ RX RY RZ, got {' '.join(order)}")
    for key in ("position", "orientation"):
        if _numbers(block, key, 3).any():
            raise ValueError(f"a root with a {key} other than 0 is not supported")
    return "".join(word[1] for word in order if word[0] == "r")


def _parents(lines: Sequence[Sequence[str]], names: Sequence[str]) -> dict[str, str]:
    """Give the parent of each bone, parents before children."""
    children: dict[str, list[str]] = defaultdict(list)
    for parent, *others in lines:
        children[parent] += others
    found: dict[str, str] = {}
    for parent, child in _walk(children):
        if child in found or child == ROOT:
            raise ValueError(f"bone {child} hangs on two others")
        if child not in names:
            raise ValueError(f"bone {child} of the hierarchy has no data")
        found[child] = parent
    if loose := [name for name in names if name not in found]:
        raise ValueError(f"bone {loose[0]} hangs on nothing")
    return found


def _walk(children: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    waiting = [ROOT]
    for parent in waiting:
        for child in children.get(parent, []):
            yield parent, child  # the caller stops at a child that comes twice
            waiting.append(child)


def _bone(name: str, parent: str, block: Mapping[str, list[str]], degrees: bool) -> Bone:
    try:
        offset = _numbers(block, "direction", 3) * _numbers(block, "length", 1)
        order = block.get("axis", [])[3:] or ["XYZ"]
        if sorted(order[0].lower()) != ["x", "y", "z"]:
            raise ValueError(f"the order of axis must be XYZ or another one, got {order[0]}")
        axes = euler(_numbers(block, "axis", 3), order[0].lower(), degrees=degrees)
        dof = [word.lower() for word in block.get("dof", [])]
        if len(set(dof)) < len(dof) or not set(dof) <= {"rx", "ry", "rz"}:
            raise ValueError(f"dof must hold rx, ry and rz at most once, got {' '.join(dof)}")
    except ValueError as error:
        raise ValueError(f"bone {name}: {error}") from error
    return Bone(name, parent, offset, axes, "".join(word[1] for word in dof))
