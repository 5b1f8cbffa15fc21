"""Random calls of every public function: no crash, no hang, no chance, no undocumented error."""

import json
import subprocess
import sys

import pytest

from tests.support import fuzz


def test_a_few_random_calls_of_each_function():
    counts, wrong = fuzz.run(2, 0)
    assert wrong == [] and sum(counts.values()) == 2 * len(fuzz.CALLS)


@pytest.mark.slow
def test_thousands_of_random_calls():
    # In a process of its own, so that a crash or a hang is seen.
    program = [sys.executable, "-m", fuzz.__name__, "60", "1"]
    run = subprocess.run(program, capture_output=True, text=True, timeout=3600)
    assert run.returncode == 0, run.stderr[-2000:]
    report = json.loads(run.stdout)
    assert report["wrong"] == []
    assert sum(report["counts"].values()) > 3_000 and report["counts"]["done"] > 500
