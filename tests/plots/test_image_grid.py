"""Figures of images hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

from trug_fast import plots

pytest.importorskip("matplotlib")


def test_images_are_laid_out_in_a_grid():
    ax = plots.images(np.eye(6)[:5], (2, 3), columns=3)
    mosaic = ax.get_images()[0].get_array()
    assert mosaic.shape == (2 * 3 - 1, 3 * 4 - 1)
    assert mosaic[0, 0] == 1
    with pytest.raises(ValueError, match="array must have 9 columns, got 6"):
        plots.images(np.eye(6), (3, 3))
