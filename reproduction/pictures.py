"""``python -m reproduction.pictures MODEL OUT.png``: docs/balls.png, of a temporal model.

Tested in tests/reproduction/test_pictures.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from trug_fast import datasets, plots
from trug_fast.models.stored import load
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM

SEED = 7  # of the balls that are drawn


def balls(model: Any) -> Any:
    """Draw a new video, its forecasts, and how the model goes on from ten frames."""
    side = round(model.n_visible**0.5)
    video = datasets.bouncing_balls(1, 40, size=side, rng=SEED)[0]
    more = model.generate(30, prefix=video[:10], n_gibbs=100, return_mean=True, rng=SEED)
    rows = {
        "data": video[10:],
        "predicted from the frames before": model.predict(video, rng=SEED)[10:],
        "continued from 10 frames": more,
    }
    return plots.strips(rows, (side, side))


def main(argv: Sequence[str] | None = None) -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.pictures")
    parser.add_argument("model", help="a file that a cell of table2 has trained")
    parser.add_argument("out", help="a .png")
    given = parser.parse_args(argv)
    balls(load(given.model, TruGTRBM, BernoulliTRBM)).savefig(given.out)


if __name__ == "__main__":
    main()
