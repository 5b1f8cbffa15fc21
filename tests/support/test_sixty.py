"""The reference in 60 digits against the one in 300, which shares no formula with it."""

import math

import mpmath as mp
import numpy as np

from tests.support import oracle, sixty
from tests.support.units import random_nonpositive_units, random_units


def close(got, want, size=0):
    with mp.workdps(oracle.DIGITS):
        return got == want or abs(got - want) <= mp.mpf(10) ** -sixty.DIGITS * max(abs(want), size)


def test_60_digits_agree_with_300():
    rng = np.random.default_rng(1)
    for make in (random_units, random_nonpositive_units):
        for unit in zip(*make(rng, 20), strict=True):
            if unit[1] == 0:
                continue
            want, it = oracle.unit(*unit), sixty.Unit(*unit)
            got = it.summary()
            with mp.workdps(oracle.DIGITS):
                want["offset"] = abs(want["mean"] - it._near(it.lower, it.upper))
                second = want["variance"] + want["mean"] ** 2
                want["entropy"] = want["log_norm"] - it.a * want["mean"] + it.d * second / 2
                cube = want["variance"] ** 1.5
                for name, value in want.items():
                    assert close(got[name], value, cube if name == "third" else 0), (name, unit)
                reach = min(unit[3] - unit[2], 5 / math.sqrt(abs(unit[1])), 1e3)
                x = unit[2] + rng.random() * reach if unit[2] > -math.inf else unit[3] - reach
                for value, share in zip(
                    (it.log_below(x), it.log_above(x)), oracle.shares(x, *unit), strict=True
                ):
                    assert share == 0 or share > 0.5 or close(value, mp.log(share)), (x, unit)


def test_the_straight_unit_in_closed_form():
    it = sixty.Unit(3.0, 0.0, 0.0, 2.0)
    with mp.workdps(sixty.WORKING):
        whole = mp.expm1(6) / 3
        assert close(it.summary()["log_norm"], mp.log(whole))
        assert close(it.log_below(0.5), mp.log(mp.expm1(1.5) / 3 / whole))
        assert close(it.log_density(2.0), 6 - mp.log(whole))
