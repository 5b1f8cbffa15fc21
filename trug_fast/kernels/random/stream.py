"""Random streams for kernels of your own: numbers by address, as in philox.py, drawn one by one.

One stream per chain (row, particle, worker): streams are independent if any of seed, purpose, step
or chain differs, and the same numbers come whatever thread draws them.  A stream is an array of six
uint64, so many fit in one array with a row each.  It holds 2**33 numbers, then starts again.
"""

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from trug_fast.kernels.allocation import zeros
from trug_fast.kernels.compiling import inner

from .philox import USER, block, double_from_words

_ONE, _WORD = np.uint64(1), np.uint64(32)
_MAX_STEP_BITS, _MAX_PURPOSE_BITS = np.uint64(56), np.uint64(8)


@inner
def _stream(seed, chain, step, purpose):
    if seed < 0:
        raise ValueError("seed must be in [0, 2**64)")
    if (
        np.uint64(chain) >> _WORD
        or np.uint64(step) >> _MAX_STEP_BITS
        or np.uint64(purpose) >> _MAX_PURPOSE_BITS
    ):
        raise ValueError("chain must be in [0, 2**32), step in [0, 2**56), purpose in [0, 256)")
    state = zeros(6, np.uint64)
    state[0] = np.uint64(seed)
    state[1] = np.uint64(purpose)
    state[2] = np.uint64(step)
    state[3] = np.uint64(chain)
    return state


def stream(seed, chain=0, step=0, purpose=USER):
    """Start a stream of random numbers at an address.

    Parameters
    ----------
    seed : int
        At least 0, below 2**64.
    chain : int, optional
        Below 2**32; one per chain, row or particle.
    step : int, optional
        Below 2**56; one per sweep, for numbers that can be drawn again from any point of a run.
    purpose : int, optional
        Below 256.  The default keeps away from the numbers that this package itself draws.

    Returns
    -------
    numpy.ndarray
        Shape (6,), uint64: seed, purpose, step, chain, how many numbers were drawn, and the second
        half of the last block.  To be passed to :func:`uniform` and the samplers, which change it.

    Raises
    ------
    TypeError
        If one of the four is no int (in compiled code numba.core.errors.TypingError).
    ValueError
        If one is negative or too large.

    Examples
    --------
    >>> from trug_fast.kernels import stream, uniform
    >>> rng = stream(2024, chain=3)
    >>> 0 < uniform(rng) < 1
    True
    """
    for name, value in (("seed", seed), ("chain", chain), ("step", step), ("purpose", purpose)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} must be an int, got {value!r}")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be in [0, 2**64), got {seed}")
    return _stream(np.uint64(seed), chain, step, purpose)


@overload(stream, jit_options={"error_model": "numpy"})
def _stream_of_compiled(seed, chain=0, step=0, purpose=USER):
    address = {"seed": seed, "chain": chain, "step": step, "purpose": purpose}
    for name, kind in address.items():
        kind = getattr(kind, "value", kind)  # of an argument left out, its default
        if not isinstance(kind, types.Integer | types.IntegerLiteral | int):
            raise TypingError(f"{name} must be an int, got {kind}")
    return lambda seed, chain=0, step=0, purpose=USER: _stream(seed, chain, step, purpose)


@inner
def _uniform_of_stream(state):
    count = state[4]
    state[4] = count + _ONE
    if count & _ONE:
        word = state[5]
        return double_from_words(np.uint32(word >> _WORD), np.uint32(word))
    w0, w1, w2, w3 = block(state[0], state[1], state[2], state[3], count >> _ONE)
    state[5] = (np.uint64(w2) << _WORD) | np.uint64(w3)
    return double_from_words(w0, w1)


@inner
def _uniform_of_generator(rng):
    u = rng.random()
    # A Generator returns 0 once in 2**53 draws; half its grid spacing stands in.
    return u if u > 0.0 else 2.0**-54


def uniform(rng):
    """Draw a float64 from the open interval (0, 1).

    Parameters
    ----------
    rng : numpy.ndarray or numpy.random.Generator
        A stream made by :func:`stream` (several threads: one each), or a NumPy Generator (several
        threads must not share one).

    Returns
    -------
    float
        Never 0, never 1.

    Examples
    --------
    Works alike in Python and in compiled code:

    >>> import numpy as np
    >>> from numba import njit
    >>> from trug_fast.kernels import stream, uniform
    >>> compiled = njit(lambda rng: uniform(rng))
    >>> compiled(stream(1)) == uniform(stream(1))
    True
    >>> compiled(np.random.default_rng(1)) == uniform(np.random.default_rng(1))
    True
    """
    if isinstance(rng, np.random.Generator):
        return _uniform_of_generator(rng)
    if isinstance(rng, np.ndarray) and rng.dtype == np.uint64 and rng.shape == (6,):
        return _uniform_of_stream(rng)
    raise TypeError(f"rng must be a stream or a numpy.random.Generator, got {type(rng).__name__}")


@overload(uniform, jit_options={"error_model": "numpy"})
def _uniform(rng):
    if isinstance(rng, types.NumPyRandomGeneratorType):
        return lambda rng: _uniform_of_generator(rng)
    if isinstance(rng, types.Array) and rng.dtype == types.uint64 and rng.ndim == 1:
        return lambda rng: _uniform_of_stream(rng)
    raise TypingError(f"rng must be a stream or a numpy.random.Generator, got {rng}")
