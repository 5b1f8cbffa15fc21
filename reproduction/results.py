"""Files of results: one line of JSON for each cell that was computed."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from trug_fast._common import files

Line = dict[str, Any]


def plain(value: Any) -> Any:
    """Return a value as JSON holds it; infinity and NaN, which it lacks, in words."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def append(path: Path, line: Line) -> None:
    """Write a line at the end of a file, unless it is there already."""
    text = json.dumps(plain(line), allow_nan=False).encode()
    written = path.read_bytes() if path.exists() else b""
    if text in written.splitlines():
        return
    # A process that was killed while writing may have left half a line.
    gap = b"\n" if written and not written.endswith(b"\n") else b""
    with files.naming(path), path.open("ab") as stream:
        stream.write(gap + text + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def read(path: Path) -> list[Line]:
    """Return all lines of a file; those that were cut short or are damaged are left out."""
    found = []
    for text in path.read_bytes().splitlines() if path.exists() else ():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict):
            found.append(line)
    return found


def source() -> str:
    """Return the commit of this checkout; of files without a history the package's version."""
    from trug_fast import __version__

    folder = Path(__file__).parent

    def git(*words: str) -> str:
        run = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=True
        )
        return run.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)  # fails for an ignored folder
        commit = git("rev-parse", "HEAD")
        changed = git(
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            str(folder),
            str(folder.parent / "trug_fast"),
        )
    except (OSError, subprocess.SubprocessError):
        return f"version {__version__}"
    return f"{commit}, with changes" if changed else commit


def computer() -> Line:
    """Return what computed: processor, kernels of BLAS, cores, memory, threads and versions."""
    import numba
    import numpy as np

    from trug_fast._common.config import loaded, processor

    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):
        memory = math.nan
    return {
        "processor": processor(),
        "blas": ", ".join(sorted({str(library) for library in loaded()})),
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "threads": numba.get_num_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def now() -> str:
    """Return the time in words that sort."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, with columns wide enough to be read as it is."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in (header, rule, *rows)
    )


def over_seeds(keys: Sequence[tuple[str, int]], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a row for each cell with results of several seeds: means and deviations.

    keys : of each row what its runs have in common, and its seed
    """
    found = []
    for cell in dict.fromkeys(cell for cell, _ in keys):
        own = {seed: row for (name, seed), row in zip(keys, rows, strict=True) if name == cell}
        if len(own) > 1:
            columns = zip(*own.values(), strict=True)
            found.append([*(_over_seeds(each) for each in columns), str(len(own))])
    return found


def _over_seeds(cells: Sequence[str]) -> str:
    """Return what cells of one column have in common, or mean and deviation of their numbers."""
    if len(set(cells)) == 1:
        return cells[0]
    try:
        numbers = [float(each) for each in cells]
    except ValueError:
        return ""
    places = max(len(each.partition(".")[2]) for each in cells)
    mean, deviation = statistics.mean(numbers), statistics.stdev(numbers)
    return f"{mean:.{places}f} +- {deviation:.{places}f}"
