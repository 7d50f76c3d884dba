"""Compute gradients as return values, or of several tensors at once."""

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
    only_inputs: bool = True,  # noqa: ARG001
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` with respect to `inputs`, without changing `.grad`.

    >>> import mt_tensor as mt
    >>> x = mt.tensor(2.0, requires_grad=True)
    >>> (first,) = mt.autograd.grad(x * x * x, x, create_graph=True)
    >>> (second,) = mt.autograd.grad(first, x)
    >>> first.item(), second.item()
    (12.0, 12.0)

    Args:
        outputs: the outputs; the gradients of several are added.
        inputs: the tensors to differentiate with respect to, leaves or intermediate results.
        grad_outputs: the upstream gradient of each output, of the same shape; optional, or None,
            for an output of one element.
        retain_graph: whether to keep the graph for another pass; `create_graph` by default.
        create_graph: whether to record the gradients, so that they are differentiable.
        only_inputs: accepted for compatibility with torch, without effect.
        allow_unused: whether to return None for an input on which no output depends, instead of
            an error; `materialize_grads` by default.
        is_grads_batched: must be False, since batched gradients are not supported.
        materialize_grads: whether to return zeros instead of None.

    Returns:
        The gradient of each input, of the same shape.

    Raises:
        NoGradientError: an output or input does not require grad, an upstream gradient is missing,
            or no output depends on an input.
        DomainError: `is_grads_batched` is True, `allow_unused` is False but
            `materialize_grads` is True, or `inputs` is empty.
        ShapeError: the number or a shape of upstream gradients is wrong.
        GraphFreedError: an earlier call freed the graph.
    """
    if is_grads_batched:
        raise DomainError("grad() needs is_grads_batched=False: call it for each gradient.")
    if materialize_grads and allow_unused is False:
        raise DomainError(
            "grad(): materialize_grads=True contradicts allow_unused=False: omit one of them."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    keep = create_graph if retain_graph is None else retain_graph
    check_flags(retain_graph=keep, create_graph=create_graph)
    check_flags(materialize_grads=materialize_grads, allow_unused=allow_unused)
    outputs, inputs = _tensors("outputs", outputs), _recorded("grad", inputs)
    found: dict[Any, Tensor] = {}
    selected = {tensor.variable for tensor in inputs}
    weights = _weights("grad_outputs", grad_outputs, len(outputs))
    starts = [output.starting_gradient(w) for output, w in zip(outputs, weights, strict=True)]
    with set_grad_enabled(create_graph):
        for number, (output, start) in enumerate(zip(outputs, starts, strict=True)):
            last = number == len(outputs) - 1
            retain = keep or not last
            totals = run_backward(derivatives, output.variable, start, retain, (), selected)
            for variable, gradient in totals.items():
                gradient._owned = False  # the caller will refer to it
                known = variable in found
                found[variable] = found[variable] + gradient if known else gradient
    for position, tensor in enumerate(inputs):
        if tensor.variable not in found and not allow_unused:
            raise NoGradientError(
                f"grad(): no output depends on input {position}: pass allow_unused=True to get "
                "None for its gradient."
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
    """Compute the gradients of the sum of several tensors, and add them to `.grad` of the leaves.

    Args:
        tensors: the tensors.
        grad_tensors: the upstream gradient of each, as for `grad`.
        retain_graph: whether to keep the graph for another pass; `create_graph` by default.
        create_graph: whether to record the gradients, so that they are differentiable.
        inputs: the tensors whose `.grad` to add to, leaves or not; None for all leaves.

    Raises:
        NoGradientError: a tensor or input does not require grad, or an upstream gradient is
            missing.
        ShapeError: the number or a shape of upstream gradients is wrong.
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
            f"{name} must have one tensor for each of {count} result(s); {len(weights)} were given."
        )
    return weights


@extends("backward to inputs")
def backward_to_inputs(
    tensor: Tensor, start: Tensor, retain_graph: bool, create_graph: bool, inputs: Any
) -> None:
    """Implement `tensor.backward(inputs=...)`.

    Args:
        tensor: the result.
        start: its upstream gradient.
        retain_graph: whether to keep the graph for another pass.
        create_graph: whether to record the gradients.
        inputs: one tensor or several.
    """
    named = {x.variable: x for x in _recorded("backward", inputs)}
    with set_grad_enabled(create_graph):
        found = run_backward(derivatives, tensor.variable, start, retain_graph, (), named)
        for variable, total in found.items():
            named[variable]._store(total)


def _recorded(name: str, inputs: Any) -> tuple[Tensor, ...]:
    """Check the inputs to differentiate with respect to.

    Raises:
        TypeError: one is not a tensor.
        DomainError: the sequence is empty.
        NoGradientError: one does not require grad.
    """
    tensors = _tensors("inputs", inputs)
    if not tensors:
        raise DomainError(f"{name}() needs at least one tensor as inputs; none was given.")
    for tensor in tensors:
        if not tensor.requires_grad:
            raise NoGradientError(
                f"{name}(): an input of shape {tensor.shape} does not require grad: call "
                "requires_grad_() on it before computing the outputs."
            )
    return tensors
