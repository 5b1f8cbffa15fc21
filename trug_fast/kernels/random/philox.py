"""Counter-based random numbers: Philox4x32-10 (Salmon et al., 2011).

There is no state to store, split or lock.  A number is a pure function of its address

    (seed, purpose, step, chain, unit),

so results do not depend on threads, on the order of work or on interruptions.  ``seed`` is the
64-bit key; the 128-bit counter holds block | chain | low half of step | purpose and high half of
step.  One block gives four 32-bit words, hence four float32 or two float64 numbers, which lie
*lanes* apart in a row (unit = chunk + lane, chunk + lanes + lane, ...), so that the loop over a
chunk vectorises: 0.9 ns a double, 0.5 ns a single.  Uniforms lie on the midpoints of a grid
(2**-52, float32: 2**-23): never 0 or 1, and 1 - u is exact.
"""

import numpy as np
from numba import types
from numba.extending import overload

from trug_fast.kernels.compiling import linked, scalar

LANES = 16

# What a number is for: keeps uses of one seed apart.
HIDDEN, VISIBLE, INITIAL, ORDER, ANNEAL_HIDDEN, ANNEAL_VISIBLE, USER, DISTRIBUTION, SWAP = range(9)
TILTED = 9

_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_WORD = np.uint64(32)


@scalar
def philox(c0, c1, c2, c3, k0, k1):
    """Return the four words of one block; all arguments and results are uint32."""
    for _ in range(10):
        p0 = _MULTIPLIER_0 * np.uint64(c0)
        p1 = _MULTIPLIER_1 * np.uint64(c2)
        c0 = np.uint32(p1 >> _WORD) ^ c1 ^ k0
        c1 = np.uint32(p1)
        c2 = np.uint32(p0 >> _WORD) ^ c3 ^ k1
        c3 = np.uint32(p0)
        k0 = np.uint32(k0 + _WEYL_0)
        k1 = np.uint32(k1 + _WEYL_1)
    return c0, c1, c2, c3


@scalar
def block(seed, purpose, step, chain, index):
    """Return block ``index`` of the stream at this address as four uint32 words."""
    step, seed = np.uint64(step), np.uint64(seed)
    c3 = (np.uint32(purpose) << np.uint32(24)) | np.uint32(step >> _WORD)
    return philox(
        np.uint32(index),
        np.uint32(chain),
        np.uint32(step),
        c3,
        np.uint32(seed),
        np.uint32(seed >> _WORD),
    )


@scalar
def double_from_words(high, low):
    """Return a float64 on the grid (k + 1/2) 2**-52 from 52 of the 64 bits."""
    k = (np.uint64(high) << np.uint64(20)) | (np.uint64(low) >> np.uint64(12))
    return (np.float64(np.int64(k)) + 0.5) * 2.0**-52


@scalar
def single_from_word(word):
    """Return a float32 on the grid (k + 1/2) 2**-23 from the 23 high bits."""
    k = np.int32(word >> np.uint32(9))
    return (np.float32(k) + np.float32(0.5)) * np.float32(2.0**-23)


@linked
def _uniform_row_64(seed, purpose, step, chain, first, out):
    offset = first // 2
    for c in range(out.size // (2 * LANES)):
        part = out[c * 2 * LANES : (c + 1) * 2 * LANES]
        for lane in range(LANES):
            w0, w1, w2, w3 = block(seed, purpose, step, chain, offset + c * LANES + lane)
            part[lane] = double_from_words(w0, w1)
            part[LANES + lane] = double_from_words(w2, w3)


@linked
def _uniform_row_32(seed, purpose, step, chain, first, out):
    offset = first // 4
    for c in range(out.size // (4 * LANES)):
        part = out[c * 4 * LANES : (c + 1) * 4 * LANES]
        for lane in range(LANES):
            w0, w1, w2, w3 = block(seed, purpose, step, chain, offset + c * LANES + lane)
            part[lane] = single_from_word(w0)
            part[LANES + lane] = single_from_word(w1)
            part[2 * LANES + lane] = single_from_word(w2)
            part[3 * LANES + lane] = single_from_word(w3)


def uniform_row(seed, purpose, step, chain, first, out):
    """Fill ``out`` with the uniforms of units ``first`` onwards, in float32 or float64.

    ``first`` and the length of ``out`` are multiples of 64.
    """
    kernel = _uniform_row_32 if out.dtype == np.float32 else _uniform_row_64
    # A key may fill 64 bits, more than Numba's default integer holds.
    kernel(np.uint64(seed), purpose, step, chain, first, out)


@overload(uniform_row, jit_options={"error_model": "numpy"})
def _uniform_row(seed, purpose, step, chain, first, out):
    # One loop with a test of the type inside did not vectorise (4.7 against 0.9 ns).
    kernel = _uniform_row_32 if out.dtype == types.float32 else _uniform_row_64

    def fill(seed, purpose, step, chain, first, out):
        kernel(seed, purpose, step, chain, first, out)

    return fill


@scalar
def padded(units):
    """Length of a uniform row that holds ``units`` numbers."""
    return -(-units // 64) * 64
