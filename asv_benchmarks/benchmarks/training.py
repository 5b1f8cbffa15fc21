"""Training: one update beside its matrix products, and what a short run reaches."""

import time
import warnings

import numba
import numpy as np

import trug_fast as tf
from trug_fast.training.rates import Time
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.rbm.settings import RBMSettings

from .common import CHAINS, HIDDEN, THREADS, VISIBLE, Products, random_pixels, ratio, some, times

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
        sampler=tf.training.CD(),
        optimizer=tf.training.RMSprop(),
        average=0.0,
        batch_size=rows,
        n_chains=rows,
        epochs=1,
        monitor=None,
        dtype=np.dtype("float32"),
        start=tf.training.RandomWeights(0.01),
        rates={},
    )
    usual = {"truncation_rate": (1e-5, 1e-5), "precision_rate": (0.0, 0.0)}
    settings = settings.over(1e-4, usual)
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
        self.learner.update(self.data, [self.rows], [Time(0.0, 1)])

    def time_update(self, units, threads):
        """Time one update."""
        self.update()

    def track_ratio_to_products(self, units, threads):
        """Return the time of an update over that of its five matrix products alone."""
        return ratio(self.update, self.products.of_update, self.products.limit)


COLUMNS, UPDATES = 1113, 10
KINDS = {
    "bernoulli": "bernoulli",
    "categorical": tf.CategoricalUnits(21),
    "spin": "spin",
    "gaussian": "gaussian",
    "truncated": tf.TruncatedUnits("sigmoid"),
    "half of the hidden units with d < 0": "bernoulli",
}


class Kinds:
    """Persistent updates by the kind of visible units: 1113 columns, 200 hidden units, a thread."""

    params = list(KINDS)
    param_names = ("units",)
    unit = "ms"

    def setup(self, units):
        """Make data, compile."""
        numba.set_num_threads(1)
        rng, rows = np.random.default_rng(0), UPDATES * CHAINS
        states = rng.integers(0, 21, (rows, COLUMNS // 21))
        columns = np.eye(21)[states].reshape(rows, COLUMNS)
        drawn = {"categorical": states, "spin": 2 * columns - 1, "truncated": columns / 2}
        self.rows = drawn | {"gaussian": rng.normal(size=(rows, COLUMNS))}
        self.rows = self.rows.get(units, columns)
        d = np.where(rng.random(200) < 0.5 * ("d < 0" in units), -2.0, 5.0).astype(np.float32)
        weights = 0.01 * rng.normal(size=(COLUMNS, 200)).astype(np.float32)
        self.start = tf.TruGRBM(weights, 0.0, -0.5, d, 0.0, 1.0) if "d < 0" in units else None
        self.epochs(units, 1)

    def epochs(self, units, n):
        """Train for so many epochs; return when each ended, in seconds of processor time."""
        ends = []
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", tf.training.TrainingWarning
            )  # random data teach nothing
            tf.train_rbm(
                self.rows,
                None if self.start else 200,
                truncation=None if self.start else "s-learn",
                start=self.start,
                visible=KINDS[units],
                sampler=tf.training.PCD(n_chains=CHAINS),
                batch_size=CHAINS,
                learning_rate=1e-4,
                epochs=n,
                monitor=None,
                rng=0,
                progress=False,
                callbacks=[lambda event: ends.append(time.process_time())],
            )
        return ends

    def track_update(self, units):
        """Return the least time of an update."""
        return 1e3 * float(min(np.diff(self.epochs(units, 1 + len(times(8)))))) / UPDATES


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
            "sampler": tf.training.PCD(n_chains=20),
            "start": tf.training.RandomWeights(0.01),
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
