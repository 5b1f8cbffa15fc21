"""Exact Hamiltonian paths of a standard normal vector between walls, from which they bounce.

A path z cos t + v sin t needs no steps: it meets the wall f.z = h where t solves a quadratic
equation of tan(t/2).  What is followed along a path is f.z and f.v of all walls, by a rotation each
bounce and a row of the walls' products with each other, so a bounce costs a few operations a wall.
Both are computed anew at the start of each path: rounding does not gather.

Each chain has numbers of its own, whatever thread runs it.

Tested in tests/distributions/multivariate/test_hmc.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop, scalar
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import DISTRIBUTION, padded, uniform_row
from trug_fast.kernels.unit.quantile_rows import SPACE, quantile_row

# How long a path is: an eighth of a period to three, uniform.  Without walls draws are then
# uncorrelated, as they are after a quarter always; but that has resonances.  In a far corner,
# chains settled where each path ends when it has run up a wall and stands still: new velocities
# took no energy away.
SHORTEST, RANGE = 0.25 * math.pi, 0.5 * math.pi
FAR = float("inf")


class Walls(NamedTuple):
    """Walls lower <= f.z <= upper, whose normals f have length 1."""

    normals: np.ndarray  # (walls, d), rows f
    columns: np.ndarray  # (d, walls), the same transposed
    products: np.ndarray  # (walls, walls), f.f' of all pairs; (0, 0): computed at each bounce
    lower: np.ndarray  # (walls,)
    upper: np.ndarray  # (walls,)


class Paths(NamedTuple):
    """Paths to run: some without a sample, then ``thin`` before each row of samples."""

    seed: int
    first_step: int
    n_burn: int
    thin: int
    most: int  # bounces of a path, above which a chain gives up


@scalar
def half_tangent(position, velocity, wall):
    """Return tan(t/2) of the first t in (0, pi) with position cos t + velocity sin t = wall.

    ``wall`` is not below the position, but for rounding; inf where there is no such t.
    """
    gap = max(wall - position, 0.0)
    total = wall + position
    square = velocity * velocity - gap * total
    root = math.sqrt(max(square, 0.0))
    rising = velocity >= 0.0
    over = gap if rising else velocity - root
    under = velocity + root if rising else total
    found = under > 0.0 if rising else under < 0.0
    return over / under if found and square >= 0.0 else FAR


@row_loop
def _meet(walls, position, velocity, when):
    lower, upper = walls.lower, walls.upper
    for k in range(when.size):
        above = half_tangent(position[k], velocity[k], upper[k])
        below = half_tangent(-position[k], -velocity[k], -lower[k])
        when[k] = min(above, below)


@linked
def _first(when):
    """Return the place of the least number; -1 if all are infinite."""
    first, least = -1, FAR
    for k in range(when.size):
        if when[k] < least:
            first, least = k, when[k]
    return first


@row_loop
def _turn(cosine, sine, position, velocity):
    for i in range(position.size):
        z, v = position[i], velocity[i]
        position[i] = z * cosine + v * sine
        velocity[i] = v * cosine - z * sine


@row_loop
def _add(weight, values, out):
    for i in range(out.size):
        out[i] += weight * values[i]


@linked
def _along_normals(columns, vector, out):
    """Write f.vector of all walls."""
    for k in range(out.size):
        out[k] = 0.0
    for j in range(vector.size):
        _add(vector[j], columns[j], out)


@linked
def _bounce(walls, k, v, position, velocity):
    speed = velocity[k]
    position[k] = walls.upper[k] if speed > 0.0 else walls.lower[k]
    _add(-2.0 * speed, walls.normals[k], v)
    if walls.products.size > 0:
        _add(-2.0 * speed, walls.products[k], velocity)
    else:
        for j in range(v.size):
            _add(-2.0 * speed * walls.normals[k, j], walls.columns[j], velocity)
    velocity[k] = -speed


@linked
def _run_path(walls, z, v, left, along, most):
    """Move z along one path, of velocity v and length ``left``; return the number of bounces."""
    position, velocity, when = along
    _along_normals(walls.columns, z, position)
    _along_normals(walls.columns, v, velocity)
    bounces = 0
    while bounces <= most:
        _meet(walls, position, velocity, when)
        k = _first(when)
        time = 2.0 * math.atan(when[k]) if k >= 0 else FAR
        if time >= left:
            _turn(math.cos(left), math.sin(left), z, v)
            break
        tangent = when[k]
        scale = 1.0 / (1.0 + tangent * tangent)
        cosine, sine = (1.0 - tangent * tangent) * scale, 2.0 * tangent * scale
        _turn(cosine, sine, z, v)
        _turn(cosine, sine, position, velocity)
        _bounce(walls, k, v, position, velocity)
        left -= time
        bounces += 1
    return bounces


@linked
def _fill_normals(seed, step, chain, uniform, ends, v, space):
    """Write independent standard normals."""
    uniform_row(seed, DISTRIBUTION, step, chain, 0, uniform)
    zeros, ones, lower, upper = ends
    quantile_row(uniform[: v.size], zeros, ones, lower, upper, v, space)


@linked
def _run_chain(index, walls, states, samples, bounces, paths):
    m, d = walls.normals.shape
    along = empty(m, np.float64), empty(m, np.float64), empty(m, np.float64)
    uniform, v, space = (
        empty(padded(d + 1), np.float64),
        empty(d, np.float64),
        empty(SPACE, np.float64),
    )
    ends = empty(d, np.float64), empty(d, np.float64), empty(d, np.float64), empty(d, np.float64)
    for i in range(d):
        ends[0][i], ends[1][i], ends[2][i], ends[3][i] = 0.0, 1.0, -FAR, FAR
    z = states[index]
    for path in range(paths.n_burn + paths.thin * samples.shape[0]):
        _fill_normals(paths.seed, paths.first_step + path, index, uniform, ends, v, space)
        length = SHORTEST + RANGE * uniform[d]
        met = _run_path(walls, z, v, length, along, paths.most)
        bounces[index] = max(bounces[index], met)
        if met > paths.most:
            return
        kept = path - paths.n_burn + 1
        if kept > 0 and kept % paths.thin == 0:
            row = samples[kept // paths.thin - 1, index]
            for i in range(d):
                row[i] = z[i]


@kernel
def run_paths(walls, states, samples, bounces, paths):
    """Run all chains.

    states : (chains, d), from where and to where; samples : (draws, chains, d), written
    bounces : (chains,) of int64, the most of any path so far, written
    """
    each(_run_chain, states.shape[0], (walls, states, samples, bounces, paths))
