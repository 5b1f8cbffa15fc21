"""Choices of the library as options: their names, kinds, defaults and help are read from it."""

from __future__ import annotations

import argparse
import collections.abc
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from trug_fast.models.truncation import NAMED, Truncation, as_truncation
from trug_fast.training.choices import Choice, choices, described, kinds_of, words_of
from trug_fast.training.rates import FORMS

TRUNCATION = ("learn", "learn_lower", "learn_upper")  # its fields that are options of their own
NAMES = ("Gibbs", "L2")  # that keep their capitals
PLAIN = {  # what the library finds too plain to explain
    "batch_size": "rows, or sequences, for each update",
    "epochs": "passes over the data",
    "n_hidden": "number of hidden units",
}


def option(name: str) -> str:
    """Return how a choice is typed."""
    return f"--{name.replace('_', '-')}"


def add_choice(
    parser: argparse.ArgumentParser, choice: Choice, *, own: Any = None, name: str = ""
) -> None:
    """Add an option.

    Parameters
    ----------
    parser : ArgumentParser
    choice : Choice
    own : object, optional
        The command's default, or a mapping from data sets to it, instead of the library's.
    name : str, optional
        Another name than the choice's.
    """
    reader = _reader(choice.hint)
    parser.add_argument(
        option(name or choice.name), default=None, help=_help(choice, own), **reader
    )


def add_choices(
    parser: argparse.ArgumentParser,
    of: Callable[..., Any],
    names: Iterable[str],
    own: Mapping[str, Any] | None = None,
) -> None:
    """Add parameters of a function, by name."""
    found = described(of)
    for name in names:
        add_choice(parser, found[name], own=(own or {}).get(name))


def add_training(
    parser: argparse.ArgumentParser, train: Callable[..., Any], own: Mapping[str, Any]
) -> None:
    """Add all choices of a training."""
    for name, choice in choices(train).items():
        if name == "truncation":
            _add_truncation(parser, choice)
        elif name == "visible_truncation":
            parser.add_argument(
                option(name), metavar="NAME|LOWER,UPPER", help=_help(choice, own.get(name))
            )
        else:
            add_choice(parser, choice, own=_for_file(own.get(name), choice.default))


def _for_file(own: Any, default: Any) -> Any:
    """Return a command's defaults by data set, with the library's for a file of one's own."""
    whole = not isinstance(own, Mapping) or {"FILE", "other"} & own.keys() or default is None
    return own if whole else {**own, "FILE": default}


def chosen(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the choices that were typed, or that the command makes itself."""
    values = {name: getattr(arguments, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def chosen_training(arguments: argparse.Namespace, train: Callable[..., Any]) -> dict[str, Any]:
    """Return the choices of a training that were typed, or that the command makes itself."""
    found = chosen(arguments, choices(train))
    more = chosen(arguments, TRUNCATION)
    if "truncation" in found:
        start = _truncation(found["truncation"], "--truncation")
        if more.get("learn") == "none":
            more["learn"] = None
        found["truncation"] = replace(start, **more)
    elif more:
        raise ValueError(f"{option([*more][0])} needs --truncation")
    if "visible_truncation" in found:
        name = "visible_truncation"
        found[name] = _truncation(found[name], option(name))
    return found


def _add_truncation(parser: argparse.ArgumentParser, choice: Choice) -> None:
    names = ", ".join(NAMED)
    parser.add_argument(
        "--truncation",
        metavar="NAME|LOWER,UPPER",
        help=f"{names}, or a pair such as 0,inf or -1,1, fixed unless --learn says otherwise; "
        f"{choice.text.partition('; ')[2]}",
    )
    fields = described(Truncation)
    learn = Literal[("shared", "per_unit", "none")]
    add_choice(parser, replace(fields["learn"], hint=learn))
    for name in TRUNCATION[1:]:
        add_choice(parser, fields[name])


def _truncation(text: str, name: str) -> Truncation:
    """Return the truncation that an option of this name names."""
    if text in NAMED:
        return as_truncation(text)
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(
            f"{name} must be one of {', '.join(NAMED)}, or LOWER,UPPER; got {text!r}"
        ) from None
    return as_truncation((low, high))


def _help(choice: Choice, own: Any) -> str:
    text = choice.text or PLAIN.get(choice.name, "")
    if not text.startswith(NAMES):
        text = text[:1].lower() + text[1:]
    default = choice.default if own is None else own
    if isinstance(default, Mapping):
        default = ", ".join(f"{_written(value)} for {name}" for name, value in default.items())
    of = f"of {' and '.join(choice.words)}: " if choice.words else ""
    ending = "" if default in (None, ()) else f" (default {_written(default)})"
    return f"{of}{text}{ending}".replace("%", "%%")


def _written(value: Any) -> str:
    """Return a value as it is typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ":".join(f"{each:g}" for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _reader(hint: Any) -> dict[str, Any]:
    """Return how argparse reads values of a kind."""
    kinds = kinds_of(hint)
    words = words_of(hint)
    origins = [typing.get_origin(kind) for kind in kinds]
    if bool in kinds:
        return {"action": argparse.BooleanOptionalAction}
    if collections.abc.Mapping in origins:  # a rate, or rates by the names of matrices
        return {"type": penalty, "metavar": "START[:END[:FORM]]|MATRIX=START[:END[:FORM]],..."}
    if collections.abc.Sequence in origins:  # of rates
        return {"type": course, "nargs": "+", "metavar": "RATE"}
    if collections.abc.Callable in origins and float in kinds:  # a rate
        return {"type": course, "metavar": "START[:END[:FORM]]"}
    if tuple in origins:
        return {"type": pair_of(int), "metavar": "START[:END]"}
    if words:
        return {"choices": words, "type": type(words[0])}
    if int in kinds and len([kind for kind in kinds if kind is not types.NoneType]) > 1:
        return {"type": numbers, "metavar": "N|A,B,..."}
    for kind, word in ((int, "N"), (float, "X")):
        if kind in kinds:
            return {"type": kind, "metavar": word}
    if typing.Any in kinds:  # a float type
        return {"choices": ("float32", "float64")}
    return {}


def pair_of(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what reads START or START:END."""

    def read(text: str) -> Any:
        words = text.split(":")
        try:
            parts = tuple(kind(word) for word in words)
        except ValueError:
            parts = ()
        if not 1 <= len(parts) <= 2:
            what = "whole numbers" if kind is int else "numbers"
            raise argparse.ArgumentTypeError(f"expected {what}, START or START:END, got {text!r}")
        return parts[0] if len(parts) == 1 else parts

    return read


def course(text: str) -> Any:
    """Read START, START:END, which is geometric, or START:END:linear and START:END:cosine."""
    ends, _, form = text.rpartition(":")
    try:
        found = pair_of(float)(ends if form in FORMS else text)
    except argparse.ArgumentTypeError:
        found = None
    if found is None or (form in FORMS and not isinstance(found, tuple)):
        forms = ", ".join(f"START:END:{form}" for form in FORMS)
        raise argparse.ArgumentTypeError(f"expected START, START:END, {forms}, got {text!r}")
    return (*found, form) if form in FORMS else found


def penalty(text: str) -> Any:
    """Read a rate, or several with the names of their matrices."""
    read = course
    if "=" not in text:
        return read(text)
    parts = [part.partition("=") for part in text.split(",")]
    if not all(middle for _, middle, _ in parts):
        raise argparse.ArgumentTypeError(f"expected MATRIX=RATE,MATRIX=RATE,..., got {text!r}")
    return {name.strip().replace("-", "_"): read(rate) for name, _, rate in parts}


def numbers(text: str) -> Any:
    """Read a whole number, or several numbers with commas between them."""
    return tuple(float(part) for part in text.split(",")) if "," in text else int(text)
