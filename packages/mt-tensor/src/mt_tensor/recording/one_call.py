"""Functions that look at elements on the host, and are one call of a program.

Orders, LAPACK, checks of probabilities: NumPy computes them from the elements, and a program does
not see how. `as_one_call` says that such a function may be called again, with other tensors of the
same shapes: it makes tensors, or an error, of its arguments alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from mt_tensor.core.extensions import ACTIVE
from mt_tensor.tape import capturing

Function = TypeVar("Function", bound=Callable[..., Any])


def as_one_call(function: Function) -> Function:
    """Return a function that a program calls as it is; it records nothing for a gradient."""

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        tape = capturing() if ACTIVE.count else None
        if tape is None:
            return function(*arguments, **options)
        return tape.as_single_call(function, arguments, options)

    return called  # type: ignore[return-value]
