"""``python -m reproduction.pictures balls|digits MODEL OUT.png``: the first pictures of the pages.

Tested in tests/reproduction/test_pictures.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from trug_fast import datasets, plots
from trug_fast.models.rbm import TruGRBM
from trug_fast.models.stored import load
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.plots.canvas import new_figure

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


def digits(model: Any) -> Any:
    """Draw digits of the data, samples of a model of them, and what its units have learned."""
    data = datasets.load_digits(binarize="threshold")
    samples = model.sample(50, n_gibbs=500, start=data.train[:50], return_mean=True, rng=SEED)
    figure = new_figure(9.6, 2.6)
    axes = figure.subplots(1, 3, width_ratios=[1.9, 1.9, 1.3])
    shown = {"digits": data.test[:50], "samples, after 500 sweeps": samples}
    for ax, (title, rows) in zip(axes, shown.items(), strict=False):
        plots.images(rows, (8, 8), columns=10, ax=ax).set_title(title, fontsize=10)
    plots.nonlinearities(model, axes[2], n=3).set_title("what units have become", fontsize=10)
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    """Draw one of them."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.pictures")
    parser.add_argument("picture", choices=("balls", "digits"))
    parser.add_argument("model", help="a file of a cell of table2, or of `trug-fast train`")
    parser.add_argument("out", help="a .png")
    given = parser.parse_args(argv)
    kinds = (TruGTRBM, BernoulliTRBM) if given.picture == "balls" else (TruGRBM,)
    draw = balls if given.picture == "balls" else digits
    draw(load(given.model, *kinds)).savefig(given.out)


if __name__ == "__main__":
    main()
