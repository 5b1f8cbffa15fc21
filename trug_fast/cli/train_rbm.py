"""``trug-fast train rbm``: train, score beside an ordinary RBM, and write everything down.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.visible_kinds import CategoricalUnits
from trug_fast.training.choices import watched
from trug_fast.training.rbm.data import states_from
from trug_fast.training.rbm.train import RBMFit, train_rbm

from . import options
from .choices import chosen
from .own_rows import VisibleRows
from .own_weights import add_weights, few_weights
from .training import Figures, Results, TrainCommand, ends_of, held_back, rows_of, words_of

AIS = {"n_temperatures": 5000}  # half as many as of `evaluate`: a first look


@dataclass(frozen=True, eq=False)
class PixelData:
    """What to train on, what is scored beside it, and all of the data set."""

    rows: Any
    watched: Any
    whole: VisibleRows
    weights: Any  # of the rows to train on, or None


class TrainRBM(TrainCommand):
    """The command for restricted Boltzmann machines on images."""

    name, summary = "rbm", "a restricted Boltzmann machine"
    train = staticmethod(train_rbm)
    title, ordinary = "TruG-RBM", "ordinary RBM"
    kinds = (TruGRBM, BernoulliRBM)
    own = {"n_hidden": {"digits": 100, "FILE": 100, "other": 500}}
    figures = ("training.png", "samples.png", "weights.png")
    sets = options.DATA

    def add_data(self, parser: argparse.ArgumentParser) -> None:
        """Add which images, and how the model is scored."""
        options.add_data(parser)
        add_weights(parser, "row")
        parser.add_argument(
            "--validation",
            type=float,
            metavar="SHARE",
            help="of the training images, held back to be scored during training and, with "
            "--patience, to choose the model (default none: test images are scored)",
        )
        options.add_short_annealing(parser, **AIS)

    def load(self, arguments: argparse.Namespace) -> PixelData:
        """Return the images."""
        visible, scaling = self.units_of(arguments)
        whole = options.load_data(arguments, visible, bool(arguments.soft), scaling)
        rows = whole.given
        if arguments.validation is None:
            if arguments.patience is not None:
                raise ValueError("--patience needs --validation: test images must not choose")
            return PixelData(rows, whole.test, whole, whole.weights)
        kept, rest = held_back(rows, arguments.validation)
        weights = None if whole.weights is None else whole.weights[: len(kept)]
        return PixelData(kept, rest, whole, weights)

    def few(self, data: PixelData) -> PixelData:
        """Return two images."""
        weights = few_weights(data.weights, 2)
        return PixelData(data.whole.train[:2], data.whole.test[:2], data.whole, weights)

    def words(self, arguments: argparse.Namespace, data: PixelData) -> str:
        """Return how many images there are."""
        whole = data.whole
        return (
            f"{whole.name}: {data.rows.shape[0]} training and {len(whole.test)} test {whole.row}s"
            + (f", {whole.left_out}" if whole.left_out else "")
        )

    def fit(self, data: PixelData, **settings: Any) -> RBMFit:
        """Train."""
        settings |= {"validation": watched(settings, data.watched)}
        settings |= _stated(settings, data.whole)
        found = train_rbm(data.rows, sample_weight=data.weights, **settings)
        model = found.model.with_scaling(data.whole.scaling).with_columns(data.whole.columns)
        return found._replace(model=model.with_letters(data.whole.letters or model.letters))

    def scores(self, arguments: argparse.Namespace, data: PixelData, fit: RBMFit) -> Figures:
        """Return mean log-likelihoods by annealing."""
        begun = time.perf_counter()
        names = {f"ais_{name}": name for name in options.AIS}
        ais = AIS | {names[name]: value for name, value in chosen(arguments, names).items()}
        whole, model = data.whole, fit.model
        estimate = options.anneal(arguments, model, whole.train, **ais)
        figures = {
            "test_log_likelihood": float(log_likelihood(model, whole.test, estimate).mean()),
            "train_log_likelihood": float(log_likelihood(model, whole.train, estimate).mean()),
            "std_error": estimate.std_error,
            "log_z": estimate.log_z,
            "ess": estimate.ess,
            "path": estimate.path,
            "warnings": list(estimate.warnings),
            "training_seconds": float(fit.history["seconds"][-1]) if fit.history else 0.0,
            "annealing_seconds": time.perf_counter() - begun,
            "of": whole.of,
            "epochs": len(fit.history.get("epoch", ())),
        }
        trug = isinstance(model, TruGRBM)
        return figures | ({"truncation_points": ends_of(model)} if trug else {})

    def table(self, results: Results) -> Iterator[str]:
        """Return the log-likelihoods, and what speaks against them."""
        of = next(iter(results.values()))["of"]
        header = ["", "test log-likelihood", "+-", "of training", "training time"]
        rows = [
            [
                title,
                f"{found['test_log_likelihood']:.2f}",
                f"{found['std_error']:.2f}",
                f"{found['train_log_likelihood']:.2f}",
                f"{found['training_seconds']:.1f} s",
            ]
            for title, found in results.items()
        ]
        yield from rows_of(header, rows)
        yield f"nats per {of}, by annealed importance sampling; +- is the standard error of log Z"
        for title, found in results.items():
            for reason in found["warnings"]:
                yield f"do not trust the {title}'s: {reason}"
        for found in results.values():
            yield from words_of(found.get("truncation_points", {}))

    def draw(
        self,
        arguments: argparse.Namespace,
        folder: Path,
        data: PixelData,
        fits: Mapping[str, RBMFit],
        results: Results,
    ) -> None:
        """Draw the units and the training; of images samples and weights too."""
        from trug_fast import plots

        fit, whole = fits[next(iter(fits))], data.whole
        plots.fit(fit.model, fit.history).savefig(folder / "training.png")
        if whole.image_shape is None:
            return
        rows = whole.test[:: max(1, len(whole.test) // 64)][:64]
        samples = fit.model.sample(start=rows, n_gibbs=500, rng=arguments.seed, return_mean=True)
        drawn = plots.images(whole.restored(samples), whole.image_shape)
        plots.save(drawn, folder / "samples.png")
        plots.weights(fit.model, whole.image_shape).savefig(folder / "weights.png")


def _stated(settings: Mapping[str, Any], whole: VisibleRows) -> dict[str, Any]:
    """Return categorical units that know of all states, those of test rows too, or nothing."""
    visible, start = settings.get("visible"), settings.get("start")
    known = getattr(start, "letters", None)
    if None not in (known, whole.letters) and known != whole.letters:
        raise ValueError(f"--start has the letters {known}, the data have {whole.letters}")
    visible = CategoricalUnits() if visible == "categorical" else visible
    if not isinstance(visible, CategoricalUnits) or visible.n_states or "start" in settings:
        return {}
    if whole.letters is not None:
        return {"visible": replace(visible, n_states=len(whole.letters))}
    parts = whole.train, whole.test
    least = min(float(rows.min()) for rows in parts)
    most = max(float(rows.max()) for rows in parts)
    return {"visible": replace(visible, n_states=states_from(least, most))}
