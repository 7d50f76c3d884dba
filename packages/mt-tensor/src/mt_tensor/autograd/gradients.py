"""Gradients as results, instead of as what is stored with the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff import NoGradientError, derivatives, set_grad_enabled
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.errors import DomainError, ShapeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor
from mt_tensor.tape import run_backward

Tensors = Tensor | Sequence[Tensor]


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    *,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` with respect to `inputs`, and add to none that is stored.

    >>> import mt_tensor as mt
    >>> x = mt.tensor(2.0, requires_grad=True)
    >>> (first,) = grad(x * x * x, x, create_graph=True)
    >>> (second,) = grad(first, x)
    >>> first.item(), second.item()
    (12.0, 12.0)

    Args:
        outputs: the results; the gradients of several are added up.
        inputs: what to differentiate by: leaves, or anything on the way to a result.
        grad_outputs: for each output the weight of each of its elements, of its shape; may be left
            out, or None, for an output of one element.
        retain_graph: whether the graph can be differentiated again; as `create_graph` if None.
        create_graph: whether the gradients are recorded, to be differentiated in turn.
        allow_unused: whether the outputs may not depend on an input, whose gradient is None then;
            as `materialize_grads` if None.
        materialize_grads: whether such a gradient is zeros instead of None.

    Returns:
        For each input its gradient, of its shape.

    Raises:
        NoGradientError: nothing was recorded for an output or an input, a weight is missing, or the
            outputs were not computed from an input.
        DomainError: zeros are wanted where an error is, too, or `inputs` is empty.
        ShapeError: weights have another shape than their output, or are not one for each.
        GraphFreedError: an earlier call freed the graph.
    """
    if materialize_grads and allow_unused is False:
        raise DomainError("materialize_grads=True asks for zeros where allow_unused=False refuses.")
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    keep = create_graph if retain_graph is None else retain_graph
    check_flags(retain_graph=keep, create_graph=create_graph)
    check_flags(materialize_grads=materialize_grads, allow_unused=allow_unused)
    outputs, inputs = _tensors("outputs", outputs), _recorded("grad", inputs)
    found: dict[Any, Tensor] = {}
    wanted = {tensor.variable for tensor in inputs}
    weights = _weights("grad_outputs", grad_outputs, len(outputs))
    starts = [output.starting_gradient(w) for output, w in zip(outputs, weights, strict=True)]
    with set_grad_enabled(create_graph):
        for number, (output, start) in enumerate(zip(outputs, starts, strict=True)):
            last = number == len(outputs) - 1
            retain = keep or not last
            totals = run_backward(derivatives, output.variable, start, retain, (), wanted)
            for variable, gradient in totals.items():
                gradient._fresh = False  # the caller will have it
                known = variable in found
                found[variable] = found[variable] + gradient if known else gradient
    for position, tensor in enumerate(inputs):
        if tensor.variable not in found and not allow_unused:
            raise NoGradientError(
                f"the outputs were not computed from input {position}. Pass allow_unused=True if "
                "its gradient is to be None."
            )
    gradients = (found.get(tensor.variable) for tensor in inputs)
    if not materialize_grads:
        return tuple(gradients)
    return tuple(
        tensor._full(tensor.shape, 0) if gradient is None else gradient
        for tensor, gradient in zip(inputs, gradients, strict=True)
    )


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of several tensors to `grad` of what they were computed from.

    Args:
        tensors: the results; the gradients of several are added up.
        grad_tensors: for each the weight of each of its elements; see `grad`.
        retain_graph: whether the graph can be differentiated again; as `create_graph` if None.
        create_graph: whether the gradients are recorded, to be differentiated in turn.
        inputs: the only tensors whose `grad` is added to, leaves or not, once if named twice; None
            for all leaves.

    Raises:
        NoGradientError: nothing was recorded for a tensor or an input, or a weight is missing.
        ShapeError: weights have another shape than their tensor, or are not one for each.
        DomainError: `inputs` is empty.
        GraphFreedError: an earlier call freed the graph.
    """
    results = _tensors("tensors", tensors)
    weights = _weights("grad_tensors", grad_tensors, len(results))
    keep = create_graph if retain_graph is None else retain_graph
    check_flags(retain_graph=keep, create_graph=create_graph)
    for number, (tensor, weight) in enumerate(zip(results, weights, strict=True), start=1):
        tensor.backward(weight, keep or number < len(results), create_graph, inputs)


def _tensors(what: str, given: Any) -> tuple[Tensor, ...]:
    tensors = tuple(given) if isinstance(given, Sequence) else (given,)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{what} must be a tensor or a sequence of tensors; {tensor!r} of type "
                f"{type(tensor).__name__} was given."
            )
    return tensors


def _weights(name: str, given: Any, count: int) -> tuple[Tensor | None, ...]:
    if given is None:
        return (None,) * count
    weights = tuple(given) if isinstance(given, Sequence) else (given,)
    if len(weights) != count:
        raise ShapeError(
            f"{name} holds {len(weights)} tensor(s) for {count} result(s): give one for each."
        )
    return weights


@extends("backward to inputs")
def backward_to_inputs(
    tensor: Tensor, start: Tensor, retain_graph: bool, create_graph: bool, inputs: Any
) -> None:
    """Add gradients to `grad` of the tensors that `tensor.backward(inputs=...)` was given.

    Args:
        tensor: the result.
        start: its gradient.
        retain_graph: whether the graph can be differentiated again.
        create_graph: whether the gradients are recorded.
        inputs: one tensor or several.
    """
    named = {x.variable: x for x in _recorded("backward", inputs)}
    with set_grad_enabled(create_graph):
        found = run_backward(derivatives, tensor.variable, start, retain_graph, (), named)
        for variable, total in found.items():
            named[variable]._store(total)


def _recorded(name: str, inputs: Any) -> tuple[Tensor, ...]:
    """Return the tensors that a function differentiates by, one or several.

    Raises:
        TypeError: one is no tensor.
        DomainError: there is none.
        NoGradientError: nothing was recorded for one of them.
    """
    tensors = _tensors("inputs", inputs)
    if not tensors:
        raise DomainError(f"inputs of {name}() name at least one tensor; there was none.")
    for tensor in tensors:
        if not tensor.requires_grad:
            raise NoGradientError(
                f"an input of shape {tensor.shape} does not require grad, so nothing was recorded "
                "for it: call requires_grad_() on it before computing the outputs."
            )
    return tensors
