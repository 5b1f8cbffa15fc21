"""What states of the visible units say of each parameter, whichever these units are.

Tested in tests/evaluation/exact/test_kinds.py and test_rbm.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.rbm import RBM, TruGRBM
from trug_fast.models.visible_kinds import real_columns

Floats = NDArray[np.float64]


def expectations_of(model: RBM, visible: NDArray[Any], weight: Floats) -> dict[str, Floats]:
    """Return the weighted mean of the derivative of log p*(x) by each parameter, by columns."""
    rows = np.ascontiguousarray(visible, dtype=np.float64)
    with computing(work(len(rows), model.n_columns, model.n_hidden)):
        found = gibbs.hidden_moments(model.layers(np.float64), rows)
    result = {
        "weights": (rows * weight[:, None]).T @ found.mean,
        "visible_bias": weight @ rows,
        "hidden_bias": weight @ found.mean,
        "visible_precision": -0.5 * (weight @ rows**2) * real_columns(model.runs),
    }
    if isinstance(model, TruGRBM):
        result["precision"] = -0.5 * (weight @ (found.variance + found.mean**2))
        result["lower"] = -(weight @ np.exp(found.log_low))
        result["upper"] = weight @ np.exp(found.log_high)
    return result
