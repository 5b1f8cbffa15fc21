"""The commands that calibrate estimates of log Z, and verdicts on trainings."""

import json

import numpy as np
import pytest

import trug_fast as tf
from reproduction.scripts import calibrate_partition as calibrate
from reproduction.scripts import calibrate_training as training
from reproduction.scripts.calibration_models import trained


def line(error, std_error=0.1, warnings=(), ess=95.0, **more):
    """Return an estimate as the command keeps it."""
    known = {"model": 3, "words": "patches 12x9 [0,1] sgd", "temperatures": 300, "base": False}
    own = {"error": error, "std_error": std_error, "warnings": list(warnings), "ess": ess}
    return known | {"direction": "forward"} | own | more


def test_alarms_are_counted():
    lines = [line(0.1), line(0.2, warnings=["few"]), line(-0.4), line(9.0, warnings=["few"], ess=2)]
    text = calibrate.tables(lines)
    assert "| all | 4 | 2 | 1 | 1 (25.00 %) | 50.0 % |" in text
    assert "| 0% to 10% | 1 | 1 | 5.00 |" in text
    assert text.endswith("300 temperatures, -0.400 +- 0.100, 95 effective")
    assert not calibrate.bad(line(9e-4, std_error=0.0))  # what rounding may leave


@pytest.mark.slow
def test_few_estimates_are_wrong_without_an_alarm(tmp_path, capsys):
    # The committed table has the full numbers; here six models, some of each kind of data.
    calibrate.collect(tmp_path, range(6), seed=2)
    calibrate.collect(tmp_path, range(6), seed=2)  # nothing left to do
    assert len(capsys.readouterr().out.splitlines()) == 6
    lines = [x for file in tmp_path.iterdir() for x in json.loads(file.read_text())]
    assert {x["model"] for x in lines} == set(range(6)) and len(lines) >= 100
    assert sum(calibrate.bad(x) and not x["warnings"] for x in lines) <= 2
    model = trained(2, 2)
    assert model.log_z == tf.exact.log_partition(model.model)


def test_verdicts_on_trainings_are_counted():
    said = {"stopped": -np.inf, "warned": 0.1, "quiet": 2.0}
    outcomes = [
        training.Outcome(f"{words} {gain}", words, gain, 9.0, [], "", 0.0)
        for words, gain in [*said.items(), ("warned", 9.0), ("quiet", 10.0), ("quiet", -3.0)]
    ]
    rows = training.Rows(np.zeros((50, 8)), np.zeros((0, 8)), 4)
    text = training.row("stripes", rows, outcomes)  # 2.0 of 10.0 is a fifth, not more
    assert text == "| stripes | 50 x 8 | 10.00 | 2 | 1 | 4 | 1 | 1 | 2 |"
    assert [line.split(";")[0] for line in training.exceptions("stripes", outcomes)] == [
        "* stripes, quiet 2.0: had not learned, unseen",
        "* stripes, warned 9.0: learned, but warned",
        "* stripes, quiet -3.0: had not learned, unseen",
    ]
    assert not any(training.learned(training.STRUCTURELESS, outcomes))


def test_a_model_of_the_means_scores_as_independent_columns():
    rng = np.random.default_rng(0)
    bits = training.Rows(training.independent(500, rng), np.zeros((0, 20)), 4)
    mean = (bits.train.sum(axis=0) + 0.5) / 501
    exact = (bits.train * np.log(mean) + (1 - bits.train) * np.log1p(-mean)).sum(axis=1).mean()
    assert training.score(training.means_only(bits), bits) == pytest.approx(exact, abs=0.6)
    real = training.Rows(rng.normal(size=(500, 3)), np.zeros((0, 3)), 4, real=True)
    exact = -(real.train**2).sum(axis=1).mean()
    assert training.score(training.means_only(real), real) == pytest.approx(exact)
