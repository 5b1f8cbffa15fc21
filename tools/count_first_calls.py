"""Write what first calls compile: ``trug_fast/kernels/first_calls.txt``.

    python -m tools.count_first_calls

By that table a notice of compiling says what is left, and ``trug-fast warm`` how far it is.  Each
call runs in a process of its own, whose folder of compiled kernels is empty: minutes in all.  To be
repeated when kernels have come or gone; older figures only make the notice less exact.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from numba.core import event as events

from trug_fast import warming
from trug_fast.kernels import announcing, first_calls

TARGET = Path(first_calls.__file__).with_name("first_calls.txt")
CALLS = warming.CALLS | {name: partial(warming.truncated, name) for name in warming.FUNCTIONS}
HEAD = """# Kernels that first calls compile; written by tools/count_first_calls.py.
# First line: public functions; kernels called outside of these; calls of trug_fast/warming.py.
# Other lines: a kernel; seconds to compile it, without those that it calls ({processor}); for each
# choice of types their digest, and the calls that need it, by their places in the first line.
{calls}
{kernels}
"""


class Kernels(events.Listener):
    """Notes kernels, the seconds of each alone, and the call that they belong to."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, float]] = []
        self._stack: list[list[float]] = []  # when each began, and the seconds of those within

    def on_start(self, event: Any) -> None:
        """Note when."""
        if announcing.is_ours(event):
            self._stack.append([time.process_time(), 0.0])

    def on_end(self, event: Any) -> None:
        """Note what."""
        if not announcing.is_ours(event):
            return
        begun, within = self._stack.pop()
        seconds = time.process_time() - begun
        if self._stack:
            self._stack[-1][1] += seconds
        kernel = first_calls.kernel_of(event.data["dispatcher"], event.data["args"])
        self.rows.append((announcing.current_call(), *kernel, seconds - within))


def count(name: str) -> None:
    """Make one call, and print what it compiles."""
    kernels = Kernels()
    events.register("numba:compile", kernels)
    CALLS[name]()
    # What Python calls by another function than compiled code does cannot be looked up by its name.
    print(json.dumps([row for row in kernels.rows if first_calls.is_known(row[1], row[2])]))


def counted(name: str) -> list[tuple[str, str, str, float]]:
    """Return what a call compiles in a new process: rows of call, kernel, types, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, announcing.QUIET: "1"}
        command = [sys.executable, "-W", "ignore", "-m", "tools.count_first_calls", name]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    rows = json.loads(done.stdout)
    # Of several calls the others find there what the largest has compiled: of them we know less.
    largest, _ = Counter(row[0] for row in rows).most_common(1)[0]
    found = [row for row in rows if row[0] == largest]
    if name in warming.CALLS:
        found += [[warming.WHOLE + name, *row[1:]] for row in rows]
    return found


def table(rows: list[tuple[str, str, str, float]]) -> str:
    """Return the text of the table."""
    calls = sorted({row[0] for row in rows})
    seconds, needed = defaultdict(list), defaultdict(lambda: defaultdict(set))
    for call, name, types, each in rows:
        seconds[name].append(each)
        needed[name][types].add(calls.index(call))
    lines = []
    for name in sorted(needed):
        words = (f"{t}:{','.join(map(str, sorted(c)))}" for t, c in sorted(needed[name].items()))
        mean = sum(seconds[name]) / len(seconds[name])
        lines.append(f"{name} {mean:.2f} {' '.join(words)}")
    return HEAD.format(calls=" ".join(calls), kernels="\n".join(lines), processor=processor())


def processor() -> str:
    """Return the name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return "a processor without a name"
    return next(line for line in text.splitlines() if "model name" in line).split(": ")[1].strip()


def main() -> None:
    """Count, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("call", nargs="?", choices=sorted(CALLS), help="only print what it needs")
    name = parser.parse_args().call
    if name is not None:
        count(name)
        return
    rows = []
    for name in CALLS:
        rows += counted(name)
        print(f"{name}: {len(rows)}", flush=True)
    TARGET.write_text(table(rows), "utf-8")


if __name__ == "__main__":
    main()
