"""Computing the cells of a table, whatever it is a table of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trug_fast.kernels.announcing import announced

from . import results
from .protocol import Cell, Sections, read, select
from .results import Line

RESULTS = "results.jsonl"
SOURCES = "sources.txt"  # in a cell's folder: the commits that have worked on it


@dataclass(frozen=True)
class Session:
    """What the user said about a run, besides the protocol.

    Attributes
    ----------
    out : Path
        Folder of checkpoints, models and results.
    seed : int
    data_dir : str or None
        Where the data sets lie.
    progress : bool or None
        Whether to show bars and to print what is going on.
    """

    out: Path
    seed: int = 0
    data_dir: str | None = None
    progress: bool | None = None

    def say(self, words: str, end: str = "\n") -> None:
        """Print, unless the user wants it quiet."""
        if self.progress is not False:
            print(words, end=end, flush=True)

    def folder(self, cell: Cell) -> Path:
        """Return the folder of a cell."""
        return self.out / cell.name


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

    def cells(self, config: str | None, only: Sequence[str], *, quick: bool) -> list[Cell]:
        """Return the cells that a configuration file describes."""
        return select(read(self.name, config, self.sections, quick=quick), only)


def run(
    table: Table, cells: Sequence[Cell], session: Session, also: Path | None = None
) -> tuple[list[Line], list[str]]:
    """Compute the cells that have no result yet.

    Parameters
    ----------
    table : Table
    cells : sequence of Cell
    session : Session
    also : Path, optional
        Another file to which results are appended, beside that in ``session.out``.

    Returns
    -------
    lines : list of dicts
        The results of all cells.
    failures : list of str
        What happened to cells whose training diverged; the others are computed nevertheless.
    """
    source = results.source()  # before anybody changes the files that are running
    open_cells = [cell for cell in cells if _finished(table, cell, session) is None]
    if open_cells:
        session.say("trying the options of each cell ...")
        with announced(table.name, session.progress):
            for cell in open_cells:
                _rehearse(table, cell, session)
    session.out.mkdir(parents=True, exist_ok=True)
    lines, failures = [], []
    for cell in cells:
        line = _finished(table, cell, session)
        if line is None:
            try:
                line = _compute(table, cell, session, source)
            except FloatingPointError as error:
                failures.append(f"{cell.name}: {error}")
                session.say(failures[-1])
                continue
            results.append(session.out / RESULTS, line)
        else:
            session.say(f"{cell.name}: finished {line.get('finished')}")
        if also is not None:
            also.parent.mkdir(parents=True, exist_ok=True)
            results.append(also, line)
        lines.append(line)
    return lines, failures


def show(table: Table, lines: Sequence[Line]) -> str:
    """Return results as a table in Markdown, with its note.

    Raises
    ------
    ValueError
        If a result lacks what a row of the table needs.
    """
    try:
        rows = [table.row(line) for line in lines if line.get("table") == table.name]
        views = table.views(lines) if table.views is not None else ""
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"results of {table.name} are damaged: {error!r}") from error
    return "\n\n".join(filter(None, (results.markdown(table.header, rows), table.note, views)))


def _rehearse(table: Table, cell: Cell, session: Session) -> None:
    try:
        table.rehearse(cell, session)
    except FloatingPointError:
        pass  # the training will tell
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{cell.name}: {error}") from error


def _compute(table: Table, cell: Cell, session: Session, source: str) -> Line:
    folder = session.folder(cell)
    folder.mkdir(parents=True, exist_ok=True)
    seen = folder / SOURCES
    sources = seen.read_text("utf-8").splitlines() if seen.exists() else []
    if source not in sources:
        sources.append(source)
        seen.write_text("".join(f"{each}\n" for each in sources), "utf-8")
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
