"""Data sets that tables compare by: motion capture with its skeleton, and warped images."""

from .motion import MotionData, load_cmu_motion, load_cmu_skeleton
from .positions import joint_positions
from .skeleton import Bone, Skeleton, euler, read_asf
from .warping import warp

__all__ = [
    "Bone",
    "MotionData",
    "Skeleton",
    "euler",
    "joint_positions",
    "load_cmu_motion",
    "load_cmu_skeleton",
    "read_asf",
    "warp",
]
