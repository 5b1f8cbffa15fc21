"""What an estimate shows of itself."""

import trug_fast as tf
from tests.support.models import model_of


def test_the_representation_says_what_is_needed_to_judge():
    model = model_of("bernoulli")
    estimate = tf.log_partition(model, n_temperatures=50, direction="both", rng=0)
    for side in (estimate, estimate.forward, estimate.reverse):
        assert repr(side) == (
            f"LogPartition({side.log_z:.3f} +- {side.std_error:.3g}, direction={side.direction!r}, "
            f"n_chains=100, ess={side.ess:.1f}, warnings={side.warnings!r})"
        )
        assert side.n_chains == 100
