"""Linear constraints as a box."""

import numpy as np
import pytest

from tests.support.vectors import INF, toeplitz
from trug_fast import truncmvn
from trug_fast.distributions.multivariate.boxes import box_form
from trug_fast.distributions.multivariate.checking import cut_normal


def test_the_vector_has_its_mean_and_covariance_again():
    rng = np.random.default_rng(0)
    A, mean, cov = rng.normal(size=(2, 5)), rng.normal(size=5), toeplitz(5, 0.5)
    form = box_form(cut_normal(mean, cov, [0, -INF], [1, 2], A))
    np.testing.assert_allclose(form.offset + form.back @ form.mean, mean, atol=1e-13)
    np.testing.assert_allclose(form.back @ form.cov @ form.back.T, cov, atol=1e-13)
    np.testing.assert_allclose(A @ form.back, np.eye(2, 5), atol=1e-13)
    np.testing.assert_allclose(A @ form.offset, 0, atol=1e-13)
    gain = cov @ A.T @ np.linalg.inv(A @ cov @ A.T)
    np.testing.assert_allclose(form.gain, gain, atol=1e-13)


def test_rows_without_an_end_are_no_constraints():
    A = np.ones((4, 2))
    assert box_form(cut_normal(None, 1, [0, -INF, -INF, -INF], INF, A)).bounded.size == 1
    assert truncmvn.logprob(None, 1, -INF, INF, A).log == 0


@pytest.mark.parametrize(
    "A, words",
    [
        (
            np.vstack([np.eye(2), [1, 1]]),
            "got 3 constraints of 2 dimensions; tf.distributions.truncmvn_hmc",
        ),
        ([[1, 1], [2, 2]], "got rows of A of rank 1 below 2; tf.distributions.truncmvn_hmc"),
    ],
)
def test_constraints_that_depend_on_each_other_are_refused(A, words):
    with pytest.raises(ValueError, match=words):
        truncmvn.rvs(None, 1, 0, 1, A)
