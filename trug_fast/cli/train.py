"""``trug-fast train rbm``: train, score beside an ordinary RBM, and write everything down."""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options, train_tggm, train_trbm

if TYPE_CHECKING:
    from trug_fast.datasets import ImageData
    from trug_fast.models.truncation import Truncation
    from trug_fast.training.rbm.train import RBMFit

PROGRAM = "trug-fast train rbm"  # by this mark in result.json a folder is known as ours
FILES = ("model.npz", "model-history.npz", "baseline.npz", "baseline-history.npz", "summary.png")
NAMES = {"trug": "TruG-RBM", "bernoulli": "ordinary RBM"}

HIDDEN = {"digits": 100, "other": 500}  # all other defaults are those of train_rbm


def add(commands: Any) -> None:
    """Add the command to the parser."""
    train = commands.add_parser("train", help="train a model").add_subparsers(
        required=True, metavar="MODEL"
    )
    train_trbm.add(train)
    train_tggm.add(train)
    rbm = train.add_parser("rbm", help="a restricted Boltzmann machine")
    rbm.set_defaults(run=run)
    options.add_data(rbm)
    options.add_annealing(rbm, temperatures=5000)
    rbm.add_argument("--hidden", type=int, help="hidden units (default 100, or 500 but for digits)")
    rbm.add_argument("--unit", choices=("trug", "bernoulli"), default="trug")
    rbm.add_argument(
        "--truncation",
        default="0,4",
        help="sigmoid, relu, tanh, c-learn, s-learn, or LOWER,UPPER such as 0,inf or -1,1; "
        "default 0,4",
    )
    rbm.add_argument(
        "--learn",
        choices=("shared", "per-unit", "none"),
        help="which truncation points to learn (default per-unit, or what --truncation implies)",
    )
    rbm.add_argument("--epochs", type=int, default=30, help="default 30")
    rbm.add_argument("--batch-size", type=int, help="default a 200th of the rows, 10 to 100")
    for name, default in (("learning", "chosen by the data"), ("truncation", "0.005,0.0005 (sgd)")):
        rbm.add_argument(
            f"--{name}-rate", type=rate, metavar="START[,END]", help=f"default {default}"
        )
    rbm.add_argument("--weight-decay", type=float, default=0.0, help="default 0")
    rbm.add_argument("--optimizer", choices=("sgd", "rmsprop", "adam"), default="sgd")
    rbm.add_argument("--method", choices=("pcd", "cd", "pt"), default="pcd")
    rbm.add_argument("--betas", type=int, default=10, help="temperatures of pt (default 10)")
    rbm.add_argument(
        "--k",
        type=sweeps,
        default=1,
        metavar="START[,END]",
        help="Gibbs sweeps an update, a pair rises over the run (default 1)",
    )
    rbm.add_argument(
        "--average",
        type=float,
        default=0.1,
        help="fraction of the run over which parameters are averaged (default 0.1)",
    )
    rbm.add_argument("--learn-precision", action="store_true", help="bend the units too")
    rbm.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    rbm.add_argument("--no-baseline", action="store_true", help="no ordinary RBM beside it")
    rbm.add_argument("--out", help="folder for the results (default trug-rbm-DATA)")
    options.add_checkpoint(rbm, "ordinary RBM")
    options.add_common(rbm)


def rate(text: str) -> tuple[float, float]:
    """Read START or START,END."""
    parts = [float(part) for part in text.split(",")]
    if len(parts) > 2:
        raise argparse.ArgumentTypeError(f"expected START or START,END, got {text!r}")
    return parts[0], parts[-1]


def sweeps(text: str) -> int | tuple[int, int]:
    """Read START or START,END."""
    parts = [int(part) for part in text.split(",")]
    if len(parts) > 2:
        raise argparse.ArgumentTypeError(f"expected START or START,END, got {text!r}")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def truncation(arguments: argparse.Namespace) -> Truncation:
    """Return the truncation that --truncation and --learn describe."""
    from dataclasses import replace

    from trug_fast.models.truncation import NAMED, Learn, Truncation, as_truncation

    text = arguments.truncation
    if text in NAMED:
        chosen = as_truncation(text)
    else:
        try:
            low, high = (float(part) for part in text.split(","))
        except ValueError:
            raise ValueError(
                f"--truncation must be one of {', '.join(NAMED)}, or LOWER,UPPER; got {text!r}"
            ) from None
        bounded = math.isfinite(low) and math.isfinite(high)
        chosen = Truncation(low, high, learn="per_unit" if bounded else None)
    words: dict[str, Learn] = {"shared": "shared", "per-unit": "per_unit", "none": None}
    return chosen if arguments.learn is None else replace(chosen, learn=words[arguments.learn])


def run(arguments: argparse.Namespace) -> None:
    """Train, evaluate, print and write."""
    if arguments.hidden is None:
        arguments.hidden = HIDDEN["digits" if arguments.data == "digits" else "other"]
    chosen = truncation(arguments) if arguments.unit == "trug" else None
    kinds = [arguments.unit]
    if arguments.unit == "trug" and not arguments.no_baseline:
        kinds.append("bernoulli")
    options.check_checkpoints(arguments, kinds)
    folder = Path(arguments.out or f"trug-rbm-{arguments.data}")
    options.refuse_foreign(folder, PROGRAM)
    data = options.load_data(arguments)
    _compile(arguments, data, chosen)
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:  # what an earlier run left must not pass for this one's
        (folder / name).unlink(missing_ok=True)
    _report(folder, arguments, {})
    print(f"{data.name}: {len(data.train)} training and {len(data.test)} test images", flush=True)
    results, fits = {}, {}
    for kind in kinds:
        fit, result = _train_and_score(arguments, data, kind, chosen, folder)
        fits[kind], results[kind] = fit, result
        _report(folder, arguments, results)
    _print_table(results)
    _draw(arguments, folder, data, fits, results)
    written = [name for name in (*FILES, "result.json") if (folder / name).exists()]
    print(f"written to {folder}: {', '.join(written)}")


def _report(folder: Path, arguments: argparse.Namespace, results: dict[str, Any]) -> None:
    from trug_fast import __version__

    report = {
        "program": PROGRAM,
        "version": __version__,
        "options": {k: v for k, v in vars(arguments).items() if k != "run"},
        "results": results,
    }
    text = json.dumps(report, indent=1, allow_nan=False)
    (folder / "result.json").write_text(text + "\n")


def _compile(arguments: argparse.Namespace, data: ImageData, chosen: Truncation | None) -> None:
    """Run everything once on two images: compiles kernels, and finds what is wrong with options."""
    from trug_fast.evaluation.likelihood import log_likelihood
    from trug_fast.evaluation.partition import log_partition

    if not arguments.quiet:
        print("compiling (up to a minute, once on each machine) ...", end=" ", flush=True)
    begun = time.perf_counter()
    fit = _train(
        arguments, data.train[:2], data.test[:2], arguments.unit, chosen, epochs=1, progress=False
    )
    log_partition(fit.model, n_chains=2, n_temperatures=2, rng=0, progress=False)
    log_likelihood(fit.model, data.test[:2], 0.0)
    if not arguments.quiet:
        print(f"{time.perf_counter() - begun:.1f} s", flush=True)


def _train(
    arguments: argparse.Namespace,
    rows: Any,
    held_out: Any,
    kind: str,
    chosen: Truncation | None,
    epochs: int,
    progress: bool | None,
    checkpoint: Path | None = None,
) -> RBMFit:
    from trug_fast.training.rbm.train import train_rbm

    return train_rbm(
        rows,
        arguments.hidden,
        hidden=kind,  # type: ignore[arg-type]
        truncation=chosen if kind == "trug" else None,
        method=arguments.method,
        betas=arguments.betas,
        k=arguments.k,
        average=arguments.average,
        learn_precision=arguments.learn_precision and kind == "trug",
        batch_size=arguments.batch_size,
        epochs=epochs,
        optimizer=arguments.optimizer,
        learning_rate=arguments.learning_rate,
        truncation_rate=arguments.truncation_rate,
        weight_decay=arguments.weight_decay,
        dtype=arguments.dtype,
        validation=held_out,
        score_every=max(1, epochs // 50),
        checkpoint=checkpoint,
        resume="auto",
        progress=progress,
        rng=arguments.seed,
    )


def _train_and_score(
    arguments: argparse.Namespace,
    data: ImageData,
    kind: str,
    chosen: Truncation | None,
    folder: Path,
) -> tuple[RBMFit, dict[str, Any]]:
    from trug_fast.evaluation.likelihood import log_likelihood

    print(f"training {'a TruG' if kind == 'trug' else 'an ordinary'} RBM ...", flush=True)
    fit = _train(
        arguments,
        options.training_images(arguments, data),
        data.test,
        kind,
        chosen,
        arguments.epochs,
        options.progress(arguments),
        options.checkpoint_of(arguments, kind),
    )
    _save(folder, kind, kind == arguments.unit, fit)
    if fit.interrupted:
        again = "" if arguments.checkpoint is None else "; --resume continues"
        raise KeyboardInterrupt(f"; the models so far are in {folder}{again}")
    begun = time.perf_counter()
    estimate = options.anneal(arguments, fit.model, data)
    result = {
        "test_log_probability": float(log_likelihood(fit.model, data.test, estimate).mean()),
        "train_log_probability": float(log_likelihood(fit.model, data.train, estimate).mean()),
        "std_error": estimate.std_error,
        "log_partition": estimate.log_z,
        "effective_chains": estimate.ess,
        "path": estimate.path,
        "warnings": list(estimate.warnings),
        "training_seconds": float(fit.history["seconds"][-1]) if fit.history else 0.0,
        "annealing_seconds": time.perf_counter() - begun,
        "epochs": len(fit.history.get("epoch", ())),
    }
    if kind == "trug":
        result["truncation_points"] = _brief(fit.model)
    return fit, result


def _brief(model: Any) -> dict[str, list[float | str]]:
    """Return minimum, quartiles and maximum of both ends; infinity, which JSON lacks, in words."""
    import numpy as np

    at = [0, 25, 50, 75, 100]
    # "nearest": interpolation between infinite ends would give NaN.
    return {
        name: [
            float(v) if np.isfinite(v) else str(v)
            for v in np.percentile(getattr(model, name), at, method="nearest")
        ]
        for name in ("lower", "upper")
    }


def _save(folder: Path, kind: str, main: bool, fit: RBMFit) -> None:
    from trug_fast._common import files

    name = "model" if main else "baseline"
    fit.model.save(folder / f"{name}.npz")
    files.write(folder / f"{name}-history.npz", "history", fit.history)


def _print_table(results: dict[str, dict[str, Any]]) -> None:
    print(f"\n{'':14}{'test log-prob.':>16}{'+-':>8}{'train log-prob.':>17}{'training time':>16}")
    for kind, result in results.items():
        name = NAMES[kind]
        print(
            f"{name:14}{result['test_log_probability']:16.2f}{result['std_error']:8.2f}"
            f"{result['train_log_probability']:17.2f}{result['training_seconds']:14.1f} s"
        )
    print("nats per image, by annealed importance sampling; +- is the standard error of log Z")
    for kind, result in results.items():
        for reason in result["warnings"]:
            print(f"do not trust the {NAMES[kind]}'s: {reason}")
    if "trug" in results:
        ends = results["trug"]["truncation_points"]
        for name in ("lower", "upper"):
            low, q1, middle, q3, high = (float(end) for end in ends[name])
            words = (
                f"{low:.3g}, all units"
                if low == high
                else f"{low:.3g} to {high:.3g}, quartiles {q1:.3g}, {middle:.3g}, {q3:.3g}"
            )
            print(f"{name} truncation points: {words}")


def _draw(
    arguments: argparse.Namespace,
    folder: Path,
    data: ImageData,
    fits: dict[str, RBMFit],
    results: dict[str, dict[str, Any]],
) -> None:
    fit, baseline = fits[arguments.unit], fits.get("bernoulli")
    rows = data.test[:: max(1, len(data.test) // 64)][:64]
    words = [
        f"{NAMES[kind]} {result['test_log_probability']:.2f} ± {result['std_error']:.2f}"
        for kind, result in results.items()
    ]
    try:
        from trug_fast import plots

        samples = fit.model.sample(start=rows, n_gibbs=500, rng=arguments.seed, return_mean=True)
        figure = plots.summary(
            fit.model,
            fit.history,
            samples,
            rows,
            data.image_shape,
            baseline=None if baseline is None or baseline is fit else baseline.history,
            title=f"{arguments.hidden} hidden units on {data.name}, test log-probability in nats: "
            + ", ".join(words).replace("-", "−").replace("−RBM", "-RBM"),
            score_name="pseudo-log-likelihood (nats)",
        )
        figure.savefig(folder / "summary.png")
    except ImportError as error:
        print(f"no figure: {error}")
