"""Workers of another version: copies of the package with a change, and Dask's processes."""

import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "trug_fast"
QUIET = ["--no-dashboard", "--dashboard-address=:0", "--host=127.0.0.1"]


def altered(folder, file="evaluation/bridges/bridge.py", old="ROUND_SECONDS = 2.0", new=None):
    """Copy the package into a folder, with a factor changed or, without ``new``, a comment more."""
    shutil.copytree(PACKAGE, folder / "trug_fast", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "trug_fast" / file
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new or f"{old}  # as it was"), "utf-8")
    return folder


@contextmanager
def process(*words, package=PACKAGE.parent):
    """Run a command of Dask's that finds a package; yield it, and what it has said so far."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:], *QUIET]
    with subprocess.Popen(
        command, env=environment, cwd=package, stderr=subprocess.PIPE, text=True
    ) as begun:
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(begun.stderr), daemon=True)
        try:
            for line in begun.stderr:
                lines.append(line)
                if " at: " in line:
                    break
            reader.start()
            yield begun, lines
        finally:
            begun.kill()
            if reader.ident is not None:  # it reads to the end before the pipe is closed
                reader.join()


@contextmanager
def scheduler():
    """Run a scheduler; yield its process and its address."""
    with process("scheduler", "--port=0") as (begun, lines):
        # More may have been said by now: the last line is any.
        yield begun, next(line.split()[-1] for line in lines if " at: " in line)


def worker(address, package=PACKAGE.parent):
    """Return a worker that finds a package, as a context."""
    return process("worker", address, "--no-nanny", "--nthreads=1", package=package)
