"""The package as a building: no circles, one name a class, few names at the top."""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import trug_fast

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "trug_fast"
PARAMETERS = 21  # of a function: train_trbm has the 20 of train_rbm and n_lags
TOP = 40  # names at the top; the rest is in the rooms

FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def trees():
    """Return the syntax tree of each file; for the process that runs these tests alone."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def module_of(path):
    """Return the dotted name of a file, and that of the package it is in."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[-1] == "__init__":
        return ".".join(parts[:-1]), ".".join(parts[:-1])
    return ".".join(parts), ".".join(parts[:-1])


MODULES = {module_of(path)[0]: path for path in FILES}


def imports_of(path):
    """Return the modules of the package that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(trees()[path]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module_of(path)[1].split(".")
                base = ".".join(package[: len(package) - node.level + 1] + [base] * bool(base))
            # "from package import name" means a module if there is one, else the package itself.
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else base for name in names}
    return {name for name in found if name in MODULES} - {module_of(path)[0]}


@cache
def graph_of_modules():
    """Return which modules each module imports."""
    return {name: imports_of(path) for name, path in MODULES.items()}


def circles(graph):
    """Return the sets of nodes that lead to each other."""

    def reached(name):
        seen, todo = set(), [name]
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    reach = {name: reached(name) for name in graph}
    groups = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return sorted(map(sorted, groups))


def functions():
    """Yield each function with its file."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path.relative_to(ROOT), node


def listed(found):
    """Return what was found, a line each, as the words of a failure."""
    rows = found.items() if isinstance(found, dict) else found
    return "\n".join(["", *map(str, rows)])


def test_circles_are_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert "trug_fast.models.fields" in graph_of_modules()["trug_fast.models.rbm"]
    assert "trug_fast.kernels.rbm.gibbs" in graph_of_modules()["trug_fast.models.rbm"]


def test_no_module_imports_itself_through_others():
    # Not at the head of a file, not within a function, not for type checkers only.
    found = circles(graph_of_modules())
    assert not found, listed(found)


def test_no_package_imports_itself_through_others():
    rooms = defaultdict(set)
    for name, others in graph_of_modules().items():
        room = name.split(".")[1] if "." in name else ""
        rooms[room] |= {other.split(".")[1] for other in others if "." in other} - {room}
    rooms.pop("")  # the root names what is public, and nobody imports it
    found = circles(rooms)
    assert not found, listed(found)


def test_a_class_has_a_name_of_its_own():
    names = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    found = {name: places for name, places in names.items() if len(places) > 1}
    assert not found, listed(found)


def test_functions_take_few_parameters():
    many = {}
    for path, node in functions():
        given = node.args
        count = len(given.posonlyargs + given.args + given.kwonlyargs)
        if count > PARAMETERS:
            many[f"{path}:{node.name}"] = count
    assert not many, listed(many)


def test_few_names_are_at_the_top():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    names = [name.asname for node in stub.body if hasattr(node, "names") for name in node.names]
    assert len(names) == len(set(names)) and set(names) == set(trug_fast.__all__)
    assert len(names) <= TOP, listed(names)


def test_what_users_call_is_documented():
    bare = []
    for name in trug_fast.__all__:
        thing = getattr(trug_fast, name)
        parts = {"": thing, **(dict(inspect.getmembers(thing)) if inspect.isclass(thing) else {})}
        bare += [
            f"{name}.{part}"
            for part, value in parts.items()
            if not part.startswith("_") and callable(value) and not inspect.getdoc(value)
        ]
    assert not bare, listed(bare)


def untested(path):
    """Tell whether a module has no test file of its name, nor names one that there is."""
    own = path.relative_to(PACKAGE)
    if (ROOT / "tests" / own.parent / f"test_{own.name}").exists():
        return False
    named = re.search(
        r"Tested in ([^\n]*?(tests/[\w/]+\.py))", ast.get_docstring(trees()[path]) or ""
    )
    return named is None or not (ROOT / named.group(2)).exists()


def test_each_module_has_a_test_of_its_name_or_says_where_it_is_tested():
    modules = [path for path in FILES if path.name != "__init__.py"]
    assert len(modules) > 100
    assert [str(path) for path in modules if untested(path)] == []
