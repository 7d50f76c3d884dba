"""`Function`: a custom operation on tensors with its gradient, like stage 1's `ScalarFunction`.

Subclass it to add an operation: `forward` computes the result, and `backward` the gradients of the
inputs from the gradient of the result. Write `backward` with tensor operations, so that it can be
recorded and differentiated (`create_graph=True`).

A Function with one result has one node. A Function with several results has one node per result,
and another for the call: it accumulates their gradients as `PartialGradients`, and passes all of
them to `backward`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from mt_autodiff import Context, GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import DTypeError, InPlaceError
from mt_tensor.core.extensions import ACTIVE_TAPES
from mt_tensor.core.graph import Node, changed_in_place, new_node, record, version_of
from mt_tensor.core.layout import Layout
from mt_tensor.core.tensor import CUSTOM_VIEW, Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.tape import run_operation


class Function:
    """Base class of custom operations on tensors.

    >>> import mt_tensor as mt
    >>> class Cube(mt.Function):
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
        """Return the result, a tensor or a tuple of tensors; its computation is not recorded.

        Args:
            ctx: the context, to save values for `backward`: tensors with
                `ctx.save_for_backward(...)`, other values as attributes.
            *args: the arguments of `apply`.
        """
        raise NotImplementedError("a Function must define a static method forward(ctx, *args).")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradient for each argument of `apply`, or None for arguments without one.

        Args:
            ctx: the context with the saved values.
            *grads: the gradient of each result. For a result without gradient it is zeros, or None
                after `ctx.set_materialize_grads(False)`.
        """
        raise NotImplementedError("a Function must define a static method backward(ctx, grad).")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """Run `forward`, and record it if an argument requires grad.

        Returns:
            The result of `forward`, a tensor or a tuple of tensors.

        Raises:
            DTypeError: the only result is not floating-point, so that it cannot have a gradient.
            TypeError: a result is not a tensor.
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
        inputs = variables_of(args, needs)  # before forward changes an argument
        recording.set(False)
        try:
            if ACTIVE_TAPES.count:
                returned = run_operation(cls.__name__, cls.forward, ctx, *args)
            else:
                returned = cls.forward(ctx, *args)
        finally:
            recording.set(enabled)
        if isinstance(returned, Tensor):
            if True not in needs:
                return with_base(returned, args)
            dirty: Any = getattr(ctx, "_dirty", None)
            if dirty is returned:
                return record_in_place(dirty, cls, ctx, inputs)
            result = unaliased(returned, args)
            if not result.dtype.is_floating_point:
                if is_constant(ctx, returned):
                    return result
                raise DTypeError(
                    f"{cls.__name__} returned a tensor of {result.dtype.name}, which can have no "
                    "gradient; call detach() on its inputs, or ctx.mark_non_differentiable(result)."
                )
            if not is_constant(ctx, returned):
                record(result, cls, cls.__name__, inputs, ctx)
            return with_base(result, args)
        return record_several(cls, ctx, returned, args, needs)  # type: ignore[no-any-return]

    @classmethod
    def vjp(cls, node: Node, inputs: Any, ctx: Any, grad: Any, needed: Any) -> Sequence[Any]:
        """Return the gradients of the inputs, as `backward` computes them.

        Raises:
            GradientError: `backward` returned invalid gradients.
        """
        requires = ctx.needs_input_grad
        if needed is not None:  # another thread may use the context: change a copy
            parents = iter(inputs)
            ctx = copy(ctx)
            ctx.needs_input_grad = tuple([each and next(parents) in needed for each in requires])
        grads = (grad,) if isinstance(grad, Tensor) else grad.of(ctx, node.backend)
        results: Any = cls.backward(ctx, *grads)
        results = node.check_count(results if isinstance(results, tuple) else (results,), requires)
        selected = [each for each, required in zip(results, requires, strict=True) if required]
        return [
            None if each is None else checked_gradient(each, parent, node.name)
            for each, parent in zip(selected, inputs, strict=True)
        ]


class TensorContext(Context):
    """A context that detects in-place changes of the tensors that it has saved."""

    __slots__ = ("_constant", "_dirty", "_materialize", "_results", "_version")

    _constant: tuple[Any, ...]  # results marked as not differentiable
    _dirty: Tensor  # the argument that forward changes in place and returns
    _materialize: bool
    _results: list[Layout]  # layouts of the results, if there are several

    def save_for_backward(self, *values: Any) -> None:
        """Save tensors and other values for backward, if an input requires grad."""
        if True in self.needs_input_grad:
            super().save_for_backward(*values)
            self._version = version_of(elements_of(values))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The arguments of `save_for_backward`.

        Raises:
            InPlaceError: a saved tensor has been changed in place.
        """
        if version_of(elements_of(self.saved_values)) != self._version:
            raise changed_in_place("a function")
        return self.saved_values

    def mark_non_differentiable(self, *results: Tensor) -> None:
        """Mark results of forward as constants, which do not require grad."""
        self._constant = results

    def mark_dirty(self, changed: Tensor) -> None:
        """Mark the argument that forward has changed in place, and returns as its only result."""
        self._dirty = changed

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether backward gets zeros, and not None, for a result without gradient."""
        self._materialize = value


def variables_of(args: tuple[Any, ...], needs: tuple[bool, ...]) -> list[Any]:
    """Return the graph's variables of the arguments that need a gradient."""
    return [arg.variable for arg, need in zip(args, needs, strict=True) if need]


def record_in_place(
    result: Tensor, function: type[Function], ctx: Any, inputs: list[Any]
) -> Tensor:
    """Record an argument that forward has changed in place, and return it.

    Raises:
        InPlaceError: it is a leaf that requires grad, or a view.
    """
    if result._base is not None or any(each is result for each in inputs):
        raise InPlaceError(
            f"{function.__name__} changed a view, or a leaf that requires grad, in place: pass a "
            "clone()."
        )
    layout, backend = result._tensor.layout, result.backend
    result._replace_node(new_node(function, function.__name__, inputs, ctx, layout, backend))
    result._requires_grad = True
    return result


def is_constant(ctx: TensorContext, result: Tensor) -> bool:
    """Return whether a result was marked as not differentiable."""
    return any(each is result for each in getattr(ctx, "_constant", ()))


def unaliased(result: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Return a result, or a new tensor with the same data if the result is an argument."""
    return result.detach() if True in [result is arg for arg in args] else result


def with_base(result: Tensor, args: Sequence[Any]) -> Tensor:
    """Return a result, marked as a view of the argument whose memory it shares, if any."""
    data = result._tensor
    shared = data._version
    if shared is None or not data.dtype.is_floating_point:
        return result
    if True in [result is arg for arg in args]:
        return result  # an argument is not a view of itself
    result._base = None
    for arg in args:
        if isinstance(arg, Tensor) and arg._tensor._version is shared:
            result._base = arg if arg._base is None else arg._base
            result._node_version = shared[0]
            if recording.get():
                result._requires_grad = CUSTOM_VIEW
            break
    return result


# --- Several results -----------------------------------------------------------------------------


def record_several(
    function: type[Function],
    ctx: TensorContext,
    returned: Any,
    args: tuple[Any, ...],
    needs: tuple[bool, ...],
) -> Any:
    """Record several results of a Function that can have a gradient, and return all.

    Raises:
        TypeError: `returned` is not a tuple of tensors.
    """
    if not isinstance(returned, tuple) or not all(isinstance(x, Tensor) for x in returned):
        raise TypeError(
            f"forward of {function.__name__} returned {returned!r}; return a tensor, or a tuple of "
            "tensors."
        )
    if True not in needs:
        return tuple([with_base(each, args) for each in returned])
    results = tuple([unaliased(each, args) for each in returned])
    first = results[0]
    call = new_node(
        function,
        function.__name__,
        variables_of(args, needs),
        ctx,
        first._tensor.layout,
        first.backend,
    )
    ctx._results = [each._tensor.layout for each in results]
    for position, (result, original) in enumerate(zip(results, returned, strict=True)):
        if result.dtype.is_floating_point and not is_constant(ctx, original):
            record(result, _RESULT, function.__name__, (call,), position)
        with_base(result, args)
    return results


class PartialGradients:
    """The gradients of some results of a call.

    Attributes:
        by_position: the gradient for each position of a result.
    """

    __slots__ = ("_owned", "by_position")

    def __init__(self, by_position: dict[int, Any]) -> None:
        self.by_position = by_position
        self._owned: bool | None = None  # read by `Node.completed`

    def __add__(self, other: PartialGradients) -> PartialGradients:
        """Add gradients by position."""
        both = dict(self.by_position)
        for position, gradient in other.by_position.items():
            both[position] = both[position] + gradient if position in both else gradient
        return PartialGradients(both)

    def _dense(self) -> PartialGradients:
        return self

    def of(self, ctx: Any, backend: TensorBackend) -> list[Any]:
        """Return the gradient of each result of a call, zeros or None for a missing one."""
        zeros = getattr(ctx, "_materialize", True)
        return [
            self.by_position[position]
            if position in self.by_position
            else Tensor._make(backend.full(layout.shape, layout.dtype, 0), backend)
            if zeros
            else None
            for position, layout in enumerate(ctx._results)
        ]


class _Result:
    """The gradient rule of one of several results."""

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Any, needed: Any) -> Sequence[Any]:
        """Return the gradient of the call's node."""
        return (PartialGradients({ctx: grad}),)


_RESULT = _Result()


def elements_of(values: Iterable[Any]) -> list[TensorData]:
    """Return the TensorData among some values, including that of tensors."""
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value._tensor)
        elif isinstance(value, TensorData):
            found.append(value)
    return found


def checked_gradient(gradient: Any, variable: Any, name: str | None = None) -> Any:
    """Check a gradient of `variable`, and convert it to the dtype of the variable.

    Args:
        gradient: the gradient.
        variable: a Node, or a leaf.
        name: the operation whose backward returned it; None for a hook.

    Raises:
        GradientError: it is not a tensor, or its shape or backend differs from the variable's.
    """
    data = getattr(gradient, "_tensor", None)
    if data is None or gradient.backend is not variable.backend:
        raise GradientError(
            f"{_origin(name)} returned {gradient!r} as a gradient; it must be a tensor of backend "
            f"{variable.backend.name!r}, like the tensor whose gradient it is."
        )
    layout = data.layout
    if layout.shape != variable.shape:
        raise GradientError(
            f"{_origin(name)} returned a gradient of shape {layout.shape} for a tensor of shape "
            f"{variable.shape}; it must have the shape of the tensor."
        )
    return gradient if layout.dtype is variable.dtype else gradient._cast(variable.dtype)


def _origin(name: str | None) -> str:
    return "a hook" if name is None else f"the backward of {name!r}"
