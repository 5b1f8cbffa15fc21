"""Positions of joints from the channels of motion capture, recorded or preprocessed.

Recorded channels are those of AMC files: ``root.TX`` to ``root.RZ`` and one angle, such as
``ltibia.rx``, for each way in which a bone turns.  Preprocessed ones are those of Taylor, Hinton
and Roweis (2007), which do not depend on where a body is and whither it goes:

=================== ==========================================================================
``root.tilt_fwd``   angle between the body's forward axis and the downward vertical, radians
``root.tilt_hip``   the same of the axis from hip to hip, which points to the left
``root.d_yaw``      change of heading to the next frame, radians
``root.v_hip``      horizontal step to the next frame along the hips' axis
``root.v_fwd``      the same at right angles to it, backwards
``root.height``     height of the root
``NAME.ex`` ...     inverse rotation of a bone as an exponential map: axis times angle, radians
=================== ==========================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks

from .skeleton import ROOT, FloatArray, Skeleton, euler

# Degrees about x in every frame of subject 35: channels that never change are left out there.
FINGERS = {"lfingers": 7.12502, "rfingers": 7.12502}

RECORDED_ROOT = ["TX", "TY", "TZ", "RX", "RY", "RZ"]
RELATIVE_ROOT = ["tilt_fwd", "tilt_hip", "d_yaw", "v_hip", "v_fwd", "height"]

Channels = dict[str, FloatArray]


def joint_positions(
    skeleton: Skeleton, frames: ArrayLike, channel_names: Sequence[str]
) -> FloatArray:
    """Give the positions of all joints in a sequence of poses.

    Parameters
    ----------
    skeleton : Skeleton
    frames : array_like, shape (T, n_channels)
        Poses in their original units, as `MotionData.restore` gives them.
    channel_names : sequence of str
        Recorded or preprocessed channels, see above, in any order.

    Returns
    -------
    ndarray, shape (T, n_joints, 3)
        In the skeleton's units of length and the order of its `joints`; y points upwards.
        Preprocessed channels do not tell where a sequence begins and whither: it begins above
        the origin, with the hips' axis along x, the body facing z.

    Raises
    ------
    TypeError, ValueError
        If `frames` is no matrix of finite numbers with a column for each name, or a channel is
        missing, twice there or of no bone.

    Notes
    -----
    Preprocessed channels give the positions back but for that rotation about the vertical and
    that horizontal shift.  Where a forecast has two tilts that no upright body can have at once,
    the hips' is kept and the body lies as far forwards or backwards as it can.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.datasets import Bone, Skeleton
    >>> shin = Bone("shin", "root", np.array([0.0, -2.0, 0.0]), np.eye(3), "x")
    >>> names = ["root.TX", "root.TY", "root.TZ", "root.RX", "root.RY", "root.RZ", "shin.rx"]
    >>> joint_positions(Skeleton([shin]), [[0, 5, 0, 0, 0, 0, 60]], names)[0, 1].round(4)
    array([ 0.    ,  4.    , -1.7321])
    """
    columns = checks.matrix("frames", frames, len(channel_names)).astype(np.float64).T
    channels = dict(zip(channel_names, columns, strict=True))
    if len(channels) < len(channel_names):
        raise ValueError("channel_names must differ, but one is there twice")
    relative = f"{ROOT}.tilt_fwd" in channels
    names = RELATIVE_ROOT if relative else RECORDED_ROOT
    root = np.stack([_take(channels, f"{ROOT}.{name}") for name in names])
    if relative:
        turn, place = _relative_root(root)
        rotations = _from_maps(skeleton, channels)
    else:
        place = root[:3].T
        angles = root[["xyz".index(axis) + 3 for axis in skeleton.root_dof]]
        turn = euler(angles.T, skeleton.root_dof, degrees=skeleton.degrees)
        rotations = _from_angles(skeleton, channels)
    if channels:
        raise ValueError(f"channel {next(iter(channels))} belongs to no bone of the skeleton")
    return skeleton.pose(place, turn, rotations)


def _take(channels: Channels, name: str) -> FloatArray:
    if name not in channels:
        raise ValueError(f"channel {name} is missing")
    return channels.pop(name)


def _from_angles(skeleton: Skeleton, channels: Channels) -> dict[str, FloatArray]:
    """Rotations of the bones that turn, from their recorded angles."""
    rotations = {}
    for bone in skeleton.bones:
        if bone.dof:
            angles = [_take(channels, f"{bone.name}.r{axis}") for axis in bone.dof]
            rotations[bone.name] = euler(
                np.stack(angles, axis=-1), bone.dof, degrees=skeleton.degrees
            )
    return rotations


def _from_maps(skeleton: Skeleton, channels: Channels) -> dict[str, FloatArray]:
    """Rotations of the bones from exponential maps; what has no channel is always 0."""
    from scipy.spatial.transform import Rotation  # takes half a second, and few need it

    rotations = {}
    for bone in skeleton.bones:
        names = [f"{bone.name}.e{axis}" for axis in "xyz"]
        found = [channels.pop(name, None) for name in names]
        vectors = [value for value in found if value is not None]
        if vectors:
            still = np.zeros_like(vectors[0])
            maps = np.stack([still if value is None else value for value in found], axis=-1)
            rotations[bone.name] = np.asarray(Rotation.from_rotvec(-maps).as_matrix())
        elif bone.name in FINGERS:
            rotations[bone.name] = euler([FINGERS[bone.name]], "x", degrees=True)
    return rotations


def _relative_root(root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation and position of the root from its relative channels, one a row."""
    tilt_forward, tilt_hip, turn, along_hips, backwards, height = root
    heading = np.concatenate([[0.0], np.cumsum(turn[:-1])])
    # Horizontal directions in which the hips' axis points to the left, and the back.
    zero = np.zeros_like(heading)
    hips = np.stack([np.cos(heading), zero, np.sin(heading)], axis=-1)
    back = np.stack([np.sin(heading), zero, -np.cos(heading)], axis=-1)

    step = along_hips[:, None] * hips + backwards[:, None] * back
    place = np.concatenate([np.zeros((1, 3)), np.cumsum(step[:-1], axis=0)])
    place[:, 1] = height

    # The body's axes: left and forward are at right angles, and up is not below the horizon.
    level, rise = np.abs(np.sin(tilt_hip)), -np.cos(tilt_hip)
    forward_rise = np.clip(-np.cos(tilt_forward), -level, level)
    sideways = -forward_rise * rise / np.maximum(level, 1e-12)
    ahead = np.sqrt(np.maximum(1 - forward_rise**2 - sideways**2, 0.0))
    left = level[:, None] * hips
    left[:, 1] = rise
    forward = sideways[:, None] * hips - ahead[:, None] * back
    forward[:, 1] = forward_rise
    return np.stack([left, np.cross(forward, left), forward], axis=-1), place
