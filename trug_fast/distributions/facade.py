"""Functions of a family, made of the methods of its frozen distributions.

A method of the class whose parameters are fixed is where a function stands, with its words.  Its
namesake in the family takes the parameters as arguments, before those that have defaults.
Tested in tests/distributions/test_frozen.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, TypeVar

from trug_fast.kernels.describing import described

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def told(
    first: Mapping[str, str] | None = None, rest: Mapping[str, str] | None = None, **sections: str
) -> Callable[[F], F]:
    """Keep what the docstrings of a method, and of the function made of it, are put together from.

    ``first`` and ``rest`` are the arguments before and after the parameters of the family.
    """

    def keep(method: F) -> F:
        method.told = first or {}, rest or {}, sections  # type: ignore[attr-defined]
        return method

    return keep


def functions_of(
    methods: type, make: Callable[..., Any], given: Mapping[str, str], *, named: bool = False
) -> Callable[[type[T]], type[T]]:
    """Fill in the functions that a family annotates, and the docstrings of both.

    make : makes of parameters what has the methods
    given : what docstrings say of them
    named : whether what has a default beside them is given by name alone
    """
    parameters = [p for p in signature(make).parameters.values() if p.kind != p.KEYWORD_ONLY]

    def fill(family: type[T]) -> type[T]:
        for name in family.__annotations__:
            method = getattr(methods, name)
            function = _of_parameters(family, method, make, parameters, named)
            function.__doc__ = method.__doc__
            first, rest, sections = method.told
            described({**first, **given, **rest}, **sections)(function)
            described({**first, **rest}, **sections)(method)
            setattr(family, name, staticmethod(function))
        return family

    return fill


def _of_parameters(
    family: type,
    method: Callable[..., Any],
    make: Callable[..., Any],
    parameters: list[Parameter],
    named: bool,
) -> Callable[..., Any]:
    """Return the function, from source as in dataclasses: to bind by a signature takes 5 us."""
    whole = signature(method)
    _, *own = whole.parameters.values()
    first = [p for p in own if p.default is p.empty]
    rest = [p.replace(kind=p.KEYWORD_ONLY) if named else p for p in own[len(first) :]]
    whole = whole.replace(parameters=[*first, *parameters, *rest])
    call = ", ".join([p.name for p in first] + [f"{p.name}={p.name}" for p in rest])
    source = (
        f"def enclose(method, make):\n"
        f"    def {method.__name__}{whole}:\n"
        f"        return method(make({', '.join(p.name for p in parameters)}), {call})\n"
        f"    return {method.__name__}\n"
    )
    made: dict[str, Any] = {}
    code = compile(source, family.__module__, "exec", dont_inherit=True)
    exec(code, vars(sys.modules[family.__module__]), made)
    function: Callable[..., Any] = made["enclose"](method, make)
    function.__qualname__ = f"{family.__name__}.{method.__name__}"
    return function
