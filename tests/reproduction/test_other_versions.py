"""Workers with another version of the package, in each of the ways in which there are workers."""

import multiprocessing
import platform
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest

import trug_fast as tf
from reproduction import results, runner
from tests.support.tables import ONE, TINY, figures_of, reproduce
from tests.support.workers import altered, scheduler, worker
from trug_fast._common import workers
from trug_fast._common.workers import WorkersError, identity

REFUSED = r"a worker has another trug_fast.*, not .*; install one version everywhere, start the"
X = np.random.default_rng(0).normal(size=(30, 2))
MODEL = tf.TruGRBM(X[:5, :2] / 5, 0.0, 0.0, 1.0, 0.0, 1.0)
ANNEALING = {"n_chains": 250, "n_temperatures": 60, "rng": 0}


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A folder in which the package is another."""
    new = "ROUND_SECONDS = 2.5"
    return altered(tmp_path_factory.mktemp("other"), new=new)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The same with a kernel that is another."""
    file, old, new = "kernels/unit/distribution.py", "0.9189385332046727", "0.91893853320467"
    return altered(tmp_path_factory.mktemp("kernels"), file, old, new)


def annealed(executor):
    return tf.log_partition(MODEL, executor=executor, **ANNEALING).log_weights


def ensemble(executor):
    return tf.train_ensemble(X, X[:, 0], 2, 3, epochs=1, executor=executor, rng=0).model


def validated(executor):
    ways = {"small": {"n_hidden": 2, "epochs": 1}}
    videos = np.random.default_rng(0).uniform(size=(4, 5, 3))
    return tf.training.cross_validate(videos, ways, n_folds=2, executor=executor, rng=0).folds


def pool(kind):
    if kind == "loky":
        return pytest.importorskip("joblib.externals.loky").ProcessPoolExecutor(1)
    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {kind}")
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(kind))


@pytest.mark.parametrize("kind", ["spawn", "forkserver", "loky"])
def test_a_process_of_another_version_is_refused(kind, other, monkeypatch):
    """As after an update while this process runs."""
    monkeypatch.syspath_prepend(str(other))
    with pool(kind) as executor, pytest.raises(WorkersError, match=REFUSED):
        annealed(executor)


@pytest.mark.parametrize("job", [ensemble, validated])
def test_models_by_another_kernel_are_refused(job, kernels, monkeypatch):
    monkeypatch.syspath_prepend(str(kernels))
    with pool("spawn") as executor, pytest.raises(WorkersError, match=REFUSED):
        job(executor)


def test_blas_that_takes_other_kernels_is_told(monkeypatch):
    kernels = identity()["beneath"]["BLAS kernels"]
    if "openblas" not in kernels or platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("no kernels to choose from")
    chosen = next(name for name in ("Haswell", "Sandybridge") if name not in kernels)
    monkeypatch.setenv("OPENBLAS_CORETYPE", chosen)
    monkeypatch.setattr(workers, "_known", set())
    with pool("spawn") as executor, pytest.warns(RuntimeWarning) as told:
        found = annealed(executor)
    assert f"a worker has BLAS kernels openblas {chosen} (here {kernels})" in str(told[0].message)
    assert len(told) == 1
    assert np.allclose(found, annealed(None), rtol=1e-9)


class Late(Executor):
    """Dask's workers, of whom one joins when some jobs are done."""

    def __init__(self, client, join):
        self._client, self._join, self.submitted = client, join, 0
        self._executor = client.get_executor(pure=False)

    def submit(self, *job, **more):
        self.submitted += 1
        if self.submitted == 7:
            self._join()
            self._client.wait_for_workers(2, timeout=60)
        return self._executor.submit(*job, **more)


@pytest.fixture(scope="module")
def dask():
    """A scheduler without workers: its process and address."""
    pytest.importorskip("distributed")
    with scheduler() as begun:
        yield begun


@pytest.fixture
def client(dask):
    import distributed

    with distributed.Client(dask[1]) as made:
        yield made


@pytest.fixture(scope="module")
def stranger(dask, other):
    """Its worker of another version."""
    with worker(dask[1], other):
        yield


@pytest.mark.parametrize("job", [annealed, ensemble, validated])
def test_a_worker_of_dask_is_refused(job, client, stranger):
    with pytest.raises(WorkersError, match=REFUSED):
        job(client.get_executor())


def test_a_cell_is_refused_in_words(config, dask, stranger, tmp_path, capsys):
    out = tmp_path / "out"
    assert reproduce(config, out, *ONE, f"--scheduler={dask[1]}") == 2
    said = capsys.readouterr().err
    assert "trug-fast: a worker has another trug_fast, computing digits/shared: " in said
    assert f"anew and {workers.AGAIN}" in said and "Traceback" not in said


def test_a_worker_that_joins_late_is_refused_too(other):
    distributed = pytest.importorskip("distributed")
    with (
        ExitStack() as joined,
        scheduler() as (_, address),
        worker(address),
        distributed.Client(address) as client,
    ):
        executor = Late(client, lambda: joined.enter_context(worker(address, other)))
        with pytest.raises(WorkersError, match=REFUSED):
            tf.log_partition(MODEL, executor=executor, **ANNEALING | {"n_temperatures": 3000})
    assert executor.submitted > 6  # what was there before has done its part


def test_a_scheduler_that_is_gone_is_told_and_the_same_command_goes_on(config, tmp_path, capsys):
    pytest.importorskip("distributed")
    config.write_text(
        TINY.replace("epochs = 3", "epochs = 60, every = 60, checkpoint_every = 0.05")
    )
    out, here = tmp_path / "out", tmp_path / "here"
    checkpoint = out / "digits" / "shared" / "checkpoint.npz"

    def kill_once_there_is_a_checkpoint(process):
        deadline = time.monotonic() + 60
        while not checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()

    with scheduler() as (process, address), worker(address):
        killer = threading.Thread(target=kill_once_there_is_a_checkpoint, args=(process,))
        killer.start()
        assert reproduce(config, out, *ONE, f"--scheduler={address}") == 2
        killer.join()
    said = capsys.readouterr().err
    assert "trug-fast: the executor has given up its work, computing digits/shared: the sch" in said
    assert f"start it anew and {workers.AGAIN}" in said
    assert "Traceback" not in said
    assert reproduce(config, out, *ONE) == reproduce(config, here, *ONE) == 0
    found = [results.read(folder / "results.jsonl") for folder in (out, here)]
    assert [figures_of(line) for line in found[0]] == [figures_of(line) for line in found[1]]


def test_another_reproduction_computes_no_cell():
    with pytest.raises(WorkersError, match="a worker has another reproduction; install one"):
        runner._compute_there("another", None, None, None, "")
