"""Forecasts by a small recurrent network of PyTorch, beside which a temporal RBM should be seen.

A layer of gated recurrent units (Cho et al., 2014) reads frames; a linear map of it is what the
next frame adds to the last one.  It is trained on squared errors of one frame ahead, with noise on
the frames that it reads, and kept as it is after the epoch that forecasts the sequences for
validation best.  PyTorch is imported where it is needed, and no requirement of the package.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks

Frames = Sequence[NDArray[Any]]

COUNTS = ("n_units", "epochs", "stretch", "batch_size")
AMOUNTS = ("learning_rate", "noise", "weight_decay")


class Recurrent(NamedTuple):
    """A trained network: a layer of PyTorch's, and what makes differences of frames of it."""

    gates: Any
    readout: Any

    def ahead(self, sequence: NDArray[Any], n_frames: int) -> NDArray[np.float64]:
        """Return forecasts after each frame but the last; (beginnings, n_frames, visible)."""
        torch = libraries()
        with torch.no_grad():
            x = torch.as_tensor(np.asarray(sequence[:-1]), dtype=torch.float32)
            seen = self.gates(x[None])[0][0]
            found = [x + self.readout(seen)]
            state = seen[None].contiguous()
            while len(found) < n_frames:
                state = self.gates(found[-1][:, None], state)[1]
                found.append(found[-1] + self.readout(state[0]))
            return np.asarray(torch.stack(found, dim=1).double().numpy())

    def error(self, sequences: Frames) -> NDArray[np.float64]:
        """Return the squared error of each sequence, as ``prediction_error`` measures it."""
        each = [((self.ahead(x, 1)[:, 0] - x[1:]) ** 2).sum(axis=1).mean() for x in sequences]
        return np.array(each)

    def horizon_errors(self, sequences: Frames, n_frames: int) -> NDArray[np.float64]:
        """Return root mean squares of a channel, frame by frame ahead, over all beginnings."""
        squares, known = np.zeros(n_frames), np.zeros(n_frames)
        for x in sequences:
            found = self.ahead(x, n_frames)
            for k in range(min(n_frames, len(x) - 1)):
                off = found[: len(x) - 1 - k, k] - x[1 + k :]
                squares[k] += (off**2).sum()
                known[k] += off.size
        return np.asarray(np.sqrt(squares / known))


def libraries() -> Any:
    """Return PyTorch.

    Raises
    ------
    ImportError
        Which says how to install it.
    """
    try:
        return import_module("torch")
    except ImportError:
        raise ImportError(
            'a recurrent network needs PyTorch: pip install "trug_fast[reproduction]"'
        ) from None


def checked(options: Any) -> dict[str, Any]:
    """Return the options of a protocol, if they are some of ``fitted``.

    Raises
    ------
    TypeError, ValueError
        Naming the option.
    """
    checks.kind("forecast.gru", options, dict)
    for name, value in options.items():
        checks.choice("an option of forecast.gru", name, (*COUNTS, *AMOUNTS))
        if name in COUNTS:
            checks.count(f"forecast.gru.{name}", value)
        else:
            checks.number(f"forecast.gru.{name}", value, least=0.0)
    return dict(options)


def fitted(
    train: Frames,
    valid: Frames,
    *,
    seed: int,
    n_units: int = 64,
    epochs: int = 100,
    learning_rate: float = 3e-3,
    noise: float = 0.1,
    weight_decay: float = 1e-4,
    stretch: int = 60,
    batch_size: int = 16,
) -> Recurrent:
    """Train a network; all choices but the seed are those of a protocol.

    noise : standard deviation of what is added to the frames that are read
    stretch : frames into which sequences are cut
    """
    torch = libraries()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # frames follow each other: more only wait
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            parts, weights = _pieces(torch, train, stretch)
            n = parts.shape[2]
            own = Recurrent(torch.nn.GRU(n, n_units, batch_first=True), torch.nn.Linear(n_units, n))
            for parameter in own.readout.parameters():
                torch.nn.init.zeros_(parameter)
            steps = epochs * -(-len(parts) // batch_size)
            walk = _walk(torch, own, steps, learning_rate, weight_decay)
            best, kept = np.inf, own
            for _ in range(epochs):
                for rows in torch.randperm(len(parts)).split(batch_size):
                    _step(torch, own, walk, parts[rows], weights[rows], noise)
                if not valid or (found := own.error(valid).mean()) < best:
                    best, kept = found if valid else best, copy.deepcopy(own)
            return kept
    finally:
        torch.set_num_threads(threads)


def _pieces(torch: Any, train: Frames, stretch: int) -> tuple[Any, Any]:
    """Return sequences cut into pieces that share a frame, filled up, and 1 where frames are."""
    pieces = [x[i : i + stretch + 1] for x in train for i in range(0, max(1, len(x) - 1), stretch)]
    parts = np.zeros((len(pieces), stretch + 1, train[0].shape[1]), np.float32)
    there = np.zeros((len(pieces), stretch, 1), np.float32)
    for row, piece in enumerate(pieces):
        parts[row, : len(piece)] = piece
        there[row, : len(piece) - 1] = 1
    return torch.from_numpy(parts), torch.from_numpy(there)


def _walk(torch: Any, own: Recurrent, steps: int, rate: float, decay: float) -> tuple[Any, Any]:
    """Return an optimizer and what lowers its rate to zero over so many steps, as a cosine."""
    parameters = [*own.gates.parameters(), *own.readout.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
    return optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)


def _step(torch: Any, own: Recurrent, walk: Any, x: Any, there: Any, noise: float) -> None:
    """Take one step; what is to be learned leads from the noisy frame to the true next one."""
    seen = x[:, :-1] + noise * torch.randn_like(x[:, :-1])
    off = seen + own.readout(own.gates(seen)[0]) - x[:, 1:]
    loss = (there * off**2).sum() / there.sum()
    walk[0].zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(own.gates.parameters(), 5.0)
    walk[0].step()
    walk[1].step()
