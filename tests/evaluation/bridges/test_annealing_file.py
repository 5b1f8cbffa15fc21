"""Runs that are interrupted and go on.  The rule: tests/_common/test_checkpoints.py."""

import errno
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trug_fast as tf
from tests.support.annealing import run
from tests.support.data import ROOT
from tests.support.models import model_of
from trug_fast._common import files
from trug_fast.evaluation.bridges import bridge
from trug_fast.evaluation.bridges.annealer import AnnealingFile

# Of few temperatures: here only numbers are compared.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")


def either(path, **options):
    """Return a checkpoint that is begun or continued."""
    return tf.training.Checkpoint(path, resume="auto", **options)


class Stop(Exception):
    """Ends a run where a test wants it to."""


@pytest.mark.parametrize("schedule", ["uniform", "adaptive"])
@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
def test_a_run_stopped_anywhere_goes_on(model, tmp_path, monkeypatch, weights_on, schedule):
    monkeypatch.setattr(bridge, "STRETCH", 7)
    options = {"weights_on": weights_on, "schedule": schedule}
    whole, file, stops = run(model, **options), tmp_path / "run.npz", 0
    keep = AnnealingFile.keep
    while True:
        left = [2]  # stretches until the next stop

        def stop(self, leg, state, left=left):
            keep(self, leg, state)
            left[0] -= 1
            if left[0] == 0:
                raise Stop

        monkeypatch.setattr(AnnealingFile, "keep", stop)
        try:
            resumed = run(model, checkpoint=either(file), **options)
            break
        except Stop:
            stops += 1
    assert np.array_equal(resumed, whole)
    assert stops >= 4


def test_a_finished_file_gives_the_result_at_once_and_its_seed(model, tmp_path, expected):
    path = tmp_path / "run.npz"
    assert np.array_equal(run(model, checkpoint=path), expected)
    begun = path.stat().st_mtime_ns
    file = tf.training.Checkpoint(path, resume=True)
    with ThreadPoolExecutor(2) as executor:
        again = run(model, rng=None, checkpoint=file, executor=executor)
    assert np.array_equal(again, expected)
    assert path.stat().st_mtime_ns == begun
    with pytest.raises(FileExistsError, match=r"run\.npz exists; pass resume=True"):
        run(model, checkpoint=path)
    assert path.stat().st_mtime_ns == begun


def test_files_of_other_runs_and_broken_files_are_refused(model, tmp_path):
    path = tmp_path / "run.npz"
    file = tf.training.Checkpoint(path, resume=True)
    run(model, checkpoint=path)
    changes = ({"rng": 4}, "seed"), ({"n_gibbs": 5}, "n_gibbs"), ({"n_chains": 131}, "n_chains")
    for changed, name in changes:
        with pytest.raises(ValueError, match=rf"another run: {name}[a-z ]* is \d+ there"):
            run(model, **changed, checkpoint=file)
    with pytest.raises(ValueError, match="another run: .*model is 'TruGRBM"):
        run(model_of("bernoulli", n_visible=140, n_hidden=150), checkpoint=file)
    with pytest.raises(ValueError, match="another run: start is None there"):
        run(model, start=np.ones((1, 140)), checkpoint=file)
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="holds a TruGRBM, expected a log_partition_run"):
        run(model, checkpoint=either(tmp_path / "model.npz"))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="is damaged"):
        run(model, checkpoint=file)
    with pytest.raises(FileNotFoundError, match="cannot write checkpoint .*none"):
        run(model, checkpoint=tmp_path / "none" / "run.npz")
    with pytest.raises(FileNotFoundError, match="no such file: .*none"):
        run(model, checkpoint=tf.training.Checkpoint(tmp_path / "none.npz", resume=True))


def full_disk(path, kind, arrays):
    """Fail as writing to a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(model, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    monkeypatch.setattr(bridge.Bridge, "travel", None)  # nothing is computed
    monkeypatch.setattr(files, "write", full_disk)
    for schedule in ("uniform", "adaptive"):
        with pytest.raises(OSError, match=r"cannot write checkpoint .*run\.npz: .*No space left"):
            run(model, checkpoint=file, schedule=schedule)
    assert not file.exists()


def test_a_disk_that_fills_up_does_not_end_a_run(model, tmp_path, monkeypatch, expected):
    monkeypatch.setattr(bridge, "STRETCH", 7)
    file, write, written = tmp_path / "run.npz", files.write, []

    def fill_up(*args):
        (write if len(written) < 3 else full_disk)(*args)
        written.append(file.stat().st_size)

    monkeypatch.setattr(files, "write", fill_up)
    with pytest.warns(UserWarning, match="cannot write checkpoint .* annealing goes on: .*space"):
        found = run(model, checkpoint=tf.training.Checkpoint(file, every=0))
    assert np.array_equal(found, expected)
    monkeypatch.setattr(files, "write", write)
    # From what was written before.
    assert np.array_equal(run(model, checkpoint=either(file)), expected)


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import numpy as np
import trug_fast as tf
from tests.support.annealing import tiled_model
from trug_fast.evaluation.bridges import bridge
bridge.STRETCH = 1
model = tiled_model()
print("begun", flush=True)
estimate = tf.log_partition(model, n_chains=60, n_temperatures=150, direction="both", rng=1,
                            checkpoint=tf.training.Checkpoint(sys.argv[1], every=0, resume="auto"))
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
