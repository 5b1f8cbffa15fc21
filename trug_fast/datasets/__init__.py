"""Data sets: images, videos and regression; shipped, made or read from authors' files.

The handwritten 8x8 digits and the yachts are part of the package. The others are read from files
that you have: pass their folder, or set the environment variable ``TRUG_FAST_DATA`` once; `fetch`
gets them from a server.  Data of your own are read by `read`, aligned sequences of letters by
`load_fasta`.
"""

from .alignments import (
    Alignment,
    decode_sequences,
    encode_sequences,
    load_fasta,
    save_fasta,
    similarity_weights,
)
from .downloads import fetch
from .files import FileData, read
from .published import (
    ImageData,
    RegressionData,
    RegressionSplit,
    binarize,
    load_digits,
    load_mnist,
    load_yacht,
)
from .videos import bouncing_balls

__all__ = [
    "Alignment",
    "FileData",
    "ImageData",
    "RegressionData",
    "RegressionSplit",
    "binarize",
    "bouncing_balls",
    "decode_sequences",
    "encode_sequences",
    "fetch",
    "load_digits",
    "load_fasta",
    "load_mnist",
    "load_yacht",
    "read",
    "save_fasta",
    "similarity_weights",
]
