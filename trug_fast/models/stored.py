"""Models in files, of whichever kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trug_fast._common import files

from .ensemble import TGGMEnsemble
from .rbm import BernoulliRBM, TruGRBM
from .tggm import TruGTGGM
from .trbm import BernoulliTRBM, TruGTRBM

KINDS = (TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM, TruGTGGM, TGGMEnsemble)
# What files of the package hold beside models, and what reads it.
OTHERS = {
    "Ladder": "tf.evaluation.Ladder.load reads it",
    "Training": "it is the checkpoint of a training, which goes on from it",
    "log_partition_run": "it is the checkpoint of a log_partition, which goes on from it",
}


def load(path: str | Path, *kinds: type) -> Any:
    """Read a model from its file, of whichever kind it is.

    Parameters
    ----------
    path : str or Path
        A file that the ``save`` of a model wrote.
    *kinds : classes, optional
        What the model may be; by default a TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM, TruGTGGM
        or TGGMEnsemble.

    Returns
    -------
    TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM, TruGTGGM or TGGMEnsemble

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is none of this package or damaged, comes from another version, or holds
        something else.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.load("model.npz")  # doctest: +SKIP
    TruGRBM(n_visible=64, n_hidden=100, visible='bernoulli', dtype=float32)
    """
    found = files.read_kind(path)
    for kind in kinds or KINDS:
        if kind.__name__ == found:
            return kind.load(path)  # type: ignore[attr-defined]
    names = " or ".join(kind.__name__ for kind in kinds or KINDS)
    more = f": {OTHERS[found]}" if found in OTHERS else ""
    raise ValueError(f"{path} holds a {found}, expected a {names}{more}")
