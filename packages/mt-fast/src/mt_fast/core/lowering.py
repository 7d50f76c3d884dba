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
from collections.abc import Mapping
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.core import positions
from mt_fast.core.rendering import COMPUTED, call
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_tensor.core.dtypes import DTYPES


def _extreme(name: str, integer_comparison: str) -> Any:
    """Return the function of two numbers that LLVM calls `llvm.<name>` on floats."""

    @intrinsic
    def extreme(context: Any, x: Any, y: Any) -> Any:
        unified = context.unify_types(x, y)
        if not isinstance(unified, types.Float | types.Integer):
            return None

        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            if isinstance(unified, types.Integer):
                signed = unified in types.signed_domain
                compare = builder.icmp_signed if signed else builder.icmp_unsigned
                return builder.select(compare(integer_comparison, *args), *args)
            kind = args[0].type
            function = builder.module.declare_intrinsic(
                f"llvm.{name}", [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, args)

        signature = templates.signature(unified, unified, unified)  # type: ignore[no-untyped-call]
        return signature, generate

    return extreme


maximum = _extreme("maximum", ">")
minimum = _extreme("minimum", "<")


def _extreme_of_numbers(comparison: str) -> Any:
    """Return the larger or smaller of two floats that are not nan, in one instruction."""

    @intrinsic
    def extreme(context: Any, x: Any, y: Any) -> Any:  # noqa: ARG001 - Numba passes it
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            flags = ("nnan", "nsz")
            chosen = builder.fcmp_ordered(comparison, *args, flags=flags)
            return builder.select(chosen, *args, flags=flags)

        return templates.signature(x, x, x), generate  # type: ignore[no-untyped-call]

    return extreme


larger, smaller = _extreme_of_numbers(">"), _extreme_of_numbers("<")


def _rounded(name: str) -> Any:
    """Return the function of a float that LLVM calls `llvm.<name>`, in the float's own type."""

    @intrinsic
    def rounded(context: Any, x: Any) -> Any:  # noqa: ARG001 - Numba passes it
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            function = builder.module.declare_intrinsic(f"llvm.{name}", [args[0].type])
            return builder.call(function, args)

        return templates.signature(x, x), generate  # type: ignore[no-untyped-call]

    return rounded


FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ELEMENTARY if hasattr(math, name)},
    "maximum": maximum,
    "minimum": minimum,
    # Those of `math` yield integers, and LLVM's `round` does not choose the even one of two.
    **{name: _rounded("rint" if name == "round" else name) for name in ROUNDING},
}
"""The elementary functions of the CPU."""

TABLE: dict[str, str] = {"div": "{0} / {1}", **{name: call(name) for name in FUNCTIONS}}
"""The lowering table of kernels for the CPU."""

NAMESPACE: dict[str, Any] = {
    **FUNCTIONS,
    **positions.NAMESPACE,
    "larger": larger,
    "smaller": smaller,
    "inf": math.inf,
    "nan": math.nan,
    **{name: DTYPES[name].numpy.type for name in COMPUTED},
}
"""The names in kernel text."""


def register_functions(functions: Mapping[str, Any]) -> None:
    """Lower operators to calls of these functions from now on."""
    NAMESPACE.update(functions)
    TABLE.update({name: call(name) for name in functions})
