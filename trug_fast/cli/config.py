"""``--config FILE``: keyword arguments of a function, options written {"PCD": {"n_gibbs": 5}}.

Tested in tests/cli/test_config.py.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import trug_fast
from trug_fast import training
from trug_fast._common import archives
from trug_fast._common.frames import nearest
from trug_fast.training.options import OPTIMIZERS, PENALTIES, ByField, Monitor
from trug_fast.training.rates import Decay
from trug_fast.training.samplers import SAMPLERS, SequenceCD
from trug_fast.training.tggm.options import MeanField, Noise

OPTIONS: dict[str, Any] = {  # values that arguments take, by the names of their classes
    name: getattr(home, name)
    for home, ends in ((training, ""), (trug_fast, ("Units", "Truncation")))
    for name in dir(home)
    if name.endswith(ends) and is_dataclass(getattr(home, name))
}
# Arguments that are no options: the data, which have a place of their own, and what has a flag.
APART = ("X", "y", "sequences", "model", "base", "callbacks", "executor", "progress")
EXPANDED: dict[str, Mapping[str, Any]] = {  # words that a printed config says in full
    "sampler": SAMPLERS,
    "optimizer": OPTIMIZERS,
    "objective": {"ml": MeanField()},
    "monitor": {"auto": Monitor()},
    "noise": {"shared": Noise()},
}


def names(function: Callable[..., Any]) -> list[str]:
    """Return the arguments of a function that a config may have."""
    return [name for name in inspect.signature(function).parameters if name not in APART]


def read(path: str | None) -> dict[str, Any]:
    """Return what a file of JSON or TOML holds; nothing without one."""
    if path is None:
        return {}
    if archives.is_stream(Path(path)):
        raise ValueError(f"--config {path} is a pipe or a device: name a file")
    try:
        text = Path(path).read_text(encoding="utf-8")
        if path.endswith(".toml"):
            import tomllib

            return tomllib.loads(text)
        found = json.loads(text, object_pairs_hook=_once)
    except ModuleNotFoundError:
        raise ValueError(f"--config {path}: TOML needs Python 3.11; write JSON instead") from None
    except ValueError as error:
        raise ValueError(f"--config {path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f'--config {path} must hold names and values, as {{"epochs": 5}}')
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a name is there twice among {', '.join(name for name, _ in pairs)}")
    return found


def _require_known(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that are not known, by the nearest one."""
    for name in given:
        if name not in known:
            hint = nearest(name, list(known))
            raise ValueError(f"{what} has no {name!r}{hint}; there are {', '.join(known)}")


def chosen(
    function: Callable[..., Any], arguments: argparse.Namespace, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a function that a config gives, and the flags, which go first."""
    known = names(function)
    _require_known(f"--config {arguments.config}", given, known)
    found = {name: built(name, value) for name, value in given.items()}
    typed = {name: getattr(arguments, "seed" if name == "rng" else name, None) for name in known}
    return {"rng": 0} | found | {name: value for name, value in typed.items() if value is not None}


def built(name: str, value: Any) -> Any:
    """Return the value that a config's stands for: tuples for lists, options for their names."""
    if isinstance(value, list):
        return tuple(built(name, each) for each in value)
    if not isinstance(value, dict):
        return value
    if name in PENALTIES:  # rates by the names of matrices
        return {matrix: built(matrix, each) for matrix, each in value.items()}
    if len(value) != 1:
        raise ValueError(f'{name} must be one option, as {{"PCD": {{"n_gibbs": 5}}}}, got {value}')
    ((kind, content),) = value.items()
    _require_known(name, [kind], OPTIONS)
    if not isinstance(content, dict):
        raise ValueError(f'{name} must be written {{"{kind}": {{NAME: VALUE, ...}}}}, got {value}')
    _require_known(kind, content, inspect.signature(OPTIONS[kind]).parameters)
    return OPTIONS[kind](**{each: built(each, inner) for each, inner in content.items()})


def printed(function: Callable[..., Any], found: Mapping[str, Any]) -> str:
    """Return a whole config: the defaults, and what is chosen instead; null is the library's."""
    parameters = inspect.signature(function).parameters
    whole = {name: parameters[name].default for name in names(function)} | dict(found)
    if "n_lags" in whole and whole["sampler"] is None:
        whole["sampler"] = SequenceCD()
    for name, words in EXPANDED.items():
        if isinstance(whole.get(name), str):
            whole[name] = words.get(whole[name], whole[name])
    return json.dumps({name: _plain(value) for name, value in whole.items()}, indent=1)


def _plain(value: Any) -> Any:
    """Return a value as a config has it."""
    if isinstance(value, ByField):
        return {name: _plain(each) for name, each in value}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Decay):
        return [value.start, value.end, value.form]
    if is_dataclass(value) and not isinstance(value, type):
        content = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {type(value).__name__: content}
    return str(value) if isinstance(value, Path) else value
