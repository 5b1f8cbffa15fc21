"""The 48 calls of the tool give the same bits whoever calls."""

import pytest

from tools.compare_callers import calls, compare, digest


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::trug_fast.training.TrainingWarning", "ignore::trug_fast.evaluation.PartitionWarning"
)
def test_no_caller_gets_other_bits():
    differ, _ = compare(1)
    found = {digest(call()) for call in calls().values()}
    assert len(found) == 48  # a digest tells results apart
    assert {way for way, names in differ.items() if names} == set()
