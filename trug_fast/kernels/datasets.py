"""What data sets take long to make or to look at: videos of balls, and rows that are alike.

Balls bounce in a box (Sutskever and Hinton, 2007).  Rows of categories are compared in blocks: a
block lies column by column, so that one instruction compares a category with those of 64 rows.

Tested in tests/datasets/test_videos.py and test_similarity.py.
"""

import math

import numpy as np

from .allocation import empty
from .compiling import kernel, linked, row_loop
from .loops import each
from .random.stream import stream, uniform

REACH = 1.6  # radii from its centre beyond which a ball is darker than float32 can show: exp(-43)
TRIES = 10_000  # positions drawn before giving up: the balls do not fit

ROWS = 64  # that a thread compares with a block while that is in the first-level cache
BLOCK = 512
COUNTED = 255  # columns whose agreements a byte counts


@linked
def normal(rng):
    """Draw a standard normal number (Box and Muller, 1958)."""
    return math.sqrt(-2.0 * math.log(uniform(rng))) * math.cos(2.0 * math.pi * uniform(rng))


@linked
def overlap(position, i, k, radius):
    """Return whether balls i and k overlap."""
    across, up = position[i, 0] - position[k, 0], position[i, 1] - position[k, 1]
    return across * across + up * up < 4.0 * radius * radius


@linked
def place(rng, box, radius, position):
    """Draw positions until all balls lie inside and apart; return whether they do at last."""
    count = position.shape[0]
    for _ in range(TRIES):
        fits = True
        for i in range(count):
            for axis in range(2):
                position[i, axis] = 2.0 + (box - 2.0) * uniform(rng)
                fits &= radius <= position[i, axis] <= box - radius
            for k in range(i):
                fits &= not overlap(position, i, k, radius)
        if fits:
            return True
    return False


@linked
def launch(rng, speed, velocity):
    """Draw velocities whose joint norm is ``speed``."""
    total = 0.0
    for i in range(velocity.shape[0]):
        for axis in range(2):
            velocity[i, axis] = normal(rng)
            total += velocity[i, axis] ** 2
    velocity *= speed / math.sqrt(total)


@linked
def collide(position, velocity, i, k):
    """Exchange two balls' velocities along the line of their centres."""
    across, up = position[i, 0] - position[k, 0], position[i, 1] - position[k, 1]
    distance = math.sqrt(across * across + up * up)
    across, up = across / distance, up / distance
    closing = (velocity[i, 0] - velocity[k, 0]) * across + (velocity[i, 1] - velocity[k, 1]) * up
    velocity[i, 0] -= closing * across
    velocity[i, 1] -= closing * up
    velocity[k, 0] += closing * across
    velocity[k, 1] += closing * up


@linked
def advance(position, velocity, box, radius, time):
    """Move all balls, then let walls and balls throw them back."""
    for i in range(position.shape[0]):
        for axis in range(2):
            position[i, axis] += time * velocity[i, axis]
            if position[i, axis] < radius:
                velocity[i, axis] = abs(velocity[i, axis])
            if position[i, axis] > box - radius:
                velocity[i, axis] = -abs(velocity[i, axis])
    for i in range(position.shape[0]):
        for k in range(i):
            if overlap(position, i, k, radius):
                collide(position, velocity, i, k)


@linked
def render(position, box, radius, size, frame):
    """Draw the balls into a frame of size x size pixels, row after row, x along a row."""
    frame[:] = 0.0
    pixel = box / size
    reach = REACH * radius / pixel
    for i in range(position.shape[0]):
        x, y = position[i, 0] / pixel - 0.5, position[i, 1] / pixel - 0.5
        for row in range(max(0, math.ceil(y - reach)), min(size, math.floor(y + reach) + 1)):
            for column in range(max(0, math.ceil(x - reach)), min(size, math.floor(x + reach) + 1)):
                square = ((row - y) ** 2 + (column - x) ** 2) * (pixel / radius) ** 2
                value = frame[row * size + column] + math.exp(-((square * square) ** 2))
                frame[row * size + column] = min(1.0, value)


@linked
def _video(video, seed, first, balls, box, radius, speed, size, out, fits):
    rng = stream(seed, first + video)
    position, velocity = np.empty((balls, 2)), np.empty((balls, 2))
    launch(rng, speed, velocity)
    fits[video] = place(rng, box, radius, position)
    for t in range(out.shape[1]):
        render(position, box, radius, size, out[video, t])
        for _ in range(2):
            advance(position, velocity, box, radius, 0.5)


@kernel
def videos(seed, first, balls, box, radius, speed, size, out, fits):
    """Write videos number ``first`` onwards; each depends on the seed and its number only.

    out : (videos, frames, size * size); fits : (videos,) bool, whether the balls found room
    """
    each(_video, out.shape[0], (seed, first, balls, box, radius, speed, size, out, fits))


@row_loop
def _agree(column, category, same):
    for j in range(same.size):
        same[j] += np.uint8(column[j] == category)


@row_loop
def _gather(same, total):
    """Add agreements to their totals, and begin anew."""
    for j in range(same.size):
        total[j] += same[j]
        same[j] = np.uint8(0)


@linked
def _reached(total, least):
    count = 0
    for j in range(total.size):
        count += int(total[j] >= least)
    return count


@linked
def _count_rows(index, rows, columns, least, out):
    first, stop = index * ROWS, min((index + 1) * ROWS, rows.shape[0])
    for r in range(first, stop):
        out[r] = 0
    same, total = empty(BLOCK, np.uint8), empty(BLOCK, np.int32)
    same[:] = np.uint8(0)
    for start in range(0, rows.shape[0], BLOCK):
        end = min(start + BLOCK, rows.shape[0])
        ours, sums = same[: end - start], total[: end - start]
        for r in range(first, stop):
            sums[:] = np.int32(0)
            for c in range(rows.shape[1]):
                _agree(columns[c, start:end], rows[r, c], ours)
                if (c + 1) % COUNTED == 0:
                    _gather(ours, sums)
            _gather(ours, sums)
            out[r] += _reached(sums, least)


@kernel
def count_similar(rows, columns, least, out):
    """Write how many rows agree with each in so many columns or more, itself among them.

    rows : (n, m) uint8; columns : (m, n), the same column by column; out : (n,) int64
    """
    each(_count_rows, -(-rows.shape[0] // ROWS), (rows, columns, least, out))
