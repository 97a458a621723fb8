"""Functions that only compiled code calls stay LLVM code until the kernel around them is compiled.

Numba optimises every function and turns it into machine code, although its callers link it in and optimise it again:
a chain of ten calls is compiled ten times. The compiler here lowers an inner function to LLVM code, links it, and
stops.

Numba documents the pass manager used here, but not the fields of its code library. If a future version lacks one of
these names, `PIPELINE` is empty and inner functions are compiled in Numba's own way, which takes longer.
"""

from typing import Any

PIPELINE: dict[str, Any] = {}

try:
    from numba import _dynfunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
        """A code library that callers link, and that is never run by itself."""

        def finalize(self) -> None:
            """Link what the function calls; leave optimisation to the callers."""
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(self, "_reload_init"):  # Numba 0.61 has none
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalize_dynamic_globals()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class InnerLowering(NativeLowering):  # type: ignore[misc]
        """Lower a function to LLVM code and stop."""

        _name = "rankwood_inner_lowering"

        def run_pass(self, state: Any) -> bool:
            """Lower the function into an `InnerLibrary`, without an entry point for Python."""
            state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags = state.flags.copy()
            state.flags.no_compile = True
            super().run_pass(state)
            lowered = state["cr"]
            state.library.finalize()
            name = lowered.fndesc.qualname.split(".")[-1]
            module = lowered.fndesc.lookup_module()
            entry = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))
            state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
            state["cr"] = _LowerResult(
                lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env
            )
            return True

    class InnerCompiler(CompilerBase):  # type: ignore[misc]
        """Numba's usual passes with `InnerLowering` as the last one."""

        def define_pipelines(self) -> list[Any]:
            """Return the passes."""
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (InnerLowering, reason) if step is NativeLowering else (step, reason)
                for step, reason in passes.passes
            ]
            passes.finalize()
            return [passes]

    if hasattr(JITCodeLibrary, "_finalize_dynamic_globals"):
        PIPELINE = {"pipeline_class": InnerCompiler}
except (ImportError, AttributeError):
    pass
