"""Write the words of the random streams to standard output, in the order Gibbs sweeps use them.

    python -m tools.stream_words | dieharder -a -g 200

Words come row by row: 64 units of one chain at one step, then the next chain, and after 100 chains
the next step, so that the battery sees what neighbouring addresses have in common.
"""

import sys

import numpy as np
from numba import njit

from trug_fast.kernels.random.philox import HIDDEN, block

CHAINS, BLOCKS = 100, 16


@njit
def sweep(seed, step, out):
    """Fill ``out`` with the words of one step."""
    i = 0
    for chain in range(CHAINS):
        for index in range(BLOCKS):
            out[i], out[i + 1], out[i + 2], out[i + 3] = block(seed, HIDDEN, step, chain, index)
            i += 4


def main() -> None:
    """Write until the reader closes the pipe."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20240601
    words = np.empty(CHAINS * BLOCKS * 4, np.uint32)
    step = 0
    try:
        while True:
            sweep(seed, step, words)
            sys.stdout.buffer.write(words.tobytes())
            step += 1
    except BrokenPipeError:
        sys.stderr.close()


if __name__ == "__main__":
    main()
