"""Training: one update beside its matrix products, and what a short run reaches."""

import numba
import numpy as np

import trug_fast as tf
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.rbm.settings import RBMSettings
from trug_fast.training.settings import Pace

from .common import CHAINS, HIDDEN, THREADS, VISIBLE, Products, random_pixels, ratio, some

DIGIT_UNITS = {
    "learned": {},
    "[0, 1]": {"truncation": (0.0, 1.0)},
    "[0, 4]": {"truncation": (0.0, 4.0)},
    "Bernoulli": {"hidden": "bernoulli"},
}


def learner(
    units: str = "trug", rows: int = CHAINS, visible: int = VISIBLE, hidden: int = HIDDEN
) -> RBMLearner:
    """Return a learner for CD-1 with RMSprop in float32."""
    settings = RBMSettings(
        n_visible=visible,
        n_hidden=hidden,
        truncation=tf.Truncation(0.0, 4.0, learn="per_unit"),
        hidden=None if units == "bernoulli" else tf.TruGUnits(),
        visible=tf.BernoulliUnits(),
        sampler=tf.CD(),
        optimizer=tf.RMSprop(),
        average=0.0,
        batch_size=rows,
        n_chains=rows,
        dtype=np.dtype("float32"),
        start=tf.RandomWeights(0.01),
    )
    return RBMLearner(random_pixels(10 * rows, visible, "uint8"), settings, 0)


class Update:
    """A CD-1 update with RMSprop: batch of 100, 784 visible and 500 hidden units, float32."""

    params = (["trug", "bernoulli"], THREADS)
    param_names = ("units", "threads")

    def setup(self, units, threads):
        """Start a run and compile."""
        numba.set_num_threads(threads)
        self.data = random_pixels(10 * CHAINS, VISIBLE, "uint8")
        self.rows = np.arange(CHAINS)
        self.learner = learner(units)
        self.products = Products(threads)
        self.update()

    def update(self):
        """Take one step."""
        self.learner.update(self.data, [self.rows], [Pace(1e-4, 1e-5, 0.0, n_gibbs=1)])

    def time_update(self, units, threads):
        """Time one update."""
        self.update()

    def track_ratio_to_products(self, units, threads):
        """Return the time of an update over that of its five matrix products alone."""
        return ratio(self.update, self.products.of_update, self.products.limit)


class FiveProducts:
    """The floor of an update: its matrix products alone, by NumPy."""

    params = THREADS
    param_names = ("threads",)

    def setup(self, threads):
        """Set the threads."""
        self.products = Products(threads)
        self.limit = self.products.limit()
        self.products.of_update()

    def teardown(self, threads):
        """Set the threads back."""
        self.limit.restore_original_limits()

    def time_products(self, threads):
        """Time five products."""
        self.products.of_update()


class Digits:
    """Forty epochs on the 8x8 digits, 50 hidden units, one thread: too small for more."""

    params = some(DIGIT_UNITS)
    param_names = ("units",)

    def setup(self, units):
        """Load the digits and compile."""
        numba.set_num_threads(1)
        self.digits = tf.datasets.load_digits(binarize="threshold")
        self.fit(units, 1)

    def fit(self, units, epochs=40):
        """Train."""
        options = {
            "batch_size": 20,
            "sampler": tf.PCD(n_chains=20),
            "start": tf.RandomWeights(0.01),
            "learning_rate": (0.1, 0.001),
            "monitor": None,
            "rng": 0,
            **DIGIT_UNITS[units],
        }
        return tf.train_rbm(self.digits.train, 50, epochs=epochs, **options)

    def time_fit(self, units):
        """Time forty epochs."""
        self.fit(units)

    def track_test_log_likelihood(self, units):
        """Return the mean log-probability of the test images, by annealing."""
        model = self.fit(units).model
        estimate = tf.log_partition(model, n_temperatures=1000, base=self.digits.train, rng=0)
        return float(tf.log_likelihood(model, self.digits.test, estimate.log_z).mean())
