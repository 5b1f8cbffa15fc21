"""An epoch of a regression's training beside those of multilayer perceptrons, per data-set shape.

The others have as many hidden units and rows in a batch, and Adam: scikit-learn's MLPRegressor, and
a loop over batches in torch.  One thread each; processor time, in turns, medians.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import trug_fast as tf

from .common import some, times

# Training rows and inputs of the UCI sets; hidden units and rows in a batch of Table 4.
SHAPES = {
    "yacht": (277, 6, 50, 50),
    "boston": (455, 13, 50, 50),
    "energy": (691, 8, 50, 50),
    "concrete": (927, 8, 50, 50),
    "wine": (1439, 11, 50, 50),
    "kin8nm": (7373, 8, 50, 50),
    "power": (8611, 4, 50, 50),
    "naval": (10741, 16, 50, 50),
    "protein": (41157, 9, 100, 100),
}
ROWS, UPDATES, ROUNDS = 8000, 300, 3  # at most; updates a measurement; measurements
PEERS = ("MLPRegressor", "torch")


def problem(rows: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal inputs and a smooth, noisy function of them, standardised."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, inputs))
    y = np.sin(X @ rng.normal(size=(inputs, 5)) / np.sqrt(inputs)).sum(axis=1)
    y += 0.3 * rng.normal(size=rows)
    return X, (y - y.mean()) / y.std()


def ours(
    X: np.ndarray, y: np.ndarray, hidden: int, batch: int, epochs: int, objective: str
) -> Callable[[], object]:
    """Return what trains a regression."""
    return lambda: tf.train_tggm(
        X,
        y,
        hidden,
        objective=objective,
        batch_size=batch,
        epochs=epochs,
        validation=None,
        monitor=None,
        progress=False,
        rng=0,
    )


def sklearn_peer(
    X: np.ndarray, y: np.ndarray, hidden: int, batch: int, epochs: int
) -> Callable[[], object]:
    """Return what trains scikit-learn's perceptron."""
    from sklearn.neural_network import MLPRegressor

    def train() -> None:
        network = MLPRegressor(
            hidden_layer_sizes=(hidden,),
            batch_size=batch,
            max_iter=epochs,
            tol=0.0,
            n_iter_no_change=epochs + 1,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that all epochs were used
            network.fit(X, y)

    return train


def torch_peer(
    X: np.ndarray, y: np.ndarray, hidden: int, batch: int, epochs: int
) -> Callable[[], object]:
    """Return what trains a perceptron in torch."""
    import torch

    torch.set_num_threads(1)
    inputs, targets = (torch.tensor(a, dtype=torch.float32) for a in (X, y[:, None]))

    def train() -> None:
        network = torch.nn.Sequential(
            torch.nn.Linear(X.shape[1], hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )
        optimizer = torch.optim.Adam(network.parameters())
        for _ in range(epochs):
            for rows in torch.randperm(len(X)).split(batch):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(network(inputs[rows]), targets[rows])
                loss.backward()
                optimizer.step()

    return train


class Epoch:
    """Our epoch over another's: below 1 we are faster."""

    params = (some(SHAPES), ["ml", "moments"], PEERS)
    param_names = ("shape", "objective", "peer")
    timeout = 300
    unit = "ratio"

    def setup(self, shape: str, objective: str, peer: str) -> None:
        """Prepare both and compile."""
        rows, inputs, hidden, batch = SHAPES[shape]
        X, y = problem(min(rows, ROWS), inputs)
        epochs = max(1, round(UPDATES * batch / len(X)))
        prepare = sklearn_peer if peer == "MLPRegressor" else torch_peer
        try:
            self.theirs = prepare(X, y, hidden, batch, epochs)
        except ImportError as error:
            raise NotImplementedError(str(error)) from error  # asv's word for: skip
        self.ours = ours(X, y, hidden, batch, epochs, objective)
        ours(X[:batch], y[:batch], hidden, batch, 1, objective)()

    def track_ratio(self, shape: str, objective: str, peer: str) -> float:
        """Measure in turns."""
        found: dict[Callable[[], object], list[float]] = {self.ours: [], self.theirs: []}
        with threadpool_limits(1):
            for _ in times(ROUNDS):
                for train, own in found.items():
                    begun = time.thread_time()
                    train()
                    own.append(time.thread_time() - begun)
        return float(np.median(found[self.ours]) / np.median(found[self.theirs]))
