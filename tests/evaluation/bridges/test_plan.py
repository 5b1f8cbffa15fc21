"""Arguments that have no effect together are refused, before a file is written."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of

ROWS = np.zeros((2, 5))


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"start": ROWS}, ValueError, "start is for the reverse chains; pass direction='reverse'"),
        ({"n_gibbs": 3}, ValueError, "n_gibbs is for the reverse chains; pass direction='rev"),
        ({"weights_on": "hidden", "path": "paper"}, ValueError, "weights_on='hidden' needs path"),
        ({"n_gibbs": -1, "direction": "both"}, ValueError, "n_gibbs must be at least 0, got -1"),
        ({"start": ROWS + 0.5, "direction": "both"}, ValueError, "start must"),
        ({"executor": 3}, TypeError, "executor must be a Executor, got int"),
        ({"progress": "no"}, TypeError, "progress must be None, True or False, got 'no'"),
        ({"rng": -1}, ValueError, "rng must not be a negative int"),
        ({"schedule": "dense"}, ValueError, "schedule must be one of 'uniform', 'adaptive'"),
    ],
)
def test_bad_arguments_write_nothing(tmp_path, options, kind, words):
    with pytest.raises(kind, match=words):
        tf.log_partition(model_of("[0,1]"), checkpoint=tmp_path / "run.npz", **options)
    assert list(tmp_path.iterdir()) == []
