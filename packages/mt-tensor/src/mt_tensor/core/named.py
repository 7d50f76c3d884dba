"""Named operations: compositions that a backend may have a faster kernel for.

The composition, written with tensor operations, is the definition: it runs everywhere, and its
derivatives follow. Under `@fused("name")` a call first looks up a kernel of that name on the
backend of the first argument, and runs that if there is one. The conformance kits compare the two.

    @fused("softmax")
    def softmax(x, dim): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from mt_tensor.core.extensions import ACTIVE, EXTENSIONS
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor

P = ParamSpec("P")

FUSED: dict[str, Callable[..., Tensor]] = {}
"""The composition of every named operation."""

GRADIENTS: dict[str, Callable[..., Sequence[Tensor | None]]] = {}
"""The gradient of some of them, written with tensor operations; else that of the composition."""


def fused(
    name: str, gradient: Callable[..., Sequence[Tensor | None]] | None = None
) -> Callable[[Callable[P, Tensor]], Callable[P, Tensor]]:
    """Declare the decorated function to be the composition of a named operation.

    Its first argument must be a tensor. A kernel is a function with the same signature, recorded
    as the composition would be; or it has a method `recorded(name, *arguments)`, which records the
    result itself, as `mt_tensor.extending.FusedKernel` does.

    Args:
        name: the operation.
        gradient: its gradient in tensor operations, for derivatives of higher order: called with
            the gradient of the result, for each argument whether its own is wanted, and the
            arguments; it returns one for each, None where there is none. By default the
            composition is computed again and differentiated.
    """

    def decorate(composed: Callable[P, Tensor]) -> Callable[P, Tensor]:
        FUSED[name] = composed
        if gradient is not None:
            GRADIENTS[name] = gradient

        @functools.wraps(composed)
        def operation(*args: P.args, **kwargs: P.kwargs) -> Any:
            arguments: tuple[Any, ...] = args
            if kwargs:
                bound = inspect.signature(composed).bind(*args, **kwargs)
                bound.apply_defaults()
                arguments = bound.args
            first: Any = arguments[0] if arguments else None
            if not isinstance(first, Tensor):
                require_tensors(name, first)
            kernel = first.backend.kernel(name)
            run: Callable[..., Any] = composed if kernel is None else kernel
            recorded = getattr(kernel, "recorded", None)
            if recorded is not None:
                run, arguments = recorded, (name, *arguments)
            if ACTIVE.count:
                return EXTENSIONS["operation on tape"](name, run, *arguments)
            return run(*arguments)

        return operation

    return decorate
