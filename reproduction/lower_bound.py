"""How far below an annealed log-probability the true one may lie: RAISE on some test images.

Tested in tests/reproduction/test_table1.py.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from trug_fast._common import checks
from trug_fast.evaluation.bridges import PartitionWarning
from trug_fast.evaluation.bridges.reverse import log_likelihood_bound
from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.models.rbm import BernoulliRBM, TruGRBM

from .images import Images
from .protocol import Options
from .results import Line
from .runner import Session

OPTIONS = ("n_images", "n_chains", "n_temperatures")


def checked(options: Options) -> Options:
    """Refuse options that cannot be."""
    for name in options:
        checks.count(f"bound.{name}", options[name], least=2 if name == "n_images" else 1)
    if options and "n_images" not in options:
        raise ValueError("bound.n_images is missing")
    return options


def lower_bound(
    model: TruGRBM | BernoulliRBM, log_z: float, data: Images, options: Options, session: Session
) -> Line:
    """Return by how much RAISE is below annealing on evenly spread test images, with its error.

    The images' own log-probabilities differ by far more than what is to be seen, so the differences
    are averaged.  No ``n_images``, no bound.
    """
    wanted = int(options.get("n_images", 0))
    if wanted == 0:
        return {}
    images = data.test[:: max(1, len(data.test) // wanted)][:wanted]
    own = {name: value for name, value in options.items() if name != "n_images"}
    with warnings.catch_warnings():  # where it has one, annealing has one for the same reason
        warnings.simplefilter("ignore", PartitionWarning)
        low = log_likelihood_bound(
            model, images, base=data.fixed, rng=session.seed, progress=session.progress, **own
        )
    short = low.value - log_likelihood(model, images, log_z)
    error = float(np.std(short, ddof=1)) / math.sqrt(len(short))
    return {"bound": {"difference": float(short.mean()), "std_error": error, "images": len(short)}}
