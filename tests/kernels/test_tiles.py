"""Tiles cover each entry of a matrix once, and rows are gathered as they are."""

import numpy as np
import pytest
from numba import njit

from trug_fast.kernels.tiles import gather, tile, tile_count


@pytest.mark.parametrize("height", [256, 7])
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("shape", [(1, 1), (256, 128), (300, 784), (513, 65)])
def test_tiles_cover_every_entry_once(shape, width, height):
    seen = np.zeros(shape, int)
    count = tile_count(*shape, width, height)
    for index in range(count):
        part = tile(index, *shape, width, height)
        block = seen[part.row : part.row_stop, part.unit : part.unit_stop]
        assert block.size and part.unit % width == 0
        block += 1
    assert (seen == 1).all()
    assert count == -(-shape[0] // height) * -(-shape[1] // width)


def test_the_last_columns_come_first():
    assert tile(0, 100, 784, 128).unit == 768
    assert tile(6, 100, 784, 128) == (0, 100, 0, 128)

    @njit
    def compiled():
        return tile(0, 300, 784, 128), tile_count(300, 784, 128)

    assert compiled() == ((0, 256, 768, 784), 14)


@pytest.mark.parametrize("kind", [np.uint8, bool, np.int64, np.float32])
def test_gather_copies_rows_of_any_type(kind):
    source = (np.random.default_rng(0).random((10, 4)) < 0.5).astype(kind)
    out = np.empty((3, 4), np.float32)
    gather(source, np.array([7, 0, 7]), out)
    np.testing.assert_array_equal(out, source[[7, 0, 7]].astype(np.float32))
