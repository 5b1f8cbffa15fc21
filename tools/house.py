"""Count what the house is made of: lines, code, files, names at the top, modules of one importer.

    python -m tools.house [ROOT]

Code is what is left without docstrings, comments and blank lines.  A module has one importer if one
other module of the package imports it; below 100 lines it is usually a paragraph of that one.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

SMALL = 100
IDLE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(source: str) -> int:
    """Return how many lines hold code."""
    texts = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts |= set(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in IDLE and token.type != tokenize.ENDMARKER:
            held |= set(range(token.start[0], token.end[0] + 1))
    return len(held - texts)


def imported(name: str, tree: ast.AST, package: bool, known: set[str]) -> set[str]:
    """Return the modules that a module imports, by their whole names."""
    found = set()
    parent = name if package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = parent.split(".")[: len(parent.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return (found & known) - {name}


def main() -> None:
    """Print a table of rooms, and the small modules of one importer."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    sources = {path: path.read_text() for path in sorted((root / "trug_fast").rglob("*.py"))}
    names = {
        path: ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in sources
    }
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    importers: dict[str, set[str]] = defaultdict(set)
    for path, source in sources.items():
        parts = path.relative_to(root / "trug_fast").parts
        for room in (parts[0] if len(parts) > 1 else "top", "all"):
            counts = 1, source.count("\n"), code_lines(source)
            rooms[room] = [a + b for a, b in zip(rooms[room], counts, strict=True)]
        package = path.name == "__init__.py"
        for other in imported(names[path], ast.parse(source), package, set(names.values())):
            importers[other].add(names[path])
    print("| room | files | lines | code |\n| --- | --- | --- | --- |")
    for room, counts in sorted(rooms.items()):
        print(f"| {room} |", " | ".join(map(str, counts)), "|")
    small = [
        names[path]
        for path, source in sources.items()
        if source.count("\n") < SMALL and len(importers[names[path]]) == 1
    ]
    print(f"\nmodules below {SMALL} lines with one importer: {len(small)}\n ", "\n  ".join(small))
    stub = root / "trug_fast" / "__init__.pyi"
    if stub.exists():
        top = [n for n in ast.parse(stub.read_text()).body if isinstance(n, ast.ImportFrom)]
        print("names at the top:", sum(len(node.names) for node in top))


if __name__ == "__main__":
    main()
