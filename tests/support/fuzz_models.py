"""Good models for random calls of public functions."""

import numpy as np

import trug_fast as tf
from tests.support.fuzz_arguments import W

ZERO = np.zeros
RBMS = [
    tf.TruGRBM(W, 0, 0, 1, 0, [1, 2, 3, np.inf]),
    tf.TruGRBM(W.astype(np.float32), 0.5, 0, [-1, 0, 1, 2], -1, 1),
    tf.BernoulliRBM(W, 0, 0.5),
    tf.BernoulliRBM(W, 0, 0.5, visible_precision=2.0),
    tf.TruGRBM(W[:, :2], 0, 0, 1, 0, 1, visible_precision=[1, 2, 3, 4, 5]),
    tf.TruGRBM(W[:, :2], 0, 0, 1, 0, 1, visible_precision=[1, 2, 3, 4, 5], visible="relu"),
]
BINARY = RBMS[:3]
TRBMS = [
    tf.TruGTRBM(W, ZERO((4, 5)), np.eye(5), ZERO((4, 4)), 0, 0, 0, 0, 1, 0, 1),
    tf.BernoulliTRBM(W.astype("f4"), ZERO((4, 5)), np.eye(5), ZERO((4, 4)), 0, 0, 0, 0, 2.0),
]
TGGMS = [
    tf.TruGTGGM(W, 0, np.ones((1, 5)), 0, 0.2, -1, 1),
    tf.TruGTGGM(W, 0, np.ones((2, 5)), 0, [0.2, 0.3], 0, np.inf, hidden_variance=0.5),
]
START = tf.TruGTGGM(np.ones((2, 5)), 0, np.ones((1, 2)), 0, 0.2, -1, 1)
