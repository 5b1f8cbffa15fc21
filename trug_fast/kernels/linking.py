"""Kernels that are compiled once for each choice of types, and called where they lie.

Numba copies what a function calls into the function's own module and optimises the copy there, at
every level of calls anew: one row loop was compiled nine times for the nine kernels above it.  A
linked kernel stays where it is.  Its callers hold a call of a symbol, whose address is known from
when the kernel is compiled or loaded; what is kept of a caller on disk names the kernels that it
calls, so that they are loaded first.  Users' code keeps no such names: what it may embed is copied
as ever (``compiling.inner``).

A rare kernel is not even compiled until :func:`want` is told that it will be needed: its callers
read its address from a slot.
"""

import copy
import ctypes
import gc
import hashlib
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .numba_parts import CPUDispatcher


class Link(NamedTuple):
    """A linked kernel for some types, by names that hold in any process."""

    module: str
    name: str
    arguments: tuple[Any, ...]  # Numba types
    rare: bool

    @property
    def symbol(self) -> str:
        """The symbol of the kernel, or of its slot."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:16]
        return f"{self.module}.{self.name}.{digest}"

    def load(self) -> None:
        """Have the symbol known: compile the kernel, or load it, unless it is a rare one."""
        kernel = getattr(importlib.import_module(self.module), self.name)
        if self.rare:
            kernel.offer(self.arguments)
        else:
            kernel.compile(self.arguments)


_links: dict[str, Link] = {}  # by symbol
_wanted: set[str] = set()  # subjects of rare kernels


def links_of(library: Any) -> list[Link]:
    """Return the linked kernels that the code of a library calls."""
    module = library._final_module
    outside = [*module.functions, *module.global_variables]
    return [_links[one.name] for one in outside if one.is_declaration and one.name in _links]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for garbage, of which compiling makes little: 15 % of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Plain(CPUDispatcher):
    """A function that is not compiled anew for each constant that its callers name."""

    def compile(self, sig):
        """Compile or load the function for some types."""
        found = self.overloads.get(sig) if isinstance(sig, tuple) else None
        if found is not None:
            return found.entry_point
        with _uncollected():
            return super().compile(sig)

    def get_call_template(self, arguments, keywords):
        """Return what Numba asks of a function that is called, for numbers of any value."""
        arguments = tuple(types.unliteral(one) for one in arguments)
        keywords = {name: types.unliteral(one) for name, one in keywords.items()}
        return super().get_call_template(arguments, keywords)


class Inner(Plain):
    """A function for compiled code, without what Python needs to call it.

    Called from Python all the same, it is compiled again by ``wrapped``, with that.
    """

    wrapped: Any = None

    @cached_property
    def entry(self) -> Any:
        """The function as Python calls it."""
        return self.wrapped(self.py_func)

    def __call__(self, *arguments):  # noqa: D102
        return self.entry(*arguments)


class Linked(Plain):
    """A kernel whose callers call it and do not copy it."""

    def __init__(self, function, **options):
        super().__init__(function, **options)
        self.described = {}  # by types of arguments: as callers declare it
        self.address = {}

    def add_overload(self, cres):
        """Take in what was compiled or loaded for some types."""
        super().add_overload(cres)
        arguments = tuple(cres.signature.args)
        link = Link(self.py_func.__module__, self.py_func.__name__, arguments, False)
        _links[link.symbol] = link
        self.address[arguments] = cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name)
        llvm.add_symbol(link.symbol, self.address[arguments])
        described = copy.copy(cres.fndesc)
        described.mangled_name = link.symbol
        self.described[arguments] = described
        # Numba has entered the function with a library to be copied from: enter it without.
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, described)


class InnerLinked(Inner, Linked):
    """The same, not to be called from Python."""


class Rare(InnerLinked):
    """The same, compiled when its subject is wanted."""

    def __init__(self, function, subject="", **options):
        super().__init__(function, **options)
        self.subject = subject
        self.slots = {}  # by types of arguments
        _rare.append(self)

    def offer(self, arguments: tuple[Any, ...]) -> Link:
        """Have a slot for these types, filled if the subject is wanted."""
        link = Link(self.py_func.__module__, self.py_func.__name__, arguments, True)
        if arguments not in self.slots:
            self.slots[arguments] = slot = ctypes.c_void_p()
            _links[link.symbol] = link
            llvm.add_symbol(link.symbol, ctypes.addressof(slot))
            if self.subject in _wanted:
                self.fill(arguments)
        return link

    def fill(self, arguments: tuple[Any, ...]) -> None:
        """Have the kernel compiled for these types."""
        self.compile(arguments)
        self.slots[arguments].value = self.address[arguments]


_rare: list[Rare] = []


def want(subject: str) -> None:
    """Have a subject's rare kernels compiled, those called so far and those called later."""
    if subject in _wanted:
        return
    _wanted.add(subject)
    for kernel in _rare:
        if kernel.subject == subject:
            for arguments in list(kernel.slots):
                kernel.fill(arguments)


@intrinsic
def rarely(typingctx, kernel, arguments):
    """Call a rare kernel, which returns nothing; RuntimeError if its subject is not wanted."""
    if not isinstance(kernel, types.Dispatcher) or not isinstance(kernel.dispatcher, Rare):
        raise TypingError(f"rarely takes a rare kernel and its arguments, got {kernel}")
    link = kernel.dispatcher.offer(tuple(arguments.types))

    def codegen(context, builder, signature, args):
        pointer = ir.IntType(8).as_pointer()
        slot = ir.GlobalVariable(builder.module, pointer, builder.module.get_unique_name("slot"))
        slot.name, slot.linkage = link.symbol, "external"
        address = builder.load(slot)
        with builder.if_then(builder.icmp_unsigned("==", address, pointer(None)), likely=False):
            words = f"{link.name} is not compiled: its subject is not wanted"
            context.call_conv.return_user_exc(builder, RuntimeError, (words,))
        kind = context.call_conv.get_function_type(types.none, link.arguments)
        function = builder.bitcast(address, kind.as_pointer())
        parts = [builder.extract_value(args[1], i) for i in range(len(link.arguments))]
        status, _ = context.call_conv.call_function(
            builder, function, types.none, link.arguments, parts
        )
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(kernel, arguments), codegen
