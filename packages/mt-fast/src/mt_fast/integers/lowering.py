"""Powers, quotients and shifts of integers and floats, chosen by the dtypes of their arguments."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic, overload

from mt_fast.core.lowering import register_functions
from mt_fast.core.rendering import COMPUTED_IN_INT64
from mt_fast.core.tables import jit
from mt_fast.integers import integer_functions
from mt_fast.vectors.compiler import INLINED


def _widest(x: Any, y: Any) -> Any:
    """Return the type that two integers are computed in; None if one of them is a float."""
    if not (isinstance(x, types.Integer) and isinstance(y, types.Integer)):
        return None
    return types.int64 if x in types.signed_domain else types.uint64


@jit()
def _integer_power(base: Any, exponent: Any, one: Any) -> Any:
    """Return a power that wraps around; a power that is a fraction is 0.

    All three arguments have one type: Numba would convert a uint64 and a Python integer to float.
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


def power_by(float_power: Any) -> Any:
    """Return the power function: an integer power of integers, else `float_power`."""

    def power(x: Any, y: Any) -> Any:
        return math.pow(x, y)

    @overload(power, jit_options=INLINED)
    def chosen(x: Any, y: Any) -> Any:
        wide = _widest(x, y)

        def for_integers(x: Any, y: Any) -> Any:
            return _integer_power(wide(x), wide(y), wide(1))

        def for_floats(x: Any, y: Any) -> Any:
            return float_power(x, y)

        return for_floats if wide is None else for_integers

    return power


@intrinsic
def _float_remainder(context: Any, x: Any, y: Any) -> Any:
    """Return `fmod` of floats, in their own type."""
    unified = context.unify_types(x, y)
    if not isinstance(unified, types.Float):
        return None

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.frem(*args)

    return templates.signature(unified, unified, unified), generate  # type: ignore[no-untyped-call]


def _by_type(name: str) -> Any:
    """Return a function of `integer_functions.py`, chosen by the type of its arguments."""

    def function(x: Any, y: Any) -> Any:  # noqa: ARG001 - Numba reads the names
        raise TypeError(f"{name} can only be called from a function compiled by Numba.")

    @overload(function)
    def chosen(x: Any, y: Any) -> Any:
        wide = _widest(x, y)

        def for_integers(x: Any, y: Any) -> Any:
            return exact(wide(x), wide(y))

        def for_floats(x: Any, y: Any) -> Any:
            return exact(x, y)

        if wide is not None:
            exact = _defined(name, wide.name)
            return for_integers
        exact = _defined(name, "float32" if x == y == types.float32 else "float64")
        return for_floats

    return function


@functools.cache
def _defined(name: str, kind: str) -> Any:
    """Compile a function of `integer_functions.py` for one dtype."""
    namespace: dict[str, Any] = {
        "fmod": _float_remainder,
        "inf": math.inf,
        "int64": np.int64,
        "uint64": np.uint64,
        "float32": np.float32,
        "float64": np.float64,
    }
    exec(integer_functions.text(name, kind, "fmod"), namespace)
    function = namespace[name]
    return function if function is _float_remainder else jit()(function)


COMPUTED_IN_INT64.update(integer_functions.NAMES)
register_functions(
    {"pow": power_by(math.pow), **{name: _by_type(name) for name in integer_functions.NAMES}}
)
