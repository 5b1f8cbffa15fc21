"""Peak memory of a training on 5 GB in a file: one that is mapped to memory, HDF5, or chunks.

A fresh process for each: ``python -m reproduction.scripts.measure_memory mapped`` (or ``hdf5``,
``chunks``, ``none``).  The file is made in a temporary folder, mostly of holes, and deleted.  It
prints the updates, their seconds, and the most memory that the process ever had (``ru_maxrss``, to
which pages of files that are mapped count).
"""

import argparse
import resource
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import trug_fast as tf

COLUMNS, BATCH = 784, 5000


def made(kind, rows, folder):
    """Return a matrix of zeros with some ones, in a file or not."""
    shape, some = (rows, COLUMNS), np.random.default_rng(0).random((1000, COLUMNS)) < 0.3
    if kind == "none":
        return np.zeros((1000, COLUMNS), np.float32) + some
    if kind == "hdf5":
        import h5py

        data = h5py.File(folder / "data.h5", "w").create_dataset(
            "X", shape, np.float32, chunks=(1000, COLUMNS)
        )
    else:
        data = np.lib.format.open_memmap(folder / "data.npy", "w+", np.float32, shape)
    for start in range(0, rows, max(1000, rows // 20)):
        data[start : start + 1000] = some[: rows - start]
    if kind == "hdf5":
        return data
    data.flush()
    mapped = np.load(folder / "data.npy", mmap_mode="r")
    return tf.training.Chunks(mapped) if kind == "chunks" else mapped


def main():
    """Train for an epoch, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=("mapped", "hdf5", "chunks", "none"))
    parser.add_argument("--gigabytes", type=float, default=5.0)
    arguments = parser.parse_args()
    rows = int(arguments.gigabytes * 1e9 / (4 * COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        data = made(arguments.kind, rows, Path(folder))
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tf.training.TrainingWarning)
            tf.train_rbm(data, 10, epochs=1, batch_size=BATCH, monitor="pseudo", rng=0)
        seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # KiB on Linux
    size = np.prod(data.shape) * 4 / 1e9
    print(f"{arguments.kind}: {size:.1f} GB, {data.shape[0]} rows, {seconds:.0f} s, {peak:.0f} MiB")


if __name__ == "__main__":
    main()
