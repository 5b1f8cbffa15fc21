"""Data sets: images, videos, motion and regression; shipped, made or read from authors' files.

The handwritten 8x8 digits and the yachts are part of the package. The others are read from files
that you have: pass their folder, or set the environment variable ``TRUG_FAST_DATA`` once; `fetch`
gets them from a server.  Data of your own are read by `read`, aligned sequences of letters by
`load_fasta`.
"""

from .binary import binarize
from .downloads import fetch
from .fasta import Alignment, load_fasta, save_fasta
from .files import FileData, read
from .images import (
    ImageData,
    load_binarized_mnist,
    load_caltech101_silhouettes,
    load_digits,
    load_mnist,
)
from .letters import decode_sequences, encode_sequences
from .motion import MotionData, load_cmu_motion, load_cmu_skeleton
from .positions import joint_positions
from .regression import RegressionData, RegressionSplit, load_uci, load_yacht
from .similarity import similarity_weights
from .skeleton import Bone, Skeleton, euler, read_asf
from .videos import bouncing_balls
from .warping import warp

__all__ = [
    "Alignment",
    "Bone",
    "FileData",
    "ImageData",
    "MotionData",
    "RegressionData",
    "RegressionSplit",
    "Skeleton",
    "binarize",
    "bouncing_balls",
    "decode_sequences",
    "encode_sequences",
    "euler",
    "fetch",
    "joint_positions",
    "load_binarized_mnist",
    "load_caltech101_silhouettes",
    "load_cmu_motion",
    "load_cmu_skeleton",
    "load_digits",
    "load_fasta",
    "load_mnist",
    "load_uci",
    "load_yacht",
    "read",
    "read_asf",
    "save_fasta",
    "similarity_weights",
    "warp",
]
