"""Other models of Table 4's sets, on the same splits: those of scikit-learn that people use.

Tested in tests/reproduction/test_table4.py.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from trug_fast._common import checks
from trug_fast.models.mixtures import Mixture

from .results import Line

Floats = NDArray[np.float64]
Options = dict[str, dict[str, Any]]

MOST_ROWS = 2000  # of a Gaussian process: time grows with their cube
Z_90 = 1.6448536269514722  # half width of a normal's 90 % interval
SHARES = np.array([0.025, *np.arange(1, 20) / 20, 0.975])  # quantiles of boosted trees


def prediction_scores(y: Any, mean: Any, std: Any) -> dict[str, float]:
    """Return error, mean log-density and coverage of normal predictions.

    Parameters
    ----------
    y, mean : arrays of one shape
        What was observed, and the means that were predicted.
    std : array of that shape, or number
        The standard deviations that were predicted.

    Returns
    -------
    dict
        ``rmse``, root mean square error; ``log_likelihood``, mean log-density in nats;
        ``coverage``, the share of rows inside the 90 % interval.
    """
    z = (y - mean) / std
    density = -0.5 * (np.log(2 * np.pi * std**2) + z**2)
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "log_likelihood": float(np.mean(density * np.ones_like(z))),
        "coverage": float(np.mean(abs(z) <= Z_90)),
    }


def scores(
    kind: str,
    train: tuple[Floats, Floats],
    test: tuple[Floats, Floats],
    options: Options,
    levels: Mapping[str, float],
    seed: int,
) -> Line:
    """Train a model of scikit-learn on rows, on one thread, and return its scores on others.

    Inputs and targets are standardised by the training rows; scores are in the targets' units.

    Raises
    ------
    ImportError
        Without scikit-learn.
    ValueError
        If there are too many rows for a Gaussian process.
    """
    X, y = train
    centre, scale, spread = X.mean(axis=0), X.std(axis=0), y.std()
    scale = np.where(scale > 0, scale, 1.0)
    inputs = (X - centre) / scale, (y - y.mean()) / spread, (test[0] - centre) / scale
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that all epochs were used, or a length is at its bound
        try:
            found = PEERS[kind](*inputs, options, seed)
        except ModuleNotFoundError as error:
            raise ImportError(
                f'trials.model = {kind!r} needs scikit-learn: pip install "trug_fast[sklearn]"'
            ) from error
    if isinstance(found, Mixture):
        own = Mixture(found.mean * spread + y.mean(), found.deviation * spread)
        return _of_mixture(own, test[1], levels)
    mean, quantiles = (each * spread + y.mean() for each in found)
    return _of_quantiles(mean, quantiles, test[1], levels)


def _of_mixture(mixture: Mixture, y: Floats, levels: Mapping[str, float]) -> Line:
    """Return the scores of a mixture of normals, (parts, rows)."""
    mean, deviation = mixture.moments()
    below = mixture.cdf(y)
    return prediction_scores(y, mean, deviation) | {
        "log_likelihood": float(mixture.log_density(y).mean()),
        "crps": float(mixture.crps(y).mean()),
        **{name: float(np.mean(abs(2 * below - 1) <= level)) for name, level in levels.items()},
    }


def _of_quantiles(mean: Floats, quantiles: Floats, y: Floats, levels: Mapping[str, float]) -> Line:
    """Return the scores of quantiles of SHARES, (shares, rows): there is no density."""
    ordered = np.sort(quantiles, axis=0)  # each is fitted alone, and they may cross
    inside = {}
    for name, level in levels.items():
        lower, upper = (
            ordered[np.argmin(abs(SHARES - share))] for share in (0.5 - level / 2, 0.5 + level / 2)
        )
        inside[name] = float(np.mean((lower <= y) & (y <= upper)))
    return {
        "rmse": float(np.sqrt(np.mean((mean - y) ** 2))),
        "crps": float(crps_of_quantiles(ordered, y).mean()),
        **inside,
    }


def crps_of_quantiles(quantiles: Floats, y: Floats) -> Floats:
    """Return the continuous ranked probability score by quantiles of SHARES, (rows,).

    Twice the integral of the pinball loss over shares, by the trapezoidal rule; beyond the first
    and the last share the quantile stays as it is there.
    """
    rest = y - quantiles
    loss = _pinball(rest, SHARES[:, None])
    between = 0.5 * np.diff(SHARES) @ (loss[1:] + loss[:-1])
    tails = SHARES[0] * (_pinball(rest[0], SHARES[0] / 2) + _pinball(rest[-1], 1 - SHARES[0] / 2))
    total: Floats = 2 * (between + tails)
    return total


def _pinball(rest: Floats, share: Any) -> Floats:
    """Return the pinball loss of what is left of y above a quantile of a share."""
    loss: Floats = np.where(rest >= 0, share * rest, (share - 1) * rest)
    return loss


def _process(X: Floats, y: Floats, X_test: Floats, options: Options, seed: int) -> Mixture:
    """Predict by a Gaussian process: a scale for each input, and noise, of highest evidence."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    if len(X) > MOST_ROWS:
        raise ValueError(f"trials.model = 'process' takes at most {MOST_ROWS} rows, got {len(X)}")
    lengths = RBF(np.full(X.shape[1], math.sqrt(X.shape[1])), (1e-2, 1e4))
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * lengths + WhiteKernel(0.1, (1e-8, 10.0))
    model = GaussianProcessRegressor(kernel, random_state=seed).fit(X, y)
    mean, deviation = model.predict(X_test, return_std=True)
    return Mixture(mean[None], deviation[None])


def _boosting(
    X: Floats, y: Floats, X_test: Floats, options: Options, seed: int
) -> tuple[Floats, Floats]:
    """Predict mean and quantiles by boosted trees, each by a model of its own, as shipped."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    mean = HistGradientBoostingRegressor(random_state=seed).fit(X, y).predict(X_test)
    found = [
        HistGradientBoostingRegressor(loss="quantile", quantile=float(share), random_state=seed)
        .fit(X, y)
        .predict(X_test)
        for share in SHARES
    ]
    return mean, np.stack(found)


def _perceptrons(X: Floats, y: Floats, X_test: Floats, options: Options, seed: int) -> Mixture:
    """Predict by scikit-learn's MLPRegressor (ReLU, Adam), or the mixture of several.

    Each stops, as the regressions here do, where a tenth of the rows held back says; their error
    is its deviation.
    """
    from sklearn.neural_network import MLPRegressor

    train, trials = options["train"], options["trials"]
    epochs = train.get("epochs", 300)
    means, deviations = [], []
    for number in range(checks.count("trials.n_models", trials.get("n_models", 1))):
        network = MLPRegressor(
            hidden_layer_sizes=(train.get("n_hidden", 50),),
            batch_size=min(train.get("batch_size", 50), len(X)),
            max_iter=epochs,
            early_stopping=True,
            n_iter_no_change=epochs,
            learning_rate_init=trials.get("perceptron_rate", 0.001),
            random_state=seed + 1000 * number,
        ).fit(X, y)
        means.append(network.predict(X_test))
        held_back = max(network.validation_scores_)  # R2
        deviations.append(np.full(len(X_test), math.sqrt(max(1.0 - held_back, 1e-6))))
    return Mixture(np.stack(means), np.stack(deviations))


PEERS = {"perceptron": _perceptrons, "process": _process, "boosting": _boosting}
