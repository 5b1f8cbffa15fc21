"""Reading the file that says how a table is made."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Options = dict[str, Any]
Sections = Mapping[str, Collection[str]]  # name of a section: the options that it may hold

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")  # of data sets and cells, which name folders


@dataclass(frozen=True)
class Cell:
    """One number of a table and how to get it.

    Attributes
    ----------
    name : str
        "DATA/CELL", by which results and folders are known.
    data, label : str
        What the reader of the table is told: the data set, and the row.
    paper : float or None
        The number in the paper.
    options : dict of dicts
        The options of each section.
    """

    name: str
    data: str
    label: str
    paper: float | None
    options: dict[str, Options]


def text(table: str, path: str | Path | None = None) -> str:
    """Return the configuration in a file, or the one that is shipped for the table."""
    if path is None:
        return resources.files(__package__).joinpath(f"{table}.toml").read_text("utf-8")
    return Path(path).read_text("utf-8")


def read(table: str, path: str | Path | None, sections: Sections, *, quick: bool) -> list[Cell]:
    """Return the cells of a configuration file, in its order.

    Options stand in sections: at the top for all cells, under ``data.NAME`` for those of a data
    set, under ``cells.DATA.NAME`` for one, under ``quick`` for a smoke run.  Later ones of this
    list win, option by option.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError, TypeError
        If it is no TOML, or holds unknown keys: the message names file and key.
    """
    where, config = _load(table, path)
    _check(where, "", config, sections, ("data", "cells", "quick"))
    sets, cells, fast = (_table(where, config, name) for name in ("data", "cells", "quick"))
    _check(where, "quick.", fast, sections)
    for set_name in sets:
        shared = _table(where, sets, set_name, "data.")
        _check(where, f"data.{set_name}.", shared, sections, ("label",))
        if set_name not in cells:
            raise ValueError(f"{where}: data.{set_name} is used by no cell")
    found = []
    for set_name in cells:
        for name in _table(where, cells, set_name, "cells."):
            prefix = f"cells.{set_name}."
            own = _table(where, cells[set_name], name, prefix)
            _check(where, f"{prefix}{name}.", own, sections, ("label", "paper"))
            shared = sets.get(set_name, {})
            found.append(
                Cell(
                    _name(where, f"{set_name}/{name}"),
                    str(shared.get("label", set_name)),
                    str(own.get("label", name)),
                    _number(where, f"{prefix}{name}.paper", own.get("paper")),
                    _merge(sections, config, shared, own, fast if quick else {}),
                )
            )
    if not found:
        raise ValueError(f"{where} holds no cells")
    return found


def read_sections(
    name: str, path: str | Path | None, sections: Sections, *, quick: bool
) -> dict[str, Options]:
    """Return the sections of a configuration file without cells; those under ``quick`` win."""
    where, config = _load(name, path)
    _check(where, "", config, sections, ("quick",))
    fast = _table(where, config, "quick")
    _check(where, "quick.", fast, sections)
    return _merge(sections, config, fast if quick else {})


def select(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """Return the cells with these names; the name of a data set stands for all of its cells."""
    for name in only:
        if not any(_matches(cell, name) for cell in cells):
            known = ", ".join(cell.name for cell in cells)
            raise ValueError(f"no cell {name!r}; there are {known}")
    return [cell for cell in cells if not only or any(_matches(cell, name) for name in only)]


def _load(name: str, path: str | Path | None) -> tuple[str, Options]:
    """Return what to call a configuration file in messages, and what it holds."""
    where = str(path) if path is not None else f"{name}.toml"
    try:
        return where, tomllib.loads(text(name, path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{where} is no valid TOML: {error}") from None


def _matches(cell: Cell, name: str) -> bool:
    return cell.name == name or cell.name.startswith(f"{name}/")


def _merge(sections: Sections, *layers: Mapping[str, Any]) -> dict[str, Options]:
    """Return the sections of all layers, later ones first."""
    merged: dict[str, Options] = {part: {} for part in sections}
    for layer in layers:
        for part in sections:
            merged[part] |= layer.get(part, {})
    return merged


def _check(
    where: str, prefix: str, layer: Options, sections: Sections, others: tuple[str, ...] = ()
) -> None:
    """Refuse unknown keys of a layer and of its sections."""
    _known(where, prefix, layer, (*others, *sections))
    for part, known in sections.items():
        _known(where, f"{prefix}{part}.", _table(where, layer, part, prefix), known)


def _known(where: str, prefix: str, found: Options, known: Collection[str]) -> None:
    for name in found:
        if name not in known:
            raise ValueError(
                f"{where}: unknown key {prefix}{name}; expected one of {', '.join(known)}"
            )


def _table(where: str, parent: Mapping[str, Any], name: str, prefix: str = "") -> Any:
    value = parent.get(name, {})
    if not isinstance(value, dict):
        raise TypeError(f"{where}: {prefix}{name} must be a table, got {value!r}")
    return value


def _name(where: str, name: str) -> str:
    if not all(NAME.fullmatch(part) for part in name.split("/")):
        raise ValueError(f"{where}: cell {name!r} must be named by letters, digits and ._+-")
    return name


def _number(where: str, key: str, value: object) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return None if value is None else float(value)
    raise TypeError(f"{where}: {key} must be a number, got {value!r}")
