"""How the CPU kernels spell the elementary functions.

The text of kernels is complete but for its names; here they all get their meaning. `TABLE` says how
each function is written in kernel text, and `NAMESPACE` what the names in that text mean to Numba.
The meaning is that of `mt_operators.core.elementary`: IEEE 754 where a function has a pole or no
value, and nan wins in `maximum` and `minimum`. Kernels are compiled with Numba's
`error_model="numpy"`, so that division by zero raises nothing.

`maximum` and `minimum` are LLVM's own instructions: written as a comparison, they would either lose
nan or keep LLVM from vectorising a fold with them. All else is C's, one element after the other;
the library spells most of it in a way that LLVM can vectorise (`spell`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic, overload

from mt_fast import additions
from mt_fast.compilation.jit import jit
from mt_fast.generation import positions, transposition, whole
from mt_fast.generation.rendering import COMPUTED, call
from mt_operators.core.elementary import ELEMENTARY, ROUNDING
from mt_tensor.extending import DTYPES


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
    """Return the larger or smaller of two floats of which neither is nan: one instruction."""

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


INLINED: Any = {"forceinline": True}
"""LLVM would leave long functions where they are, and a loop that calls one is not vectorised."""


def _widest(x: Any, y: Any) -> Any:
    """Return the type in which two integers are computed with; None if one of them is a float."""
    if not (isinstance(x, types.Integer) and isinstance(y, types.Integer)):
        return None
    return types.int64 if x in types.signed_domain else types.uint64


@jit()
def _integer_power(base: Any, exponent: Any, one: Any) -> Any:
    """Return a power that wraps around; what has a fraction becomes 0.

    All three are of one type: Numba makes a float of a uint64 and a number of Python.
    """
    if exponent < 0:
        if base == 1:
            return base
        if base == -1:
            return base if exponent & one else base * base
        return base - base
    result = one
    while exponent > 0:
        if exponent & one:
            result *= base
        base *= base
        exponent >>= one
    return result


def power_by(of_floats: Any) -> Any:
    """Return the function that is a power: among integers an integer, else what `of_floats` is."""

    def power(x: Any, y: Any) -> Any:
        return math.pow(x, y)

    @overload(power, jit_options=INLINED)
    def chosen(x: Any, y: Any) -> Any:
        wide = _widest(x, y)

        def among_integers(x: Any, y: Any) -> Any:
            return _integer_power(wide(x), wide(y), wide(1))

        def among_floats(x: Any, y: Any) -> Any:
            return of_floats(x, y)

        return among_floats if wide is None else among_integers

    return power


@intrinsic
def _float_rest(context: Any, x: Any, y: Any) -> Any:
    """Return `fmod` of floats, in their own type."""
    unified = context.unify_types(x, y)
    if not isinstance(unified, types.Float):
        return None

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.frem(*args)

    return templates.signature(unified, unified, unified), generate  # type: ignore[no-untyped-call]


def _by_type(name: str) -> Any:
    """Return the function of that name in `whole`, chosen by the type of its arguments."""

    def function(x: Any, y: Any) -> Any:  # noqa: ARG001 - Numba reads the names
        raise TypeError(f"{name} is for kernels only.")

    @overload(function)
    def chosen(x: Any, y: Any) -> Any:
        wide = _widest(x, y)

        def among_integers(x: Any, y: Any) -> Any:
            return exact(wide(x), wide(y))

        def of_floats(x: Any, y: Any) -> Any:
            return exact(x, y)

        if wide is not None:
            exact = _defined(name, wide.name)
            return among_integers
        exact = _defined(name, "float32" if x == y == types.float32 else "float64")
        return of_floats

    return function


@functools.cache
def _defined(name: str, kind: str) -> Any:
    """Return a function of `mt_fast.generation.whole` for one type."""
    namespace: dict[str, Any] = {
        "fmod": _float_rest,
        "inf": math.inf,
        "int64": np.int64,
        "uint64": np.uint64,
        "float32": np.float32,
        "float64": np.float64,
    }
    exec(whole.text(name, kind, "fmod"), namespace)
    function = namespace[name]
    return function if function is _float_rest else jit()(function)


# --- The table ----------------------------------------------------------------------------------

FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ELEMENTARY if hasattr(math, name)},
    "pow": power_by(math.pow),
    "maximum": maximum,
    "minimum": minimum,
    # Those of `math` yield integers, and LLVM's `round` does not choose the even one of two.
    **{name: _rounded("rint" if name == "round" else name) for name in ROUNDING},
    **{name: _by_type(name) for name in whole.NAMES},
}
"""The elementary functions that kernels call. Numba compiles those of `math` to C's, for float32
to its float32 ones."""


TABLE: dict[str, str] = {"div": "{0} / {1}", **{name: call(name) for name in FUNCTIONS}}
"""How the elementary functions, and some operators, are written in kernels for the CPU."""

POSITIONS = "unravel position first_row next_row row_at unsigned tile"
"""What kernels call of `positions.py`."""

NAMESPACE: dict[str, Any] = {
    **FUNCTIONS,
    "larger": larger,
    "smaller": smaller,
    **{name: getattr(positions, name) for name in POSITIONS.split()},
    "inf": math.inf,
    "nan": math.nan,
    "scratch": transposition.scratch,
    "transpose_tile": transposition.transpose_tile,
    **{name: DTYPES[name].numpy.type for name in COMPUTED},
}
"""What the names in kernel text stand for."""


def spell(functions: Mapping[str, Any]) -> None:
    """Let kernels call these, instead of C's or of what an operator is composed of elsewhere."""
    NAMESPACE.update(functions)
    TABLE.update({name: call(name) for name in functions})


for module in additions.FUNCTIONS:
    import_module(module)
