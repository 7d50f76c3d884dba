"""Lower operations to functions that Numba compiles for the CPU.

`TABLE` is the lowering table of kernel source, and `NAMESPACE` maps the names in the source to
functions and numbers. The functions behave as those of `mt_operators.core.elementary`: they follow
IEEE 754 at poles and outside a domain, and `maximum` and `minimum` propagate nan. Kernels are
compiled with Numba's `error_model="numpy"`, so that division by zero does not raise an error.

`maximum`, `minimum` and rounding are LLVM intrinsics: a comparison would either lose nan or prevent
LLVM from vectorizing a reduction. Numba compiles the functions of `math` to C calls for single
elements; `register_functions` replaces them with vectorized ones.
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
"""A function of an LLVM builder, a Numba type and values that emits instructions for a result."""


def instructions(generate: Generate, arity: int) -> Any:
    """Return a function for kernels that consists of LLVM instructions.

    Its arguments are converted to one numeric type, which is also the type of the result.
    """

    def typed(context: Any, *dtypes: Any) -> Any:
        kind = context.unify_types(*dtypes)
        if not isinstance(kind, types.Float | types.Integer):
            return None

        def lower(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return generate(builder, kind, values)

        return templates.signature(kind, *[kind] * arity), lower  # type: ignore[no-untyped-call]

    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in "cxy"[: arity + 1]]
    typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # read by Numba
    return intrinsic(typed)


def _llvm(name: str) -> Generate:
    """Return a generator that calls the LLVM intrinsic `llvm.<name>`."""

    def generate(builder: Any, _kind: Any, values: Sequence[Any]) -> Any:
        kind = values[0].type
        function_type = ir.FunctionType(kind, [kind] * len(values))
        return builder.call(
            builder.module.declare_intrinsic(f"llvm.{name}", [kind], function_type), values
        )

    return generate


def _extreme(name: str, comparison: str) -> Generate:
    """Return a generator that selects one of two numbers, propagating nan."""
    generate_floats = _llvm(name)

    def generate(builder: Any, kind: Any, values: Sequence[Any]) -> Any:
        if isinstance(kind, types.Float):
            return generate_floats(builder, kind, values)
        compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
        return builder.select(compare(comparison, *values), *values)

    return generate


maximum = instructions(_extreme("maximum", ">"), 2)
minimum = instructions(_extreme("minimum", "<"), 2)

FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ELEMENTARY if hasattr(math, name)},
    "maximum": maximum,
    "minimum": minimum,
    # The functions of `math` return integers, and LLVM's `round` does not round half to even.
    **{name: instructions(_llvm("rint" if name == "round" else name), 1) for name in ROUNDING},
}
"""The elementary functions for the CPU."""

TABLE: dict[str, str] = {
    "div": "{0} / {1}",
    **{name: call(name) for name in FUNCTIONS if name in OPERATORS},
}
"""The lowering table for the CPU. Operators outside the core of stage 0 may be missing."""

NAMESPACE: dict[str, Any] = {
    **FUNCTIONS,
    **positions.NAMESPACE,
    "inf": math.inf,
    "nan": math.nan,
    **{name: DTYPES[name].numpy.type for name in COMPUTED},
}
"""The names in kernel source."""


def register_functions(functions: Mapping[str, Any]) -> None:
    """Register functions to which operators are lowered."""
    NAMESPACE.update(functions)
    TABLE.update({name: call(name) for name in functions})
