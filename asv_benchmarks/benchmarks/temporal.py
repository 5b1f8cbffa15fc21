"""Training on sequences: one update beside its matrix products, and beside a plain torch TRBM."""

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import trug_fast as tf
from trug_fast.models.sequences import Sequences, as_sequences
from trug_fast.training.rates import Time
from trug_fast.training.trbm.learner import TRBMLearner
from trug_fast.training.trbm.settings import SequenceSettings

from .common import THREADS, ratio, ratio_in_turns

VIDEOS, TIMES, HIDDEN, SWEEPS = 4, 100, 400, 3  # of an update, as in Table 2


def learner(
    data: Sequences,
    units: str = "trug",
    videos: int = VIDEOS,
    hidden: int = HIDDEN,
    n_lags: int = 1,
) -> TRBMLearner:
    """Return a learner for contrastive divergence with Adam in float32, full gradient."""
    settings = SequenceSettings(
        n_visible=data.shape[1],
        n_hidden=hidden,
        truncation=tf.Truncation(0.0, 1.0, learn="per_unit"),
        hidden=None if units == "bernoulli" else tf.TruGUnits(),
        visible=tf.BernoulliUnits(),
        sampler=tf.training.SequenceCD(n_gibbs=SWEEPS),
        optimizer=tf.training.Adam(),
        average=0.0,
        batch_size=videos,
        epochs=1,
        monitor=None,
        dtype=np.dtype("float32"),
        start=tf.training.LinearStart(order=1),
        n_lags=n_lags,
        rates={},
    )
    usual = {"truncation_rate": (1e-5, 1e-5), "precision_rate": (0.0, 0.0)}
    settings = settings.over(1e-4, usual)
    return TRBMLearner(data, settings, 0)


class SequenceProducts:
    """The matrix products of an update alone, by NumPy; those in time by single frames."""

    def __init__(self, data, n_lags=1):
        rows, n = VIDEOS * TIMES, data.shape[1]
        self.x = np.ascontiguousarray(data.frames[:rows])
        self.h = np.random.default_rng(0).random((rows, HIDDEN), np.float32)
        self.past_x, self.past_h = (np.tile(part, (1, n_lags)) for part in (self.x, self.h))
        self.w1 = np.random.default_rng(1).random((n, HIDDEN), np.float32)
        self.w2, self.w3, self.w4 = (
            np.random.default_rng(k).random((n_lags * source, target), np.float32)
            for k, source, target in ((2, n, HIDDEN), (3, n, n), (4, HIDDEN, HIDDEN))
        )
        self.back = np.ascontiguousarray(self.w4.T)

    def of_update(self):
        """Do them all: filter, chains, the way back, gradients."""
        x, h, w1, past_x, past_h = self.x, self.h, self.w1, self.past_x, self.past_h
        x @ w1  # given frame and past
        past_x @ self.w2
        past_x @ self.w3
        for rows, weights in ((past_h, self.w4), (h, self.back)):  # through time, there and back
            for t in range(TIMES):
                rows[t * VIDEOS : (t + 1) * VIDEOS] @ weights
        for _ in range(SWEEPS):
            x @ w1
            h @ w1.T
        x @ w1  # the chains' start
        for _ in range(2):
            x.T @ h
        past_x.T @ h
        past_x.T @ x
        past_h.T @ h


class Start:
    """A run on four videos of 100 frames: 900 visible and 400 hidden units, CD-3, float32."""

    params = (["trug", "bernoulli"], THREADS)
    param_names = ("units", "threads")
    timeout = 300
    n_lags = 1

    def setup(self, units, threads):
        """Start a run and compile."""
        numba.set_num_threads(threads)
        self.threads = threads
        self.data = as_sequences(
            "videos", tf.datasets.bouncing_balls(2 * VIDEOS, rng=0), visible="gaussian"
        )
        self.rows, self.learner = np.arange(VIDEOS), learner(self.data, units, n_lags=self.n_lags)
        self.products = SequenceProducts(self.data, self.n_lags)
        self.update()

    def update(self):
        """Take one step."""
        self.learner.update(self.data, [self.rows], [Time(0.0, 1)])


class Update(Start):
    """One update."""

    def time_update(self, units, threads):
        """Time one update."""
        self.update()

    def track_ratio_to_products(self, units, threads):
        """Return the time of an update over that of its matrix products alone."""
        limit = lambda: threadpool_limits(self.threads, "blas")  # noqa: E731
        return ratio(self.update, self.products.of_update, limit, rounds=2, calls=4)


class UpdateOfThreeLags(Update):
    """One update of a model that looks back three frames."""

    n_lags = 3


class BesideTorch(Start):
    """The same beside an ordinary TRBM, written plainly in torch.

    Half of what torch does is left out: it holds the filter's past fixed.
    """

    def setup(self, units, threads):
        """Start both."""
        try:
            import torch
        except ImportError:
            raise NotImplementedError("torch is not installed") from None
        super().setup(units, threads)
        torch.set_num_threads(threads)
        self.plain = TorchUpdate(torch, self.data.frames[: VIDEOS * TIMES])

    def track_ratio(self, units, threads):
        """Return the time of an update over that of torch's."""
        limit = lambda: threadpool_limits(self.threads, "blas")  # noqa: E731
        return ratio(self.update, self.plain.update, limit, rounds=2, calls=4)


class TorchUpdate:
    """An ordinary TRBM in plain torch: CD-3, the paper's gradient, Adam."""

    def __init__(self, torch, frames):
        self.torch, n = torch, frames.shape[1]
        # Frames of all videos at a time follow each other.
        self.x = torch.tensor(frames).reshape(VIDEOS, TIMES, n).transpose(0, 1).contiguous()
        shapes = (n, HIDDEN), (n, HIDDEN), (n, n), (HIDDEN, HIDDEN), (n,), (HIDDEN,)
        self.parameters = [0.01 * torch.randn(shape) for shape in shapes]
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-4)

    def update(self):
        """Take one step."""
        torch, x = self.torch, self.x
        w1, w2, w3, w4, b, c = self.parameters
        with torch.no_grad():
            drive = x[1:] @ w1 + x[:-1] @ w2 + c
            h = [torch.sigmoid(x[0] @ w1 + c)]
            for t in range(TIMES - 1):
                h.append(torch.sigmoid(drive[t] + h[-1] @ w4))
            past_x, past_h = x[:-1].flatten(0, 1), torch.stack(h[:-1]).flatten(0, 1)
            now_x, now_h = x[1:].flatten(0, 1), torch.stack(h[1:]).flatten(0, 1)
            by_past_x, by_past_h = b + past_x @ w3, c + past_x @ w2 + past_h @ w4
            mean_h = now_h
            for _ in range(SWEEPS):
                mean_x = torch.sigmoid(torch.bernoulli(mean_h) @ w1.T + by_past_x)
                state_x = torch.bernoulli(mean_x)
                mean_h = torch.sigmoid(state_x @ w1 + by_past_h)
            by_x, by_h, rows = now_x - state_x, now_h - mean_h, len(now_x)
            gradients = (
                now_x.T @ now_h - state_x.T @ mean_h,
                past_x.T @ by_h,
                past_x.T @ by_x,
                past_h.T @ by_h,
                by_x.sum(0),
                by_h.sum(0),
            )
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = -gradient / rows
            self.optimizer.step()


class Forecast:
    """200 continuations of 20 frames in one call, beside one: 400 visible and hidden units."""

    params = (THREADS,)
    param_names = ("threads",)
    timeout = 300

    def setup(self, threads):
        """Make a model and compile."""
        numba.set_num_threads(threads)
        rng, n = np.random.default_rng(0), 400
        weights = [rng.normal(0.0, 0.015, (n, n)).astype(np.float32) for _ in range(4)]
        self.model = tf.TruGTRBM(*weights, 0, 0, 0, 0, 1.0, -1.0, 1.0)
        self.past = rng.integers(0, 2, (10, n))
        self.one(), self.many()

    def one(self):
        """Draw one continuation."""
        self.model.generate(20, prefix=self.past, rng=0)

    def many(self):
        """Draw 200."""
        self.model.forecast(self.past, 20, n_samples=200, rng=0)

    def time_many(self, threads):
        """Time 200 continuations."""
        self.many()

    def track_ratio_to_one(self, threads):
        """Return the time of 200 continuations over that of one."""
        return ratio_in_turns(self.many, self.one, rounds=2, calls=1)
