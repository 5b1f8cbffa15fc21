"""Compare what this checkout computes with the golden numbers, or write them anew.

    python -m tests.golden [--write] [--threads N] [PART OF A NAME...]

Each case has a hash of all its bits and a shadow: a few numbers that follow from all of them.  Bits
depend on the versions of NumPy, SciPy and Numba and on the processor; all of these are fixed where
that is possible (kernels and products as of x86-64-v3, see `ENVIRONMENT`).  Where versions or the
processor are others, the shadows are compared, to 1e-4.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

TABLE = Path(__file__).with_name("table.json")
ENVIRONMENT = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_L2_SIZE": "512",
    "OPENBLAS_NUM_THREADS": "1",  # exact integrals leave BLAS its threads
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}
TOLERANCE = 1e-4


def parts(value):
    """Yield the arrays and the words that a result consists of."""
    import numpy as np

    if value is None or isinstance(value, str | bool):
        yield repr(value)
    elif isinstance(value, dict):
        for name in sorted(value):
            yield name
            yield from parts(value[name])
    elif hasattr(value, "history"):
        yield from parts(value.model)
        yield from parts({k: v for k, v in value.history.items() if k != "seconds"})
    elif hasattr(value, "arrays"):
        yield repr(value)
        yield from parts(value.arrays())
    elif isinstance(value, tuple | list) and any(not np.isscalar(one) for one in value):
        for one in value:
            yield from parts(one)
    else:
        array = np.asarray(value)
        yield array if array.dtype.kind in "biuf" else repr(value)


def golden(make):
    """Return the hash and the shadow of a case; of an error, its words."""
    import numpy as np

    try:
        result = make()
        found = list(parts(list(result) if isinstance(result, Iterator) else result))
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    digest, shadow = hashlib.sha256(), []
    for one in found:
        if isinstance(one, str):
            digest.update(one.encode())
            continue
        digest.update(f"{one.shape} {one.dtype}".encode())
        digest.update(np.ascontiguousarray(one).tobytes())
        numbers = np.nan_to_num(one.astype(float).ravel(), posinf=1e3, neginf=-1e3)
        weights = np.cos(np.arange(numbers.size))
        shadow.append(float(numbers @ weights / max(1.0, np.abs(numbers).sum())))
    total = sum(x * (1 + i % 7) for i, x in enumerate(shadow))
    return [digest.hexdigest()[:16], float(f"{total:.6g}")]


def versions():
    """Return what the bits depend on."""
    import numba
    import numpy
    import scipy

    own = {one.__name__: one.__version__ for one in (numba, numpy, scipy)}
    return own | {"machine": platform.machine()}


def compute(names):
    """Return golden numbers of the cases whose names hold one of some words."""
    warnings.simplefilter("ignore")
    from .cases import CASES

    wanted = [one for one in CASES if not names or any(word in one for word in names)]
    return {name: golden(CASES[name]) for name in wanted}


def differs(old, new, bits):
    """Tell whether two golden numbers differ, in bits or more than rounding explains."""
    if old == new or len(old) != len(new) or len(old) == 1:
        return old != new
    return bits or abs(old[1] - new[1]) > TOLERANCE * max(1.0, abs(old[1]))


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep what is found as golden")
    parser.add_argument("--threads", default="1", help="threads of the kernels, 1 unless given")
    parser.add_argument("names", nargs="*", help="words that are in the names of wanted cases")
    arguments = parser.parse_args()
    wanted = ENVIRONMENT | {"NUMBA_NUM_THREADS": arguments.threads}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        command = [sys.executable, "-W", "ignore", "-m", "tests.golden", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=os.environ | wanted).returncode)
    begun, found = time.perf_counter(), compute(arguments.names)
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {"versions": None, "cases": {}}
    if arguments.write:
        kept = table["cases"] | found if arguments.names else found
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items())
        head = json.dumps(versions())
        TABLE.write_text(f'{{"versions": {head},\n"cases": {{\n{lines}\n}}}}\n')
        print(f"{len(found)} written in {time.perf_counter() - begun:.0f} s")
        return
    bits = table["versions"] == versions()
    if not bits:
        print(f"golden numbers are of {table['versions']}: compared to {TOLERANCE} here")
    wrong = [k for k, v in found.items() if differs(table["cases"].get(k, [None]), v, bits)]
    for name in wrong:
        print(f"{name}\n  golden {table['cases'].get(name)}\n  found  {found[name]}")
    lost = set(table["cases"]) - set(found) if not arguments.names else set()
    for name in sorted(lost):
        print(f"{name}: no such case any more")
    seconds = time.perf_counter() - begun
    print(f"{len(found) - len(wrong)} of {len(found)} golden numbers as they were, {seconds:.0f} s")
    sys.exit(bool(wrong or lost))


if __name__ == "__main__":
    main()
