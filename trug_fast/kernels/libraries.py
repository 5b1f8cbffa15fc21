"""Two kinds of code that Numba does not know: scalars to be copied, and loops in wide registers.

Numba makes a library of each function that it compiles.  Here are two libraries, and compilers that
fill them.

Tested in tests/kernels/test_linking.py.
"""

from llvmlite import ir as llvm_types
from llvmlite.binding import parse_bitcode
from numba import types

from .numba_parts import (
    AnnotateTypes,
    Assign,
    CompilerBase,
    DefaultPassBuilder,
    Expr,
    InlineClosureLikes,
    JITCodeLibrary,
    LoweringPass,
    NopythonRewrites,
    register_pass,
)

# On Intel's processors LLVM takes registers of 256 bits even where there are 512: draws took 44 ns
# so, 26 with this attribute.  Where there are only 256 bits it changes nothing.
WIDE = '"prefer-vector-width"="512"'

APART: set[object] = set()  # functions whose arrays that are written to overlap no others


class _Machineless:
    """A code generator as a library without machine code sees it: no environments are set in it."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, name, environment):
        """Do nothing."""


class KernelLibrary(JITCodeLibrary):
    """A function that takes the widest registers, and is optimised once.

    Numba optimises a function alone, then with all that it calls, roughly and in full.  The last
    does it: of 22 s of compilation for ``train_rbm`` the others took 2.5.
    """

    counted = True  # whether references are counted
    apart = False  # whether arrays that it writes to overlap no others

    def add_ir_module(self, ir_module):
        """Take in what Numba has made of a function."""
        for function in ir_module.functions:
            if function.blocks:
                set.add(function.attributes, WIDE)  # llvmlite's own method takes known names only
            for argument in function.args if self.apart else ():
                if _is_data(argument):
                    argument.add_attribute("noalias")
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module):
        if self.counted:
            super()._optimize_functions(ll_module)
        else:
            ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        passes = None if self.counted else self._codegen._module_pass_manager()
        if isinstance(passes, tuple):  # before Numba 0.62 they are something else
            manager, builder = passes
            manager.run(self._final_module, builder)
        else:
            super()._optimize_final_module()


def _is_data(argument):
    pointee = getattr(argument.type, "pointee", None)
    return isinstance(pointee, llvm_types.FloatType | llvm_types.DoubleType)


class ScalarLibrary(KernelLibrary):
    """A function that is copied into its callers: making machine code of it would be in vain.

    Optimised it is, since loops over functions with branches left in them do not vectorise.
    """

    @property
    def codegen(self):
        """The code generator, which Numba would have set environments of machine code."""
        return _Machineless(self._codegen)

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return none."""
        return 0

    def serialize_using_object_code(self):
        """Return what is kept on disk."""
        return self.name, "scalar", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen, state):
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = library._shared_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


_VIEWS = ("getattr", "static_getitem", "getitem", "build_tuple", "exhaust_iter", "cast", "phi")


def _borrows(state):
    """Tell whether a function, whose types are known, only has arrays that its callers hold."""
    if _holds_array(state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for assigned in block.find_insts(Assign):
            value = assigned.value
            if not isinstance(value, Expr) or not _holds_array(state.typemap[assigned.target.name]):
                continue
            if value.op == "call":
                if not isinstance(state.typemap[value.func.name], types.NamedTupleClass):
                    return False
            elif value.op not in _VIEWS:
                return False
            elif value.op == "getitem" and _holds_array(state.typemap[value.index.name]):
                return False
    return True


def _holds_array(kind):
    if isinstance(kind, types.BaseTuple):
        return any(_holds_array(part) for part in kind.types)
    if isinstance(kind, types.Pair):  # of an iterator
        return _holds_array(kind.first_type)
    return not isinstance(kind, _WITHOUT)


_WITHOUT: tuple[type, ...] = (
    *(types.Number, types.Boolean, types.NoneType, types.Literal, types.SliceType, types.Dummy),
    *(types.Callable, types.Module, types.DType, types.RangeType, types.RangeIteratorType),
)


# Kernels hold no closures and no expressions of whole arrays, which these look for (5 %).
_IN_VAIN = (InlineClosureLikes, NopythonRewrites)


def _compiler(library_class):
    """Make a class of compilers that fill libraries of a class."""

    @register_pass(mutates_CFG=False, analysis_only=False)
    class NewLibrary(LoweringPass):
        _name = f"new_{library_class.__name__}"

        def __init__(self):
            LoweringPass.__init__(self)

        def run_pass(self, state):
            # A parallel loop makes arrays that are not in the types yet: its sums.  What Python
            # calls makes the arrays that it is given.
            flags = state.flags
            counted = flags.auto_parallel.enabled or not flags.no_cpython_wrapper
            if not counted and _borrows(state):
                # A count is an atomic operation on memory that all threads share; five a row cost
                # 5 to 10 %.
                state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            library = library_class(state.targetctx.codegen(), state.func_id.func_qualname)
            library.enable_object_caching()
            library.counted = state.targetctx.enable_nrt
            library.apart = state.func_id.func in APART
            state.library = library
            return False

    class Compiler(CompilerBase):
        def define_pipelines(self):
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            if not self.state.flags.auto_parallel.enabled:
                passes.passes = [one for one in passes.passes if one[0] not in _IN_VAIN]
            passes.add_pass_after(NewLibrary, AnnotateTypes)
            passes.finalize()
            return [passes]

    return Compiler


ScalarCompiler, KernelCompiler = _compiler(ScalarLibrary), _compiler(KernelLibrary)
