"""Arguments for random calls: kinds of them, good values, and values that hardly fit."""

from typing import Any, NamedTuple

import numpy as np

import trug_fast as tf

PIXELS = np.random.default_rng(0).integers(0, 2, (12, 5)).astype(float)
VIDEOS = np.random.default_rng(1).integers(0, 2, (3, 4, 5)).astype(float)
W = np.random.default_rng(2).normal(size=(5, 4)) / 2


class Arg(NamedTuple):
    """An argument: its kind, good values, and whether it may be left out."""

    kind: str
    good: tuple[Any, ...]
    optional: bool = True


class Call(NamedTuple):
    """A function, or the name of a method of the objects in its argument ``model``."""

    function: Any
    arguments: dict[str, Arg]


def data(*arrays, optional=False):
    return Arg("array", arrays, optional)


def word(*words):
    return Arg("word", words)


def needed(kind, *good):
    return Arg(kind, good, False)


RNG = needed("rng", 0, 5, np.int64(3))
OFF = needed("flag", False)
N = Arg("count", (1, 2, 3, np.int32(2)))
RATE = Arg("rate", (0.1, 0.0, (0.1, 0.01), np.float32(0.5), lambda share: 0.1 - 0.05 * share))
NUMBER = Arg("number", (0.5, 1, 2.0, np.float64(0.1)))
SHARE = Arg("number", (0.5, 0, 0.1))
MISSING = Arg("word", ("draw", 2))
FLAG = Arg("flag", (True, False, np.True_))
DTYPE = Arg("dtype", ("float32", np.float64))
ENDS = Arg("ends", ("relu", "s-learn", (0, 2), tf.Truncation(-1, 1, learn="shared")))
PATH = Arg("path", ("FOLDER/run.npz",))
STEPS = needed("count", 1, 2)
X = data(PIXELS, PIXELS.astype(np.uint8), PIXELS[:1], PIXELS > 0, PIXELS.astype(np.float32))
SOME = X._replace(optional=True)
SEQUENCES = data(VIDEOS, VIDEOS.astype(np.float32))
MORE = SEQUENCES._replace(optional=True)
SCALAR = data(0.5, np.linspace(-2, 2, 5), np.float32(1), 3)
Y = data(np.arange(12.0), np.arange(24.0).reshape(12, 2), np.ones(12))


def spoiled(value):
    def change(array):
        array = np.array(array, dtype=float)
        array.flat[-1] = value
        return array

    return change


def masked(array):
    return np.ma.array(array, mask=np.arange(np.size(array)).reshape(np.shape(array)) % 3 == 1)


ARRAYS = (
    masked,
    np.ma.array,
    np.asfortranarray,
    spoiled(np.nan),
    spoiled(np.inf),
    spoiled(-np.inf),
    spoiled(1e300),
    spoiled(-7.5),
    spoiled(1e-320),
    *(lambda a, t=t: np.asarray(a).astype(t) for t in ("f2", "g", ">f8", "i1", "u8", "?", "O")),
    *(lambda a, t=t: np.asarray(a).astype(t) for t in ("S", "U", "c16", "m8[s]")),
    lambda a: np.asarray(a)[..., None],
    lambda a: np.asarray(a)[None],
    lambda a: np.asarray(a).T,
    lambda a: np.asarray(a)[..., ::-1],
    lambda a: np.asarray(a).ravel()[:0],
    lambda a: np.asarray(a)[..., :1],
    lambda a: np.asarray(a).ravel(),
    lambda a: np.asarray(a).tolist(),
    lambda a: [np.asarray(a)],
    lambda a: list(np.ravel(a)) + ["x"],
    lambda a: [[1, 2], [3]],
    lambda a: memoryview(np.array(a, dtype=float)),
    *(lambda a, v=v: v for v in (None, "data", b"data", {}, set(), 5, np.float16(0.5), object())),
    lambda a: (value for value in np.ravel(a)),
    lambda a: np.ma.masked,
)
BAD: dict[str, tuple[Any, ...]] = {
    "count": (0, -1, 2.5, "3", None, True, np.nan, 10**30, -(10**30), [2], np.array([1, 2]), 3j),
    "number": (
        -1, 0, 1e308, -1e308, 1e-320, np.nan, np.inf, -np.inf, "1", None, True, [0.5], 10**400,
        np.float16(0.5), np.array(0.5), np.array([0.5, 1]), 1j, np.ma.masked, b"1",
    ),
    "rate": (
        -1, 0, 1e308, 1e39, np.nan, np.inf, "1", True, (1,), (1, 2, 3), (1, 0), (0.1, "x"), [],
        10**400, np.array([0.1, 0.01]), np.array(0.1), {}, object(), (1e-300, 1e300), 2.5,
    ),
    "float": (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, -1e-150, 1e16, -0.0),
    "word": ("nonsense", "", 3, b"sgd", ["sgd"], np.array("sgd"), np.array(["a", "b"]), {}, 0.5),
    "flag": ("no", 1, 0.0, np.array([True, False]), [], "auto ", np.array(True), object()),
    "dtype": ("float16", int, ">f4", None, {"a": 1}, "nonsense", object(), "f4,f4", 3),
    "ends": (
        "relus", (1, 1), (2, 1), (np.nan, 1), 3, (0, 1, 2), [0, 2], (-np.inf, np.inf), (0, "1"),
        (0, 1e300), (-1e-300, 1e-300), (0, 1e-30), np.array([0, 1]), tf.Truncation, b"relu",
    ),
    "rng": (-1, 1.5, "seed", True, np.random.RandomState(0), [1], np.uint64(2**64 - 1), 10**40),
    "path": ("", ".", "FOLDER", "FOLDER/no/x.npz", 3, b"x", "a\0b", "FOLDER/" + 300 * "x", None),
    "object": (3, "x", (0,), (1.5,), [2], (1, -1), object()),
    "functions": (3, len, [3], "ab", None, {}),
}  # fmt: skip
BAD |= {"array": ARRAYS}


def bad(rng, kind, good, folder):
    """Return a value that an argument of this kind should hardly have."""
    if kind == "model":
        return good
    own = kind in ("float", "path")  # "1" is the name of a good file, and not in the folder
    pool = BAD[kind] if own or rng.random() < 0.9 else BAD["number"]
    chosen = pool[rng.integers(len(pool))]
    if kind == "array" and callable(chosen):
        try:
            return chosen(good)
        except (TypeError, ValueError, IndexError):  # it cannot be changed so
            return good
    return placed(chosen, folder)


def placed(value, folder):
    return value.replace("FOLDER", str(folder)) if isinstance(value, str) else value


def arguments_of(rng, call, folder):
    """Return arguments for a call, most of them good, and the names of the others."""
    given, changed = {}, []
    much = rng.choice([0.0, 0.1, 0.6])
    for name, arg in call.arguments.items():
        if arg.optional and rng.random() < (0.85 if len(call.arguments) > 8 else 0.5):
            continue
        given[name] = placed(arg.good[rng.integers(len(arg.good))], folder)
    for name in rng.permutation(list(given))[: rng.integers(0, 3) + int(much)]:
        given[name] = bad(rng, call.arguments[name].kind, given[name], folder)
        changed.append(str(name))
    return given, changed
