"""``python -m reproduction table2`` and ``table3``: sequences, trainings that go on, forecasts."""

import json

import numpy as np
import pytest

import trug_fast as tf
from reproduction import (
    forecasting,
    protocol,
    random_units,
    runner,
    sequences,
    table2,
    table3,
    trainings,
)
from reproduction.__main__ import main
from reproduction.datasets import MotionData
from trug_fast._common.randomness import seed_from

BALLS = """
sequences = { set = "balls", videos = 4, test_videos = 3 }
train = { n_hidden = 5, epochs = 2, batch_size = 2, score = "none" }

[cells.balls]
per-unit = { paper = 3.66, train.truncation = { lower = 0.0, upper = 1.0, learn = "per_unit" } }
trbm = { label = "ordinary", train.hidden = "bernoulli", train.n_gibbs = [1, 2] }
copy-last = { forecast.rule = "copy last" }
"""
MOTION = """
sequences = { set = "motion", validation = [1] }
train = { n_hidden = 4, epochs = 2, batch_size = 2, learn_visible_precision = true, patience = 2 }

[cells.motion]
tanh = { paper = 7.3, forecast.paper_running = 5.9, train.truncation = "tanh" }
linear-2 = { forecast.rule = "linear, order 2" }
lags-4 = { train.n_lags = 4, train.epochs = 1 }
[cells.motion.units-2.train]
n_lags = 2
epochs = 1
visible_precision = 12.0
start_ridge = 9.0
start_hidden_ridge = 90.0
"""


@pytest.fixture
def motion(monkeypatch):
    """Short sequences in place of the files."""
    rng = np.random.default_rng(0)
    parts = [np.cumsum(rng.normal(size=(n, 3)), axis=0) for n in (12, 9, 15, 8, 10)]
    names = ["35_01", "35_02", "35_03"]
    data = MotionData(
        parts[:3], parts[3:], names, ["35_18", "35_29"], list("abc"), np.zeros(3), np.ones(3)
    )
    monkeypatch.setattr(sequences, "load_cmu_motion", lambda directory=None: data)
    sequences_cache = forecasting._load
    sequences_cache.cache_clear()
    yield data
    sequences_cache.cache_clear()


def write(tmp_path, text):
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    return path


def reproduce(config, table, *more):
    out = config.parent / "out"
    return main([table, f"--config={config}", f"--out={out}", "--quiet", *more])


def lines(config):
    text = (config.parent / "out" / runner.RESULTS).read_text()
    return {line["cell"].split("/")[1]: line for line in map(json.loads, text.splitlines())}


def test_the_shipped_tables_are_the_papers():
    balls = {c.name.split("/")[1]: c for c in table2.TABLE.cells(None, (), quick=False)}
    names = ("sigmoid", "relu", "tanh", "common", "per-unit", "trbm")
    assert [balls[name].paper for name in names] == [6.38, 4.16, 6.01, 3.82, 3.66, 4.90]
    motion = {c.name.split("/")[1]: c for c in table3.TABLE.cells(None, (), quick=False)}
    assert [motion[name].paper for name in names] == [8.2, 21.8, 7.3, 6.7, 6.8, 9.6]
    running = [motion[name].options["forecast"]["paper_running"] for name in names]
    assert running == [6.1, 14.9, 5.9, 5.5, 5.4, 6.8]
    for cells, units in ((balls, 400), (motion, 300)):
        trained = [cell for name, cell in cells.items() if name in names]
        assert {cell.options["train"]["n_hidden"] for cell in trained} == {units}
        # Trained alike: only the units differ, and rates where a comment in the file says so.
        own = {"truncation", "hidden", "learning_rate", "truncation_rate"}
        alike = [{k: v for k, v in c.options["train"].items() if k not in own} for c in trained]
        assert all(options == alike[0] for options in alike)
        rest = {cells[name].options["forecast"].get("rule") for name in set(cells) - set(names)}
        assert rest <= {*forecasting.RULES, None}  # None: the model that generates videos


def test_balls_are_trained_printed_and_written(tmp_path, capsys):
    config = write(tmp_path, BALLS)
    assert reproduce(config, "table2") == 0
    printed = capsys.readouterr().out
    assert "| ordinary" in printed and "3.66" in printed
    found = lines(config)
    assert found["per-unit"]["epochs"] == 2 and len(found["per-unit"]["upper"]) == 5
    # The same from the model it wrote, on videos of the seed after that of training.
    model = tf.TruGTRBM.load(tmp_path / "out" / "balls" / "per-unit" / "model.npz")
    test = tf.datasets.bouncing_balls(3, rng=1)
    for method, value in found["per-unit"]["errors"]["test"].items():
        error = tf.prediction_error(model, test, method=method, rng=0).mean()
        assert value == pytest.approx(error, rel=1e-6)
    step = np.square(test[:, 1:] - test[:, :-1]).sum(axis=-1).mean()
    assert found["copy-last"]["errors"]["test"]["rule"] == pytest.approx(step, rel=1e-5)


def test_a_stopped_training_goes_on(tmp_path, monkeypatch):
    config = write(tmp_path, BALLS)
    assert reproduce(config, "table2", "--only=balls/trbm") == 0
    whole = lines(config)["trbm"]["errors"]
    (tmp_path / "again").mkdir()
    config = write(tmp_path / "again", BALLS)

    class Stop(trainings.TrainingLog):
        def __call__(self, event):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trainings, "TrainingLog", Stop)
        assert reproduce(config, "table2", "--only=balls/trbm") == 130
    assert not (tmp_path / "again" / "out" / runner.RESULTS).exists()
    assert reproduce(config, "table2", "--only=balls/trbm") == 0
    assert lines(config)["trbm"]["errors"] == whole


def test_motion_has_two_errors(tmp_path, motion, capsys):
    config = write(tmp_path, MOTION)
    assert reproduce(config, "table3") == 0
    assert "7.3" in capsys.readouterr().out
    found = lines(config)
    assert set(found["tanh"]["errors"]) == {"walking", "running"}
    model = tf.TruGTRBM.load(tmp_path / "out" / "motion" / "tanh" / "model.npz")
    error = tf.prediction_error(model, [motion.test[1]], method="mean_field", rng=0).mean()
    assert found["tanh"]["errors"]["walking"]["mean_field"] == pytest.approx(error, rel=1e-5)
    train = [motion.train[0], motion.train[2]]  # one is kept for validation
    simple = tf.evaluation.forecast_errors(train, [motion.test[0]])["linear, order 2"]
    assert found["linear-2"]["errors"]["running"]["rule"] == pytest.approx(simple[0])
    begun = random_units.start(
        train, 4, n_lags=2, ridge=9.0, hidden_ridge=90.0, seed=seed_from(0, "train_trbm")
    )
    model = tf.TruGTRBM.load(tmp_path / "out" / "motion" / "units-2" / "model.npz")
    assert 0 < np.abs(model.weights - begun.weights).max() < 0.01 * np.abs(begun.weights).max()


def test_held_out_sequences_take_the_place_of_the_tests(motion):
    data = sequences.load(0, None, set="motion", validation=[1], hold_out=True)
    assert set(data.test) == {"35_02"} and data.test["35_02"][0] is motion.train[1]
    balls = sequences.load(0, None, videos=2, test_videos=2, hold_out=True)
    other = sequences.load(0, None, videos=2, test_videos=2)
    assert not np.array_equal(balls.test["test"], other.test["test"])
    np.testing.assert_array_equal(balls.train, other.train)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("validation = [1]", "validation = [3]"), "must hold numbers below 3, got 3"),
        (("validation = [1]", "hold_out = true"), "hold_out needs sequences.validation"),
        (('set = "motion"', 'set = "films"'), "sequences.set must be one of"),
        (("linear, order 2", "linear, order 6"), "forecast.rule must be one of"),
        (("epochs = 2", "epochs = 0"), "train.epochs must be at least 1"),
        (("patience = 2", "patients = 2"), "unknown key train.patients"),
    ],
)
def test_wrong_protocols(tmp_path, motion, capsys, change, message):
    assert reproduce(write(tmp_path, MOTION.replace(*change)), "table3") == 2
    assert message in capsys.readouterr().err


def test_options_are_those_of_training():
    assert {"n_hidden", "epochs", "begin", "n_gibbs"} <= set(forecasting.SECTIONS["train"])
    apart = {"sequences", "validation", "callbacks", "checkpoint", "rng"}
    assert not apart & set(forecasting.SECTIONS["train"])
    assert protocol.text("table2").count("paper =") == protocol.text("table3").count("paper =") == 6
