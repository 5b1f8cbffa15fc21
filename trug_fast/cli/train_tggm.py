"""``trug-fast train tggm``: train a regression, and others beside it on the same split."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast.evaluation.regression import prediction_scores, regression_scores
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.tggm.ensemble import EnsembleFit, train_ensemble
from trug_fast.training.tggm.train import TGGMFit, train_tggm

from . import own_data
from .own_data import TableSplit
from .own_weights import add_weights, few_weights
from .predict import LEVEL, write_predictions
from .training import MODEL, Figures, Results, TrainCommand, ends_of, rows_of, words_of

ROWS = ("X_train", "y_train", "X_test", "y_test")


class TrainTGGM(TrainCommand):
    """The command for regressions."""

    name, summary = "tggm", "a regression"
    train = staticmethod(train_tggm)
    title = "TruG-TGGM"
    figures = ("training.png", "predictions.png", "predictions.csv")
    sets = ("yacht",)
    kinds = (TruGTGGM,)

    def add_data(self, parser: argparse.ArgumentParser) -> None:
        """Add which rows."""
        own_data.add_reading(parser, self.sets, "yacht", "target", "skip_missing")
        add_weights(parser, "row")
        own_data.add_splitting(parser, "rows drawn at random, by --seed")
        parser.add_argument(
            "--split", type=int, metavar="N", help="which published split (default 0)"
        )
        parser.add_argument(
            "--n-models", type=int, metavar="N", help="train an ensemble of so many (default 1)"
        )
        parser.add_argument(
            "--workers", type=int, metavar="N", help="threads that train an ensemble (default 1)"
        )

    def load(self, arguments: argparse.Namespace) -> TableSplit:
        """Return the rows."""
        if own_data.is_own(arguments, self.sets, ("split",)):
            return own_data.regression_split(arguments)
        data = datasets.load_yacht()
        try:
            return TableSplit(*data.split(arguments.split or 0))
        except IndexError as error:
            raise ValueError(f"--split: {error}") from None

    def few(self, data: TableSplit) -> TableSplit:
        """Return twenty rows."""
        rows = {name: part[:20] for name, part in zip(ROWS, data, strict=False)}
        return data._replace(**rows, weights=few_weights(data.weights, len(rows["y_train"])))

    def words(self, arguments: argparse.Namespace, data: TableSplit) -> str:
        """Return how many rows there are."""
        sizes = f"{len(data.y_train)} training and {len(data.y_test)} test rows"
        split = f", split {arguments.split or 0}" if arguments.data in self.sets else ""
        return f"{own_data.stem(arguments.data)}{split}: {sizes}"

    def _runs(self, arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
        """Return the choices of the training."""
        if arguments.objective == "probit":
            raise ValueError(
                "--objective probit is for classes, and this command's scores are of numbers: "
                "take train_tggm or estimators.TGGMClassifier in Python"
            )
        runs = super()._runs(arguments)
        given = arguments.n_models
        n_models = 1 if given is None else checks.count("--n-models", given)
        if n_models > 1:
            if arguments.start is not None:
                raise ValueError("--start has no effect with --n-models: these begin at random")
            workers = 1 if arguments.workers is None else arguments.workers
            workers = checks.count("--workers", workers)
            runs[MODEL] |= {"n_models": n_models, "workers": workers}
        elif arguments.workers is not None:
            raise ValueError("--workers has no effect without --n-models")
        return runs

    def fit(self, data: TableSplit, **settings: Any) -> TGGMFit | EnsembleFit:
        """Train."""
        X, y, weights = data.X_train, data.y_train, data.weights
        workers = settings.pop("workers", None)
        if workers is None:
            one = train_tggm(X, y, sample_weight=weights, **settings)
            return one._replace(model=one.model.with_columns(data.columns))
        with ThreadPoolExecutor(workers) as executor:
            threads = executor if workers > 1 else None
            several = train_ensemble(X, y, sample_weight=weights, executor=threads, **settings)
        return several._replace(model=several.model.with_columns(data.columns))

    def scores(
        self, arguments: argparse.Namespace, data: TableSplit, fit: TGGMFit | EnsembleFit
    ) -> Figures:
        """Return errors of the test rows."""
        found = regression_scores(fit.model, data.X_test, data.y_test, levels=LEVEL)
        own = {name: getattr(found, name) for name in ("rmse", "log_likelihood", "crps")}
        own["coverage"] = found.coverage[LEVEL]
        if isinstance(fit, EnsembleFit):
            seconds = sum(float(each.history["seconds"][-1]) for each in fit.fits)
            return own | {"training_seconds": seconds, "models": len(fit.model)}
        return own | {
            "training_seconds": float(fit.history["seconds"][-1]),
            "epochs": fit.best_epoch,
            "learning_rate": fit.learning_rate,
            "truncation_points": ends_of(fit.model),
        }

    def others(self, arguments: argparse.Namespace, data: TableSplit) -> Results:
        """Return the figures of a multilayer perceptron of the same size and of ridge regression.

        Their predictions get one standard deviation, that of five-fold cross-validated errors.
        """
        try:
            models = _peers(arguments.n_hidden or 50, arguments.seed)
        except ImportError as error:
            print(f"no other models: {error}")
            return {}
        return {name: _cross_validated(model, data, arguments.seed) for name, model in models}

    def table(self, results: Results) -> Iterator[str]:
        """Return the errors."""
        header = ["", "test RMSE", "log-likelihood", "90 % interval", "training time"]
        rows = [
            [
                title,
                f"{found['rmse']:.4g}",
                f"{found['log_likelihood']:.3f}",
                f"{100 * found['coverage']:.0f} %",
                f"{found['training_seconds']:.1f} s",
            ]
            for title, found in results.items()
        ]
        yield from rows_of(header, rows)
        yield "log-likelihood: mean log-density, nats; 90 % interval: test rows inside"
        for found in results.values():
            yield from words_of(found.get("truncation_points", {}))

    def draw(
        self,
        arguments: argparse.Namespace,
        folder: Path,
        data: TableSplit,
        fits: Mapping[str, TGGMFit | EnsembleFit],
        results: Results,
    ) -> None:
        """Write predictions of the test rows, and draw them beside what was learned."""
        fit = fits[self.title]
        write_predictions(folder / "predictions.csv", fit.model, data.X_test, data.y_test)
        from trug_fast import plots

        if not isinstance(fit, EnsembleFit):
            plots.fit(fit.model, fit.history).savefig(folder / "training.png")
        mean, std = fit.model.predict(data.X_test, return_std=True)
        plots.save(plots.predictions(data.y_test, mean, std), folder / "predictions.png")


def _peers(hidden: int, seed: int) -> list[tuple[str, Any]]:
    """Return scikit-learn's models by name, on standardised data."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPRegressor(
        hidden_layer_sizes=(hidden,), max_iter=1000, batch_size=50, random_state=seed
    )
    models = {"MLPRegressor": network, "ridge": RidgeCV(np.logspace(-3, 3, 13))}
    return [
        (
            name,
            TransformedTargetRegressor(
                make_pipeline(StandardScaler(), model), transformer=StandardScaler()
            ),
        )
        for name, model in models.items()
    ]


def _cross_validated(model: Any, data: TableSplit, seed: int) -> Figures:
    from sklearn.model_selection import KFold, cross_val_predict

    X, y = data.X_train, data.y_train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an iteration limit was reached, in some folds
        begun = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begun
        folds = KFold(5, shuffle=True, random_state=seed)
        errors = y - cross_val_predict(model, X, y, cv=folds)
    std = np.sqrt(np.mean(errors**2))
    return prediction_scores(data.y_test, model.predict(data.X_test), std) | {
        "training_seconds": seconds
    }
