"""Coordinates in which truncation points are learned (mathematics 2.3).

The lower end and the log of the width: so the ends cannot cross.  With both ends learned, the
first moves at constant width; with one learned, the log width moves that one.  Everything that
learns truncation points takes these functions, of numbers in compiled code or of NumPy arrays.
"""

from trug_fast.kernels.compiling import scalar

FIXED, SHARED, PER_UNIT = 0, 1, 2  # which points are learned
LOG_WIDTH = 9.2  # learned intervals stay between 1e-4 and 1e4 wide: beyond, exp may overflow


def slopes(by_lower, by_upper, learn_upper):
    """Return the gradient by the lower end at constant width, and by the width at constant end.

    The latter times the width is that by the log width.
    """
    return by_lower + by_upper, by_upper if learn_upper else -by_lower


def ends(low_end, width, upper, learn_upper):
    """Return lower and upper end; ``upper`` is where the upper one is if it is not learned."""
    if learn_upper:
        return low_end, low_end + width
    return upper - width, upper


scalar_slopes, scalar_ends = scalar(slopes), scalar(ends)
