"""Random calls of all public functions, with good and with bad arguments.

As a program: ``python tests/support/fuzz.py ROUNDS SEED`` prints counts as JSON; with one more
word, also the messages that do not name the one argument that was odd.
"""

import faulthandler
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from tests.support.fuzz_arguments import arguments_of
from tests.support.fuzz_calls import CALLS
from tests.support.fuzz_models import RBMS

# What a function may raise (FileNotFoundError and FileExistsError are OSErrors).
DOCUMENTED = (TypeError, ValueError, OSError, FloatingPointError)
SECONDS = 120  # after which a call hangs


def perform(call, given):
    if isinstance(call.function, str):
        given = dict(given)
        return getattr(given.pop("model"), call.function)(**given)
    return call.function(**given)


def numbers(result):
    """Return the arrays in a result, but for times."""
    if hasattr(result, "history"):
        history = [values for name, values in result.history.items() if name != "seconds"]
        return [*numbers(result.model), *history]
    if hasattr(result, "names"):
        found = [getattr(result, name) for name in result.names]
        return [np.asarray(array) for array in found if array is not None]
    if hasattr(result, "log_weights"):
        return [np.asarray(result.log_z), np.asarray(result.std_error)]
    if hasattr(result, "draws"):
        return [result.draws, result.mean, result.std, result.quantiles(0.5)]
    if isinstance(result, dict):
        return [np.asarray(value) for value in result.values()]
    if hasattr(result, "std_error"):
        return [np.concatenate([np.ravel(part) for part in each]) for each in result[:2]]
    if isinstance(result, list | tuple):
        return [np.asarray(value) for value in result]
    return [np.asarray(result)]


def alike(first, second):
    return all(
        repr(a) == repr(b) if a.dtype == object else a.tobytes() == b.tobytes()
        for a, b in zip(numbers(first), numbers(second), strict=True)
    )


def content(value):
    """Return what an argument holds, to see that nobody has changed it."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        mask = np.ma.getmaskarray(value).tobytes() if isinstance(value, np.ma.MaskedArray) else b""
        return np.asarray(value).tobytes() + mask
    return repr(value) if isinstance(value, list | tuple | dict) else None


def emptied(folder):
    """Leave nothing but a good model in the folder."""
    for path in folder.iterdir():
        if path.name != "good.npz":
            path.unlink()


def run(rounds, seed, names=tuple(CALLS)):
    """Call each function so many times; return counts of outcomes, and what went wrong."""
    counts, wrong = Counter(), []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        RBMS[0].save(folder / "good.npz")
        for name in names:
            call = CALLS[name]
            for number in range(rounds):
                rng = np.random.default_rng([seed, number, *name.encode()])
                given, changed = arguments_of(rng, call, folder)
                emptied(folder)
                outcome = once(call, given, changed, folder)
                counts[outcome if outcome in OUTCOMES else "wrong"] += 1
                if outcome not in OUTCOMES:
                    wrong.append(f"{name} {number}: {outcome}; {describe(given, changed)}")
    return dict(counts), wrong


OUTCOMES = ("done", "done with odd arguments", "refused", "diverged", "refused good arguments")


def describe(given, changed):
    return ", ".join(f"{name}={given[name]!r:.90}" for name in changed) or f"{given!r:.500}"


def once(call, given, changed, folder):
    """Return in words what came of a call."""
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
    before = {name: content(value) for name, value in given.items()}
    try:
        result = perform(call, given)
        outcome = "done with odd arguments" if changed else "done"
        again = "rng" not in changed and not any(hasattr(v, "__next__") for v in given.values())
        if again:  # the same numbers every time
            emptied(folder)
            if not alike(result, perform(call, given)):
                outcome = "chance"
    except FloatingPointError:
        outcome = "diverged"
    except DOCUMENTED as error:
        outcome = "refused" if changed else "refused good arguments"
        if not str(error):
            outcome = "an error without words"
        elif len(changed) == 1 and UNNAMED is not None and changed[0] not in str(error):
            UNNAMED.append(f"{describe(given, changed)}: {error}")
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    if any(content(given[name]) != what for name, what in before.items()):
        outcome = "changed its arguments"
    return outcome


UNNAMED: list[str] | None = None

if __name__ == "__main__":
    if len(sys.argv) > 3:
        UNNAMED = []
    counts, wrong = run(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"counts": counts, "wrong": wrong, "unnamed": UNNAMED}, indent=1))
