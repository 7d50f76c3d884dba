"""Turn a function of values into a function that kernels call.

It is compiled separately and then inlined. So the flags of a kernel, which may allow additions in
any order, do not apply to it: many differences in these functions are rounding errors that must be
kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.core.tables import jit
from mt_fast.vector_math.values import FLOAT32, FLOAT64, Format, Value

Written = Callable[..., Value]
"""A function of values, which emits instructions."""

TYPES: dict[Format, Any] = {FLOAT32: types.float32, FLOAT64: types.float64}

_separately = jit(forceinline=True, fastmath=False)  # the default is that of the caller


def callable_in_kernels(written: Written, kind: Format) -> Any:
    """Return a function of one or two values as a Numba function.

    Args:
        written: the function.
        kind: the format of its arguments and its result.
    """
    count = len(inspect.signature(written).parameters)
    signature = templates.signature(*[TYPES[kind]] * (1 + count))  # type: ignore[no-untyped-call]

    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return written(*(Value(builder, argument, kind, kind) for argument in args)).value

    of_one: Any = intrinsic(lambda typing, x: (signature, code))
    of_two: Any = intrinsic(lambda typing, x, y: (signature, code))

    def one(x: Any) -> Any:
        return of_one(x)

    def two(x: Any, y: Any) -> Any:
        return of_two(x, y)

    return _separately(one if count == 1 else two)
