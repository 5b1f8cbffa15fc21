"""``trug-fast train rbm|trbm|tggm DATA``: read, train, save, and say what to do next.

Tested in tests/cli/test_train.py and tests/cli/test_full_disk.py.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir, mkdtemp
from typing import Any

import numpy as np

from trug_fast._common import files
from trug_fast._common.checkpoints import as_checkpoint
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import KINDS, load
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.training.rbm.train import train_rbm
from trug_fast.training.samplers import SequenceCD, as_sampler
from trug_fast.training.tggm.ensemble import train_ensemble
from trug_fast.training.tggm.train import train_tggm
from trug_fast.training.trbm.train import train_trbm
from trug_fast.training.units import CategoricalUnits

from . import config, data, evaluate
from .data import Data
from .flags import READING, refuse

STATIC = (TruGRBM, BernoulliRBM)
TRAINS: dict[str, tuple[Any, tuple[type, ...]]] = {  # each training, and what it goes on from
    "rbm": (train_rbm, STATIC),
    "trbm": (train_trbm, (TruGTRBM, BernoulliTRBM, *STATIC)),
    "tggm": (train_tggm, (TruGTGGM,)),
}
N_HIDDEN = 100  # of an RBM, where the library wants to be told
Settings = dict[str, Any]


def train(arguments: argparse.Namespace) -> None:
    """Train a model and save it."""
    given = config.read(arguments.config)
    function, kinds = TRAINS[arguments.command]
    if getattr(arguments, "n_models", None) or "n_models" in given:
        function = train_ensemble
        refuse(arguments, ["start"], "has no effect on an ensemble: its models begin at random")
    settings = config.chosen(function, arguments, given)
    _complete(arguments, settings)
    if arguments.print_config:
        print(config.printed(function, settings))
        return
    if arguments.data is None:
        raise ValueError("name DATA: a file, a folder, or a set that --help names")
    if isinstance(settings.get("start"), str):
        settings["start"] = load(settings["start"], *kinds)
    kept = as_checkpoint(settings.get("checkpoint"))
    if kept is not None:
        settings["checkpoint"] = replace(kept, resume="auto")
    found = _read(arguments, settings)
    out = Path(arguments.out or f"{Path(arguments.data).stem}-{arguments.command}.npz")
    _require_place(out, settings, found)
    count = len(found.train) if isinstance(found.train, list) else found.train.shape[0]
    what = "sequences" if isinstance(found.train, list) else "rows"
    print(f"training on {count} {what} of {arguments.data}", flush=True)
    fit = function(**settings, progress=False if arguments.quiet else None)
    model = fit.model
    for name in ("scaling", "columns", "letters"):
        if getattr(found, name) is not None:
            model = getattr(model, f"with_{name}")(getattr(found, name))
    _save(model, out)
    files.write(_history(out), "history", fit.history)
    if fit.interrupted:
        again = "; the same command goes on" if settings.get("checkpoint") else ""
        raise KeyboardInterrupt(f"; the model so far is in {out}{again}")
    print(f"{model} is in {out}", *_scores(fit), *_next(arguments, out), sep="\n")
    if getattr(arguments, "evaluate", None):
        test = found.train if found.test is None else found.test
        evaluate.print_annealed(arguments, model, found.train, {"test": test}, {})


def _complete(arguments: argparse.Namespace, settings: Settings) -> None:
    """Take over what flags say of values within others, and of the data."""
    arguments.seed = settings["rng"]
    n_gibbs = getattr(arguments, "n_gibbs", None)
    if n_gibbs is not None:
        usual: Any = SequenceCD() if arguments.command == "trbm" else "pcd"
        sampler: Any = settings.get("sampler") or usual
        sampler = as_sampler(sampler) if isinstance(sampler, str) else sampler
        settings["sampler"] = replace(sampler, n_gibbs=n_gibbs)
    if arguments.command == "rbm" and not isinstance(settings.get("start"), str):
        settings["n_hidden"] = settings.get("n_hidden") or N_HIDDEN


def _read(arguments: argparse.Namespace, settings: Settings) -> Data:
    """Read the data, and put them into the settings."""
    weights = settings.pop("sample_weight", None)
    weights = None if weights is None else data.numbers_in(weights)
    if arguments.command == "tggm":
        found = data.regression(arguments)
        settings |= {"X": found.train, "y": found.y, "sample_weight": weights}
        return found
    start, visible = settings.get("start"), settings.get("visible")
    kind: Any = getattr(visible, "kind", visible) or getattr(start, "visible", "bernoulli")
    how: dict[str, Any] = {
        "scaling": getattr(start, "scaling", data.FIT),
        "columns": getattr(start, "columns", None),
        "validation": settings.pop("validation", None),
        "weights": weights,
    }
    soft = getattr(visible, "soft", False)
    found = data.given(arguments, arguments.command, kind, soft=soft, **how)
    settings["sequences" if arguments.command == "trbm" else "X"] = found.train
    known = getattr(start, "letters", None)
    if None not in (known, found.letters) and known != found.letters:
        raise ValueError(f"--start has the letters {known}, the data have {found.letters}")
    if visible == "categorical" and found.letters is not None:  # all, not those that occur
        settings["visible"] = CategoricalUnits(n_states=len(found.letters))
    settings["sample_weight"] = found.weights
    if how["validation"] is not None and settings.get("monitor", "auto") is not None:
        settings["validation"] = found.test
    return found


def _require_place(out: Path, settings: Settings, found: Data) -> None:
    """Find out before the training whether a model of this size can be written."""
    if out.suffix != ".npz":
        raise ValueError(f"--out must end in .npz, got {out}")
    kept = settings.get("checkpoint")
    if kept is not None and Path(kept.path).resolve() == out.resolve():
        raise ValueError(f"--out and --checkpoint must be two files, got {out} twice")
    for path, kinds in ((out, [each.__name__ for each in KINDS]), (_history(out), ["history"])):
        if path.exists():
            kind = ""
            with suppress(ValueError):
                kind = files.read_kind(path)
            if kind not in kinds:
                raise ValueError(f"{path} is no file of a training: name another one with --out")
    if out.exists():
        print(f"{out} will be replaced")
    first = found.train[0] if isinstance(found.train, list) else found.train
    size = 4 * first.shape[-1] * (settings.get("n_hidden") or 1)  # of its weights, at least
    try:
        with NamedTemporaryFile(dir=out.parent, prefix=".trial-") as trial:
            trial.write(bytes(size))
            trial.flush()
    except OSError as error:
        raise OSError(f"cannot write {out}: {error.strerror or error}") from error


def _history(out: Path) -> Path:
    return out.with_name(f"{out.stem}-history.npz")


def _save(model: Any, target: Path) -> None:
    """Save a model; elsewhere where it cannot be, which the error tells."""
    try:
        model.save(target)
        return
    except OSError as error:
        why = error
    where = f"nor is there room for it in {gettempdir()} or {Path.home()}"
    for place in (gettempdir(), Path.home()):
        with suppress(OSError):
            other = Path(mkdtemp(prefix=f"{target.stem}-", dir=place), target.name)
            model.save(other)
            where = f"the model is in {other}"
            break
    raise OSError(f"{why}; {where}") from why


def _scores(fit: Any) -> Iterator[str]:
    at = getattr(fit, "best_epoch", 0) - 1  # of a regression; others end with their last epoch
    names = [name for name in fit.history if name.endswith(("score", "rmse", "likelihood"))]
    if names:
        yield ", ".join(f"{name} {fit.history[name][at]:.4g}" for name in names)


def _next(arguments: argparse.Namespace, out: Path) -> Iterator[str]:
    given = {name: getattr(arguments, name, None) for name in READING if name != "alphabet"}
    read = [
        f"--{name.replace('_', '-')}"
        + ("" if value is True else f"={','.join(map(str, np.atleast_1d(value)))}")
        for name, value in given.items()
        if value is not None
    ]
    words = shlex.join([str(out), arguments.data, *read])
    yield f"next: trug-fast {'predict' if arguments.command == 'tggm' else 'evaluate'} {words}"
    if arguments.command != "tggm":
        yield f"      trug-fast sample {shlex.quote(str(out))}"
