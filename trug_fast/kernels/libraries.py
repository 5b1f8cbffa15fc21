"""Two kinds of code that Numba does not know: scalars to be copied, and loops in wide registers.

Numba makes a library of each function that it compiles.  Here are two libraries, and compilers that
fill them.
"""

from llvmlite.binding import parse_bitcode
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass

# On Intel's processors LLVM takes registers of 256 bits even where there are 512: draws took 44 ns
# so, 26 with this attribute.  Where there are only 256 bits it changes nothing.
WIDE = '"prefer-vector-width"="512"'


class _Machineless:
    """A code generator as a library without machine code sees it: no environments are set in it."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, name, environment):
        """Do nothing."""


class ScalarLibrary(JITCodeLibrary):
    """A function that is copied into its callers and optimised there.

    Optimising it alone, and making machine code of it, would be in vain.
    """

    @property
    def codegen(self):
        return _Machineless(self._codegen)

    def _optimize_final_module(self):
        level = config.OPT
        config.OPT = type(level)(0)
        try:
            super()._optimize_final_module()
        finally:
            config.OPT = level

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0

    def serialize_using_object_code(self):
        return self.name, "scalar", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen, state):
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = library._shared_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class WideLibrary(JITCodeLibrary):
    """Functions that take the widest registers there are."""

    def add_ir_module(self, ir_module):
        for function in ir_module.functions:
            if function.blocks:
                set.add(
                    function.attributes, WIDE
                )  # llvmlite's own method refuses what it does not know
        super().add_ir_module(ir_module)


def _compiler(library_class):
    """Make a class of compilers that fill libraries of a class."""

    @register_pass(mutates_CFG=False, analysis_only=False)
    class NewLibrary(LoweringPass):
        _name = f"new_{library_class.__name__}"

        def __init__(self):
            LoweringPass.__init__(self)

        def run_pass(self, state):
            state.library = library_class(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return False

    class Compiler(CompilerBase):
        def define_pipelines(self):
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes.insert(0, (NewLibrary, "make the library"))
            passes.finalize()
            return [passes]

    return Compiler


ScalarCompiler, WideCompiler = _compiler(ScalarLibrary), _compiler(WideLibrary)
