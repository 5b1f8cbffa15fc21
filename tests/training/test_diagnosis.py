"""Training that failed says so: it diverged, or went through and learned nothing."""

import re
import signal
import warnings

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import main
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns, Rise
from trug_fast.training.rbm.learner import Learner
from trug_fast.training.trbm.learner import TemporalLearner

SMALL = {"n_hidden": 12, "epochs": 2, "batch_size": 20, "score": None, "rng": 0}
OLD = {"batch_size": 100, "init_scale": 0.01, "rng": 0}
IDLE = SMALL | {"epochs": 5, "learning_rate": 1e-4}  # a rate at which nothing is learned
BOTH = tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold").train


@pytest.fixture(scope="module")
def videos():
    return tf.datasets.bouncing_balls(8, 20, size=8, rng=0)


def columns(rows=500, scale=1.0):
    """Real data of two clusters."""
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], (rows, 1))
    return scale * (side * [1, 1, -1, 1] + 0.5 * rng.normal(size=(rows, 4)))


class TestDivergence:
    def test_a_rate_of_100(self, digits):
        # The score of such a run is -4e8, its weights are 9e5.
        with pytest.raises(FloatingPointError, match=r"diverged in epoch 1: .*absurdly large") as e:
            tf.train_rbm(digits, 30, epochs=3, learning_rate=100.0, **OLD)
        assert "use a lower learning_rate (it began at 100)" in str(e.value)

    def test_finite_nonsense_without_a_score(self):
        ones = np.ones((50, 1), bool)  # its weights are -1e35, its score 0, the best there is
        with pytest.raises(FloatingPointError, match="weights are absurdly large"):
            tf.train_rbm(
                ones,
                2,
                **OLD | {"batch_size": 5, "n_chains": 5},
                epochs=2,
                learning_rate=1e38,
                score=None,
            )

    def test_a_score_that_fell(self, digits):
        with pytest.raises(FloatingPointError, match="the score fell to .* from -24.6 before"):
            tf.train_rbm(digits, 30, epochs=5, learning_rate=10.0, **OLD)

    @pytest.mark.parametrize("truncation", ["relu", (0, 4)])
    @pytest.mark.parametrize("scale", [1e3, 1e6])
    def test_real_data_that_is_not_standardised(self, truncation, scale):
        words = r"standardise the columns of X, whose standard deviations are 1.\d+e\+0(3|6) to"
        # Some go on with finite nonsense; all say what to do.
        with pytest.raises((FloatingPointError, tf.TrainingWarning), match=words):
            options = SMALL | {"visible": "gaussian", "truncation": truncation, "epochs": 5}
            tf.train_rbm(columns(scale=scale), **options)

    def test_sequences(self, videos):
        with pytest.raises(FloatingPointError, match="diverged in epoch 1: .*it began at 1e"):
            tf.train_trbm(videos, 10, epochs=3, learning_rate=1e38, rng=0)
        real = 1000 * np.cumsum(np.random.default_rng(0).normal(size=(20, 30, 3)), axis=1)
        with pytest.raises(FloatingPointError, match="standardise the columns of sequences"):
            tf.train_trbm(real, 10, visible="real", epochs=3, learning_rate=1.0, rng=0)


class TestParameters:
    """All that is learned is watched."""

    def watch(self, monkeypatch, cls, name, train):
        move = cls._step

        def spoil(self, *args):
            move(self, *args)
            getattr(self, name)[-1:] = np.nan

        monkeypatch.setattr(cls, "_step", spoil)
        # What is spoiled soon spoils the rest, but not within the first update of one epoch.
        with pytest.raises(FloatingPointError, match=f"diverged in epoch 1: {name} (is|are) no"):
            train()

    @pytest.mark.parametrize(
        "name", ["weights", "visible_bias", "hidden_bias", "precision", "lower", "upper"]
    )
    def test_rbm(self, name, digits, monkeypatch):
        options = SMALL | {"truncation": BOTH, "learn_precision": True, "epochs": 1}
        self.watch(monkeypatch, Learner, name, lambda: tf.train_rbm(digits[:20], **options))

    @pytest.mark.parametrize(
        "name",
        ["hidden_to_hidden", "visible_to_hidden", "visible_to_visible", "weights"]
        + ["initial_hidden_bias", "initial_visible_bias", "visible_bias", "visible_precision"],
    )
    def test_trbm(self, name, monkeypatch):
        data = np.random.default_rng(0).normal(size=(4, 6, 3))
        options = {"visible": "real", "learn_visible_precision": True, "epochs": 1, "score": False}
        self.watch(
            monkeypatch, TemporalLearner, name, lambda: tf.train_trbm(data, 8, **options, rng=0)
        )

    def test_the_bound_counts_what_a_unit_feels(self):
        # Gaussian units: net inputs of x1000 data are a million times as large, and mean the same.
        for scale in (1e-3, 1.0, 1e3):
            rows, a = columns(scale=scale), np.full(4, 1 / scale**2)
            room = Columns.of(rows, True).scale(a) * a * rows.std(axis=0)
            np.testing.assert_allclose(room, 1.0 if scale >= 1 else room)
            assert (room <= 1 + 1e-12).all()


class TestNothingLearned:
    def test_rbm(self, digits):
        words = "pseudo-log-likelihood .* more than its noise: -24.6.*360 updates were made"
        with pytest.warns(tf.TrainingWarning, match=words):
            tf.train_rbm(digits, **IDLE)
        # Short runs are trials; these learn.
        tf.train_rbm(digits, **IDLE | {"epochs": 1})
        tf.train_rbm(digits, **SMALL | {"epochs": 10, "learning_rate": (0.5, 0.05)})

    def test_defaults_of_the_first_version(self, digits):
        # From -24.6 to -24.4, of the -12 that can be had.
        with pytest.warns(tf.TrainingWarning, match="smaller batches or more epochs"):
            tf.train_rbm(digits, 30, **OLD, learning_rate=(0.2, 0.01), epochs=10)

    def test_a_score_that_fell(self, digits):
        with pytest.warns(tf.TrainingWarning, match="use a lower learning_rate .it began at 3"):
            tf.train_rbm(digits, 30, **OLD, learning_rate=3.0, epochs=5)

    def test_real_data(self):
        options = IDLE | {"visible": "gaussian"}
        with pytest.warns(tf.TrainingWarning, match="reconstruction score.*larger init_scale"):
            tf.train_rbm(columns(), **options)
        with pytest.warns(tf.TrainingWarning, match="standardise the columns of X"):
            tf.train_rbm(columns(scale=1e-3), **options)
        tf.train_rbm(columns(), **options | {"epochs": 20, "learning_rate": 0.1})

    def test_sequences(self, videos):
        options = {"epochs": 5, "score": False, "rng": 0}
        words = "score of forecasts.*the linear forecast at which training begins"
        with pytest.warns(tf.TrainingWarning, match=words):
            tf.train_trbm(videos, 10, **options, learning_rate=1e-6)
        tf.train_trbm(videos, 10, **options | {"epochs": 30}, learning_rate=0.03)

    def test_sequences_that_only_come_nearer_to_ignorance(self):
        # It starts at -8e8, and ends at -2e8: as much as 76 times the variance.
        waves = np.sin(np.arange(60)[:, None] / [3, 5, 7, 4] + np.arange(20)[:, None, None])
        with pytest.warns(tf.TrainingWarning, match="above that of ignorance.*standardise the"):
            tf.train_trbm(1000 * waves, 40, visible="real", epochs=10, rng=0)

    def test_a_resumed_run_is_judged_like_one_that_never_stopped(self, digits, tmp_path):
        def words(*, stop=0, resume=False):
            def press(event):
                if event.epoch == stop:
                    signal.raise_signal(signal.SIGINT)

            options = IDLE | {"checkpoint": tmp_path / f"{stop}.npz", "resume": resume}
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                tf.train_rbm(digits, **options, callbacks=[press])
            return [str(w.message) for w in caught if w.category is tf.TrainingWarning]

        former = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            whole = words()
            assert len(whole) == 1 and words(resume=True) == whole  # finished: nothing is trained
            assert words(stop=3) == []  # who stops a run knows that it is not done
            assert words(stop=3, resume="auto") == whole
        finally:
            signal.signal(signal.SIGINT, former)

    def test_the_command_line_says_it_too(self, tmp_path, capsys):
        options = ["--epochs=5", "--learning-rate=1e-5", "--no-baseline", "--quiet", "--hidden=8"]
        options += ["--temperatures=20", "--chains=10", f"--out={tmp_path / 'out'}"]
        assert main(["train", "rbm", *options]) == 0
        assert re.search("^trug-fast: warning: training has not raised", capsys.readouterr().err)


def test_sequences_without_a_past_are_refused(videos):
    single = np.round(np.random.default_rng(0).random((10, 1, 5)))
    words = "must hold a sequence of two frames or more, got one frame in each"
    with pytest.raises(ValueError, match=f"^sequences {words}"):
        tf.train_trbm(single, 5, epochs=2, rng=0)
    with pytest.raises(ValueError, match=f"^validation {words}"):
        tf.train_trbm(videos, 5, epochs=2, validation=videos[:, :1], rng=0)


def test_a_rise_and_its_noise():
    rng = np.random.default_rng(0)
    before = rng.normal(0, 3, 1000)
    after = before + rng.normal(0.1, 0.1, 1000)
    plain, paired = Rise.of(before, after), Rise.paired(before, after)
    assert plain.error == pytest.approx(np.sqrt(18 / 1000), rel=0.1) and not plain.clear
    assert paired.error == pytest.approx(0.1 / np.sqrt(1000), rel=0.1) and paired.clear
    assert Rise.of(after, before - 1).fell and not Rise.of(before, before + np.nan).clear


def test_what_is_not_standardised():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    assert diagnosis.off_scale("X", np.c_[rows, np.ones(200)]) is None
    for factors in ([1, 1, 30], [0.03, 1, 1], [1e9, 1e9, 1e9]):
        words = diagnosis.off_scale("X", 7 + rows * factors)
        assert f"{(rows * factors).std(axis=0).max():.3g}: subtract" in words
