"""Compile with vectors as wide as the processor's.

If a processor has vectors of 64 bytes, LLVM still uses only half of that, because the first
processors of Intel's that had them slowed down when they were used. Later ones do not, and with the
whole width an exponential takes two thirds of the time. LLVM takes the width as an attribute of
single functions, so that neither Numba's settings nor functions of other packages change.
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
"""How many bytes a vector has of which LLVM may use half."""


class _WideLower(Lower):
    """Writes a function in LLVM's language, and with it how wide vectors are to be."""

    def pre_lower(self) -> None:
        """Do what comes before the instructions."""
        super().pre_lower()  # type: ignore[no-untyped-call]
        # The attributes are a set whose own `add` knows only those without a value.
        set.add(self.function.attributes, f'"prefer-vector-width"="{8 * VECTOR_BYTES}"')


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _WideLowering(NativeLowering):
    """The step of Numba's compiler that uses `_WideLower`."""

    _name = "wide_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that writes the function."""
        return _WideLower


class _WideCompiler(Compiler):
    """Numba's compiler with this step in place of its own."""

    def define_pipelines(self) -> list[Any]:
        """Return the lists of steps of which the first that succeeds is taken."""
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
"""Compiles a function that only kernels call, and that makes no array.

It lacks what Python would need to call it, and does not count references to arrays. The count of an
array is shared by all threads, of which each would wait for the others, again and again.
"""

inlined = jit(**_WITHOUT_WRAPPERS, _nrt=False, forceinline=True)
"""Compiles a function that becomes a part of those that call it.

Passing arrays, seven numbers each, takes as long as a third of a small tile of a product.
"""

allocating = jit(**_WITHOUT_WRAPPERS)
"""Compiles a function that only kernels call, and that returns a new array."""

INLINED: Any = {"forceinline": True}
"""LLVM would not inline long functions, and a loop that calls one is not vectorized."""
