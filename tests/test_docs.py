"""Every example that a reader may copy runs: pages, docstrings."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import reproduction
import trug_fast

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "reproduction" / "notes"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), NOTES / "neurons.md"]
MODULES = ["trug_fast"] + [
    module.name
    for package in (trug_fast, reproduction)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if ".scripts" not in module.name
]
OPTIONAL = {"matplotlib", "sklearn", "distributed", "dask"}


def blocks(page):
    """Yield (line, code) of each Python block."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(1)), match.group(1)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    count = 0
    for line, code in blocks(page):
        # Blank lines in front make the line numbers of a traceback those of the page.
        try:
            exec(compile("\n" * line + code, str(page), "exec"), names)
        except ImportError as error:
            if 'pip install "trug-fast[' not in str(error):
                raise
            pytest.skip(str(error))
        count += 1
    assert count > 0


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
    failures, _ = doctest.testmod(module)
    assert failures == 0


def test_examples_of_compiled_functions_are_found():
    found = doctest.DocTestFinder().find(trug_fast.kernels.unit.scalars)
    assert {
        "trug_fast.kernels.unit.scalars.offset",
        "trug_fast.kernels.unit.scalars.mean_variance",
    } <= {test.name for test in found if test.examples}


def test_the_map_of_the_package_names_its_rooms_and_only_files_that_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package = Path(trug_fast.__file__).parent
    sources = list(package.rglob("*.py"))
    rooms = {path.parent.name for path in sources if path.parent != package}
    assert rooms <= set(re.findall(r"(\w+)/", text))
    named = set(re.findall(r"\w+\.py\b", text))
    assert named <= {path.name for path in sources}, "renamed or gone"
