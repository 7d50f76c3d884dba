"""`Function`: an operation on tensors together with its derivative.

The general form of an operation, as `ScalarFunction` was in stage 1. Subclass it to add an
operation: `forward` computes, `backward` turns the gradient of the result into the gradients of the
inputs. Backward is written with tensor operations, so that it can itself be recorded and
differentiated (`create_graph=True`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_autodiff import Context
from mt_autodiff.core.mode import recording
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.errors import BackendMismatchError, DTypeError, InPlaceError
from mt_tensor.recording.graph import Node, connect
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData


class Function:
    """An operation on tensors with its own backward.

    >>> import mt_tensor as mt
    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return grad * 3.0 * x * x
    >>> x = mt.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad.item()
    12.0
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        """Compute the result; nothing is recorded meanwhile.

        Args:
            ctx: where to save what backward needs: tensors by `ctx.save_for_backward(...)`, other
                things as attributes.
            *args: what `apply` was called with.
        """
        raise NotImplementedError("a Function must define a static method forward(ctx, *args).")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradient for each argument of `apply`, None where there is none."""
        raise NotImplementedError("a Function must define a static method backward(ctx, grad).")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """Run forward, and record it if an argument wants a gradient.

        Raises:
            DTypeError: the result is no floating-point tensor, so that it can have no gradient.
            TypeError: the result is no tensor.
        """
        enabled = recording.get()
        if enabled:
            needs = tuple(
                [isinstance(x, Tensor) and bool(x._requires_grad and x.requires_grad) for x in args]
            )
        else:
            needs = (False,) * len(args)
        ctx: TensorContext = object.__new__(TensorContext)
        ctx.needs_input_grad = needs
        ctx.saved_values = ()
        recording.set(False)
        try:
            result = cls.forward(ctx, *args)
        finally:
            recording.set(enabled)
        if not isinstance(result, Tensor):
            raise TypeError(
                f"forward of {cls.__name__} returned {result!r}; a Function has one result, a "
                "tensor."
            )
        if True in needs:
            if not result.dtype.is_floating_point:
                raise DTypeError(
                    f"{cls.__name__} returned a tensor of {result.dtype.name}, which can have no "
                    "gradient; call detach() on its inputs."
                )
            if True in [result is arg for arg in args]:
                result = result.detach()
            node: Node = object.__new__(Node)
            node.last_fn, node.ctx, node.name = cls, ctx, cls.__name__
            wanted = [arg.variable for arg, need in zip(args, needs, strict=True) if need]
            connect(result, node, wanted)
        if result._tensor._version is not None:  # otherwise nobody shares its memory
            result._note_base(args)
        return result


class TensorContext(Context):
    """A context that notices when a tensor it has saved is changed in place."""

    __slots__ = ("_changes",)

    def save_for_backward(self, *values: Any) -> None:
        """Keep tensors, and anything else, until backward has run; nothing if it never will."""
        if True in self.needs_input_grad:
            super().save_for_backward(*values)
            self._changes = changes(values)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given.

        Raises:
            InPlaceError: one of them has been changed in place since.
        """
        if changes(self.saved_values) != self._changes:
            raise changed_in_place("a function")
        return self.saved_values


def changes(values: Iterable[Any]) -> int:
    """Return how often tensors, or their elements, among some values were changed in place."""
    total = 0
    for value in values:
        data = value._tensor if isinstance(value, Tensor) else value
        if isinstance(data, TensorData) and data._version is not None:
            total += data._version[0]
    return total


def changed_in_place(what: str) -> InPlaceError:
    """Return the error for a saved tensor that is no longer what it was."""
    return InPlaceError(
        f"a tensor that {what} saved for its gradient has been changed in place since, so that the "
        "gradient would be wrong: change a clone() of it, or call backward() first."
    )


def require_tensors(name: str, *values: Any) -> None:
    """Raise TypeError unless all values are tensors."""
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}() takes tensors; {value!r} of type {type(value).__name__} was given. Make "
                "it one with mt_tensor.tensor(...)."
            )


def common_backend(*args: Any) -> TensorBackend | None:
    """Return the backend of all tensors among `args`; None if there is no tensor.

    Raises:
        BackendMismatchError: they belong to different backends.
    """
    backend: TensorBackend | None = None
    for arg in args:
        if isinstance(arg, Tensor):
            if backend is not None and arg.backend is not backend:
                raise BackendMismatchError(
                    f"tensors of backends {backend.name!r} and {arg.backend.name!r} meet in one "
                    f"operation: move one of them, for example with x.to({backend.name!r})."
                )
            backend = arg.backend
    return backend
