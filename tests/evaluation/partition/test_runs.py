"""The same numbers however a run is split, and however often it is interrupted."""

import errno
import multiprocessing
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import ROOT
from tests.support.models import exact_draws, machine
from trug_fast._common import files
from trug_fast.evaluation.partition import checkpoint, runs

# Of few temperatures: here only numbers are compared.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.PartitionWarning")
# 130 chains: two blocks and a part of one.
OPTIONS = {"n_chains": 130, "n_temperatures": 23, "direction": "both", "n_gibbs": 4, "rng": 3}


@pytest.fixture(scope="module")
def model():
    """A machine with several tiles of units in each layer."""
    return machine("[0,4]", np.float32, n_visible=140, n_hidden=150)


@pytest.fixture(scope="module")
def expected(model):
    """What any split must give."""
    return run(model)


def run(model, **options):
    """Return the log-weights of a short run."""
    return tf.log_partition(model, **OPTIONS, **options).log_weights


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
def test_one_thread_equals_all(model, weights_on):
    weights = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        weights.append(run(model, weights_on=weights_on))
    assert np.array_equal(*weights)


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
def test_threads_give_the_same(model, weights_on):
    before = numba.get_num_threads()
    with ThreadPoolExecutor(3) as executor:
        split = run(model, executor=executor, weights_on=weights_on)
    assert np.array_equal(split, run(model, weights_on=weights_on))
    assert numba.get_num_threads() == before


def test_processes_give_the_same(model, expected):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        assert np.array_equal(run(model, executor=executor), expected)


def test_a_local_cluster_gives_the_same(model, expected):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert np.array_equal(run(model, executor=client.get_executor()), expected)


class Dying(Executor):
    """An executor whose workers die."""

    def submit(self, *args, **kwargs):
        future = Future()
        future.set_exception(BrokenPipeError())
        return future


def test_errors_of_workers_arrive(model):
    with pytest.raises(BrokenPipeError):
        run(model, executor=Dying())


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forked_processes_are_refused_in_words(model, expected):
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor,
        pytest.raises(RuntimeError, match="processes must be spawned"),
    ):
        run(model, executor=executor)


def test_one_caller_at_a_time_where_the_threading_layer_bears_no_more(model, monkeypatch, expected):
    monkeypatch.setattr(numba, "threading_layer", lambda: "workqueue")
    inside = []
    anneal = runs.annealing.anneal

    def watched(*args):
        inside.append(1)
        assert sum(inside) == 1
        anneal(*args)
        inside.pop()

    monkeypatch.setattr(runs.annealing, "anneal", watched)
    with ThreadPoolExecutor(3) as executor:
        assert np.array_equal(run(model, executor=executor), expected)


class Stop(Exception):
    """Ends a run where a test wants it to."""


@pytest.mark.parametrize("schedule", ["uniform", "adaptive"])
@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
def test_a_run_stopped_anywhere_goes_on(model, tmp_path, monkeypatch, weights_on, schedule):
    monkeypatch.setattr(runs, "STRETCH", 7)
    options = {"weights_on": weights_on, "schedule": schedule}
    whole, file, stops = run(model, **options), tmp_path / "run.npz", 0
    keep = checkpoint.Checkpoint.keep
    while True:
        left = [2]  # stretches until the next stop

        def stop(self, leg, state, left=left):
            keep(self, leg, state)
            left[0] -= 1
            if left[0] == 0:
                raise Stop

        monkeypatch.setattr(checkpoint.Checkpoint, "keep", stop)
        try:
            resumed = run(model, checkpoint=file, **options)
            break
        except Stop:
            stops += 1
    assert np.array_equal(resumed, whole)
    assert stops >= 4


def test_a_finished_file_gives_the_result_at_once_and_its_seed(model, tmp_path, expected):
    file = tmp_path / "run.npz"
    assert np.array_equal(run(model, checkpoint=file), expected)
    begun = file.stat().st_mtime_ns
    anew = {**OPTIONS, "rng": None}
    with ThreadPoolExecutor(2) as executor:
        again = tf.log_partition(model, **anew, checkpoint=file, executor=executor)
    assert np.array_equal(again.log_weights, expected)
    assert file.stat().st_mtime_ns == begun


def test_files_of_other_runs_and_broken_files_are_refused(model, tmp_path):
    file = tmp_path / "run.npz"
    run(model, checkpoint=file)
    for changed in ({"rng": 4}, {"n_gibbs": 5}, {"n_chains": 131}):
        with pytest.raises(ValueError, match="belongs to another run: its (seed|n_gibbs|n_chains)"):
            tf.log_partition(model, **{**OPTIONS, **changed}, checkpoint=file)
    with pytest.raises(ValueError, match="another run: its model is 'TruGRBM"):
        run(machine("bernoulli", n_visible=140, n_hidden=150), checkpoint=file)
    with pytest.raises(ValueError, match="another run: its start is None"):
        tf.log_partition(model, **OPTIONS, start=np.ones((1, 140)), checkpoint=file)
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="holds a TruGRBM, expected a log_partition_run"):
        run(model, checkpoint=tmp_path / "model.npz")
    file.write_bytes(file.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="is damaged"):
        run(model, checkpoint=file)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        run(model, checkpoint=tmp_path / "none" / "run.npz")


def full_disk(path, kind, arrays):
    """Fail as writing to a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(model, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    monkeypatch.setattr(runs, "travel", None)  # nothing is computed
    monkeypatch.setattr(files, "write", full_disk)
    for schedule in ("uniform", "adaptive"):
        with pytest.raises(OSError, match=r"cannot write checkpoint .*run\.npz: .*No space left"):
            run(model, checkpoint=file, schedule=schedule)
    assert not file.exists()


def test_a_disk_that_fills_up_does_not_end_a_run(model, tmp_path, monkeypatch, expected):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(runs, "STRETCH", 7)
    file, write, written = tmp_path / "run.npz", files.write, []

    def fill_up(*args):
        (write if len(written) < 3 else full_disk)(*args)
        written.append(file.stat().st_size)

    monkeypatch.setattr(files, "write", fill_up)
    with pytest.warns(UserWarning, match="cannot write checkpoint .* annealing goes on: .*space"):
        assert np.array_equal(run(model, checkpoint=file), expected)
    monkeypatch.setattr(files, "write", write)
    assert np.array_equal(run(model, checkpoint=file), expected)  # from what was written before


def test_one_direction_gives_what_it_gives_in_both(model):
    both = tf.log_partition(model, **OPTIONS)
    for side in (both.forward, both.reverse):
        alone = tf.log_partition(model, **OPTIONS | {"direction": side.direction})
        assert np.array_equal(alone.log_weights, side.log_weights)
        assert (alone.log_z, alone.std_error) == (side.log_z, side.std_error)
        assert alone.warnings == side.warnings


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import numpy as np
import trug_fast as tf
from tests.support.models import machine
from trug_fast.evaluation.partition import checkpoint, runs
checkpoint.SECONDS, runs.STRETCH = 0.0, 1
model = machine("[0,4]", np.float32, n_visible=140, n_hidden=150)
print("begun", flush=True)
estimate = tf.log_partition(model, n_chains=60, n_temperatures=150, direction="both", rng=1,
                            checkpoint=sys.argv[1])
np.save(sys.argv[2], estimate.log_weights)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_at_random_moments(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT).format(root=str(ROOT)))
    rng, kills = np.random.default_rng(int(time.time())), 0
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path / "whole.npz")]
    subprocess.run([*command, str(tmp_path / "whole.npy")], check=True)
    command[-1] = str(tmp_path / "killed.npz")
    for _ in range(1000):
        process = subprocess.Popen([*command, str(tmp_path / "killed.npy")], stdout=subprocess.PIPE)
        process.stdout.readline()
        # Less and less often, so that it ends on a slow machine too.
        wait = rng.exponential(0.2 * 1.2**kills)
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        else:
            assert process.returncode == 0
            break
        finally:
            process.stdout.close()
    assert kills > 0
    assert np.array_equal(np.load(tmp_path / "whole.npy"), np.load(tmp_path / "killed.npy"))


def test_exact_draws_need_no_sweeps(model):
    small = machine("mixed")
    draws = exact_draws(small, 10, seed=0)
    options = {"n_temperatures": 5, "direction": "reverse", "rng": 0}
    none = tf.log_partition(small, n_chains=30, start=draws, **options)
    same = tf.log_partition(small, n_chains=30, start=draws, n_gibbs=0, **options)
    more = tf.log_partition(small, n_chains=30, start=draws, n_gibbs=3, **options)
    assert np.array_equal(none.log_weights, same.log_weights)
    assert not np.array_equal(none.log_weights, more.log_weights)
