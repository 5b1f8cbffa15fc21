"""Print what first calls cost with nothing compiled before, each in a process of its own.

    python -m tools.compilations ["train_rbm" ...] [--longest 20]

CPU seconds of the whole process and its children, imports included, on tiny data, since nearly all
is compilation; ``import`` is the part that comes before the call.  ``--longest`` lists the
compilations by the time each takes without those that it starts.  Needs public calls only, so that
it can time any commit: ``PYTHONPATH=<its checkout> python tools/compilations.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

OWN = """
import numba
from trug_fast.kernels import draw, stream

@numba.njit
def total(n):
    rng, found = stream(1), 0.0
    for _ in range(n):
        found += draw(rng, 0.0, 1.0, 0.0, 1.0)
    return found

total(10)
"""
CASES = {
    "import trug_fast": "",
    "truncnorm.rvs": "tf.truncnorm.rvs(0.0, 1.0, size=5, random_state=0)",
    "kernels.mean_variance": "tf.kernels.mean_variance(0.0, 1.0, 0.0, 1.0)",
    "a user's njit with draw": OWN,
    "train_rbm": "tf.train_rbm(bits((200, 20)), 8, epochs=1, batch_size=20, rng=0)",
    "train_rbm, log_partition": "X = bits((200, 20))\n"
    "fit = tf.train_rbm(X, 8, epochs=1, batch_size=20, rng=0)\n"
    "tf.log_partition(fit.model, n_temperatures=50, base=X, rng=0)",
    "train_tggm": "tf.train_tggm(rng.random((100, 4)), rng.random(100), n_hidden=5, epochs=1, "
    "rng=0)",
    "train_trbm": "tf.train_trbm(bits((3, 30, 6)), n_hidden=5, epochs=1, rng=0)",
}


class Compilation(NamedTuple):
    """CPU seconds of a function's compilation for some types, alone and with those inside it."""

    alone: float
    whole: float
    name: str
    types: str


class FirstCall(NamedTuple):
    """CPU seconds of a process, those up to the call, and what was compiled."""

    seconds: float
    imports: float
    compilations: list[Compilation]


def record() -> list[Compilation]:
    """Return a list that compilations are added to from now on."""
    from numba.core import event

    found: list[Compilation] = []

    class Listener(event.Listener):
        """Keep the time that each compilation began, and what those inside it took."""

        def __init__(self) -> None:
            self.open: list[list[float]] = []

        def on_start(self, event: Any) -> None:
            self.open.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begun, inside = self.open.pop()
            whole = time.process_time() - begun
            if self.open:
                self.open[-1][1] += whole
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            found.append(Compilation(whole - inside, whole, name, str(event.data["args"])))

    event.register("numba:compile", Listener())
    return found


def run(case: str) -> FirstCall:
    """Make a first call in this process."""
    import numpy as np

    compilations = record()
    import trug_fast as tf

    rng = np.random.default_rng(0)
    bits = lambda shape: (rng.random(shape) < 0.3).astype(float)  # noqa: E731
    names = {"__name__": "user", "tf": tf, "rng": rng, "bits": bits}
    imports = time.process_time()
    exec(CASES[case], names)
    children = sum(os.times()[2:4])
    return FirstCall(time.process_time() + children, imports, compilations)


def first_call(case: str) -> FirstCall:
    """Make a first call in a new process, with an empty folder for kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(filter(None, sys.path))
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": path}
        command = [sys.executable, __file__, "--here", case]
        printed = subprocess.check_output(command, env=environment, text=True)
    *times, compilations = json.loads(printed.splitlines()[-1])
    return FirstCall(*times, [Compilation(*fields) for fields in compilations])


def show(case: str, call: FirstCall, longest: int) -> None:
    """Print a list of compilations."""
    print(f"\n**{case}**\n")
    print("| CPU s | with those inside | function | types |\n| --- | --- | --- | --- |")
    for own in sorted(call.compilations, reverse=True)[:longest]:
        types = own.types if len(own.types) <= 60 else f"{own.types[:57]}..."
        name = own.name.removeprefix("trug_fast.")
        print(f"| {own.alone:.2f} | {own.whole:.2f} | `{name}` | `{types}` |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--longest", type=int, default=0, help="so many compilations of each")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no case is called {', '.join(unknown)}: there are {', '.join(CASES)}")
    if options.here:
        print(json.dumps(run(*options.cases)))
        return
    calls = {}
    print("| first call, nothing compiled | CPU s | import | compilations |")
    print("| --- | --- | --- | --- |")
    for case in options.cases or CASES:
        calls[case] = call = first_call(case)
        count = len(call.compilations)
        print(f"| {case} | {call.seconds:.1f} | {call.imports:.1f} | {count} |", flush=True)
    for case in calls if options.longest else ():
        show(case, calls[case], options.longest)


if __name__ == "__main__":
    main()
