"""The network beside forecasts of motion: left out where PyTorch is not, right where it is."""

import numpy as np
import pytest

from reproduction import forecasting, recurrent, runner, table3


def swings():
    """Return pendulums that go on for ever: two frames tell the next one."""
    phase = np.random.default_rng(0).uniform(0, 2 * np.pi, (66, 1, 3))
    return list(np.cos(0.4 * np.arange(30)[None, :, None] + phase))


def gru():
    (cell,) = table3.TABLE.cells(None, ["motion/gru"], quick=False)
    return cell


def test_a_cell_without_its_library_is_left_out(monkeypatch):
    def none():
        raise ImportError('pip install "trug_fast[reproduction]"')

    monkeypatch.setattr(recurrent, "libraries", none)
    assert "trug_fast[reproduction]" in forecasting.lacks(gru())
    (linear,) = table3.TABLE.cells(None, ["motion/linear-2"], quick=False)
    assert forecasting.lacks(linear) is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"units": 3}, "an option of forecast.gru must be one of"),
        ({"n_units": 0}, "forecast.gru.n_units must be at least 1"),
        ({"noise": -1.0}, "forecast.gru.noise must be"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        recurrent.checked(options)


def test_it_forecasts_what_repeats_and_measures_as_the_others():
    pytest.importorskip("torch")
    train = swings()
    options = {"seed": 0, "n_units": 16, "noise": 0.0, "learning_rate": 0.02, "batch_size": 10}
    found = recurrent.fitted(train[:60], train[60:65], epochs=40, **options)
    once, again = (recurrent.fitted(train[:60], [], epochs=2, **options) for _ in range(2))
    test = train[65:]
    last = np.mean([((x[1:] - x[:-1]) ** 2).sum(axis=1).mean() for x in test])
    error = found.error(test)
    assert error.mean() < 0.1 * last and once.error(test) == again.error(test)
    ahead = found.horizon_errors(test, 3)
    np.testing.assert_allclose(ahead[0] ** 2 * 3, error.mean(), rtol=1e-5)
    paths = found.ahead(test[0], 3)
    assert paths.shape == (29, 3, 3)
    np.testing.assert_allclose(ahead[2] ** 2, ((paths[:27, 2] - test[0][3:]) ** 2).mean())


def test_the_runner_leaves_it_out(monkeypatch, tmp_path):
    def none():
        raise ImportError("not here")

    monkeypatch.setattr(recurrent, "libraries", none)
    session = runner.Session(tmp_path, 0, None, False)
    assert runner.run(table3.TABLE, [gru()], [session]) == ([], [])
