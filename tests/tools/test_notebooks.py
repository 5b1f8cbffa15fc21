"""Pages as notebooks: nothing of a page is lost, and its code runs in cells as in the page."""

import json
from pathlib import Path

import pytest

import trug_fast
from tools.notebooks import has_examples, notebook, with_link

PAGE = """# A page

Some words.

```python
x = 1
```

```text
not code
```

```python
assert x == 1
```
"""


def test_text_and_code_become_cells_in_their_order():
    cells = notebook(PAGE)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown", "code"]
    assert [cell["source"] for cell in cells if cell["cell_type"] == "code"] == [
        "x = 1",
        "assert x == 1",
    ]
    assert "not code" in cells[2]["source"]
    assert len({cell["id"] for cell in cells}) == 4
    for cell in cells:
        assert ("outputs" in cell) == (cell["cell_type"] == "code")


def test_only_pages_with_examples_are_linked_under_their_title():
    assert has_examples(PAGE) and not has_examples("# A page\n\n```text\nx\n```\n")
    title, link = with_link(PAGE, "page").split("Some words.")[0].split("\n\n", 1)
    assert title == "# A page" and "notebooks/page.ipynb" in link


@pytest.mark.parametrize("page", sorted(Path("docs").glob("*.md")), ids=lambda page: page.name)
def test_no_line_of_a_page_is_lost(page):
    text = page.read_text(encoding="utf-8")
    made = notebook(text)
    assert json.loads(json.dumps(made)) == made and made["nbformat"] == 4
    kept = "\n".join(cell["source"] for cell in made["cells"]).split("\n")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("```")]
    assert [line for line in lines if line not in kept] == []


ROOMS = ("training", "evaluation", "models", "distributions")


def test_every_public_name_is_in_the_reference():
    pages = [page.read_text(encoding="utf-8") for page in Path("docs/reference").glob("*.md")]
    named = {line.split()[-1] for page in pages for line in page.split("\n") if line[:2] == ".."}
    lists = {"trug_fast": set(trug_fast.__all__) - set(ROOMS)}
    for room in ROOMS:
        own = getattr(trug_fast, room).__all__
        lists[f"trug_fast.{room}"] = set(own) - lists["trug_fast"]
    whole = {f"{home}.{name}" for home, names in lists.items() for name in names}
    assert len(whole) > 80 and sorted(whole - named) == []
