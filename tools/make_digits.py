"""Write trug_fast/datasets/digits.npz from scikit-learn's copy of the UCI digits.

Run from anywhere with scikit-learn installed: ``python -m tools.make_digits [PATH]``.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

TARGET = Path(__file__).parents[1] / "trug_fast" / "datasets" / "digits.npz"


def main(path: Path = TARGET) -> None:
    """Store images (1797, 64) and labels (1797,) as uint8, in the order of the source."""
    digits = load_digits()
    images = digits.data.astype(np.uint8)
    assert np.array_equal(images, digits.data), "the source holds whole numbers from 0 to 16"
    np.savez_compressed(path, images=images, labels=digits.target.astype(np.uint8))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
