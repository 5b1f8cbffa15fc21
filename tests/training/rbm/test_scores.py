"""The scores that training records."""

import numpy as np
import pytest

import trug_fast as tf

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


def test_ais_score(digits):
    fit = tf.train_rbm(
        digits.train,
        **(ARGUMENTS | {"monitor": tf.training.Monitor("ais", every=3)}),
        validation=digits.test,
    )
    assert np.isnan(fit.history["score"][:2]).all()
    assert -45 < fit.history["validation_score"][2] < -20
