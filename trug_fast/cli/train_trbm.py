"""``trug-fast train trbm``: train on videos, compare forecasts, draw what it dreams."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trug_fast import datasets
from trug_fast._common.frames import Names
from trug_fast.evaluation.forecasts import forecast_errors
from trug_fast.evaluation.prediction import prediction_error
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.scaling import Scaling
from trug_fast.models.stored import load_model
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.training.choices import watched
from trug_fast.training.trbm.train import TRBMFit, train_trbm

from . import own_data
from .choices import chosen
from .own_data import FrameSequences
from .own_weights import add_weights, few_weights
from .plot import continuation
from .training import Figures, Results, TrainCommand, ends_of, held_back, rows_of, words_of

VIDEOS = {"videos": 200, "test_videos": 20}
SEEN = 10  # frames that a drawn continuation goes on from


class VideoData(NamedTuple):
    """What to train on, what is scored beside it, what to forecast in the end."""

    rows: Any
    watched: Any
    test: Any
    image_shape: tuple[int, int] | None
    scaling: Scaling | None
    columns: Names
    weights: Any = None  # of the sequences to train on
    n_lags: int = 1  # of the model


class TrainTRBM(TrainCommand):
    """The command for temporal restricted Boltzmann machines."""

    name, summary = "trbm", "a temporal restricted Boltzmann machine"
    train = staticmethod(train_trbm)
    title, ordinary = "TruG-TRBM", "ordinary TRBM"
    kinds = (TruGTRBM, BernoulliTRBM, TruGRBM, BernoulliRBM)
    # Two minutes of balls.
    own = {
        "n_hidden": {"balls": 200},
        "epochs": {"balls": 16},
        "batch_size": {"balls": 4},
        "learning_rate": {"balls": (8e-3, 3e-4)},
        "n_gibbs": {"balls": (3, 12)},
        "visible": {"balls": "bernoulli"},
    }
    figures = ("training.png", "strips.png", "generated.gif")
    sets = ("balls",)

    def add_data(self, parser: argparse.ArgumentParser) -> None:
        """Add which sequences."""
        own_data.add_reading(parser, self.sets, "balls", "size", "length")
        add_weights(parser, "sequence", column=False)
        own_data.add_splitting(parser, "the last sequences")
        for name, what in VIDEOS.items():
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=int,
                metavar="N",
                help=f"{name.replace('_', ' ')} of bouncing balls (default {what})",
            )
        parser.add_argument(
            "--validation",
            type=float,
            metavar="SHARE",
            help="of the training sequences, held back to be scored during training and, with "
            "--patience, to choose the model (default none: test sequences are scored)",
        )

    def load(self, arguments: argparse.Namespace) -> VideoData:
        """Return the sequences."""
        own = own_data.is_own(arguments, self.sets, tuple(VIDEOS))
        if own:
            data = own_data.frame_sequences(arguments, *self.units_of(arguments))
        else:
            data = _shipped(arguments)
        kept, rest = held_back(data.train, arguments.validation)
        if rest is None and arguments.patience is not None:
            raise ValueError("--patience needs --validation: test sequences must not choose")
        watched = data.test if rest is None else rest
        weights = None if data.weights is None else data.weights[: len(kept)]
        lags = arguments.n_lags or 1
        if arguments.n_lags is None and arguments.start is not None:
            lags = getattr(load_model(arguments.start, *self.kinds), "n_lags", 1)
        return VideoData(kept, watched, *data[1:])._replace(weights=weights, n_lags=lags)

    def few(self, data: VideoData) -> VideoData:
        """Return two short sequences."""
        short = [x[: 2 + data.n_lags] for x in sorted(data.rows, key=len) if len(x) > 1][-2:]
        weights = few_weights(data.weights, len(short))
        return data._replace(rows=short, watched=short, test=short, weights=weights)

    def words(self, arguments: argparse.Namespace, data: VideoData) -> str:
        """Return how many sequences there are."""
        name = own_data.stem(arguments.data)
        return f"{name}: {len(data.rows)} training and {len(data.test)} test sequences"

    def fit(self, data: VideoData, **settings: Any) -> TRBMFit:
        """Train."""
        settings |= {"validation": watched(settings, data.watched)}
        found = train_trbm(data.rows, sample_weight=data.weights, **settings)
        model = found.model.with_scaling(data.scaling).with_columns(data.columns)
        return found._replace(model=model)

    def scores(self, arguments: argparse.Namespace, data: VideoData, fit: TRBMFit) -> Figures:
        """Return the error of forecasts."""
        error = prediction_error(fit.model, data.test, rng=arguments.seed).mean()
        figures = {
            "prediction_error": float(error),
            "of": "frame" if data.scaling is None else "frame of standardised columns",
            "training_seconds": float(fit.history["seconds"][-1]) if fit.history else 0.0,
            "epochs": len(fit.history.get("epoch", ())),
        }
        trug = isinstance(fit.model, TruGTRBM)
        return figures | ({"truncation_points": ends_of(fit.model)} if trug else {})

    def others(self, arguments: argparse.Namespace, data: VideoData) -> Results:
        """Return the errors of simple forecasts."""
        orders = tuple(range(1, 1 + max(2, data.n_lags)))
        found = forecast_errors(data.rows, data.test, orders=orders)
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
        of = next(iter(results.values()))["of"]
        yield f"error: squared, of one-step forecasts, summed over a {of}, mean over all frames"
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
        shape, seen = data.image_shape, min(SEEN, len(video) - 1)
        if shape is None:
            return
        strips = continuation(fit.model, video[:30], shape, n_seen=seen, rng=seed)
        strips.savefig(folder / "strips.png")
        dream = fit.model.generate(20, prefix=video[:seen], return_mean=True, rng=seed)
        plots.save_video(dream, shape, folder / "generated.gif")


def _shipped(arguments: argparse.Namespace) -> FrameSequences:
    """Return balls."""
    videos = VIDEOS | chosen(arguments, VIDEOS)
    train = datasets.bouncing_balls(videos["videos"], rng=arguments.seed)
    test = datasets.bouncing_balls(videos["test_videos"], rng=arguments.seed + 1)
    return FrameSequences(train, test, (30, 30), None)  # type: ignore[arg-type]
