"""Models in files, of whichever kind.

Tested in tests/cli/test_evaluate.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trug_fast._common import files

from .ensemble import TGGMEnsemble
from .rbm import BernoulliRBM, TruGRBM
from .tggm import TruGTGGM
from .trbm import BernoulliTRBM, TruGTRBM

KINDS = (TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM, TruGTGGM, TGGMEnsemble)


def load_model(path: str | Path, *kinds: type) -> Any:
    """Return the model in a file.

    Parameters
    ----------
    path : str or Path
    *kinds : classes, optional
        What it may be; any model by default.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, of another version, or holds another kind.

    Examples
    --------
    >>> load_model("model.npz")  # doctest: +SKIP
    TruGRBM(n_visible=64, n_hidden=100, dtype=float32)
    """
    found = files.read_kind(path)
    for kind in kinds or KINDS:
        if kind.__name__ == found:
            return kind.load(path)  # type: ignore[attr-defined]
    names = " or ".join(kind.__name__ for kind in kinds or KINDS)
    raise ValueError(f"{path} holds a {found}, expected a {names}")
