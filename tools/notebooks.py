"""Pages of the documentation as notebooks: their text, and their Python blocks as cells to run.

An extension of Sphinx (docs/conf.py): each page that has examples gets a link to its notebook.
Tested in tests/tools/test_notebooks.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = "notebooks"  # of the site
_BLOCK = re.compile(r"^```python\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)


def notebook(markdown: str) -> dict[str, Any]:
    """Return a notebook (format 4.5) of a page."""
    cells: list[dict[str, Any]] = []
    for i, part in enumerate(_BLOCK.split(markdown)):  # text and code in turns
        if not part.strip():
            continue
        cell: dict[str, Any] = {"id": f"cell-{len(cells)}", "metadata": {}, "source": part.strip()}
        if i % 2:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        else:
            cell |= {"cell_type": "markdown"}
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def has_examples(markdown: str) -> bool:
    """Tell whether a page has Python blocks."""
    return _BLOCK.search(markdown) is not None


def with_link(markdown: str, name: str) -> str:
    """Return a page with a link to its notebook under the title."""
    link = (
        f'```{{raw}} html\n<p><a href="{FOLDER}/{name}.ipynb" download>As a notebook</a></p>\n```'
    )
    return re.sub(r"^(# .*\n)", rf"\1\n{link}\n", markdown, count=1, flags=re.MULTILINE)


def _add_link(app: Any, page: str, source: list[str]) -> None:
    if "/" not in page and has_examples(source[0]):
        source[0] = with_link(source[0], page)


def _write_all(app: Any, error: Exception | None) -> None:
    if error is not None:
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(exist_ok=True)
    for page in Path(app.srcdir).glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if has_examples(text):
            words = json.dumps(notebook(text), indent=1)
            folder.joinpath(f"{page.stem}.ipynb").write_text(words, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Have Sphinx call what is above."""
    app.connect("source-read", _add_link)
    app.connect("build-finished", _write_all)
    return {"parallel_read_safe": True}
