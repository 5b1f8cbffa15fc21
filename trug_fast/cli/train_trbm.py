"""``trug-fast train trbm``: train on videos or motion, compare forecasts, draw what it dreams."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trug_fast import datasets
from trug_fast.evaluation.forecasts import forecast_errors
from trug_fast.evaluation.prediction import prediction_error
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.training.choices import watched
from trug_fast.training.trbm.train import TRBMFit, train_trbm

from .training import Figures, Results, TrainCommand, ends_of, held_back, rows_of, words_of


class VideoData(NamedTuple):
    """What to train on, what is scored beside it, what to forecast in the end."""

    rows: Any
    watched: Any
    test: Any


class TrainTRBM(TrainCommand):
    """The command for temporal restricted Boltzmann machines."""

    name, summary = "trbm", "a temporal restricted Boltzmann machine"
    train = staticmethod(train_trbm)
    title, ordinary = "TruG-TRBM", "ordinary TRBM"
    kinds = (TruGTRBM, BernoulliTRBM)
    # Two minutes of balls; motion as for Table 3.
    own = {
        "n_hidden": {"balls": 200, "motion": 300},
        "epochs": {"balls": 16, "motion": 20},
        "batch_size": {"balls": 4, "motion": 9},
        "learning_rate": {"balls": (8e-3, 3e-4), "motion": (1e-4, 1e-5)},
        "n_gibbs": {"balls": (3, 12), "motion": 3},
        "visible": {"balls": "bernoulli", "motion": "gaussian"},
    }
    figures = ("training.png", "strips.png", "generated.gif")

    def add_data(self, parser: argparse.ArgumentParser) -> None:
        """Add which sequences."""
        parser.add_argument(
            "--data",
            choices=("balls", "motion"),
            default="balls",
            help="bouncing balls, made on the spot (default), or CMU motion capture, subject 35",
        )
        parser.add_argument("--data-dir", help="where the motion lies (or set TRUG_FAST_DATA)")
        parser.add_argument("--videos", type=int, default=200, help="training videos (default 200)")
        parser.add_argument("--test-videos", type=int, default=20, help="test videos (default 20)")
        parser.add_argument(
            "--validation",
            type=float,
            metavar="SHARE",
            help="of the training sequences, held back to be scored during training and, with "
            "--patience, to choose the model (default none: test sequences are scored)",
        )

    def load(self, arguments: argparse.Namespace) -> VideoData:
        """Return the sequences."""
        train: Any
        test: Any
        if arguments.data == "motion":
            motion = datasets.load_cmu_motion(arguments.data_dir)
            train, test = motion.train, motion.test
        else:
            train = datasets.bouncing_balls(arguments.videos, rng=arguments.seed)
            test = datasets.bouncing_balls(arguments.test_videos, rng=arguments.seed + 1)
        kept, rest = held_back(train, arguments.validation)
        if rest is None and arguments.patience is not None:
            raise ValueError("--patience needs --validation: test sequences must not choose")
        return VideoData(kept, test if rest is None else rest, test)

    def few(self, data: VideoData) -> VideoData:
        """Return two short sequences."""
        short = [x[:3] for x in data.rows[:2]]
        return VideoData(short, short, short)

    def words(self, arguments: argparse.Namespace, data: VideoData) -> str:
        """Return how many sequences there are."""
        return f"{arguments.data}: {len(data.rows)} training and {len(data.test)} test sequences"

    def fit(self, data: VideoData, **settings: Any) -> TRBMFit:
        """Train."""
        return train_trbm(data.rows, validation=watched(settings, data.watched), **settings)

    def scores(self, arguments: argparse.Namespace, data: VideoData, fit: TRBMFit) -> Figures:
        """Return the error of forecasts."""
        error = prediction_error(fit.model, data.test, rng=arguments.seed).mean()
        figures = {
            "prediction_error": float(error),
            "training_seconds": float(fit.history["seconds"][-1]) if fit.history else 0.0,
            "epochs": len(fit.history.get("epoch", ())),
        }
        trug = isinstance(fit.model, TruGTRBM)
        return figures | ({"truncation_points": ends_of(fit.model)} if trug else {})

    def others(self, arguments: argparse.Namespace, data: VideoData) -> Results:
        """Return the errors of simple forecasts."""
        found = forecast_errors(data.rows, data.test)
        return {name: {"prediction_error": float(each.mean())} for name, each in found.items()}

    def table(self, results: Results) -> Iterator[str]:
        """Return the errors."""
        rows = [
            [
                title,
                f"{found['prediction_error']:.2f}",
                f"{found['training_seconds']:.0f} s" if "training_seconds" in found else "",
            ]
            for title, found in results.items()
        ]
        yield from rows_of(["", "test error", "training time"], rows)
        yield "error: squared, of one-step forecasts, summed over a frame, mean over all frames"
        for found in results.values():
            yield from words_of(found.get("truncation_points", {}))

    def draw(
        self,
        arguments: argparse.Namespace,
        folder: Path,
        data: VideoData,
        fits: Mapping[str, TRBMFit],
        results: Results,
    ) -> None:
        """Draw the training; a test video, its forecasts, how the model goes on from ten frames."""
        from trug_fast import plots

        fit, video, seed = fits[next(iter(fits))], data.test[0], arguments.seed
        if "score" in fit.history or "upper_mean" in fit.history:
            plots.training(fit.history).savefig(folder / "training.png")
        if arguments.data != "balls":
            return
        plots.continuation(fit.model, video[:30], (30, 30), rng=seed).savefig(folder / "strips.png")
        dream = fit.model.generate(20, prefix=video[:10], return_mean=True, rng=seed)
        plots.save_video(dream, (30, 30), folder / "generated.gif")
