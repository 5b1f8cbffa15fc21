"""Every citation in code and pages leads somewhere: to a section, a file, a heading of a page."""

import ast
import io
import re
import tokenize
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("trug_fast", "tests", "tools", "asv_benchmarks", "docs", "reproduction", ".ci")
PAGES = sorted([*ROOT.glob("*.md"), *(p for f in FOLDERS for p in (ROOT / f).rglob("*.md"))])
CODE = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
NUMBER = r"\d+(?:\.\d+)?"
# The one form of a citation of docs/mathematics.md; more sections follow after ", " or " and ".
CITATION = re.compile(rf"\bmathematics ({NUMBER}(?:(?:, | and ){NUMBER})*)")
# In the page itself: sections in brackets, "(2.4)" or "(4.2, 5.4)".
WITHIN = re.compile(r"\((\d\.\d+(?:, \d\.\d+)*)\)")
FILE = re.compile(r"(?<![\w/.*<{-])((?:[\w.-]+/)*\w[\w.-]*\.(?:md|py|toml))(?:#([\w-]+))?\b(?!\()")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)")
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# What a user's own files are called in examples.
THEIRS = {"helper.py", "user.py", "run.py", "kernel.py", "my.toml", "NAME.toml"}


def relative(path):
    return path.relative_to(ROOT).as_posix()


@cache
def files():
    """Return the paths of all files that a text may name."""
    inside = (p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file())
    return {relative(p) for p in [*inside, *(p for p in ROOT.iterdir() if p.is_file())]}


@cache
def found(name):
    """Return a file whose path ends in this name, if there is one."""
    return next((ROOT / path for path in files() if f"/{path}".endswith(f"/{name}")), None)


@cache
def whole(path):
    """Return a text with its lines joined, also those of comments."""
    return re.sub(r"\s*\n\s*(?:#+\s+)?", " ", path.read_text(encoding="utf-8"))


@cache
def prose(path):
    """Return a page without its code and links, or a module's comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return LINK.sub("]", CODE_BLOCK.sub("", text))
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    parts = [ast.get_docstring(node) or "" for node in nodes]
    return "\n".join([*parts, *(t.string for t in tokens if t.type == tokenize.COMMENT)])


@cache
def sections():
    """Return the numbers of the headings of docs/mathematics.md, in their order."""
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    return re.findall(rf"^##+ ({NUMBER}) ", text, re.MULTILINE)


@cache
def anchors(page):
    """Return what the headings of a page are called in links to them."""
    text = CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_sections(text, form=CITATION):
    """Return the sections that a text cites and docs/mathematics.md lacks."""
    cited = [n for match in form.findall(text) for n in re.findall(NUMBER, match)]
    return [number for number in cited if number not in sections()]


def wrong_files(text):
    """Return the files that a text names, and headings of pages, that do not exist."""
    wrong = []
    for name, anchor in FILE.findall(text):
        if name in THEIRS:
            continue
        if found(name) is None:
            wrong.append(name)
        elif anchor and anchor not in anchors(found(name)):
            wrong.append(f"{name}#{anchor}")
    return wrong


def wrong_links(page, text):
    """Return the links of a page, whose text is given, that lead nowhere."""
    wrong = []
    for target, anchor in LINK.findall(text):
        to = page.parent / target if target else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            wrong.append(f"{target}#{anchor}" if anchor else target)
    return wrong


@pytest.mark.parametrize("path", [*PAGES, *CODE], ids=relative)
def test_sections_and_files_exist(path):
    assert wrong_sections(whole(path)) == []
    if path.name != "CHANGELOG.md":  # it tells of files that have gone
        assert wrong_files(prose(path)) == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_to_files_and_headings(page):
    assert wrong_links(page, CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))) == []


def test_sections_are_numbered_in_order_and_name_each_other():
    numbers = [tuple(int(part) for part in number.split(".")) for number in sections()]
    for before, after in pairwise([(0,), *numbers]):
        first, last = before[0], before[-1]
        following = {(first + 1,), (first, 1)} | ({(first, last + 1)} if before[1:] else set())
        assert after in following
    page = ROOT / "docs" / "mathematics.md"
    assert wrong_sections(CODE_BLOCK.sub("", page.read_text(encoding="utf-8")), WITHIN) == []


def test_code_cites_sections():
    assert sum(len(CITATION.findall(whole(path))) for path in CODE) > 50


def test_what_is_wrong_is_found(tmp_path):
    cite = "mathe" + "matics"
    text = f"see {cite} 2.4, 99.1 and 3.88, {cite} 4 and {cite} 77"
    assert wrong_sections(text) == ["99.1", "3.88", "77"]
    assert wrong_sections("as above (2.4, 2.99), at (9.9)", WITHIN) == ["2.99", "9.9"]
    gone = "no_such_" + "file"
    text = f"see docs/{gone}.md, {gone}.py and README.md, docs/kernels.md#{gone}; pyproject.toml"
    assert wrong_files(text) == [f"docs/{gone}.md", f"{gone}.py", f"docs/kernels.md#{gone}"]
    page = ROOT / "docs" / "kernels.md"
    links = f"[a]({gone}.md) [b](#accuracy) [c](#{gone}) [d](mathematics.md#notation)"
    assert wrong_links(page, links) == [f"{gone}.md", f"#{gone}"]
    module = tmp_path / "module.py"
    module.write_text(f'"""A ({cite}\n9.99)."""\nx = "a.py"  # as in {cite}\n# 7.77, {gone}.py\n')
    assert wrong_sections(whole(module)) == ["9.99", "7.77"]
    assert wrong_files(prose(module)) == [f"{gone}.py"]
