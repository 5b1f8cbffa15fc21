"""All that a model needs, compiled at once: small calls, in as many processes as there are cores.

Which kernels are compiled depends on the types of arguments, and these neither on the kind of units
nor on sizes: one small call of each sort will do.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ._common.progress import Progress, require_progress
from ._common.threads import available
from .distributions import truncnorm
from .distributions.multivariate.family import truncmvn
from .distributions.multivariate.frozen import METHODS
from .distributions.multivariate.gibbs import truncmvn_gibbs
from .distributions.multivariate.hmc import truncmvn_hmc
from .evaluation.likelihood import log_likelihood, pseudo_log_likelihood
from .evaluation.partition import log_partition
from .evaluation.prediction import prediction_error
from .kernels import announcing, caching
from .kernels.first_calls import missing, needs
from .models.rbm import TruGRBM
from .training.rbm.train import train_rbm
from .training.tggm.train import train_tggm
from .training.trbm.train import train_trbm
from .training.units import TruncatedUnits


def numbers(*shape: int) -> NDArray[Any]:
    """Return numbers to call with."""
    return np.random.default_rng(0).standard_normal(shape)


def rbm() -> None:
    """Train an RBM, draw from it, and look at its hidden units."""
    rows = (numbers(20, 6) > 0).astype(float)
    fit = train_rbm(rows[5:], 4, epochs=1, validation=rows[:5], progress=False, rng=0)
    fit.model.sample(2, return_mean=True, rng=0)
    fit.model.hidden_moments(rows)


def truncated_visible() -> None:
    """Train an RBM of visible units in an interval, and draw from it."""
    rows = np.abs(numbers(20, 6))
    units = TruncatedUnits("relu")
    fit = train_rbm(
        rows[5:], 4, visible=units, epochs=1, validation=rows[:5], progress=False, rng=0
    )
    fit.model.sample(2, return_mean=True, rng=0)


def annealing() -> None:
    """Evaluate RBMs."""
    rows = (numbers(5, 6) > 0).astype(float)
    parameters = 0.1 * numbers(6, 4), 0.0, 0.0, 1.0, 0.0, 1.0
    model = TruGRBM(*parameters)
    estimate = log_partition(model, n_temperatures=20, n_chains=4, progress=False, rng=0)
    log_likelihood(model, rows, estimate)
    pseudo_log_likelihood(model, rows, rng=0)
    model = TruGRBM(*parameters, visible="relu", visible_precision=1.0)
    estimate = log_partition(model, n_temperatures=20, n_chains=4, progress=False, rng=0)
    log_likelihood(model, rows, estimate)


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


def truncated(function: str, dtype: Any = np.float64) -> None:
    """Call a function of ``truncnorm``."""
    a, b, loc, scale = (np.array(pair, dtype) for pair in ((-1, 0), (1, 2), (0, 0), (1, 1)))
    if function == "rvs_of_one":
        truncnorm.rvs(a[:1], b[:1], loc[:1], scale[:1])
    elif function in OF_POINTS:
        getattr(truncnorm, function)(np.array((0.25, 0.5), dtype), a, b, loc, scale)
    elif function == "skewness":
        truncnorm.stats(a, b, loc, scale, moments="s")
    else:
        getattr(truncnorm, function)(a, b, loc, scale)


def doubles() -> None:
    """Call all functions of ``truncnorm`` with float64."""
    for name in FUNCTIONS:
        truncated(name)
    truncnorm.fit([0.0, 1.0, 3.0], fscale=1.0)


def singles() -> None:
    """Call all functions of ``truncnorm`` with float32."""
    for name in FUNCTIONS:
        truncated(name, np.float32)


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


OF_POINTS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
FUNCTIONS = ("rvs", "rvs_of_one", *OF_POINTS, "mean", "var", "skewness", "entropy", "log_mass")
Call = Callable[[], None]
# What has kernels in common stands in one chain, whose calls are made one after the other, so that
# no two processes compile the same.  The longest chain comes first.
CHAINS: tuple[tuple[tuple[str, Call], ...], ...] = (
    (("tggm", tggm),),
    (("rbm", rbm), ("rbm", truncated_visible), ("trbm", trbm)),
    (("rbm", annealing),),
    (("truncnorm", doubles), ("truncmvn", vectors)),
    (("truncnorm", singles),),
)
CALLS = {call.__name__: call for chain in CHAINS for _, call in chain}
MODELS = ("rbm", "trbm", "tggm", "truncnorm", "truncmvn")


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
        Show a bar over the kernels; by default if standard error is a terminal.

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
        if model not in MODELS:
            raise ValueError(f"models must be among {', '.join(MODELS)}, got {model!r}")
    require_progress(progress)
    if caching.HOME is None:
        raise OSError(
            f"compiled kernels cannot be kept: none of {', '.join(map(str, caching.PLACES))} "
            "can be written; set NUMBA_CACHE_DIR to a folder that can"
        )
    begun = time.perf_counter()
    wanted = models or MODELS
    named = [[call.__name__ for model, call in chain if model in wanted] for chain in CHAINS]
    open_ones = [[name for name in chain if not _is_done(name)] for chain in named]
    chains = [chain for chain in open_ones if chain]
    needed = [one for chain in chains for name in chain for one in needs(WHOLE + name)]
    with Progress(len(missing(needed)), "compiling", progress) as bar:
        compiled = _Processes(bar).run(chains)
    return Warmed(compiled, time.perf_counter() - begun, caching.HOME)


WHOLE = "warm."  # begins the names of calls in the table of kernels
MARK = "compiled: "  # begins the lines in which a process tells of kernels
# The package is found where this process has found it.
SCRIPT = """
import sys
sys.path.append(sys.argv[1])
from trug_fast import warming
warming.make(sys.argv[2:])
"""


def make(names: Sequence[str]) -> None:
    """Make calls, in a process of their own that tells of each kernel that it compiles."""
    announcing.hear(lambda kernel: print(MARK + kernel.name, flush=True))
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", message=CANNOT_KEEP)
    for name in names:
        CALLS[name]()
        if caching.HOME is not None:
            _mark(caching.HOME, name).touch()


def _mark(folder: Path, name: str) -> Path:
    """Return the file that says that all kernels of a call lie in a folder."""
    kind = caching.STAMP + repr((caching.processor(), numba.__version__)).encode()
    return folder / f"warm-{name}-{hashlib.sha256(kind).hexdigest()[:16]}"


def _is_done(name: str) -> bool:
    """Tell whether all that a call needs is there, as far as can be seen without making it."""
    marked = any(_mark(folder, name).exists() for folder in caching.READ)
    return marked and not missing(needs(WHOLE + name))


CANNOT_KEEP = "trug_fast cannot keep its compiled kernels"


class _Processes:
    """Processes that compile, and what they tell."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self._lock = bar, threading.Lock()
        self._running: list[subprocess.Popen[str]] = []
        self._compiled = 0

    def run(self, chains: Sequence[Sequence[str]]) -> int:
        """Run a process for each chain, and return how many kernels they compiled."""
        with ThreadPoolExecutor(available()) as pool:
            try:
                list(pool.map(self._run, chains))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in self._running:
                    process.kill()
                raise
        return self._compiled

    def _run(self, chain: Sequence[str]) -> None:
        home = str(Path(__file__).parents[1])
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, home, *chain],
            env=os.environ | {"NUMBA_NUM_THREADS": "1", announcing.QUIET: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = ""
        with process:
            self._running.append(process)
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(MARK):
                    with self._lock:
                        self._compiled += 1
                        self._bar.advance(1)
                else:
                    said += line
        if CANNOT_KEEP in said:
            raise OSError(said.strip())
        if process.returncode:
            raise ChildProcessError(f"a process that compiled kernels failed:\n{said.strip()}")
