"""Docstrings of functions that take the same arguments, put together from one place.

Tested in its own example by tests/test_docs.py.
"""

from collections.abc import Callable, Mapping
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def described(
    parameters: Mapping[str, str],
    returns: str,
    example: str,
    *,
    kind: str = "float",
    imports: str = "",
    raises: str = "",
    notes: str = "",
) -> Callable[[F], F]:
    """Add the sections of numpydoc to a docstring of a sentence or two.

    Parameters
    ----------
    parameters : mapping of str to str
        What stands for each argument, or group of arguments, with its type: what it is.
    returns, raises, notes : str
        Texts of these sections; ``raises`` begins with the names of exceptions, on a line.
    example, imports : str
        The example as Python prints it, and its first line where many have the same; {name} in that
        stands for the function's name.
    kind : str
        Names and types of what is returned.

    Examples
    --------
    >>> from trug_fast.kernels.describing import described
    >>> @described({"x : float": "Any number."}, "Never negative.", ">>> square(3.0)")
    ... def square(x):
    ...     '''Return the square.'''
    ...     return x * x
    >>> square.__doc__.splitlines()[2:5]
    ['Parameters', '----------', 'x : float']
    """
    names, _, reasons = cleandoc(raises).partition("\n")

    def describe(function: F) -> F:
        if function.__doc__ is None:  # python -OO drops them
            return function
        first = imports.format(name=function.__name__) + "\n" if imports else ""
        sections = {
            "Parameters": "\n".join(f"{name}\n{_shifted(is_)}" for name, is_ in parameters.items()),
            "Returns": f"{kind}\n{_shifted(returns)}",
            "Raises": f"{names}\n{_shifted(reasons)}" if raises else "",
            "Notes": cleandoc(notes),
            "Examples": first + cleandoc(example),
        }
        found = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text]
        function.__doc__ = "\n\n".join([cleandoc(function.__doc__), *found]) + "\n"
        return function

    return describe


def _shifted(text: str) -> str:
    return indent(cleandoc(text), "    ")
