"""`Function`: an operation on tensors together with its derivative.

The general form of an operation, as `ScalarFunction` was in stage 1. Subclass it to add an
operation: `forward` computes, `backward` turns the gradient of the result into the gradients of the
inputs. Backward is written with tensor operations, so that it can itself be recorded and
differentiated (`create_graph=True`).

A Function with one result has one node, as every operation has. One with several results has a
node for each of them, whose gradients meet in the node of the call: there they are added up like
any gradients, as `PartialGradients`, and `backward` gets all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from mt_autodiff import Context, GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import DTypeError
from mt_tensor.core.extensions import ACTIVE
from mt_tensor.core.graph import Node, changed_in_place, new_node, record, version_of
from mt_tensor.core.layout import Layout
from mt_tensor.core.tensor import CUSTOM_VIEW, Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.tape import run_operation


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
        return record_several(cls, ctx, returned, args, needs)  # type: ignore[no-any-return]

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


def with_base(result: Tensor, args: Sequence[Any]) -> Tensor:
    """Return a result that knows which argument it is a view of, if it shares its memory."""
    data = result._tensor
    shared = data._version
    if shared is None or not data.dtype.is_floating_point:
        return result
    if True in [result is arg for arg in args]:
        return result  # an argument as it was, which is no view of itself
    result._base = None
    for arg in args:
        if isinstance(arg, Tensor) and arg._tensor._version is shared:
            result._base = arg if arg._base is None else arg._base
            result._seen = shared[0]
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
    """Return several results of a Function, each recorded if it can have a gradient.

    Raises:
        TypeError: `returned` is no tuple of tensors.
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
    for place, (result, own) in enumerate(zip(results, returned, strict=True)):
        if result.dtype.is_floating_point and not is_constant(ctx, own):
            record(result, _RESULT, function.__name__, (call,), place)
        with_base(result, args)
    return results


class PartialGradients:
    """The gradients of some results of one call, on their way to its node.

    Attributes:
        by_place: for the position of a result, its gradient.
    """

    __slots__ = ("_fresh", "by_place")

    def __init__(self, by_place: dict[int, Any]) -> None:
        self.by_place = by_place
        self._fresh: bool | None = None  # what a node looks at, see `Node.completed`

    def __add__(self, other: PartialGradients) -> PartialGradients:
        """Return the gradients of both."""
        both = dict(self.by_place)
        for place, gradient in other.by_place.items():
            both[place] = both[place] + gradient if place in both else gradient
        return PartialGradients(both)

    def _whole(self) -> PartialGradients:
        return self

    def of(self, ctx: Any, backend: TensorBackend) -> list[Any]:
        """Return a gradient for each result of a call: zeros or None where none arrived."""
        zeros = getattr(ctx, "_materialize", True)
        return [
            self.by_place[place]
            if place in self.by_place
            else Tensor._make(backend.full(layout.shape, layout.dtype, 0), backend)
            if zeros
            else None
            for place, layout in enumerate(ctx._results)
        ]


class _Result:
    """The rule of one of several results: its gradient goes to its place in the call."""

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Any, needed: Any) -> Sequence[Any]:
        """Return the gradient of the call."""
        return (PartialGradients({ctx: grad}),)


_RESULT = _Result()


def elements_of(values: Iterable[Any]) -> list[TensorData]:
    """Return the elements of the tensors among some values, and elements that are among them."""
    found = [value._tensor if isinstance(value, Tensor) else value for value in values]
    return [data for data in found if isinstance(data, TensorData)]


def fitting(gradient: Any, variable: Any, name: str | None = None) -> Any:
    """Return a gradient as one of `variable`, converted to its dtype.

    Args:
        gradient: what was returned.
        variable: a Node, or a leaf.
        name: the operation whose backward returned it; None for a hook.

    Raises:
        GradientError: it is no tensor, or has another shape or backend than the variable.
    """
    data = getattr(gradient, "_tensor", None)
    if data is None or gradient.backend is not variable.backend:
        raise GradientError(
            f"{_origin(name)} returned {gradient!r} as a gradient; it must be a tensor of backend "
            f"{variable.backend.name!r}, like the tensor that it belongs to."
        )
    if data.shape != variable.shape:
        raise GradientError(
            f"{_origin(name)} returned a gradient of shape {data.shape} for a tensor of shape "
            f"{variable.shape}; it must have the shape of the tensor."
        )
    return gradient if data.dtype is variable.dtype else gradient._cast(variable.dtype)


def _origin(name: str | None) -> str:
    return "a hook" if name is None else f"the backward of {name!r}"
