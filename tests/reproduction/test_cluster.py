"""Tables whose cells are computed by the workers of a Dask cluster; several seeds."""

import os
import signal
import threading
import time

import pytest

from reproduction import results
from tests.support.tables import ONE, TINY, figures_of, reproduce

distributed = pytest.importorskip("distributed")

TWO = ["--only=digits/shared", "--only=digits/rbm", "--n-seeds=2"]


@pytest.fixture(scope="module")
def cluster():
    # Any free port: Dask's own may be another cluster's, which it warns of.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as made:
        yield made


class Killer(threading.Thread):
    """Kills the worker that computes, once there is a checkpoint to go on from."""

    def __init__(self, cluster, checkpoint):
        super().__init__(daemon=True)
        self.cluster, self.checkpoint, self.killed = cluster, checkpoint, 0
        with distributed.Client(cluster) as client:
            self.pids = client.run(os.getpid)

    def run(self):
        deadline = time.monotonic() + 60
        while not self.checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        for worker in self.cluster.scheduler.workers.values():
            if worker.processing:
                os.kill(self.pids[worker.address], signal.SIGKILL)
                self.killed += 1


def lines_of(folder):
    lines = results.read(folder / "results.jsonl")
    return {(line["cell"], line["seed"]): figures_of(line) for line in lines}


def test_a_cluster_gives_the_same_for_every_seed(config, done, cluster, tmp_path, capsys):
    out, here = tmp_path / "out", tmp_path / "here"
    scheduler = f"--scheduler={cluster.scheduler_address}"
    assert reproduce(config, out, *TWO, scheduler) == 0
    printed = capsys.readouterr().out
    assert "digits/rbm, seed 1: handed out" in printed and "over seeds" in printed
    assert " +- " in printed
    assert reproduce(config, here, *TWO, "--quiet") == 0
    found = lines_of(out)
    assert len(found) == 4 and found == lines_of(here)
    assert found["digits/shared", 0] == lines_of(done)["digits/shared", 0]
    assert found["digits/shared", 0]["test"] != found["digits/shared", 1]["test"]
    assert (out / "seed-1" / "digits" / "rbm" / "model.npz").exists()
    assert reproduce(config, out, *TWO, scheduler) == 0  # nothing is left to do
    assert "handed out" not in capsys.readouterr().out


def test_a_worker_that_dies_costs_a_restart_from_the_checkpoint(config, cluster, tmp_path):
    changes = "epochs = 60, every = 60, checkpoint_every = 0.05"
    config.write_text(TINY.replace("epochs = 3", changes))
    out, here = tmp_path / "out", tmp_path / "here"
    checkpoint = out / "digits" / "shared" / "checkpoint.npz"
    killer = Killer(cluster, checkpoint)
    killer.start()
    assert reproduce(config, out, *ONE, f"--scheduler={cluster.scheduler_address}") == 0
    killer.join()
    assert killer.killed
    assert reproduce(config, here, *ONE) == 0
    assert lines_of(out) == lines_of(here)


def test_blocks_of_chains_are_handed_out_too(config, cluster, tmp_path):
    config.write_text(TINY.replace("n_chains = 10", "n_chains = 150"))
    out, here = tmp_path / "out", tmp_path / "here"
    assert reproduce(config, out, *ONE, f"--scheduler={cluster.scheduler_address}") == 0
    assert reproduce(config, here, *ONE) == 0
    assert lines_of(out) == lines_of(here)


def test_no_cluster_is_said_in_words(config, tmp_path, capsys):
    assert reproduce(config, tmp_path / "out", "--scheduler=nonsense://") == 2
    assert "--scheduler: no Dask cluster at nonsense://" in capsys.readouterr().err
    for option in ("--n-seeds=2", "--scheduler=tcp://nobody:1"):
        assert reproduce(config, tmp_path / "out", "--show", option) == 2
        assert "have no effect with --show" in capsys.readouterr().err
    assert reproduce(config, tmp_path / "out", "--n-seeds=0") == 2
    assert "--n-seeds must be at least 1, got 0" in capsys.readouterr().err
