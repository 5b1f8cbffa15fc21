"""The sequences of Tables 2 and 3.

Tested in tests/reproduction/test_forecasting.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trug_fast import datasets
from trug_fast._common import checks

from .datasets import load_cmu_motion

OPTIONS = ("set", "videos", "test_videos", "validation", "hold_out")
SETS = ("balls", "motion")
SCORED = 20  # videos by which a training is followed

Frames = Any


class ForecastData(NamedTuple):
    """What to train on, what to follow the training by, and what to report on, by names."""

    train: Frames
    valid: Frames
    test: dict[str, Frames]
    real: bool


def load(
    seed: int,
    directory: str | None,
    *,
    set: str = "balls",
    videos: int = 4000,
    test_videos: int = 200,
    validation: list[int] | tuple[int, ...] = (),
    hold_out: bool = False,
) -> ForecastData:
    """Return the sequences of a data set.

    Parameters
    ----------
    seed : int
        Of the bouncing balls: training, validation and test videos are drawn apart.
    directory : str or None
        Where the motion lies.
    set : {"balls", "motion"}
    videos, test_videos : int
        Numbers of bouncing-balls videos.
    validation : sequence of int
        Training sequences of the motion that are kept for validation, by their numbers.
    hold_out : bool
        Report on validation sequences instead of those for testing, to choose options by them.
    """
    checks.choice("sequences.set", set, SETS)
    if set == "balls":
        return _balls(
            seed,
            checks.count("sequences.videos", videos),
            checks.count("sequences.test_videos", test_videos),
            hold_out,
        )
    return _motion(directory, list(validation), hold_out)


def _balls(seed: int, videos: int, test_videos: int, hold_out: bool) -> ForecastData:
    first = 3 * seed
    train = datasets.bouncing_balls(videos, rng=first)
    valid = datasets.bouncing_balls(test_videos if hold_out else SCORED, rng=first + 2)
    test = valid if hold_out else datasets.bouncing_balls(test_videos, rng=first + 1)
    return ForecastData(train, valid[:SCORED], {"test": test}, real=False)


def _motion(directory: str | None, validation: list[int], hold_out: bool) -> ForecastData:
    motion = load_cmu_motion(directory)
    for number in validation:
        if not 0 <= number < len(motion.train):
            raise ValueError(
                f"sequences.validation must hold numbers below {len(motion.train)}, got {number}"
            )
    kept = [x for number, x in enumerate(motion.train) if number not in validation]
    valid = {motion.train_names[number]: motion.train[number] for number in validation}
    if hold_out and not valid:
        raise ValueError("sequences.hold_out needs sequences.validation")
    test = {"walking": motion.test[1], "running": motion.test[0]}
    if motion.test_names != ["35_18", "35_29"]:
        raise ValueError(f"expected the tests 35_18 and 35_29, got {motion.test_names}")
    shown = valid if hold_out else test
    return ForecastData(
        kept, list(valid.values()) or None, {k: [x] for k, x in shown.items()}, real=True
    )
