"""Numba's `njit`, with vectors as wide as the processor's.

The first use of Numba's compiler in the lesson. If a processor has vectors of 64 bytes, LLVM may
still use only half of that: those of Intel's first generations that had them slowed down for a
while when they did. Today's do not, and with the whole width an exponential takes two thirds of the
time. LLVM can be told so for single functions, so that neither Numba's settings nor the functions
that a program compiles for itself are touched.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import njit
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

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


light_jit = functools.partial(njit, error_model="numpy")
"""Compiles a function that waits for memory: with whole vectors it would take a tenth longer."""

jit = functools.partial(
    light_jit, pipeline_class=_WideCompiler if VECTOR_BYTES == NARROWED else Compiler
)
"""Compiles any other function of this package.

Both take options, as `njit` does, and then the function. What is divided by 0 is infinite or nan,
and no exception.
"""
