"""What ``trug-fast train`` does with every model: options, runs, files, a table and figures.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir, mkdtemp
from typing import Any, ClassVar

from trug_fast import __version__
from trug_fast._common import files
from trug_fast.kernels.announcing import announced
from trug_fast.models.stored import load_model
from trug_fast.training.choices import HIDDEN, arguments_of
from trug_fast.training.diagnosis import TrainingWarning
from trug_fast.training.driver import divergence_raises

from . import options, own_data
from .choices import add_training, chosen_training

Choices = dict[str, Any]
Figures = dict[str, Any]
Results = dict[str, Figures]

FILE = "FILE"  # stands for data of one's own
REPORT = "result.json"
MODEL, BASELINE = "model", "baseline"  # names of files, for the runs of a command
OF_TRUG = ("truncation", "truncation_rate", *HIDDEN.flat())  # what ordinary units do not have


class TrainCommand(ABC):
    """A command ``trug-fast train NAME``; a subclass for each model says what differs.

    Attributes
    ----------
    name, summary : str
        The word of the command, and its help.
    train : callable
        The library's function, of whose choices all are options.
    title, ordinary : str
        What the model is called, and the one with ordinary units, if there is one beside it.
    article : str
    kinds : sequence of classes
        That training can go on from.
    own : mapping
        Defaults that are this command's, not the library's: values, or mappings from data sets to
        them ("FILE": from those of one's own; "other": from all others).
    figures : sequence of str
        Files that `draw` writes.
    sets : sequence of str
        What --data may be beside a file of one's own.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    train: ClassVar[Callable[..., Any]]
    title: ClassVar[str]
    ordinary: ClassVar[str | None] = None
    kinds: ClassVar[Sequence[type]]
    own: ClassVar[Mapping[str, Any]] = {}
    figures: ClassVar[Sequence[str]] = ()
    sets: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def add_data(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the data and of what is the model's own."""

    @abstractmethod
    def load(self, arguments: argparse.Namespace) -> Any:
        """Return the data."""

    @abstractmethod
    def few(self, data: Any) -> Any:
        """Return a little of the data."""

    @abstractmethod
    def words(self, arguments: argparse.Namespace, data: Any) -> str:
        """Return in words what is trained on."""

    @abstractmethod
    def fit(self, data: Any, **settings: Any) -> Any:
        """Train."""

    @abstractmethod
    def scores(self, arguments: argparse.Namespace, data: Any, fit: Any) -> Figures:
        """Return the figures of a trained model, for the report."""

    @abstractmethod
    def table(self, results: Results) -> Iterator[str]:
        """Return the lines that are printed of the results."""

    def others(self, arguments: argparse.Namespace, data: Any) -> Results:
        """Return the figures of other models beside it."""
        return {}

    def draw(  # noqa: B027  (there need be no figures)
        self,
        arguments: argparse.Namespace,
        folder: Path,
        data: Any,
        fits: Mapping[str, Any],
        results: Results,
    ) -> None:
        """Write the figures."""

    def add(self, models: Any) -> None:
        """Add the command to those that train."""
        parser = models.add_parser(self.name, help=self.summary)
        parser.set_defaults(run=self.run)
        self.add_data(parser)
        add_training(parser, self.train, self.own)
        parser.add_argument("--start", metavar="MODEL", help="a file with a model to go on from")
        parser.add_argument("--no-baseline", action="store_true", help="no other models beside it")
        parser.add_argument("--out", help=f"folder for the results (default trug-{self.name}-DATA)")
        beside = f" (the {self.ordinary}'s beside it)" if self.ordinary else ""
        options.add_checkpoint(parser, beside)
        options.add_common(parser)

    def run(self, arguments: argparse.Namespace) -> None:
        """Train, score, print, draw and write."""
        self._settle(arguments)
        runs = self._runs(arguments)
        checkpoints = {
            name: options.checkpoint_of(arguments, "" if name == MODEL else f"-{name}")
            for name in runs
        }
        folder = Path(arguments.out or f"trug-{self.name}-{own_data.stem(arguments.data)}")
        self._refuse_foreign(folder)
        data = self.load(arguments)
        rehearsed = self._rehearse(arguments, data, runs[MODEL])
        _require_room(folder, rehearsed, runs)
        results: Results = {}
        print(self.words(arguments, data), flush=True)
        fits: dict[str, Any] = {}
        for name, settings in runs.items():
            ordinary = settings.get("hidden") == "bernoulli"
            title = self.ordinary if ordinary and self.ordinary else self.title
            with (
                _put_aside(folder, () if fits else (*self._files(), REPORT)),
                _heard(name == BASELINE) as said,
            ):
                self._report(folder, arguments, results)
                fits[title] = self._fit(arguments, folder, data, name, title, settings, checkpoints)
            if said:  # a model that failed would flatter the one beside it
                fits.pop(title, None)
                print(f"no {title} beside it, whose training failed: {said[0]}")
                continue
            results[title] = self.scores(arguments, data, fits[title])
            self._report(folder, arguments, results)
        if not arguments.no_baseline:
            results |= self.others(arguments, data)
            self._report(folder, arguments, results)
        print("", *self.table(results), sep="\n")
        try:
            with files.naming(folder):
                self.draw(arguments, folder, data, fits, results)
        except ImportError as error:
            print(f"no figure: {error}")
        written = [name for name in (*self._files(), REPORT) if (folder / name).exists()]
        print(f"written to {folder}: {', '.join(written)}")

    @property
    def program(self) -> str:
        """The mark in result.json by which a folder is known as this command's."""
        return f"trug-fast train {self.name}"

    def _settle(self, arguments: argparse.Namespace) -> None:
        """Give options that were not typed the command's own defaults."""
        for name, value in self.own.items():
            if getattr(arguments, name) is None:
                if isinstance(value, Mapping):
                    known = arguments.data in self.sets
                    value = value.get(arguments.data if known else FILE, value.get("other"))
                setattr(arguments, name, value)

    def units_of(self, arguments: argparse.Namespace) -> tuple[str, own_data.ScalingOrFit]:
        """Return the kind of visible units, and how real data are standardised for them.

        Both are those of the model that training goes on from, if there is one.
        """
        if arguments.start is None:
            return arguments.visible or "bernoulli", own_data.FIT
        model = load_model(arguments.start, *self.kinds)
        return arguments.visible or model.visible, model.scaling

    def _runs(self, arguments: argparse.Namespace) -> dict[str, Choices]:
        """Return the choices of each training."""
        flat = chosen_training(arguments, self.train)
        settings = arguments_of(self.train, flat)
        if arguments.start is not None:
            if "start" in settings:
                idle = [f"--{name.replace('_', '-')}" for name in flat if name.startswith("start_")]
                raise ValueError(f"with --start there is no effect of {', '.join(idle)}")
            settings["start"] = load_model(arguments.start, *self.kinds)
        runs = {MODEL: settings}
        if self.ordinary and settings.get("hidden") != "bernoulli" and not arguments.no_baseline:
            same = {name: value for name, value in flat.items() if name not in OF_TRUG}
            runs[BASELINE] = arguments_of(self.train, same | {"hidden": "bernoulli"})
        return runs

    def _rehearse(self, arguments: argparse.Namespace, data: Any, settings: Choices) -> Any:
        """Run everything once on a little data: compiles kernels, finds what is wrong.

        Return the fit, or None where it diverges: the training will tell.
        """
        progress = options.progress(arguments)
        with announced(self.train.__name__, progress), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with divergence_raises(), suppress(FloatingPointError):  # the training will tell
                return self.fit(self.few(data), **settings | {"epochs": 1}, progress=False, rng=0)
            return None

    def _fit(
        self,
        arguments: argparse.Namespace,
        folder: Path,
        data: Any,
        name: str,
        title: str,
        settings: Choices,
        checkpoints: Mapping[str, Any],
    ) -> Any:
        print(f"training {'an' if title[0] in 'aeiou' else 'a'} {title} ...", flush=True)
        fit = self.fit(
            data,
            **settings,
            checkpoint=checkpoints[name],
            progress=options.progress(arguments),
            rng=arguments.seed,
        )
        _save(fit.model, folder / f"{name}.npz")
        files.write(folder / f"{name}-history.npz", "history", fit.history)
        if fit.interrupted:
            again = "" if arguments.checkpoint is None else "; --resume continues"
            raise KeyboardInterrupt(f"; the models so far are in {folder}{again}")
        return fit

    def _files(self) -> list[str]:
        runs = (MODEL, BASELINE) if self.ordinary else (MODEL,)
        return [f"{name}{end}.npz" for name in runs for end in ("", "-history")] + [*self.figures]

    def _report(self, folder: Path, arguments: argparse.Namespace, results: Results) -> None:
        given = {k: v for k, v in vars(arguments).items() if k != "run" and v is not None}
        report = {
            "program": self.program,
            "version": __version__,
            "options": given,
            "results": results,
        }
        text = json.dumps(report, indent=1, allow_nan=False)
        with files.replacing(folder / REPORT) as stream:
            stream.write(f"{text}\n".encode())

    def _refuse_foreign(self, folder: Path) -> None:
        """Refuse a folder with files that no earlier run of this command has written."""
        if not folder.exists() or not any(folder.iterdir()):
            return
        try:
            mark = json.loads((folder / REPORT).read_text("utf-8")).get("program")
        except (OSError, ValueError, AttributeError, RecursionError):
            mark = None
        if mark != self.program:
            raise ValueError(f"{folder} holds other files; choose another folder with --out")


@contextmanager
def _put_aside(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Put aside what an earlier run left, which must not pass for this one's.

    A training that is refused, for its checkpoint or its data, puts it back.
    """
    with TemporaryDirectory(dir=folder, prefix=".earlier-") as aside:
        kept = [name for name in names if (folder / name).exists()]
        for name in kept:
            (folder / name).rename(Path(aside, name))
        try:
            yield
        except (ValueError, TypeError, OSError):
            for name in kept:
                Path(aside, name).replace(folder / name)
            raise


def _require_room(folder: Path, fit: Any, names: Iterable[str]) -> None:
    """Make the folder, and try to write models of the size to come: before the training."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".trial-") as trial:
            for name in names if fit is not None else ():
                fit.model.save(Path(trial, f"{name}.npz"))
    except OSError as error:
        raise OSError(f"cannot write results to {folder}: {error.strerror or error}") from error


def _save(model: Any, target: Path) -> None:
    """Save a model; elsewhere where it cannot be, which the error tells.

    Raises
    ------
    OSError
        If it could not be saved in its place.
    """
    try:
        model.save(target)
        return
    except OSError as error:
        why = error
    where = f"nor is there room for it in {gettempdir()} or {Path.home()}"
    for place in (gettempdir(), Path.home()):
        with suppress(OSError):
            other = Path(mkdtemp(prefix=f"{target.parent.name}-", dir=place), target.name)
            model.save(other)
            where = f"the model is in {other}"
            break
    raise OSError(f"{why}; {where}") from why


@contextmanager
def _heard(beside: bool) -> Iterator[list[str]]:
    """Hear what a training beside the model's own says against itself, to its end or at it."""
    said: list[str] = []
    if not beside:
        yield said
        return
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", TrainingWarning)
        try:
            with divergence_raises():
                yield said
        except FloatingPointError as error:
            said.append(str(error))
    for each in heard:
        if issubclass(each.category, TrainingWarning):
            said.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def rows_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table whose columns are as wide as they need be."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        name, *cells = (cell.ljust(w) if k == 0 else cell.rjust(w)
                        for k, (cell, w) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        yield "  ".join([name, *cells]).rstrip()


def ends_of(model: Any) -> dict[str, list[float | str]]:
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


def words_of(ends: Mapping[str, Sequence[float | str]]) -> Iterator[str]:
    """Return in words where the truncation points are."""
    for name, values in ends.items():
        low, q1, middle, q3, high = (float(end) for end in values)
        words = (
            f"{low:.3g}, all units"
            if low == high
            else f"{low:.3g} to {high:.3g}, quartiles {q1:.3g}, {middle:.3g}, {q3:.3g}"
        )
        yield f"{name} truncation points: {words}"


def held_back(rows: Any, share: float | None) -> tuple[Any, Any]:
    """Return rows to train on, and the last ones, held back for validation, or None."""
    if share is None:
        return rows, None
    if not 0 < share < 1:
        raise ValueError(f"--validation must be above 0 and below 1, got {share}")
    kept = len(rows) - max(1, round(share * len(rows)))
    return rows[:kept], rows[kept:]
