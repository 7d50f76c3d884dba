"""`Function`: an operation on tensors together with its derivative.

The general form of an operation, as `ScalarFunction` was in stage 1. Subclass it to add an
operation: `forward` computes, `backward` turns the gradient of the result into the gradients of the
inputs. Backward is written with tensor operations, so that it can itself be recorded and
differentiated (`create_graph=True`).

A Function may return several results: `recording/several_results.py` records them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from mt_autodiff import Context
from mt_autodiff.core.mode import recording
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import BackendMismatchError, DTypeError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.graph import (
    Node,
    changed_in_place,
    fitting,
    record,
    version_of,
)
from mt_tensor.core.layout import Layout
from mt_tensor.core.tape import ACTIVE, run_operation
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


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
    def forward(ctx: Any, *args: Any) -> Any:
        """Return the result, a tensor or a tuple of tensors; nothing is recorded meanwhile.

        Args:
            ctx: where to save what backward needs: tensors by `ctx.save_for_backward(...)`, other
                things as attributes.
            *args: what `apply` was called with.
        """
        raise NotImplementedError("a Function must define a static method forward(ctx, *args).")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradient for each argument of `apply`, None where there is none.

        Args:
            ctx: what forward has saved.
            *grads: the gradient of each result. Where no gradient arrived it is zeros, or None
                after `ctx.set_materialize_grads(False)`.
        """
        raise NotImplementedError("a Function must define a static method backward(ctx, grad).")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """Run forward, and record it if an argument requires a gradient.

        Returns:
            What forward returned. It is annotated as the tensor that it nearly always is; where
            forward returns a tuple of tensors, it is one.

        Raises:
            DTypeError: the only result is no floating-point tensor, so that it can have no
                gradient.
            TypeError: a result is no tensor.
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
            if ACTIVE.count:
                returned = run_operation(cls.__name__, cls.forward, ctx, *args)
            else:
                returned = cls.forward(ctx, *args)
        finally:
            recording.set(enabled)
        if isinstance(returned, Tensor):
            if True not in needs:
                return with_base(returned, args)
            result = unaliased(returned, args)
            if not result.dtype.is_floating_point:
                if is_constant(ctx, returned):
                    return result
                raise DTypeError(
                    f"{cls.__name__} returned a tensor of {result.dtype.name}, which can have no "
                    "gradient; call detach() on its inputs, or ctx.mark_non_differentiable(result)."
                )
            if not is_constant(ctx, returned):
                record(result, cls, cls.__name__, variables_of(args, needs), ctx)
            return with_base(result, args)
        return EXTENSIONS["several results"](cls, ctx, returned, args, needs)  # type: ignore[no-any-return]

    @classmethod
    def vjp(cls, node: Node, inputs: Any, ctx: Any, grad: Any, needed: Any) -> Sequence[Any]:
        """Return the gradients of the inputs, as `backward` computes them; see `Rule`.

        Raises:
            GradientError: `backward` returned something that does not fit the inputs.
        """
        requires = ctx.needs_input_grad
        if needed is not None:  # the context may be in another thread's hands: change a copy
            parents = iter(inputs)
            ctx = copy(ctx)
            ctx.needs_input_grad = tuple([each and next(parents) in needed for each in requires])
        grads = (grad,) if isinstance(grad, Tensor) else grad.of(ctx, node.backend)
        results: Any = cls.backward(ctx, *grads)
        results = node.one_for_each(results if isinstance(results, tuple) else (results,), requires)
        own = [each for each, required in zip(results, requires, strict=True) if required]
        return [
            None if each is None else fitting(each, parent, node.name)
            for each, parent in zip(own, inputs, strict=True)
        ]


class TensorContext(Context):
    """A context that notices when a tensor it has saved is changed in place."""

    __slots__ = ("_constant", "_materialize", "_results", "_version")

    _constant: tuple[Any, ...]  # the results that are marked as not differentiable
    _materialize: bool
    _results: list[Layout]  # of a Function with several results

    def save_for_backward(self, *values: Any) -> None:
        """Keep tensors, and anything else, until backward has run; nothing if it never will."""
        if True in self.needs_input_grad:
            super().save_for_backward(*values)
            self._version = version_of(elements_of(values))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given.

        Raises:
            InPlaceError: one of them has been changed in place since.
        """
        if version_of(elements_of(self.saved_values)) != self._version:
            raise changed_in_place("a function")
        return self.saved_values

    def mark_non_differentiable(self, *results: Tensor) -> None:
        """Declare results of forward to be constants: they require no gradient."""
        self._constant = results

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what backward gets for a result without a gradient: zeros, or None for False."""
        self._materialize = value


def variables_of(args: tuple[Any, ...], needs: tuple[bool, ...]) -> list[Any]:
    """Return what stands in the graph for the arguments that need a gradient."""
    return [arg.variable for arg, need in zip(args, needs, strict=True) if need]


def is_constant(ctx: TensorContext, result: Tensor) -> bool:
    """Whether a result was marked as not differentiable."""
    return any(each is result for each in getattr(ctx, "_constant", ()))


def unaliased(result: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Return a result as another tensor than the argument that it is."""
    return result.detach() if True in [result is arg for arg in args] else result


def with_base(result: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Return a result that knows which argument it is a view of, if it shares its memory."""
    if result._tensor._version is not None and "base of a result" in EXTENSIONS:
        EXTENSIONS["base of a result"](result, args)
    return result


def elements_of(values: Iterable[Any]) -> list[TensorData]:
    """Return the elements of the tensors among some values, and elements that are among them."""
    found = [value._tensor if isinstance(value, Tensor) else value for value in values]
    return [data for data in found if isinstance(data, TensorData)]


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
