"""Frames: tables whose columns have names, as pandas and polars make them; neither is needed.

Tested in tests/test_frames.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

Names = tuple[str, ...] | None

SHOWN = 12  # names of columns in a message


def names_of(value: Any) -> Names:
    """Return the names of a frame's columns, or of those of the first of several; else None.

    Columns that are only numbered, or whose names do not tell them apart, have none.
    """
    if isinstance(value, list | tuple):
        found = (names_of(part) for part in value if not isinstance(part, list | tuple))
        return next((names for names in found if names is not None), None)
    names = _names(value)
    return None if len(set(names)) < len(names) else names or None


def arranged(name: str, value: Any, wanted: Names) -> Any:
    """Return a frame with the columns of these names, in this order; all else as it is.

    Other columns are left out.  Of a list, or tuple, each frame is arranged.
    """
    if wanted is None:
        return value
    if isinstance(value, list | tuple):
        if names_of(value) is None:
            return value
        return [arranged(f"{name}[{k}]", part, wanted) for k, part in enumerate(value)]
    names = _names(value)
    if not names or names == wanted:
        return value
    require_names(name, names, wanted)
    return value[list(wanted)]


def require_names(name: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns among which some are lacking, or are there more than once."""
    if lacking := [each for each in wanted if each not in names]:
        free = [name for name in names if name not in wanted]
        words = ", ".join(each + nearest(each, free) for each in lacking[:SHOWN])
        known = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
        raise ValueError(f"{name} lacks the columns {words}; it has {known}")
    if twice := [each for each in wanted if list(names).count(each) > 1]:
        raise ValueError(f"{name} has several columns {twice[0]!r}")


def _names(value: Any) -> tuple[str, ...]:
    """Return the names of the columns of a frame, nothing of all else."""
    names = getattr(value, "columns", None)
    if names is None or callable(names) or not hasattr(value, "__getitem__"):
        return ()
    found = tuple(names)
    return found if all(isinstance(each, str) for each in found) else ()


def nearest(word: str, names: Sequence[str]) -> str:
    """Return in words which of some names comes nearest to one, if any is near."""
    known = {name.casefold(): name for name in names}
    found = get_close_matches(word.casefold(), known, 1)
    return f" (is it {known[found[0]]!r}?)" if found else ""
