"""``trug-fast train trbm``: train on videos or motion, compare forecasts, draw what it dreams."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from trug_fast.training.trbm.train import TemporalFit

PROGRAM = "trug-fast train trbm"  # by this mark in result.json a folder is known as ours
NAMES = {"trug": "TruG-TRBM", "bernoulli": "ordinary TRBM"}
# Two minutes, and for motion as for Table 3.
DEFAULTS: dict[str, dict[str, Any]] = {
    "balls": {
        "hidden": 200,
        "epochs": 16,
        "batch_size": 4,
        "learning_rate": (8e-3, 3e-4),
        "k": (3, 12),
        "truncation": "-1,1",
    },
    "motion": {
        "hidden": 300,
        "epochs": 20,
        "batch_size": 9,
        "learning_rate": (1e-4, 1e-5),
        "k": 3,
        "truncation": "-4,4",
    },
}


def add(models: Any) -> None:
    """Add the command to those that train."""
    from .train import rate, sweeps

    trbm = models.add_parser("trbm", help="a temporal restricted Boltzmann machine")
    trbm.set_defaults(run=run)
    trbm.add_argument(
        "--data",
        choices=("balls", "motion"),
        default="balls",
        help="bouncing balls, made on the spot (default), or CMU motion capture, subject 35",
    )
    trbm.add_argument("--data-dir", help="where the motion lies (or set TRUG_FAST_DATA)")
    trbm.add_argument("--videos", type=int, default=200, help="training videos (default 200)")
    trbm.add_argument("--test-videos", type=int, default=20, help="test videos (default 20)")
    trbm.add_argument("--hidden", type=int, help="hidden units (default 200, motion 300)")
    trbm.add_argument("--unit", choices=("trug", "bernoulli"), default="trug")
    trbm.add_argument(
        "--truncation", help="as for train rbm; default -1,1 (motion -4,4), learned per unit"
    )
    trbm.add_argument("--learn", choices=("shared", "per-unit", "none"))
    trbm.add_argument("--gradient", choices=("full", "paper"), default="full")
    trbm.add_argument("--epochs", type=int)
    trbm.add_argument("--batch-size", type=int, help="sequences an update")
    trbm.add_argument("--learning-rate", type=rate, metavar="START[,END]")
    trbm.add_argument("--k", type=sweeps, metavar="START[,END]", help="sweeps an update")
    trbm.add_argument(
        "--chains",
        choices=("both", "data", "past"),
        default="both",
        help="where chains start: at the data, at the frame before, or half of them each (default)",
    )
    trbm.add_argument(
        "--noise",
        type=float,
        default=0.0,
        help="share of pixels that coins replace; motion: deviation of added noise (default 0)",
    )
    trbm.add_argument("--no-baseline", action="store_true", help="no ordinary TRBM beside it")
    trbm.add_argument("--out", help="folder for the results (default trug-trbm-DATA)")
    options.add_checkpoint(trbm, "ordinary TRBM")
    options.add_common(trbm)


def run(arguments: argparse.Namespace) -> None:
    """Train, compare, print and write."""
    from trug_fast import __version__
    from trug_fast._common import files
    from trug_fast.evaluation.forecasts import forecast_errors

    from .train import truncation

    for name, value in DEFAULTS[arguments.data].items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    chosen = truncation(arguments) if arguments.unit == "trug" else None
    kinds = [arguments.unit]
    if arguments.unit == "trug" and not arguments.no_baseline:
        kinds.append("bernoulli")
    options.check_checkpoints(arguments, kinds)
    folder = Path(arguments.out or f"trug-trbm-{arguments.data}")
    options.refuse_foreign(folder, PROGRAM)
    train, test = _data(arguments)
    folder.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {
        "program": PROGRAM,
        "version": __version__,
        "options": {k: v for k, v in vars(arguments).items() if k != "run"},
        "errors": {},
    }
    print(f"{arguments.data}: {len(train)} training and {len(test)} test sequences", flush=True)
    fits = {}
    for kind in kinds:
        fit = _train(arguments, kind, chosen, train, test)
        fits[kind] = fit
        name = "model" if kind == arguments.unit else "baseline"
        fit.model.save(folder / f"{name}.npz")
        files.write(folder / f"{name}-history.npz", "history", fit.history)
        report["errors"][NAMES[kind]] = _error(arguments, fit, test)
        _write(folder, report)
        if fit.interrupted:
            again = "" if arguments.checkpoint is None else "; --resume continues"
            raise KeyboardInterrupt(f"; the models so far are in {folder}{again}")
    for name, errors in forecast_errors(train, test).items():
        report["errors"][name] = float(errors.mean())
    _write(folder, report)
    for name, error in report["errors"].items():
        print(f"{name:18}{error:8.2f}")
    print(
        "squared error of one-step prediction, summed over a frame, mean over frames and sequences"
    )
    _draw(arguments, folder, fits[arguments.unit], test)
    print(f"written to {folder}")


def _data(arguments: argparse.Namespace) -> tuple[Any, Any]:
    from trug_fast import datasets

    if arguments.data == "motion":
        motion = datasets.load_cmu_motion(arguments.data_dir)
        return motion.train, motion.test
    train = datasets.bouncing_balls(arguments.videos, rng=arguments.seed)
    return train, datasets.bouncing_balls(arguments.test_videos, rng=arguments.seed + 1)


def _train(
    arguments: argparse.Namespace, kind: str, chosen: Any, train: Any, test: Any
) -> TemporalFit:
    from trug_fast.training.trbm.train import train_trbm

    print(f"training {'a TruG' if kind == 'trug' else 'an ordinary'} TRBM ...", flush=True)
    begun = time.perf_counter()
    real = arguments.data == "motion"
    fit = train_trbm(
        train,
        arguments.hidden,
        hidden=kind,  # type: ignore[arg-type]
        truncation=chosen if kind == "trug" else None,
        visible="real" if real else "binary",
        gradient=arguments.gradient,
        k=arguments.k,
        chains=arguments.chains,
        batch_size=arguments.batch_size,
        epochs=arguments.epochs,
        learning_rate=arguments.learning_rate,
        noise=arguments.noise,
        validation=test,
        score_every=max(1, arguments.epochs // 10),
        checkpoint=options.checkpoint_of(arguments, kind),
        resume="auto",
        progress=options.progress(arguments),
        rng=arguments.seed,
    )
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
    return fit


def _error(arguments: argparse.Namespace, fit: TemporalFit, test: Any) -> float:
    from trug_fast.evaluation.prediction import prediction_error

    return float(prediction_error(fit.model, test, rng=arguments.seed).mean())


def _write(folder: Path, report: dict[str, Any]) -> None:
    (folder / "result.json").write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")


def _draw(arguments: argparse.Namespace, folder: Path, fit: TemporalFit, test: Any) -> None:
    """Draw the training; a test video, its forecasts, and how the model goes on from ten frames."""
    try:
        from trug_fast import plots

        plots.training(fit.history).savefig(folder / "training.png")
        if arguments.data != "balls":
            return
        figure = plots.continuation(fit.model, test[0][:30], (30, 30), rng=arguments.seed)
        figure.savefig(folder / "strips.png")
        dream = fit.model.generate(20, prefix=test[0][:10], return_mean=True, rng=arguments.seed)
        plots.save_video(dream, (30, 30), folder / "generated.gif")
    except ImportError as error:
        print(f"no figure: {error}")
