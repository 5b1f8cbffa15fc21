"""The same numbers however a run is split."""

import multiprocessing
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.annealing import OPTIONS, run
from tests.support.models import exact_draws, model_of
from trug_fast.evaluation.bridges import bridge

# Of few temperatures: here only numbers are compared.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")


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
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(6, 3, 4)).astype(np.float32)
    # Their kernels are compiled where they are wanted, which a worker has to be told.
    rare = [
        model_of("flat", np.float32),
        tf.TruGRBM(weights, 0, 0, 1, 0, 1, visible="categorical"),
        tf.TruGRBM(weights[:, 0], 0, 0, 1, 0, 1, visible="spin"),
    ]
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        assert np.array_equal(run(model, executor=executor), expected)
        for other in rare:
            assert np.array_equal(run(other, executor=executor), run(other))


def test_a_local_cluster_gives_the_same(model, expected):
    distributed = pytest.importorskip("distributed")
    # Any free port: Dask's own may be another cluster's, which it warns of.
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
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
    anneal = bridge.annealing.anneal

    def watched(*args):
        inside.append(1)
        assert sum(inside) == 1
        anneal(*args)
        inside.pop()

    monkeypatch.setattr(bridge.annealing, "anneal", watched)
    with ThreadPoolExecutor(3) as executor:
        assert np.array_equal(run(model, executor=executor), expected)


def test_one_direction_gives_what_it_gives_in_both(model):
    both = tf.log_partition(model, **OPTIONS)
    for side in (both.forward, both.reverse):
        options = OPTIONS | {"direction": side.direction}
        if side.direction == "forward":
            del options["n_gibbs"]
        alone = tf.log_partition(model, **options)
        assert np.array_equal(alone.log_weights, side.log_weights)
        assert (alone.log_z, alone.std_error) == (side.log_z, side.std_error)
        assert alone.warnings == side.warnings


def test_exact_draws_need_no_sweeps(model):
    small = model_of("mixed")
    draws = exact_draws(small, 10, seed=0)
    options = {"n_temperatures": 5, "direction": "reverse", "rng": 0}
    none = tf.log_partition(small, n_chains=30, start=draws, **options)
    same = tf.log_partition(small, n_chains=30, start=draws, n_gibbs=0, **options)
    more = tf.log_partition(small, n_chains=30, start=draws, n_gibbs=3, **options)
    assert np.array_equal(none.log_weights, same.log_weights)
    assert not np.array_equal(none.log_weights, more.log_weights)
