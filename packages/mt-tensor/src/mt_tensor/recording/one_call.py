"""Functions that read elements on the host, and that programs record as a single call.

NumPy computes some functions from the elements, such as sorting, LAPACK functions and checks of
probabilities, without backend calls. A function decorated with `as_one_call` must depend on its
arguments only, so that a program can call it again with other tensors of the same shapes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from mt_tensor.core.extensions import ACTIVE_TAPES
from mt_tensor.tape import capturing

Function = TypeVar("Function", bound=Callable[..., Any])


def as_one_call(function: Function) -> Function:
    """Decorate a function that programs record as a single call; it has no gradient."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        tape = capturing() if ACTIVE_TAPES.count else None
        if tape is None:
            return function(*arguments, **options)
        return tape.as_single_call(function, arguments, options)

    return wrapper  # type: ignore[return-value]
