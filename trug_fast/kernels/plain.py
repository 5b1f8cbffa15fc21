"""The plain way to compile a kernel: by what Numba documents, and nothing else.

Copied into its callers, at every level anew, as ``njit`` has it, the kernels of ``train_rbm`` took
123 s to compile where the linked way takes 10, and last digits of ``truncnorm``'s moments differed:
which products and sums are fused depends on what is copied.  So kernels are linked here too: each
is compiled once as a C function (``numba.cfunc``) of three addresses, of its arguments and of what
it returns.  A caller asks for the kernel's address at its first call, by the kernel's name, and
what it is told is compiled or comes from Numba's cache.  Rare kernels are nothing special then.

Numba checks a kernel that it keeps against its own file only.  So it is given a folder whose name
bears a hash of all files.

Tested in tests/kernels/test_plain.py.
"""

import base64
import ctypes
import hashlib
import importlib
import pickle
import shutil
import traceback
import types as python
import weakref
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba import cfunc, config, get_num_threads, njit, prange, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from .caching import HOME, OURS, PLACES, warn_of_no_home

_WORD, _TEXT = ir.IntType(64), ir.IntType(8).as_pointer()
_ENTRY = ir.FunctionType(_WORD, [_WORD] * 3)  # whether it failed, of index, arguments, result
_CALLED = types.int64(types.int64, types.int64, types.int64)
_RESOLVE = "trug_fast_resolve"


def _settle() -> None:
    """Take over kernels that lie where nothing can be written; drop those of older sources."""
    if HOME is None:
        return warn_of_no_home()
    if any(HOME.iterdir()):
        return None
    version = HOME.name.rpartition("-")[0]
    for old in HOME.parent.glob(f"{version}-*"):
        if old != HOME:
            shutil.rmtree(old, ignore_errors=True)
    for place in PLACES[: PLACES.index(HOME)]:
        if place.is_dir():
            shutil.copytree(place, HOME, dirs_exist_ok=True)
    return None


_settle()


def _kept(decorator: Any, function: Any, *given: Any, **options: Any) -> Any:
    """Return what a decorator of Numba makes, to be kept in the folder of kernels."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(HOME or "")  # type: ignore[attr-defined]
    try:
        return _tolerant(decorator, function, *given, cache=HOME is not None, **options)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


# Options that Numba takes and does not list.  A release without them compiles for longer, code for
# Python to call kernels too, and has slower loops.
_UNLISTED = ("forceinline", "no_cfunc_wrapper", "no_cpython_wrapper")
_UNWRAPPED = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}


def _tolerant(decorator: Any, function: Any, *given: Any, **options: Any) -> Any:
    """Return what a decorator makes, without the options that it may refuse if it does."""
    try:
        return decorator(*given, **options)(function)
    except (KeyError, TypeError):
        listed = {name: value for name, value in options.items() if name not in _UNLISTED}
        return decorator(*given, **listed)(function)


def make(kind: str, function: Any, options: dict[str, Any], **more: Any) -> Any:
    """Make a kernel of a function."""
    if kind in ("scalar", "pattern"):
        own = _kept(njit, function, **options)
        OURS.add(own)
        return own
    # Forced into its entry: of two copies LLVM takes the first, and a process that
    # loads kernels meets another than one that compiles them.  Last digits would differ.
    own = _kept(njit, function, **options | _UNWRAPPED | {"forceinline": True})
    OURS.add(own)
    link = _Link(own, "parallel" in options)
    names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    scope: dict[str, Any] = {"call": link.call}
    exec(f"def written({names}): return call(({names},))", scope)
    caller = _like(function, scope["written"].__code__, scope, function.__qualname__)
    caller.__doc__ = function.__doc__
    alike = {name: options[name] for name in ("error_model", "fastmath", "nogil")}
    dispatcher = _kept(njit, caller, inline="always", **alike)
    OURS.add(dispatcher)
    _of_callers[dispatcher] = link
    return dispatcher


def _like(function: Any, code: Any, scope: dict[str, Any], qualname: str) -> Any:
    """Return a function of some code that seems to stand where another does."""
    there = function.__code__
    code = code.replace(
        co_filename=there.co_filename,
        co_firstlineno=there.co_firstlineno,
        co_name=function.__name__,
    )
    made = python.FunctionType(code, scope, function.__name__)
    made.__module__, made.__qualname__ = function.__module__, qualname
    return made


def _entry(index, place, result):
    """Call a kernel with arguments that lie at an address, for C; return whether it failed."""
    try:
        write(result, kernel(*read(index, place)))  # noqa: F821
    except Exception:
        return 1
    return 0


class _Link:
    def __init__(self, kernel: Any, parallel: bool) -> None:
        self.kernel, self.function, self._parallel = kernel, kernel.py_func, parallel
        self._entries: dict[str, Any] = {}

        def call(arguments):
            return self.function(*arguments)

        @overload(call)
        def _call(arguments):
            kinds = _kinds(arguments)
            self.kernel.compile(kinds)
            found = self.kernel.nopython_signatures
            returned = next(one.return_type for one in found if tuple(one.args) == kinds)
            self.address(self.token(kinds), kinds, False)
            return _calling(self.token(kinds), returned)

        self.call = call

    def token(self, kinds: tuple[Any, ...], indexed: bool = False) -> str:
        """Return by what name the kernel is asked for."""
        asked = self.function.__module__, self.function.__qualname__, kinds, indexed
        token = base64.b64encode(pickle.dumps(asked)).decode()
        _of_tokens[token] = self
        return token

    def address(self, token: str, kinds: tuple[Any, ...], indexed: bool) -> int:
        """Return where the kernel lies, compiled or loaded if need be."""
        if self._parallel:
            get_num_threads()  # starts Numba's threads: their functions are looked up in loading
        if token not in self._entries:
            words = f"{self.function.__module__}.{kinds}.{indexed}"
            name = f"{self.function.__qualname__}.{hashlib.sha256(words.encode()).hexdigest()[:16]}"
            scope = {"read": _reader(kinds, indexed), "write": _write, "kernel": self.kernel}
            entry = _like(self.function, _entry.__code__, scope, name)
            self._entries[token] = _kept(cfunc, entry, _CALLED, error_model="numpy")
        return int(self._entries[token].address)


_of_callers: "weakref.WeakKeyDictionary[Any, _Link]" = weakref.WeakKeyDictionary()
_of_tokens: dict[str, _Link] = {}


def _kinds(arguments: Any) -> tuple[Any, ...]:
    return tuple(types.unliteral(one) for one in arguments.types)


def _tuple(kinds: tuple[Any, ...]) -> Any:
    return types.Tuple(kinds)


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
def _resolve(text):
    """Return the address of a kernel that compiled code asks for, 0 if there is none."""
    try:
        token = text.decode()
        module, name, kinds, indexed = pickle.loads(base64.b64decode(text))
        if token not in _of_tokens:
            _of_tokens[token] = _of_callers[getattr(importlib.import_module(module), name)]
        return _of_tokens[token].address(token, kinds, indexed)
    except BaseException:
        traceback.print_exc()
        return 0


llvm.add_symbol(_RESOLVE, ctypes.cast(_resolve, ctypes.c_void_p).value)


def _asker(token: str) -> Any:
    """Make what asks for the address of a kernel, once in each piece of compiled code."""

    @intrinsic
    def ask(typingctx):
        def codegen(context, builder, signature, args):
            module = builder.module
            text = bytearray(token.encode() + b"\0")
            words = ir.Constant(ir.ArrayType(ir.IntType(8), len(text)), text)
            name = cgutils.global_constant(module, module.get_unique_name("trug_fast.name"), words)
            slot = ir.GlobalVariable(module, _WORD, module.get_unique_name("trug_fast.slot"))
            slot.linkage, slot.initializer = "internal", _WORD(0)
            with builder.if_then(
                builder.icmp_unsigned("==", builder.load(slot), _WORD(0)), likely=False
            ):
                kind = ir.FunctionType(_WORD, [_TEXT])
                resolve = cgutils.get_or_insert_function(module, kind, _RESOLVE)
                found = builder.call(resolve, [builder.bitcast(name, _TEXT)])
                builder.store(found, slot)
            return builder.load(slot)

        return types.int64(), codegen

    return ask


@intrinsic
def _place_of(typingctx, arguments):
    """Return the address of a tuple, in memory of the function that calls this."""
    kind = _tuple(_kinds(arguments))

    def codegen(context, builder, signature, args):
        value = context.cast(builder, args[0], signature.args[0], kind)
        return builder.ptrtoint(cgutils.alloca_once_value(builder, value), _WORD)

    return types.int64(arguments), codegen


@intrinsic
def _call_at(typingctx, address, index, place, result):

    def codegen(context, builder, signature, args):
        function = builder.inttoptr(args[0], _ENTRY.as_pointer())
        return builder.call(function, args[1:])

    return types.int64(*[types.int64] * 4), codegen


def _reader(kinds: tuple[Any, ...], indexed: bool) -> Any:
    """Make what reads arguments at an address, the first of which may be an index."""
    whole = _tuple(kinds)
    kept = _tuple(kinds[1:]) if indexed else whole

    @intrinsic
    def read(typingctx, index, place):
        def codegen(context, builder, signature, args):
            index, place = args
            pointer = context.get_value_type(kept).as_pointer()
            value = builder.load(builder.inttoptr(place, pointer))
            context.nrt.incref(builder, kept, value)
            if not indexed:
                return value
            parts = cgutils.unpack_tuple(builder, value, len(kept.types))
            return context.make_tuple(builder, whole, [index, *parts])

        return whole(types.int64, types.int64), codegen

    return read


@intrinsic
def _write(typingctx, place, value):
    """Leave what a kernel returns at an address."""

    def codegen(context, builder, signature, args):
        if value != types.none:  # where an index comes from a loop there is no place for it
            context.nrt.incref(builder, value, args[1])
            builder.store(args[1], builder.inttoptr(args[0], args[1].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


def _result(returned: Any) -> tuple[Any, Any]:
    """Make what has a place for a result, and what takes it from there."""

    @intrinsic
    def space(typingctx):
        def codegen(context, builder, signature, args):
            return builder.ptrtoint(
                cgutils.alloca_once(builder, context.get_value_type(returned)), _WORD
            )

        return types.int64(), codegen

    @intrinsic
    def take(typingctx, place):
        def codegen(context, builder, signature, args):
            if returned == types.none:
                return context.get_dummy_value()
            pointer = context.get_value_type(returned).as_pointer()
            return builder.load(builder.inttoptr(args[0], pointer))

        return returned(types.int64), codegen

    return space, take


def _calling(token: str, returned: Any) -> Any:
    ask = _asker(token)
    space, take = _result(returned)

    def calling(arguments):
        address, result = ask(), space()
        if address == 0:
            raise RuntimeError("a kernel could not be compiled, as was said above")
        if _call_at(address, 0, _place_of(arguments), result) != 0:
            raise MemoryError("a kernel failed: no memory for its arrays")
        return take(result)

    return calling


def want(subject: str) -> None:
    """Do nothing: every kernel is compiled when it is first called."""


def rarely(kernel, arguments):
    """Call a rare kernel, which returns nothing, in compiled code."""
    raise NotImplementedError


# A kernel that is passed on would be an address of this process, which Numba keeps nothing with:
# what takes one is copied where it is called.
@overload(rarely, inline="always")
def _rarely(kernel, arguments):
    link = _linked_to(kernel, arguments, "rarely takes a rare kernel and its arguments")
    calling = _calling(link.token(_kinds(arguments)), types.none)
    call = _tolerant(njit, calling, nogil=True, **_UNWRAPPED)
    return lambda kernel, arguments: call(arguments)


def _linked_to(kernel: Any, arguments: Any, takes: str) -> _Link:
    found = _of_callers.get(kernel.dispatcher) if isinstance(kernel, types.Dispatcher) else None
    if found is None or not isinstance(arguments, types.BaseTuple):
        raise TypingError(f"{takes}, got {kernel}")
    return found


def _run(address, count, place):
    """Call the entry at an address with each index below ``count``; return how often it failed."""
    failed = 0
    for index in prange(count):
        failed += _call_at(address, types.int64(index), place, 0)
    return failed


_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "nogil": True}
_run = make("linked", _run, _OPTIONS | {"parallel": True})


def each(kernel, count, arguments):
    """Call ``kernel(index, *arguments)`` for each index below ``count``, in compiled code."""
    raise NotImplementedError


@overload(each, inline="always")
def _each(kernel, count, arguments):
    link = _linked_to(kernel, arguments, "each takes a linked kernel, a count and a tuple")
    kinds = (types.int64, *_kinds(arguments))
    token = link.token(kinds, True)
    link.address(token, kinds, True)
    ask = _asker(token)
    space, _ = _result(types.none)

    def calling(count, arguments):
        address, place, failed = ask(), _place_of(arguments), 0
        if address == 0:
            raise RuntimeError("a kernel could not be compiled, as was said above")
        if count == 1:
            failed = _call_at(address, 0, place, space())
        elif count > 1:
            failed = _run(address, count, place)
        if failed > 0:
            raise MemoryError("a kernel failed in a thread: no memory for its arrays")

    call = _tolerant(njit, calling, nogil=True, **_UNWRAPPED)
    return lambda kernel, count, arguments: call(count, arguments)
