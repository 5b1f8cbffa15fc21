"""Models as rungs of a ladder: the first, of which all is known, and those that go with it.

Tested in tests/evaluation/ladder/test_ladder.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import computing
from trug_fast.models.rbm import RBM, require_rbm
from trug_fast.units.kinds import log_norms

Floats = NDArray[np.float64]


def exact_log_z(base: RBM) -> float:
    """Return log Z of a model without weights."""
    if base.weights.any():
        raise ValueError("the first rung of a ladder must have no weights")
    layers = base.layers(np.float64)
    with computing(0.0):
        hidden = float(log_norms(layers, np.zeros((1, base.n_columns)))[0])
    return float(base.visible_units.log_norm(layers.visible_bias[0])) + hidden


def independent(base: RBM, bias: Floats, rows: int, generator: np.random.Generator) -> NDArray[Any]:
    """Return draws of the visible units of a model without weights."""
    return base.visible_units.independent(generator, rows, bias).astype(base.dtype)


def as_rung(caller: str, model: RBM, first: RBM) -> RBM:
    """Return a model in the float type of a ladder's first rung.

    Raises
    ------
    TypeError, ValueError
        If it has other units than that, naming the difference.
    """
    require_rbm(f"{caller}(model)", model)
    for what in ("visible", "n_visible", "n_states", "n_hidden", "runs"):
        wanted, found = getattr(first, what), getattr(model, what)
        if wanted != found:
            raise ValueError(f"model must have {what}={wanted!r} as the ladder, got {found!r}")
    if type(model) is not type(first):
        raise ValueError(
            f"model must be a {type(first).__name__} as the ladder's, got a {type(model).__name__}"
        )
    if model.visible_precision is not None and not np.array_equal(
        model.visible_precision, np.asarray(first.visible_precision)
    ):
        raise ValueError("model must have the visible_precision of the ladder's models")
    return model if model.dtype == first.dtype else _cast(model, first.dtype)


def _cast(model: RBM, dtype: Any) -> RBM:
    return model.remade({k: np.asarray(v, dtype) for k, v in model.column_arrays().items()})
