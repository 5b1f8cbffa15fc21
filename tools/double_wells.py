"""Count estimates of log Z that are wrong without a warning on machines with two wells or more.

    python -m tools.double_wells [--machines 216] [--temperatures 300]

Ferromagnets of two to five hidden units, of all kinds of units, whose log Z is enumerated, or
integrated where hidden units are.  Data of one well only are the base: the other well is what
chains miss.  An estimate is bad if it is off by three of its errors and 0.001 nats.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from trug_fast.evaluation.bridges import mean_field

ERRORS, ROUNDING = 3.0, 1e-3
DIRECTIONS = ("forward", "reverse", "both")
HIDDEN = ("bernoulli", "[0,1]", "[-1,1]", "[0,4]", "[-2,3]", "[0,inf)")
ENDS = {"[0,1]": (0, 1), "[-1,1]": (-1, 1), "[0,4]": (0, 4), "[-2,3]": (-2, 3)}
VISIBLE = ("bernoulli", "spin", "categorical")
COLUMNS = 12


class Machine(NamedTuple):
    """A model with wells, data of one of them, and its log Z."""

    model: Any
    base: NDArray[Any]
    log_z: float
    words: str


def machine(index: int) -> Machine:
    """Return machine ``index``, always the same."""
    rng = np.random.default_rng([7, index])
    hidden = HIDDEN[index % len(HIDDEN)]
    visible = VISIBLE[index // len(HIDDEN) % len(VISIBLE)]
    n_hidden = 2 + index // (len(HIDDEN) * len(VISIBLE)) % 4
    strength = rng.uniform(2.0, 5.0) / n_hidden**0.5
    states = 3 if visible == "categorical" else 1
    signs = rng.choice([-1.0, 1.0], COLUMNS)
    size = {"[0,4]": 0.4, "[0,inf)": 0.35, "[-2,3]": 0.35, "[-1,1]": 0.6}.get(hidden, 1.0)
    size *= 0.5 if visible == "spin" else 1.0
    weights = strength * size * signs[:, None] * rng.uniform(0.6, 1.2, (COLUMNS, n_hidden))
    if states > 1:
        weights = np.stack([weights, np.zeros_like(weights), -weights], axis=1)
    low, high = ENDS.get(hidden, (0.0, 1.0 if hidden == "bernoulli" else np.inf))
    bias = np.zeros((COLUMNS, states)) if states > 1 else np.zeros(COLUMNS)
    centre = (low + high) / 2 if np.isfinite(high) else 1.0
    parts = _balanced(weights, bias, centre, visible, rng)

    def tilted(field: float) -> Any:
        """Return the machine in a field that favours one side."""
        along = field * signs
        own = parts[1] + (along[:, None] * [1, 0, -1] if states > 1 else along)
        if hidden == "bernoulli":
            return tf.BernoulliRBM(parts[0], own, parts[2], visible=visible)
        return tf.TruGRBM(parts[0], own, parts[2], 1.0, low, high, visible=visible)

    model = tilted(_field_of(tilted, signs, rng.uniform(-2.5, 2.5)))
    log_z = tf.exact.log_partition(model)
    rows = _of_one_well(model, signs, rng)
    return Machine(model, rows, log_z, f"{visible} {hidden} {n_hidden}")


def _balanced(
    weights: NDArray[Any], bias: NDArray[Any], centre: float, visible: str, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return parameters whose wells lie to both sides, one deeper than the other by chance."""
    flat = weights.reshape(-1, weights.shape[-1])
    own = bias - (weights.sum(axis=-1) * centre) + rng.normal(0, 0.1, bias.shape)
    middle = {"bernoulli": 0.5, "spin": 0.0, "categorical": 1 / 3}[visible]
    return weights, own, -middle * flat.sum(axis=0) + rng.normal(0, 0.3, flat.shape[1])


def _side(visible: str, signs: NDArray[Any]) -> NDArray[Any]:
    """Return the row at the bottom of the well on one side."""
    row = {"bernoulli": signs > 0, "spin": signs, "categorical": 1 - signs}[visible]
    return np.asarray(row, np.float64)


def _field_of(tilted: Callable[[float], Any], signs: NDArray[Any], wanted: float) -> float:
    """Return the field at which one well is so many nats deeper than the other, about."""
    low, high = -3.0, 3.0
    for _ in range(20):
        middle = (low + high) / 2
        model = tilted(middle)
        units = model.visible_units
        rows = units.columns(np.stack([_side(model.visible, s) for s in (signs, -signs)]))
        first, second = (mean_field.bound(model, row[None].astype(float)) for row in rows)
        low, high = (low, middle) if first - second > wanted else (middle, high)
    return (low + high) / 2


def _of_one_well(model: Any, signs: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return rows of the model from one side."""
    seed = int(rng.integers(2**31))
    side = signs if rng.random() < 0.5 else -signs
    first = np.repeat(_side(model.visible, side)[None], 200, axis=0)
    return np.asarray(model.sample(start=first, n_gibbs=20, rng=seed))


def estimates(index: int, temperatures: int) -> Iterator[dict[str, Any]]:
    """Yield each estimate of a machine's log Z: how far off it is, and what it says."""
    known = machine(index)
    for base in (known.base, None):
        both = tf.log_partition(
            known.model,
            n_temperatures=temperatures,
            base=base,
            direction="both",
            rng=index,
            progress=False,
        )
        for found in (both.forward, both.reverse, both):
            assert found is not None
            error = found.log_z - known.log_z
            yield {
                "index": index,
                "words": known.words,
                "base": base is not None,
                "direction": found.direction,
                "error": error,
                "bad": abs(error) > ERRORS * found.std_error + ROUNDING,
                "warned": bool(found.warnings),
                "std_error": found.std_error,
                "below": found.mean_field - known.log_z,
            }


def table(lines: list[dict[str, Any]]) -> str:
    """Return, of each way to estimate, how many are bad, and how many of these are silent."""
    rows = ["| | estimates | bad | bad, silent | alarms on good ones |", "| --- " * 5 + "|"]
    for base in (True, False):
        for direction in DIRECTIONS:
            part = [x for x in lines if x["base"] == base and x["direction"] == direction]
            silent = sum(x["bad"] and not x["warned"] for x in part)
            false = sum(x["warned"] and not x["bad"] for x in part)
            name = f"{direction}, {'base of one well' if base else 'no base'}"
            bad = sum(x["bad"] for x in part)
            share = 100 * silent / max(1, len(part))
            rows.append(f"| {name} | {len(part)} | {bad} | {silent} ({share:.1f} %) | {false} |")
    return "\n".join(rows)


def main() -> None:
    """Estimate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=216)
    parser.add_argument("--temperatures", type=int, default=300)
    parser.add_argument("--silent", action="store_true", help="a line for each silent one, too")
    chosen = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [x for k in range(chosen.machines) for x in estimates(k, chosen.temperatures)]
    print(table(lines))
    for each in lines:
        if chosen.silent and each["bad"] and not each["warned"]:
            print(each)


if __name__ == "__main__":
    main()
