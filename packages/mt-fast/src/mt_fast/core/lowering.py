"""Lower operations to functions that Numba compiles for the CPU.

`TABLE` is the lowering table of kernel text, and `NAMESPACE` maps the names in that text to
functions and numbers. The functions mean what `mt_operators.core.elementary` says: IEEE 754 at
poles and outside a domain, and nan wins in `maximum` and `minimum`. Kernels are compiled with
Numba's `error_model="numpy"`, so that division by zero raises nothing.

`maximum`, `minimum` and rounding are LLVM's own instructions: written as a comparison, an extreme
would either lose nan or keep LLVM from vectorizing a fold with it. Numba compiles the functions of
`math` to calls of C's, for one element at a time; `register_functions` takes better ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.core import positions
from mt_fast.core.rendering import COMPUTED, call
from mt_operators import OPERATORS
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_tensor.core.dtypes import DTYPES

Generate = Callable[[Any, Any, Sequence[Any]], Any]
"""Adds instructions with LLVM's builder, for a type of Numba's and values; returns the result."""


def instructions(generate: Generate, arity: int) -> Any:
    """Return a function for kernels that consists of some instructions of LLVM.

    Its arguments are converted to one type of numbers, which is also that of the result.
    """

    def typed(context: Any, *given: Any) -> Any:
        kind = context.unify_types(*given)
        if not isinstance(kind, types.Float | types.Integer):
            return None

        def lower(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return generate(builder, kind, values)

        return templates.signature(kind, *[kind] * arity), lower  # type: ignore[no-untyped-call]

    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in "cxy"[: arity + 1]]
    typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # Numba counts them
    return intrinsic(typed)


def _llvm(name: str) -> Generate:
    """Return what calls the function of floats that LLVM calls `llvm.<name>`."""

    def generate(builder: Any, _kind: Any, values: Sequence[Any]) -> Any:
        kind = values[0].type
        of_type = ir.FunctionType(kind, [kind] * len(values))
        return builder.call(
            builder.module.declare_intrinsic(f"llvm.{name}", [kind], of_type), values
        )

    return generate


def _extreme(name: str, comparison: str) -> Generate:
    """Return what chooses one of two numbers; nan wins."""
    of_floats = _llvm(name)

    def generate(builder: Any, kind: Any, values: Sequence[Any]) -> Any:
        if isinstance(kind, types.Float):
            return of_floats(builder, kind, values)
        compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
        return builder.select(compare(comparison, *values), *values)

    return generate


maximum = instructions(_extreme("maximum", ">"), 2)
minimum = instructions(_extreme("minimum", "<"), 2)

FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ELEMENTARY if hasattr(math, name)},
    "maximum": maximum,
    "minimum": minimum,
    # Those of `math` yield integers, and LLVM's `round` does not choose the even one of two.
    **{name: instructions(_llvm("rint" if name == "round" else name), 1) for name in ROUNDING},
}
"""The elementary functions of the CPU."""

TABLE: dict[str, str] = {
    "div": "{0} / {1}",
    **{name: call(name) for name in FUNCTIONS if name in OPERATORS},
}
"""The lowering table of kernels for the CPU. Rows beside the core of stage 0 may be missing."""

NAMESPACE: dict[str, Any] = {
    **FUNCTIONS,
    **positions.NAMESPACE,
    "inf": math.inf,
    "nan": math.nan,
    **{name: DTYPES[name].numpy.type for name in COMPUTED},
}
"""The names in kernel text."""


def register_functions(functions: Mapping[str, Any]) -> None:
    """Lower operators to calls of these functions from now on."""
    NAMESPACE.update(functions)
    TABLE.update({name: call(name) for name in functions})
