"""Data sets that tables compare by: silhouettes, regressions, motion with its skeleton, warps."""

from .binarized import load_binarized_mnist
from .downloads import fetch
from .motion import MotionData, load_cmu_motion, load_cmu_skeleton
from .positions import joint_positions
from .silhouettes import load_caltech101_silhouettes
from .skeleton import Bone, Skeleton, euler, read_asf
from .uci import load_uci
from .warping import warp

__all__ = [
    "Bone",
    "MotionData",
    "Skeleton",
    "euler",
    "fetch",
    "joint_positions",
    "load_binarized_mnist",
    "load_caltech101_silhouettes",
    "load_cmu_motion",
    "load_cmu_skeleton",
    "load_uci",
    "read_asf",
    "warp",
]
