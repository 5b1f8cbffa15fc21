"""Times stand beside their floor and name the processor; first calls compile all they need."""

import numpy as np

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
