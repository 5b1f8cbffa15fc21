"""Files of every kind: how each comes about, and how it is read."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import trug_fast as tf
from reproduction import protocol, results
from reproduction.datasets import read_asf
from reproduction.datasets.stored import read_mat, read_npz
from reproduction.table2 import TABLE
from trug_fast._common import files
from trug_fast.datasets import published

ROWS = np.random.default_rng(0).integers(0, 2, (20, 5)).astype(np.float32)
FRAMES = np.random.default_rng(1).integers(0, 2, (4, 5, 5)).astype(np.float32)
FEW = {"epochs": 2, "progress": False, "rng": 0}
ANNEAL = {"n_chains": 5, "n_temperatures": 20, "direction": "both", "rng": 0, "progress": False}

ASF = """:version 1.10
:units
  mass 1.0
  angle deg
:root
  order TX TY TZ RX RY RZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    name thigh
    direction 0 -1 0
    length 7.0
    axis 0 0 20 XYZ
    dof rx ry rz
  end
  begin
    name shin
    direction 0 -1 0
    length 7.5
    axis 0 0 20 XYZ
    dof rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""


class Target(NamedTuple):
    """A kind of file: how one is made, how it is read, and what may come of a spoiled one."""

    suffix: str
    make: Callable[[Path], Any]
    read: Callable[[Path], Any]
    summed: bool = True  # a check sum tells whether it is what was written
    trains: bool = False  # reading goes on with a training, which may diverge


def model(kind):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(5, 4))
    if kind == "trbm":
        zero = np.zeros
        return tf.TruGTRBM(
            weights, zero((4, 5)), np.eye(5), zero((4, 4)), 0, 1, 2, 3, 1, [0, -1, 0, 0], 4, 2.0
        )
    if kind == "tggm":
        return tf.TruGTGGM(weights, 0.5, rng.normal(size=(1, 5)), 0.25, 0.2, -1.0, 1.0)
    if kind == "ensemble":
        return tf.TGGMEnsemble([model("tggm"), model("tggm")])
    if kind == "gaussian":
        return tf.BernoulliRBM(weights, 0.5, 0.25, np.arange(1, 6))
    return tf.TruGRBM(weights, 0.5, 0.25, 1.0, np.arange(4), np.arange(4) + 4.0)


def values(thing):
    """Return all numbers in a model, a fit, an estimate or a list of arrays."""
    if hasattr(thing, "model"):
        history = [v for name, v in thing.history.items() if name != "seconds"]
        return [*values(thing.model), *history]
    if isinstance(thing, tf.TGGMEnsemble):
        return [number for each in thing for number in values(each)]
    if hasattr(thing, "names"):
        return [getattr(thing, n) for n in thing.names if getattr(thing, n) is not None]
    if hasattr(thing, "log_weights"):
        return [thing.log_z, thing.std_error]
    return thing


def saved(kind):
    made = model(kind)
    return Target(".npz", made.save, lambda path: values(type(made).load(path)))


def stopped(train):
    """Return how a checkpoint in the middle of a training comes about."""

    def make(path):
        def stop(event):
            raise KeyboardInterrupt

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train(checkpoint=path, callbacks=[stop])

    return make


def training(train, *, whole=False):
    make = (lambda path: train(checkpoint=path)) if whole else stopped(train)

    def read(path):
        return values(train(checkpoint=tf.training.Checkpoint(path, resume=True)))

    return Target(".npz", make, read, trains=True)


def rbm(**more):
    return tf.train_rbm(ROWS, 3, **FEW | {"batch_size": 7, "monitor": None} | more)


def trbm(**more):
    return tf.train_trbm(FRAMES, 3, monitor=None, **FEW | more)


def tggm(**more):
    return tf.train_tggm(
        ROWS, np.arange(20), 3, learning_rate=tf.training.RateSearch([0.01, 0.02]), **FEW | more
    )


def ensemble(**more):
    return tf.train_ensemble(ROWS, np.arange(20), 2, 3, **FEW | more)


def patient_rbm(**more):
    return rbm(**{"monitor": tf.training.Monitor("pseudo", patience=2), "validation": ROWS} | more)


def log_partition(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = tf.training.Checkpoint(path, resume="auto")
        return values(tf.log_partition(model("rbm"), checkpoint=file, **ANNEAL))


def images(path):
    header = bytes([0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 2])
    content = header + bytes(range(36))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def packed(path):
    np.savez_compressed(path, data=ROWS, index=np.arange(40), names=np.array(["a", "bc"]))


def matlab(path):
    from scipy.io import savemat

    savemat(path, {"data": ROWS, "labels": np.arange(20.0)}, do_compression=True)


TARGETS = {
    "TruGRBM": saved("rbm"),
    "BernoulliRBM": saved("gaussian"),
    "TruGTRBM": saved("trbm"),
    "TruGTGGM": saved("tggm"),
    "TGGMEnsemble": saved("ensemble"),
    "history": Target(
        ".npz",
        lambda path: files.write(path, "history", {"epoch": np.arange(3.0), "score": np.ones(3)}),
        lambda path: list(files.read(path, "history").values()),
    ),
    "train_rbm": training(rbm),
    "train_rbm, best": training(patient_rbm),
    "train_rbm, finished": training(rbm, whole=True),
    "train_trbm": training(trbm),
    "train_tggm": training(tggm, whole=True),
    "train_ensemble": training(ensemble, whole=True),
    "log_partition": Target(".npz", log_partition, log_partition),
    "idx": Target("", images, lambda path: [published.read_idx(path, (9, 3, 2))], summed=False),
    "idx.gz": Target(".gz", images, lambda path: [published.read_idx(path, (9, 3, 2))]),
    "npz": Target(".npz", packed, lambda path: read_npz(path, ["data", "index"], 10**4)),
    "mat": Target(
        ".mat",
        matlab,
        lambda path: read_mat(path, ["data", "labels"], 10**4),
        summed=False,  # but for the contents of its packed parts
    ),
    "asf": Target(
        ".asf",
        lambda path: path.write_text(ASF),
        lambda path: [bone.offset for bone in read_asf(path).bones],
        summed=False,
    ),
    "protocol": Target(
        ".toml",
        lambda path: path.write_text(protocol.text("table2")),
        lambda path: len(protocol.read("table2", path, TABLE.sections, quick=True)),
        summed=False,
    ),
    "results": Target(
        ".jsonl",
        lambda path: results.append(path, {"table": "table1", "cell": "a/b", "x": 1.5}),
        lambda path: len(results.read(path)),
        summed=False,
    ),
}
