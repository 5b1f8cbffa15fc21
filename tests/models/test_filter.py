"""The filter of sequences of different lengths, and the biases that the past leaves."""

import numpy as np

from tests.support.temporal import temporal_model
from trug_fast.models.sequences import as_sequences


def test_sequences_of_different_lengths_filter_alone():
    model = temporal_model()
    rng = np.random.default_rng(0)
    x = [rng.random((t, 4)) for t in (3, 7, 1, 7, 5)]
    sequences = as_sequences("x", x, visible="bernoulli")
    batch = sequences.batch(np.array([4, 0, 1, 2, 3]))
    seen = model.parameters().filter(sequences, batch)
    for k, part in enumerate(x):
        rows = [
            int(np.flatnonzero(batch.rows == sequences.offsets[k] + t)[0]) for t in range(len(part))
        ]
        np.testing.assert_allclose(seen.state[rows], model.filter(part), atol=1e-14)
        np.testing.assert_allclose(seen.visible[rows], part)


def test_the_frames_of_a_filter_are_an_rbm_with_biases_of_their_own():
    model = temporal_model("gaussian")
    x = np.random.default_rng(1).normal(size=(6, 4))
    sequences, own = as_sequences("x", [x], visible="gaussian"), model.parameters()
    seen = own.filter(sequences, sequences.batch(np.arange(1)))
    np.testing.assert_array_equal(seen.layers.visible_kinds.precision, model.visible_precision)
    np.testing.assert_array_equal(seen.layers.visible_bias[0], model.initial_visible_bias)
    np.testing.assert_array_equal(seen.layers.hidden_bias[0], model.initial_hidden_bias)
    expected = own.next_biases(x[:-1], seen.state[:-1])
    np.testing.assert_allclose(seen.layers.visible_bias[1:], expected[0], atol=1e-13)
    np.testing.assert_allclose(seen.layers.hidden_bias[1:], expected[1], atol=1e-13)
    np.testing.assert_allclose(seen.net, x @ model.weights + seen.layers.hidden_bias, atol=1e-12)
