"""Rates over a run."""

import numpy as np
import pytest

from trug_fast.training.rates import as_schedule, sweeps


def test_schedules_move_geometrically():
    schedule = as_schedule("learning_rate", (1.0, 0.01), (0, 0))
    assert [schedule.at(t) for t in (0, 0.5, 1)] == pytest.approx([1.0, 0.1, 0.01])
    assert as_schedule("learning_rate", 0.3, (0, 0)).at(0.7) == pytest.approx(0.3)
    assert as_schedule("learning_rate", 0.0, (1, 1)).at(0.5) == 0.0
    assert as_schedule("learning_rate", None, (2, 1)).at(0) == 2.0


def test_a_function_of_the_share_of_the_run():
    schedule = as_schedule("learning_rate", lambda share: 2 - share)
    assert (schedule.start, schedule.end, schedule.at(0.25)) == (2.0, 1.0, 1.75)
    # Known again by its values, whatever function gives them.
    same = as_schedule("learning_rate", lambda share: 1 + (1 - share))
    assert schedule.identity() == pytest.approx(same.identity())
    assert schedule.identity() == [2 - i / 10 for i in range(11)]
    assert as_schedule("learning_rate", (0.2, 0.1)).identity() == [0.2, 0.1]


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (-0.1, ValueError, "rate must be at least 0"),
        ("fast", TypeError, "rate must be a number, got 'fast'"),
        (None, TypeError, "rate must be a number, got None"),
        ((1, 2, 3), ValueError, "rate must be a number, a pair .* or a function"),
        ((0.1, 0), ValueError, "rate decays geometrically"),
        (lambda share: np.nan, ValueError, r"rate\(0\) must be finite, got nan"),
        (lambda share: 0.5 - share, ValueError, r"rate\(0.6\) must be at least 0"),
        (lambda share: "fast", TypeError, r"rate\(0\) must be a number, got 'fast'"),
        (len, TypeError, "object of type 'float' has no len"),
    ],
)
def test_bad_rates(value, kind, words):
    with pytest.raises(kind, match=words):
        as_schedule("rate", value)


def test_sweeps():
    assert [round(sweeps((1, 16)).at(t)) for t in (0, 0.5, 1)] == [1, 4, 16]
    assert sweeps(3).at(0.4) == 3.0
