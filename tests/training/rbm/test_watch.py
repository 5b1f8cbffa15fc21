"""Training of an RBM that failed says so: it diverged, or went through and learned nothing."""

import re
import signal
import warnings

import numpy as np
import pytest

import trug_fast as tf
from tests.support.clusters import columns
from tests.support.fits import assert_same, interrupt_after, same, spoil
from trug_fast.cli import main
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.run import divergence_raises

SMALL = {"n_hidden": 12, "epochs": 2, "batch_size": 20, "monitor": None, "rng": 0}
OLD = {"batch_size": 100, "start": tf.training.RandomWeights(0.01), "rng": 0}
IDLE = SMALL | {"epochs": 5, "learning_rate": 1e-4}  # a rate at which nothing is learned
BOTH = tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold").train


class TestDivergence:
    def test_a_rate_of_100(self, digits):
        # The score of such a run is -4e8, its weights are 9e5.
        with pytest.raises(FloatingPointError, match=r"diverged in epoch 1: .*absurdly large") as e:
            tf.train_rbm(digits, 30, epochs=3, learning_rate=100.0, **OLD)
        assert "use a lower learning_rate (it began at 100)" in str(e.value)

    def test_finite_nonsense_without_a_score(self):
        ones = np.ones((50, 1), bool)  # its weights are -1e35, its score 0, the best there is
        error = pytest.raises(FloatingPointError, match="weights are absurdly large")
        with divergence_raises(), error:
            tf.train_rbm(
                ones,
                2,
                **OLD | {"batch_size": 5, "sampler": tf.training.PCD(n_chains=5)},
                epochs=2,
                learning_rate=1e38,
                monitor=None,
            )

    def test_a_score_that_fell(self, digits):
        with pytest.raises(FloatingPointError, match="the score fell to .* from -24.6 before"):
            tf.train_rbm(digits, 30, epochs=5, learning_rate=10.0, **OLD)

    @pytest.mark.parametrize("truncation", ["relu", (0, 4)])
    @pytest.mark.parametrize("scale", [1e3, 1e6])
    def test_real_data_that_is_not_standardised(self, truncation, scale):
        words = r"standardise the columns of X, whose standard deviations are 1.\d+e\+0(3|6) to"
        # Some go on with finite nonsense; all say what to do.
        with pytest.raises((FloatingPointError, tf.training.TrainingWarning), match=words):
            options = SMALL | {"visible": "gaussian", "truncation": truncation, "epochs": 5}
            tf.train_rbm(columns(scale=scale), **options)


@pytest.mark.parametrize(
    "name", ["weights", "visible_bias", "hidden_bias", "precision", "lower", "upper"]
)
def test_all_that_is_learned_is_watched(name, digits, monkeypatch):
    hidden = tf.TruGUnits(learn_precision=True)
    options = SMALL | {"truncation": BOTH, "hidden": hidden, "epochs": 1}
    spoil(monkeypatch, RBMLearner, name)
    with pytest.raises(FloatingPointError, match=f"diverged in epoch 1: {name} (is|are) no"):
        tf.train_rbm(digits[:20], **options)


class TestNothingLearned:
    def test_a_rate_that_is_too_low(self, digits):
        words = "pseudo-log-likelihood .* more than its noise: -24.6.*360 updates were made"
        with pytest.warns(tf.training.TrainingWarning, match=words):
            tf.train_rbm(digits, **IDLE)
        # Short runs are trials; these learn.
        tf.train_rbm(digits, **IDLE | {"epochs": 1})
        tf.train_rbm(digits, **SMALL | {"epochs": 10, "learning_rate": (0.5, 0.05)})

    def test_defaults_of_the_first_version(self, digits):
        # From -24.6 to -24.4, of the -12 that can be had.
        with pytest.warns(tf.training.TrainingWarning, match="smaller batches or more epochs"):
            tf.train_rbm(digits, 30, **OLD, learning_rate=(0.2, 0.01), epochs=10)

    def test_a_score_that_fell(self, digits):
        # By 18 +- 4; what comes of such a rate depends on the last bits.
        with pytest.warns(
            tf.training.TrainingWarning, match="use a lower learning_rate .it began at 3.3"
        ):
            tf.train_rbm(digits, 30, **OLD, learning_rate=3.3, epochs=5)

    def test_real_data(self):
        options = IDLE | {"visible": "gaussian"}
        with pytest.warns(
            tf.training.TrainingWarning, match="reconstruction score.*larger RandomWeights"
        ):
            tf.train_rbm(columns(), **options)
        with pytest.warns(tf.training.TrainingWarning, match="standardise the columns of X"):
            tf.train_rbm(columns(scale=1e-3), **options)
        tf.train_rbm(columns(), **options | {"epochs": 20, "learning_rate": 0.1})

    def test_a_resumed_run_is_judged_like_one_that_never_stopped(self, digits, tmp_path):
        def words(*, stop=0, resume=False):
            def press(event):
                if event.epoch == stop:
                    signal.raise_signal(signal.SIGINT)

            checkpoint = tf.training.Checkpoint(tmp_path / f"{stop}.npz", resume=resume)
            options = IDLE | {"checkpoint": checkpoint}
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                tf.train_rbm(digits, **options, callbacks=[press])
            return [str(w.message) for w in caught if w.category is tf.training.TrainingWarning]

        former = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            whole = words()
            assert len(whole) == 1 and words(resume=True) == whole  # finished: nothing is trained
            assert words(stop=3) == []  # who stops a run knows that it is not done
            assert words(stop=3, resume="auto") == whole
        finally:
            signal.signal(signal.SIGINT, former)

    def test_the_command_line_says_it_too(self, tmp_path, capsys):
        options = ["--epochs=5", "--learning-rate=1e-5", "--quiet", "--n-hidden=8"]
        assert main(["train", "rbm", "digits", *options, f"--out={tmp_path / 'm.npz'}"]) == 0
        assert re.search("^trug-fast: warning: training has not raised", capsys.readouterr().err)


class TestFallingBack:
    """A training that diverges returns the last sound model, if there is one."""

    OPTIONS = SMALL | {"epochs": 6, "learning_rate": (0.5, 0.05)}

    def sick_in(self, monkeypatch, epoch):
        """Let the parameters become nonsense in this epoch."""
        found = RBMLearner.update

        def update(self, data, batches, times):
            found(self, data, batches, times)
            if self.updates > (epoch - 1) * self.n_batches(data.shape[0]):
                self.learned["weights"][:] = np.nan

        monkeypatch.setattr(RBMLearner, "update", update)

    @pytest.mark.parametrize("monitor", [None, "pseudo"])
    def test_the_model_before_is_returned(self, digits, monkeypatch, monitor):
        options = self.OPTIONS | {"monitor": monitor}
        models = {}

        def keep(event):
            models[event.epoch] = event.model

        with monkeypatch.context() as patch:
            self.sick_in(patch, 5)
            words = r"diverged in epoch 5: weights are no longer finite; use a lower .* of epoch \d"
            with pytest.warns(tf.training.TrainingWarning, match=words) as said:
                fit = tf.train_rbm(digits, **options, callbacks=[keep])
        epoch = int(str(said[0].message).split("of epoch ")[1].split(",")[0])
        assert fit.interrupted and len(fit.history["epoch"]) == 4
        assert epoch == (4 if monitor is None else 1 + np.argmax(fit.history["score"]))
        assert same(fit.model, models[epoch])

    def test_the_same_after_a_stop(self, digits, monkeypatch, tmp_path):
        self.sick_in(monkeypatch, 5)
        with pytest.warns(tf.training.TrainingWarning, match="of epoch 4"):
            whole = tf.train_rbm(digits, **self.OPTIONS)
        path = tmp_path / "run.npz"
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
            former = signal.signal(signal.SIGINT, signal.default_int_handler)
            interrupt_after(patch, 4 * 72 - 30)  # in the midst of epoch 4
            tf.train_rbm(digits, **self.OPTIONS, checkpoint=path)
            signal.signal(signal.SIGINT, former)
        with pytest.warns(tf.training.TrainingWarning, match="of epoch 4"):
            again = tf.train_rbm(
                digits, **self.OPTIONS, checkpoint=tf.training.Checkpoint(path, resume=True)
            )
        assert_same(whole, again)

    def test_with_patience_the_best(self, digits, monkeypatch):
        self.sick_in(monkeypatch, 4)
        options = self.OPTIONS | {"monitor": tf.training.Monitor("pseudo", patience=9)}
        with pytest.warns(tf.training.TrainingWarning, match="of epoch [123], which was sound"):
            fit = tf.train_rbm(digits, **options, validation=digits[:200])
        assert fit.interrupted and np.isfinite(fit.model.weights).all()

    def test_a_model_that_had_learned_nothing_is_no_result(self, digits, monkeypatch):
        self.sick_in(monkeypatch, 7)
        with pytest.raises(FloatingPointError, match="diverged in epoch 7"):
            tf.train_rbm(digits, **IDLE | {"epochs": 9})

    def test_the_ladder_goes_back_too(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = (rng.random((4, 10)) < 0.5)[rng.integers(4, size=400)] ^ (rng.random((400, 10)) < 0.05)
        options = {
            "epochs": 6,
            "batch_size": 20,
            "sampler": tf.training.TrajectoryTempering(freeze=0.8),
            "rng": 0,
            "monitor": None,
        }
        rungs = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tf.training.TrainingWarning)
            whole = tf.train_rbm(X, 6, **options | {"epochs": 4}, learning_rate=0.3)
            self.sick_in(monkeypatch, 5)
            fit = tf.train_rbm(X, 6, **options, learning_rate=0.3)
        assert fit.interrupted and len(whole.ladder) > 1
        assert all(np.isfinite(rung.weights).all() for rung in fit.ladder.models)
        rungs = fit.ladder.log_partition(fit.model, rng=0)
        assert abs(rungs.log_z - tf.exact.log_partition(fit.model)) < 5 * rungs.std_error
