"""Named operations that a backend may have a faster version of.

The composed form, written with tensor operations, is the definition: it runs everywhere. Marked
with `@fused("name")`, it asks the backend of its first argument for a kernel of that name, and uses
it if there is one. Nobody who calls the operation knows which it was, and the conformance kit
compares the two.

    @fused("softmax")
    def softmax(x, dim): ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from mt_tensor.recording.function import require_tensors

P = ParamSpec("P")
R = TypeVar("R")

FUSED: dict[str, Callable[..., Any]] = {}
"""The composed form of every named operation."""


def fused(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the decorated function to be the composed form of the operation called `name`.

    Its first argument must be a tensor: its backend is asked.
    """

    def decorate(composed: Callable[P, R]) -> Callable[P, R]:
        FUSED[name] = composed

        @functools.wraps(composed)
        def operation(*args: P.args, **kwargs: P.kwargs) -> R:
            first: Any = args[0] if args else next(iter(kwargs.values()), None)
            require_tensors(name, first)
            kernel = first.backend.kernel(name)
            return composed(*args, **kwargs) if kernel is None else kernel(*args, **kwargs)

        return operation

    return decorate
