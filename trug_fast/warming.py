"""All that a model needs, compiled at once: small calls, in as many processes as there are cores.

Which kernels are compiled depends on the types of arguments, and these neither on the kind of units
nor on sizes: one small call of each sort will do.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ._common.progress import Progress, require_progress
from ._common.threads import available
from .distributions import truncnorm
from .distributions.multivariate.family import METHODS, truncmvn
from .distributions.multivariate.gibbs import truncmvn_gibbs
from .distributions.multivariate.hmc import truncmvn_hmc
from .evaluation.bridges import log_partition
from .evaluation.forecasts import prediction_error
from .evaluation.likelihood import log_likelihood, pseudo_log_likelihood
from .kernels import announcing, caching
from .models.rbm import TruGRBM
from .training.rbm.train import train_rbm
from .training.tggm.train import train_tggm
from .training.trbm.train import train_trbm
from .training.units import TruncatedUnits


def numbers(*shape: int) -> NDArray[Any]:
    """Return numbers to call with."""
    return np.random.default_rng(0).standard_normal(shape)


def rbm() -> None:
    """Train RBMs, draw from them, and look at their hidden units."""
    rows = (numbers(20, 6) > 0).astype(float)
    for X, visible in ((rows, "bernoulli"), (np.abs(numbers(20, 6)), TruncatedUnits("relu"))):
        how: Any = {"visible": visible, "epochs": 1, "progress": False, "rng": 0}
        model = train_rbm(X[5:], 4, validation=X[:5], **how).model
        model.sample(2, return_mean=True, rng=0)
        model.hidden_moments(X)


def annealing() -> None:
    """Evaluate RBMs."""
    rows = (numbers(5, 6) > 0).astype(float)
    trug = partial(TruGRBM, 0.1 * numbers(6, 4), 0.0, 0.0, 1.0, 0.0, 1.0)
    for model in (trug(), trug(visible="relu", visible_precision=1.0)):
        estimate = log_partition(model, n_temperatures=20, n_chains=4, progress=False, rng=0)
        log_likelihood(model, rows, estimate)
    pseudo_log_likelihood(trug(), rows, rng=0)


def trbm() -> None:
    """Train a temporal RBM, forecast and generate."""
    sequences = (numbers(2, 12, 5) > 0).astype(float)
    fit = train_trbm(sequences, 4, epochs=1, validation=sequences, progress=False, rng=0)
    fit.model.generate(3, return_mean=True, rng=0)
    prediction_error(fit.model, sequences)


def tggm() -> None:
    """Train a regression, and evaluate it."""
    X, y = numbers(40, 3), numbers(40)
    model = train_tggm(X, y, 4, epochs=1, progress=False, rng=0).model
    model.predict(X, return_std=True)
    model.log_likelihood(X, y)
    model.sample(X, rng=0)


def doubles(dtype: Any = np.float64) -> None:
    """Call all functions of ``truncnorm``."""
    own = np.array([[-1, 0], [1, 2], [0, 0], [1, 1]], dtype)  # a, b, loc, scale
    for name in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"):
        getattr(truncnorm, name)(np.array([0.25, 0.5], dtype), *own)
    for name in ("rvs", "mean", "var", "entropy", "log_mass"):
        getattr(truncnorm, name)(*own)
    truncnorm.rvs(*own[:, :1])
    truncnorm.stats(own[0], own[1], moments="s")
    if dtype == np.float64:
        truncnorm.fit([0.0, 1.0, 3.0], fscale=1.0)


def singles() -> None:
    """Call them with float32."""
    doubles(np.float32)


def vectors() -> None:
    """Draw truncated normal vectors in all ways, and find their probabilities and moments."""
    given = None, 0.5 * (np.eye(3) + 1), 0.0
    for method in METHODS:
        box = truncmvn(*given, method=method)
        box.rvs(2, rng=0)
        box.logprob(n_points=9, rng=0)
        box.mean(n_points=9, rng=0)
    for sampler in (truncmvn_gibbs, truncmvn_hmc):
        sampler(*given, n_samples=2, progress=False, rng=0)
    from scipy.sparse import csr_matrix  # 0.1 s to import

    truncmvn_gibbs(precision=csr_matrix(np.eye(3)), lower=0.0, n_samples=2, progress=False, rng=0)


# What has kernels in common stands in one chain, whose calls are made one after the other, so that
# no two processes compile the same.  The longest chain comes first.
CHAINS = (("tggm",), ("rbm", "trbm"), ("annealing",), ("doubles", "vectors"), ("singles",))
CALLS: dict[str, Callable[[], None]] = {
    call.__name__: call for call in (tggm, rbm, trbm, annealing, doubles, vectors, singles)
}
MODELS = {
    "rbm": ("rbm", "annealing"),
    "trbm": ("trbm",),
    "tggm": ("tggm",),
    "truncnorm": ("doubles", "singles"),
    "truncmvn": ("vectors",),
}


class Warmed(NamedTuple):
    """What :func:`warm` has done."""

    compiled: int  # kernels; 0: all were there
    seconds: float
    folder: Path  # where they are kept


def warm(
    *models: Literal["rbm", "trbm", "tggm", "truncnorm", "truncmvn"], progress: bool | None = None
) -> Warmed:
    """Compile all that models need, in as many processes as ``numba.get_num_threads()``.

    Training with its defaults, sampling and evaluation need not compile then, in any later process.
    What is there already is not compiled again.

    Parameters
    ----------
    *models : "rbm", "trbm", "tggm", "truncnorm" or "truncmvn"
        By default all of them.
    progress : bool, optional
        Show a bar over the processes; by default if standard error is a terminal.

    Returns
    -------
    Warmed
        How many kernels were ``compiled`` in how many ``seconds``, and the ``folder`` they are in.

    Raises
    ------
    TypeError, ValueError
        If there is no such model; if ``progress`` is of another kind.
    OSError
        If compiled kernels cannot be kept; if a process failed, with what it said.

    Examples
    --------
    >>> import trug_fast as tf
    >>> warmed = tf.warm("truncnorm", progress=False)
    >>> warmed.folder == tf.kernels.caching.HOME
    True
    """
    for model in models:
        if model not in tuple(MODELS):
            raise ValueError(f"models must be among {', '.join(MODELS)}, got {model!r}")
    require_progress(progress)
    if caching.HOME is None:
        raise OSError(
            f"compiled kernels cannot be kept: none of {', '.join(map(str, caching.PLACES))} "
            "can be written; set NUMBA_CACHE_DIR to a folder that can"
        )
    begun = time.perf_counter()
    wanted = {name for model in models or MODELS for name in MODELS[model] if not _is_done(name)}
    chains = [names for chain in CHAINS if (names := [name for name in chain if name in wanted])]
    compiled, processes = 0, list[subprocess.Popen[str]]()
    with (
        Progress(len(chains), "compiling", progress) as bar,
        ThreadPoolExecutor(available()) as pool,
    ):
        try:
            for done in as_completed([pool.submit(_in_process, one, processes) for one in chains]):
                compiled += done.result()
                bar.advance(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            raise
    return Warmed(compiled, time.perf_counter() - begun, caching.HOME)


CANNOT_KEEP = "trug_fast cannot keep its compiled kernels"
MARK = "compiled: "  # begins the line in which a process tells of its kernels
# The package is found where this process has found it.
SCRIPT = """
import sys
sys.path.append(sys.argv[1])
from trug_fast import warming
warming.make(sys.argv[2:])
"""


def make(names: Sequence[str]) -> None:
    """Make calls, in a process of their own that tells how many kernels it compiled."""
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", message=CANNOT_KEEP)
    for name in names:
        CALLS[name]()
        if caching.HOME is not None:
            _mark(caching.HOME, name).touch()
    print(f"{MARK}{len(announcing.compiled)}")


def _mark(folder: Path, name: str) -> Path:
    """Return the file that says that all kernels of a call lie in a folder."""
    kind = caching.STAMP + repr((caching.processor(), numba.__version__)).encode()
    return folder / f"warm-{name}-{hashlib.sha256(kind).hexdigest()[:16]}"


def _is_done(name: str) -> bool:
    """Tell whether a call was made before."""
    return any(_mark(folder, name).exists() for folder in caching.READ)


def _in_process(chain: Sequence[str], processes: list[subprocess.Popen[str]]) -> int:
    """Make a chain's calls in a process, and return how many kernels were compiled."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1]), *chain],
        env=os.environ | {"NUMBA_NUM_THREADS": "1", announcing.QUIET: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    processes.append(process)
    said, _ = process.communicate()
    if CANNOT_KEEP in said:
        raise OSError(said.strip())
    if process.returncode:
        raise ChildProcessError(f"a process that compiled kernels failed:\n{said.strip()}")
    return sum(int(line[len(MARK) :]) for line in said.splitlines() if line.startswith(MARK))
