"""Compile with vectors as wide as the processor's.

If a processor has vectors of 64 bytes, LLVM uses only half of that by default, because the first
Intel processors with such vectors reduced their clock rate. Later ones do not, and with the full
width an exponential takes two thirds of the time. The width is an attribute of single functions, so
neither Numba's settings nor functions of other packages change.
"""

from __future__ import annotations

from typing import Any

from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from mt_fast.core.tables import COMPILER_OPTIONS, jit
from mt_fast.vectors.processor import VECTOR_BYTES

NARROWED = 64
"""The bytes of a vector of which LLVM would use half."""


class _WideLower(Lower):
    """Lowering with an attribute for the width of vectors."""

    def pre_lower(self) -> None:
        """Add the attribute before the instructions."""
        super().pre_lower()  # type: ignore[no-untyped-call]
        # The attributes are a set whose own `add` accepts only attributes without a value.
        set.add(self.function.attributes, f'"prefer-vector-width"="{8 * VECTOR_BYTES}"')


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _WideLowering(NativeLowering):
    """The pass of Numba's compiler that uses `_WideLower`."""

    _name = "wide_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that lowers the function."""
        return _WideLower


class _WideCompiler(Compiler):
    """Numba's compiler with this pass in place of its own."""

    def define_pipelines(self) -> list[Any]:
        """Return the pipelines, of which the first that succeeds is used."""
        pipelines: list[Any] = super().define_pipelines()  # type: ignore[no-untyped-call]
        for pipeline in pipelines:
            pipeline.passes = [
                (_WideLowering if step is NativeLowering else step, description)
                for step, description in pipeline.passes
            ]
            pipeline.finalize()
        return pipelines


if VECTOR_BYTES == NARROWED:
    COMPILER_OPTIONS["pipeline_class"] = _WideCompiler

_WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = jit(**_WITHOUT_WRAPPERS, _nrt=False)
"""Compile a function that only kernels call, and that allocates no array.

It has no wrappers for calls from Python, and does not count references to arrays. The reference
count of an array is shared by all threads, which would contend for it."""

inlined = jit(**_WITHOUT_WRAPPERS, _nrt=False, forceinline=True)
"""Compile a function that is inlined into its callers.

Passing arrays, seven numbers each, takes as long as a third of a small tile of a product."""

allocating = jit(**_WITHOUT_WRAPPERS)
"""Compile a function that only kernels call, and that returns a new array."""

INLINED: Any = {"forceinline": True}
"""LLVM would not inline long functions, and a loop that calls one is not vectorized."""
