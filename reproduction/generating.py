"""What models generate of bouncing balls, judged: balls, mass, speeds, moments in time.

Tested in tests/reproduction/test_generating.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import seed_from
from trug_fast.evaluation.moments import CorrelationAgreement

from . import results
from .balls import track_balls
from .lagged import compare_lagged_moments
from .results import Line

LAGS = (0, 1, 5)
OPTIONS = ("n_videos", "n_frames", "n_seen", "n_gibbs", "lags")
BRIEF = {"n_videos": 2, "n_frames": 8, "n_seen": 2, "n_gibbs": 1, "lags": [0]}  # to try it
BALLS = 3
WAYS = {"draws": False, "means": True}  # whether a frame is the mean of sweeps
SHAPES = ("one part", "residual")  # columns
KEYS = {"one_part": ".2f", "residual": ".4f"}
ENDS = 20  # frames at the beginning and at the end, whose balls are told apart


class Asked(NamedTuple):
    """What to generate."""

    n_videos: int = 20
    n_frames: int = 200
    n_seen: int = 10
    n_gibbs: int = 50
    lags: tuple[int, ...] = LAGS


def checked(options: dict[str, Any]) -> Asked:
    """Return the options of a protocol, if they are some."""
    own = {name: value for name, value in options.items() if name != "lags"}
    for name, value in own.items():
        checks.count(f"generate.{name}", value, least=2 if name == "n_videos" else 1)
    lags = tuple(checks.count("generate.lags", lag, least=0) for lag in options.get("lags", LAGS))
    asked = Asked(**own, lags=lags)
    if asked.n_frames <= max(lags, default=0):
        raise ValueError(f"generate.n_frames must be more than the lags, got {asked.n_frames}")
    return asked


def judge(model: Any, test: NDArray[Any], options: dict[str, Any], seed: int) -> Line:
    """Return what a model makes of the beginnings of some videos, by draws and by means.

    Beside it are the test videos, judged alike, and one half of them against the other.
    """
    n_videos, n_frames, n_seen, n_gibbs, lags = checked(options)
    if n_videos > len(test):
        raise ValueError(f"generate.n_videos must be at most {len(test)}, got {n_videos}")
    half = len(test) // 2
    found = {"data": _balls(test) | _moments(test[:half], test[half : 2 * half], lags)}
    for name, mean in WAYS.items():
        made = np.stack(
            [
                model.generate(
                    n_frames,
                    prefix=video[:n_seen],
                    n_gibbs=n_gibbs,
                    return_mean=mean,
                    rng=seed_from(seed, f"video {k}"),
                )
                for k, video in enumerate(test[:n_videos])
            ]
        )
        made = np.clip(made, 0.0, 1.0)  # means of float32 may be a rounding above 1
        found[name] = _balls(made) | _moments(test, made, lags)
    return {"generated": results.plain(found)}


def _balls(videos: NDArray[Any]) -> Line:
    """Return how many balls there are, how heavy and how fast; with errors over videos."""
    found = track_balls(videos)
    share, three = found.frames_with(BALLS), found.counts == BALLS
    steady = [np.median(each[~np.isnan(each)]) for each in found.speed if not np.isnan(each).all()]
    return {
        "frames": _with_error(share),
        "first": float(three[:, :ENDS].mean()),
        "last": float(three[:, -ENDS:].mean()),
        "videos": found.videos_with(BALLS),
        "all": found.videos_with(BALLS, 1.0),
        "one_part": float((found.parts == 1).mean()),
        "residual": float(np.median(found.residual)),
        "mass": _with_error(found.mass.mean(axis=1)),
        "speed": _with_error(np.array(steady)) if len(steady) > 1 else None,
    }


def _moments(data: NDArray[Any], made: NDArray[Any], lags: tuple[int, ...]) -> Line:
    if not lags or min(len(data), len(made)) < 2:
        return {}
    try:
        found = compare_lagged_moments(data, made, lags, rng=0)
    except ValueError:  # frames that are all alike have no moments
        return {}
    lagged = {str(lag): _agreement(each) for lag, each in found.lagged.items()}
    return {"means": _agreement(found.means), "lagged": lagged}


def _agreement(found: CorrelationAgreement) -> list[float]:
    """Return slope, its error, Pearson, its error."""
    values = (found.slope, found.slope_error, found.pearson, found.pearson_error)
    return [round(float(value), 4) for value in values]


def _with_error(values: NDArray[np.float64]) -> list[float]:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return [round(float(values.mean()), 4), round(float(error), 4)]


def views(lines: Sequence[Line]) -> str:
    """Return what was generated as a table: a row for each model and way, and for the data."""
    rows, header = [], None
    for line in lines:
        for way, own in line.get("generated", {}).items():
            lags = own.get("lagged", {})
            header = header or [f"lag {lag}" for lag in lags]
            rows.append([f"{line['label']}: {way}", *_row(own), *map(_slope, lags.values())])
    if not rows:
        return ""
    names = ("generated", "frames with 3", "first", "last", "videos", *SHAPES, "mass", "speed")
    full = (*names, *(f"slope, r: {each}" for each in header or ()))
    rows = [row + [""] * (len(full) - len(row)) for row in rows]
    return "\n\n".join([NOTE, results.markdown(full, rows)])


def _row(own: Line) -> list[str]:
    shares = (f"{own[name]:.2f}" for name in ("first", "last", "videos"))
    speed = "" if own["speed"] is None else "{:.2f} +- {:.2f}".format(*own["speed"])
    frames, mass = ("{:.2f} +- {:.2f}".format(*own[name]) for name in ("frames", "mass"))
    # Results of before shapes were judged counted balls by their mass, and say nothing of them.
    shapes = [f"{own[name]:{how}}" if name in own else "" for name, how in KEYS.items()]
    return [frames, *shares, *shapes, mass, speed]


def _slope(values: Sequence[float]) -> str:
    return "{:.2f} +- {:.2f}, {:.2f}".format(*values[:3])


NOTE = """\
Videos that go on from the first frames of test videos, by draws and by means of sweeps: the share
of frames with three balls and nothing else (smears are none), in all, of the first and of the last
20; of videos with three in 95 % of their frames; of frames whose light is one connected part (1 to
2 % of the data's); what balls leave unexplained, as a share of one, the median of frames (at most
0.012 where grey frames count); mass in balls; joint speed of balls that are followed (the data's is
0.5); covariances of pixels, frames so far apart, against those of the test videos (of these: one
half against the other)."""
