"""The figure of a whole training holds what it promises; looking at them is a person's part."""

import numpy as np
import pytest

from tests.support.histories import HISTORY
from tests.support.models import model_of
from trug_fast import plots

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_summary(kind, tmp_path):
    model = model_of(kind, n_visible=9, n_hidden=7)
    rows = np.zeros((4, 9))
    figure = plots.summary(model, HISTORY, rows, rows, (3, 3), baseline=HISTORY, title="t")
    assert len(figure.axes) == (6 if kind == "mixed" else 5)
    figure.savefig(tmp_path / "a.png")
