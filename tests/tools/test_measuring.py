"""Times stand beside their floor and name the processor; first calls compile all they need."""

import numpy as np

from tools import compare_temporal, floors
from tools import compare_training as training
from tools.compare_training import over_floor
from tools.compilations import first_call
from tools.processor import describe, versions


def test_times_are_divided_by_the_floor_above_them_round_by_round():
    times = {
        "products (floor)": np.array([1.0, 10.0, 1.0]),
        "ours": np.array([2.0, 20.0, 4.0]),
        "other (floor)": np.array([4.0, 4.0, 4.0]),
        "small": np.array([1.0, 2.0, 1.0]),
    }
    found = over_floor(times)
    assert found == {"products (floor)": 1.0, "ours": 2.0, "other (floor)": 1.0, "small": 0.25}


def test_the_processor_is_named():
    assert any(f"registers of {bits} bits" in describe() for bits in (128, 256, 512))
    assert np.__version__ in versions()


def test_an_import_compiles_nothing():
    call = first_call("import trug_fast")
    assert 0 < call.imports <= call.seconds and call.compilations == []


def test_the_floor_is_by_the_best_kernels_that_can_be_had(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")  # what is set here must not count
    processes = floors.elsewhere()
    try:
        taken = [each.kernels for each in processes]
        assert len(set(taken)) == len(taken) > 0
        assert "Prescott" not in taken
        found = floors.contest(processes, [floors.TWO], [1], rounds=1)
    finally:
        for each in processes:
            each.close()
    (times,) = found.values()
    assert set(times) == set(taken) and 0 < next(iter(times.values())) == min(times.values())
    (words,) = floors.told(found)
    assert words.startswith(f"two products, 1 thread, ms: {next(iter(times))} ")


def test_a_row_may_be_timed_elsewhere():
    row = training.Row(None, ours=False, elsewhere=lambda threads: threads / 4)
    found = training.measure(lambda threads: {"products (floor)": row}, [1], 2)
    assert found[1]["products (floor)"].tolist() == [0.25, 0.25]


def test_floors_have_the_names_of_the_rows_that_they_stand_for():
    names = {**training.updates(1), **training.annealing(1), **compare_temporal.ours(1)}
    assert {name for name in names if "floor" in name} == set(floors.NAMES)
