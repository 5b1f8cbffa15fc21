"""Computing the cells of a table, whatever it is a table of."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from trug_fast._common import files
from trug_fast._common.workers import (
    AGAIN,
    INSTALL,
    Reply,
    WorkersError,
    result,
    sources_of,
    submit,
)
from trug_fast.kernels.announcing import announced
from trug_fast.training.diagnosis import TrainingWarning

from . import results
from .protocol import Cell, Sections, read, select
from .results import Line

RESULTS = "results.jsonl"
OWN = sources_of(Path(__file__).parent)
SOURCES = "sources.txt"  # in a cell's folder: the commits that have worked on it


@dataclass(frozen=True)
class Session:
    """What the user said about a run, besides the protocol.

    Attributes
    ----------
    out : Path
        Folder of checkpoints, models and results.
    seed : int
    several : bool
        Whether there are runs with other seeds too: then each has a folder of its own.
    elsewhere : bool
        Whether cells are computed by the workers of a cluster.
    data_dir : str or None
        Where the data sets lie.
    progress : bool or None
        Whether to show bars and to print what is going on.
    """

    out: Path
    seed: int = 0
    data_dir: str | None = None
    progress: bool | None = None
    several: bool = False
    elsewhere: bool = False

    def seeds(self, count: int) -> list[Session]:
        """Return the runs with so many seeds from this one's on."""
        numbers = range(self.seed, self.seed + count)
        return [replace(self, seed=number, several=count > 1) for number in numbers]

    def say(self, words: str, end: str = "\n") -> None:
        """Print, unless the user wants it quiet."""
        if self.progress is not False:
            print(words, end=end, flush=True)

    def folder(self, cell: Cell) -> Path:
        """Return the folder of a cell."""
        return (self.out / f"seed-{self.seed}" if self.several else self.out) / cell.name


@dataclass(frozen=True)
class Table:
    """A table of the paper.

    Attributes
    ----------
    name, summary : str
    sections : mapping
        Sections of the configuration file, and the options that each may hold.
    rehearse : callable(cell, session)
        Compute a cell in miniature: compiles, and finds what is wrong with its options.
    compute : callable(cell, folder, session) -> dict
        Compute a cell, going on from what is in its folder; return its figures.
    header, row : sequence of str, callable(line) -> sequence of str
        How results are printed.
    note : str
        Printed below them.
    views : callable(lines) -> str, optional
        What is printed at the end: the same in other forms.
    lacks : callable(cell) -> str or None, optional
        Says what a cell needs that is not installed; it is left out then.
    """

    name: str
    summary: str
    sections: Sections
    rehearse: Callable[[Cell, Session], None]
    compute: Callable[[Cell, Path, Session], Line]
    header: Sequence[str]
    row: Callable[[Line], Sequence[str]]
    note: str
    views: Callable[[Sequence[Line]], str] | None = None
    lacks: Callable[[Cell], str | None] | None = None

    def cells(self, config: str | None, only: Sequence[str], *, quick: bool) -> list[Cell]:
        """Return the cells that a configuration file describes."""
        return select(read(self.name, config, self.sections, quick=quick), only)


Task = tuple[Cell, Session]


def run(
    table: Table,
    cells: Sequence[Cell],
    sessions: Sequence[Session],
    also: Path | None = None,
    executor: Executor | None = None,
) -> tuple[list[Line], list[str]]:
    """Compute the cells that have no result yet.

    Parameters
    ----------
    table : Table
    cells : sequence of Cell
    sessions : sequence of Session
        One for each seed; all have one folder.
    also : Path, optional
        Another file to which results are appended, beside that in the sessions' folder.
    executor : concurrent.futures.Executor, optional
        Computes cells in other processes, which see the folder and the data under the same names.

    Returns
    -------
    lines : list of dicts
        The results of all cells.
    failures : list of str
        What happened to cells whose training diverged; the others are computed nevertheless.
    """
    source = results.source()  # before anybody changes the files that are running
    session = sessions[0]
    cells = [cell for cell in cells if not _left_out(table, cell, session)]
    tasks = [(cell, each) for each in sessions for cell in cells]
    lines = [_finished(table, *task) for task in tasks]
    waiting = [number for number, line in enumerate(lines) if line is None]
    _try_options(table, tasks[: len(cells)], {number % len(cells) for number in waiting})
    session.out.mkdir(parents=True, exist_ok=True)
    for task, line in zip(tasks, lines, strict=True):
        if line is not None:
            session.say(f"{_title(task)}: finished {line.get('finished')}")
            _keep(line, also)
    failures = []
    outcomes = _one_by_one if executor is None else partial(_all_at_once, executor)
    for number, outcome in outcomes(table, [tasks[number] for number in waiting], source):
        if isinstance(outcome, str):
            failures.append(f"{_title(tasks[waiting[number]])}: {outcome}")
            session.say(failures[-1])
        else:
            lines[waiting[number]] = outcome
            _keep(outcome, session.out / RESULTS)
            _keep(outcome, also)
    return [line for line in lines if line is not None], failures


def _left_out(table: Table, cell: Cell, session: Session) -> bool:
    """Tell whether a cell is left out, and say why."""
    reason = table.lacks(cell) if table.lacks is not None else None
    if reason is not None:
        session.say(f"{cell.name}: left out, since {reason}")
    return reason is not None


def _keep(line: Line, path: Path | None) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        results.append(path, line)


def _title(task: Task) -> str:
    cell, session = task
    return f"{cell.name}, seed {session.seed}" if session.several else cell.name


def _try_options(table: Table, tasks: Sequence[Task], wanted: Collection[int]) -> None:
    """Compute what is wanted of these tasks in miniature."""
    if wanted:
        session = tasks[0][1]
        session.say("trying the options of each cell ...")
        with announced(table.name, session.progress):
            for number in sorted(wanted):
                _rehearse(table, *tasks[number])


Outcomes = Iterator[tuple[int, Line | str]]


def _one_by_one(table: Table, tasks: Sequence[Task], source: str) -> Outcomes:
    """Yield number and result of each task, or why it has none, computed here."""
    for number, task in enumerate(tasks):
        try:
            yield number, _compute(table, *task, source)
        except FloatingPointError as error:
            yield number, str(error)


def _all_at_once(executor: Executor, table: Table, tasks: Sequence[Task], source: str) -> Outcomes:
    """Do so by an executor, in the order in which they come."""
    waiting: dict[Future[Reply], int] = {}
    for number, (cell, session) in enumerate(tasks):
        quiet = replace(session, progress=False, elsewhere=True)
        future = submit(executor, _compute_there, OWN, table, cell, quiet, source)
        waiting[future] = number
        session.say(f"{_title((cell, session))}: handed out")
    try:
        for future in as_completed(waiting):
            task = tasks[waiting[future]]
            try:
                line = result(future, f", computing {_title(task)}")
            except FloatingPointError as error:
                yield waiting[future], str(error)
            except ModuleNotFoundError as error:
                what = f"a worker does not find {error.name}; start it in a checkout"
                raise WorkersError(f"{what} and {AGAIN}") from None
            else:
                task[1].say(f"{_title(task)}: finished {line['finished']}")
                yield waiting[future], line
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def workers(session: Session, wanted: bool) -> Iterator[Executor | None]:
    """Give a cell that a cluster computes its workers, for parts of it, if they are wanted."""
    if not (wanted and session.elsewhere):
        yield None
        return
    from distributed import worker_client

    with worker_client() as client, client.get_executor(pure=False) as executor:
        yield executor


def show(table: Table, lines: Sequence[Line]) -> str:
    """Return results as a table in Markdown, with its note.

    Raises
    ------
    ValueError
        If a result lacks what a row of the table needs.
    """
    own = [line for line in lines if line.get("table") == table.name]
    try:
        rows = [table.row(line) for line in own]
        keys = [(json.dumps([line["cell"], line["options"]]), line["seed"]) for line in own]
        over_seeds = results.over_seeds(keys, rows)
        views = table.views(lines) if table.views is not None else ""
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"results of {table.name} are damaged: {error!r}") from error
    parts = [results.markdown(table.header, rows)]
    if over_seeds:
        parts += ["Means and standard deviations over seeds:"]
        parts += [results.markdown((*table.header, "seeds"), over_seeds)]
    return "\n\n".join(filter(None, (*parts, table.note, views)))


def _rehearse(table: Table, cell: Cell, session: Session) -> None:
    try:
        with warnings.catch_warnings():  # an epoch of a few rows is no training to judge
            warnings.simplefilter("ignore", TrainingWarning)
            table.rehearse(cell, session)
    except FloatingPointError:
        pass  # the training will tell
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{cell.name}: {error}") from error


def _compute_there(own: str, *task: Any) -> Line:
    """Compute in a worker, if it has these sources."""
    if own != OWN:
        raise WorkersError(f"a worker has another reproduction; {INSTALL}")
    return _compute(*task)


def _compute(table: Table, cell: Cell, session: Session, source: str) -> Line:
    folder = session.folder(cell)
    folder.mkdir(parents=True, exist_ok=True)
    seen = folder / SOURCES
    sources = seen.read_text("utf-8").splitlines() if seen.exists() else []
    if source not in sources:
        sources.append(source)
        with files.replacing(seen) as stream:
            stream.write("".join(f"{each}\n" for each in sources).encode())
    figures = table.compute(cell, folder, session)
    return _key(table, cell, session) | {
        "data": cell.data,
        "label": cell.label,
        "paper": cell.paper,
        **figures,
        "finished": results.now(),
        "source": sources,
        "machine": results.computer(),
    }


def _key(table: Table, cell: Cell, session: Session) -> Line:
    """Return by what a result is known as that of a cell."""
    key: Any = results.plain(
        {"table": table.name, "cell": cell.name, "seed": session.seed, "options": cell.options}
    )
    return dict(key)


def _finished(table: Table, cell: Cell, session: Session) -> Line | None:
    """Return the latest result of a cell with these options, if there is one."""
    key = _key(table, cell, session)
    for line in reversed(results.read(session.out / RESULTS)):
        if key.items() <= {name: line.get(name) for name in key}.items():
            return line
    return None
