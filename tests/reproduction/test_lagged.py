"""Moments in time against plain sums, and their errors."""

import numpy as np
import pytest

from reproduction.lagged import compare_lagged_moments

RNG = np.random.default_rng(0)


def series(n, rng, length=30):
    """Return sequences of two channels, of which the second repeats the first a frame later."""
    noise = rng.normal(size=(n, length + 1))
    return np.stack([noise[:, 1:], noise[:, :-1] + 0.3], axis=2)


def covariance(sequences, lag):
    """Return those of channels so many frames apart, by their definition."""
    first = np.concatenate([x[: len(x) - lag] for x in sequences])
    second = np.concatenate([x[lag:] for x in sequences])
    return (first - first.mean(axis=0)).T @ (second - second.mean(axis=0)) / len(first)


def test_slopes_and_coefficients():
    data = [x[: 20 + k] for k, x in enumerate(series(7, RNG))]
    made = [x[: 25 - k] for k, x in enumerate(series(9, RNG))]
    found = compare_lagged_moments(data, made, (0, 1, 4), rng=0)
    for lag, own in found.lagged.items():
        x, y = covariance(data, lag).ravel(), covariance(made, lag).ravel()
        assert own.slope == pytest.approx(np.polyfit(x, y, 1)[0], rel=1e-9)
        assert own.pearson == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
    x, y = (np.concatenate(each).mean(axis=0) for each in (data, made))
    assert found.means.slope == pytest.approx((y[1] - y[0]) / (x[1] - x[0]), rel=1e-9)


def test_errors_are_those_of_repetitions():
    # Of 60 pairs: the deviation of slopes is known to 9 %, so 0.6 to 1.6 is far outside chance.
    slopes, errors = [], []
    for k in range(60):
        rng = np.random.default_rng(k)
        own = compare_lagged_moments(series(30, rng), series(30, rng), (1,), rng=0).lagged[1]
        slopes.append(own.slope)
        errors.append(own.slope_error)
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) / np.std(slopes) < 1.6
    assert abs(np.mean(slopes) - 1) < 5 * np.std(slopes) / np.sqrt(60)


@pytest.mark.parametrize(
    ("made", "lags", "words"),
    [
        (np.zeros((1, 5, 2)), (0,), "generated must be two or more, got 1"),
        (np.zeros((3, 5, 2)), (0,), "must vary"),
        (RNG.normal(size=(3, 5, 2)), (5,), "two of generated must be longer than the lag, 5"),
        (RNG.normal(size=(3, 5, 2)), (-1,), "lags must be at least 0"),
        (RNG.normal(size=(3, 5, 2)), (), "lags must be a tuple of ints"),
        (RNG.normal(size=(3, 5, 3)), (0,), "must have 2 columns"),
    ],
)
def test_bad_arguments(made, lags, words):
    with pytest.raises((TypeError, ValueError), match=words):
        compare_lagged_moments(series(3, RNG), made, lags)


def test_one_unit_has_no_line():
    one = RNG.normal(size=(3, 5, 1))
    with pytest.raises(ValueError, match="sequences must have two visible units or more"):
        compare_lagged_moments(one, one, (0,))
