"""Spoiling files in the ways of disks, networks and people, and seeing what readers make of them.

As a program: ``python tests/support/damage.py ROUNDS SEED`` prints counts as JSON.
"""

import io
import json
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.damage_targets import TARGETS
from trug_fast._common import archives, files

DOCUMENTED = (ValueError, OSError)
SECONDS, MEGABYTES = 20.0, 300.0  # that reading one file may take; the files are of some kilobytes

# Spoiling bytes.


def cut(rng, data):
    return data[: rng.integers(len(data))]


def flipped(rng, data):
    spoiled = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 4)):
        spoiled[place] ^= 1 << rng.integers(8)
    return bytes(spoiled)


def scrambled(rng, data):
    spoiled = bytearray(data)
    start = rng.integers(len(data))
    stop = min(len(data), start + rng.integers(1, 40))
    spoiled[start:stop] = rng.bytes(stop - start)
    return bytes(spoiled)


def zeroed(rng, data):
    start, length = rng.integers(len(data)), rng.integers(1, 600)
    return data[:start] + bytes(len(data[start : start + length])) + data[start + length :]


def removed(rng, data):
    start, length = rng.integers(len(data)), rng.integers(1, 40)
    return data[:start] + data[start + length :]


def inserted(rng, data):
    start = rng.integers(len(data))
    return data[:start] + rng.bytes(rng.integers(1, 40)) + data[start:]


def turned(rng, data):
    middle = rng.integers(len(data))
    return data[middle:] + data[:middle]


def twice(rng, data):
    return data + data


BYTES = (cut, flipped, flipped, flipped, scrambled, zeroed, removed, inserted, turned, twice)


# Spoiling archives: whole members and headers, with check sums that are right.


def members(data):
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)


def archive_of(arrays):
    stream = io.BytesIO()
    archives.write(stream, arrays)
    return stream.getvalue()


def exchanged(rng, data):
    arrays = members(data)
    first, second = rng.choice(list(arrays), 2, replace=False)
    arrays[first], arrays[second] = arrays[second], arrays[first]
    return archive_of(arrays)


def lost(rng, data):
    arrays = members(data)
    del arrays[rng.choice(list(arrays))]
    return archive_of(arrays)


def other_array(rng, array):
    """Return an array that somebody else might have put there."""
    changes: list[Callable[[], Any]] = [
        lambda: array[..., :-1] if array.ndim else array[None],
        lambda: np.concatenate([array, array]) if array.ndim else np.array([array, array]),
        lambda: array.reshape(-1) if array.ndim != 1 else array[None],
        lambda: np.zeros(0),
        lambda: np.array(rng.integers(-(2**62), 2**62)),
        lambda: np.zeros_like(array),
        lambda: np.array("{}"),
        lambda: np.array("[1, 2"),
        lambda: array.astype(str),
    ]
    if array.dtype.kind in "fiu":
        changes += [
            lambda: -array.astype(float),
            lambda: np.full_like(array, -3, dtype=array.dtype if array.dtype.kind != "u" else int),
            lambda: np.full_like(array, 5),
            lambda: np.full_like(array, 2**40, dtype=np.int64),
            lambda: np.full(array.shape, np.nan, array.dtype if array.dtype.kind == "f" else "f8"),
            lambda: array.astype(np.float16),
            lambda: array.astype(complex),
            lambda: np.full(array.shape, 1e300),
        ]
    return np.asarray(changes[rng.integers(len(changes))]())


def replaced(rng, data):
    arrays = members(data)
    name = rng.choice(list(arrays))
    arrays[name] = other_array(rng, arrays[name])
    return archive_of(arrays)


def header_changed(rng, data):
    """Change what a header says: sizes beyond all bounds, other types, nonsense of brackets."""
    stream, names = io.BytesIO(), list(members(data))
    target = rng.choice(names)
    lies = (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 100000), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        b"{'descr': '<U900000000', 'fortran_order': False, 'shape': (), }",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        b"{'descr': '<f8', 'fortran_order': 7, 'shape': (2,), }",
        b"{'descr': '<f8', 'shape': (2,), }",
        b"-" * 9000,
        b"(" * 9000,
        b"\xff\xfe",
    )
    lie = lies[rng.integers(len(lies))]
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename == f"{target}.npy":
                length = int.from_bytes(content[8:10], "little")
                start = b"\x93NUMPY\x01\x00" + (len(lie) + 1).to_bytes(2, "little")
                content = start + lie + b"\n" + content[10 + length :]
            new.writestr(info.filename, content)
    return stream.getvalue()


def other_archive(rng, data):
    """Pack the same members in another way."""
    stream = io.BytesIO()
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        with zipfile.ZipFile(stream, "w", methods[rng.integers(3)]) as new:
            for info in old.infolist():
                new.writestr(info.filename, old.read(info))
    return stream.getvalue()


def bomb(rng, data):
    """Let a member of a kilobyte stand for a gigabyte and more."""
    arrays, stream = members(data), io.BytesIO()
    target = rng.choice(list(arrays))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            if name == target:
                array = np.zeros(10**7)  # enough to be seen, and made quickly
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
    return stream.getvalue()


ARCHIVES = (exchanged, lost, replaced, replaced, replaced, header_changed, other_archive)


def forged(rng, path, kind):
    """Put another array into a file of ours, and make the digest right again."""
    arrays = files.read(path, kind)
    name = rng.choice(list(arrays))
    arrays[name] = other_array(rng, arrays[name])
    files.write(path, kind, arrays)


def same(found, expected):
    """Tell whether two readings agree in every number, NaN as well."""
    if not isinstance(expected, list):
        return found == expected
    return len(found) == len(expected) and all(
        np.array_equal(a, b, equal_nan=_floats(a) and _floats(b))
        for a, b in zip(found, expected, strict=True)
    )


def _floats(array):
    return np.asarray(array).dtype.kind == "f"


def outcome(target, path, expected):
    """Return in a word what came of reading: "refused", "same", "other", or an error's name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = target.read(path)
    except DOCUMENTED as error:
        # A training that goes on from numbers that somebody else has put there may fail later.
        named = path.name in str(error) or target.trains
        return "refused" if named else f"without the file's name: {error}"
    except FloatingPointError as error:
        return "diverged" if target.trains else f"FloatingPointError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "same" if same(found, expected) else "other"


ALLOWED = {
    "summed": {"refused", "same"},
    "unsummed": {"refused", "same", "other"},
    # With a right digest a file is what somebody meant it to be: it may hold other numbers.
    "forged": {"refused", "same", "other", "diverged"},
}


def peak():
    """Return the most memory this process has taken, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(rounds, seed, names=tuple(TARGETS)):
    """Spoil a file of each kind so many times; return counts, and what was not as it should be."""
    counts, wrong, slowest = Counter(), [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            rng = np.random.default_rng([seed, len(name), *name.encode()])
            target = TARGETS[name]
            path = Path(folder) / f"file{target.suffix}"
            target.make(path)
            good = path.read_bytes()
            expected = target.read(path)
            before = peak()
            ways = [*BYTES]
            if target.suffix == ".npz":
                ways += [*ARCHIVES, bomb]
            ours = target.suffix == ".npz" and name != "npz"
            kind = files.text(path, "kind", np.load(path)["kind"]) if ours else ""
            for number in range(rounds):
                for way in [*ways, forged] if ours else ways:
                    path.write_bytes(good)
                    state = rng.bit_generator.state["state"]["state"]
                    if way is forged:
                        forged(rng, path, kind)
                    else:
                        path.write_bytes(way(rng, good))
                    begun = time.perf_counter()
                    what = outcome(target, path, expected)
                    slowest = max(slowest, time.perf_counter() - begun)
                    rule = "forged" if way is forged else "summed" if target.summed else "unsummed"
                    if name == "npz" and way in (replaced, exchanged, lost):
                        rule = "unsummed"  # NumPy's format has no digest of the whole
                    counts[what if what in ALLOWED[rule] else "wrong"] += 1
                    if what not in ALLOWED[rule]:
                        wrong.append(f"{name}, {way.__name__}, {number}, {state % 997}: {what}")
                    path.unlink(missing_ok=True)
            grown = peak() - before
            if grown > MEGABYTES:
                wrong.append(f"{name}: took {grown:.0f} MB")
    if slowest > SECONDS:
        wrong.append(f"a file took {slowest:.1f} s")
    return dict(counts), wrong


if __name__ == "__main__":
    counts, wrong = run(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"counts": counts, "wrong": wrong}, indent=1))
