"""Named operations: compositions for which a backend may have a faster kernel.

The composition of tensor operations is the definition: it runs and is differentiable on every
backend. With `@fused("name")`, a call first looks up a kernel of that name on the backend of the
first argument, and runs it if there is one. The conformance kits compare the two.

    @fused("softmax")
    def softmax(x, dim): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from mt_tensor.core.extensions import ACTIVE_TAPES, EXTENSIONS
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.plans import Cache
from mt_tensor.core.tensor import Tensor

P = ParamSpec("P")

FUSED: dict[str, Callable[..., Tensor]] = {}
"""The composition of every named operation."""

GRADIENTS: dict[str, Callable[..., Sequence[Tensor | None]]] = {}
"""Explicit gradients of some of them; the others use the gradient of their composition."""


class Kernels(Cache):
    """The kernel of each backend for one named operation, or the composition if it has none."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def make(self, backend: Any) -> Callable[..., Any]:
        """Look up the function that runs the operation."""
        kernel = backend.kernel(self.name)
        recorded = getattr(kernel, "recorded", None)
        run = kernel if recorded is None else functools.partial(recorded, self.name)
        return FUSED[self.name] if run is None else run


def fused(
    name: str,
    gradient: Callable[..., Sequence[Tensor | None]] | None = None,
    *,
    wide: bool = False,
) -> Callable[[Callable[P, Tensor]], Callable[P, Tensor]]:
    """Declare the decorated function as the composition of a named operation.

    Its first argument must be a tensor. A kernel is a function of the same signature that records
    its result; or it has a method `recorded(name, *arguments)` that does, as
    `mt_tensor.extending.FusedKernel` has.

    Args:
        name: the operation.
        gradient: its gradient in tensor operations, for higher derivatives. It is called with the
            gradient of the result, a tuple of bools that says which arguments need a gradient, and
            the arguments; it returns one gradient or None per argument. By default the composition
            is computed again and differentiated.
        wide: whether the composition computes 16-bit tensors in float32, so that the result and the
            gradients, sums of many steps, are rounded once.
    """

    def decorate(composed: Callable[P, Tensor]) -> Callable[P, Tensor]:
        @functools.wraps(composed)
        def in_float32(*args: P.args, **kwargs: P.kwargs) -> Tensor:
            dtype = args[0].dtype  # type: ignore[attr-defined]  # a tensor
            if not dtype.is_narrow:
                return composed(*args, **kwargs)
            values: Any = [x._cast(dtype.computed) if isinstance(x, Tensor) else x for x in args]
            return operation(*values, **kwargs)._cast(dtype)  # type: ignore[no-any-return]

        FUSED[name] = in_float32 if wide else composed
        if gradient is not None:
            GRADIENTS[name] = gradient

        kernels = Kernels(name)

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
            if ACTIVE_TAPES.count:  # the tape intercepts the lookup
                run = kernels.make(first.backend)
                return EXTENSIONS["operation on tape"](name, run, *arguments)
            return kernels[first.backend](*arguments)

        return operation

    return decorate
