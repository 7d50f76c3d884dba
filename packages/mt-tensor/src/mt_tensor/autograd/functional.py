"""Derivatives of functions: Jacobians, Hessians and vector-Jacobian products.

Inputs of a function of several tensors are given as a tuple, and results are then tuples too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff import enable_grad
from mt_tensor.autograd.gradients import grad
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.movement.joining import stack

Tensors = Tensor | tuple[Tensor, ...]


def jacobian(func: Callable[..., Tensors], inputs: Tensors, create_graph: bool = False) -> Any:
    """Return the Jacobian of a function: the derivatives of all results with respect to all inputs.

    >>> import mt_tensor as mt
    >>> jacobian(lambda x: x * x, mt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor, or a tuple of one tensor per argument of `func`.
        create_graph: whether to record the derivatives, so that they are differentiable.

    Returns:
        Shape (*result.shape, *input.shape), with zeros where there is no dependency. If `inputs` is
        a tuple, a tuple with one for each; if `func` returns a tuple, a tuple of these.

    Raises:
        TypeError: an input or a result is not a tensor.
        DTypeError: an input is not floating-point.
    """
    points = _points(inputs, create_graph)
    results = _results("jacobian", func, points)
    found = [_rows(result, points, create_graph) for result in _all(results)]
    answers = tuple(each if isinstance(inputs, tuple) else each[0] for each in found)
    return answers if isinstance(results, tuple) else answers[0]


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False) -> Any:
    """Return the Hessian of a scalar function.

    >>> import mt_tensor as mt
    >>> hessian(lambda x: (x * x * x).sum(), mt.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])

    Args:
        func: a function of tensors that returns a tensor of one element.
        inputs: a tensor, or a tuple of one tensor per argument of `func`.
        create_graph: whether to record the derivatives, so that they are differentiable.

    Returns:
        Shape (*input.shape, *input.shape); for a tuple, a tuple of tuples.

    Raises:
        ShapeError: the result does not have one element.
        TypeError: an input or the result is not a tensor.
        DTypeError: an input is not floating-point.
    """

    def gradient(*points: Tensor) -> Tensors:
        result = func(*points)
        require_tensors("hessian", result)
        if result.numel() != 1:
            raise ShapeError(
                "hessian() takes a function that returns a single number; it returned shape "
                f"{result.shape}. Reduce it, as in result.sum()."
            )
        (rows,) = zip(*_rows(result.reshape(1), points, True), strict=True)
        return tuple(rows) if isinstance(inputs, tuple) else rows[0]

    return jacobian(gradient, inputs, create_graph)


def vjp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
) -> tuple[Tensors, Tensors]:
    """Return the value of a function, and its vector-Jacobian product.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor, or a tuple of one tensor per argument of `func`.
        v: the upstream gradient of each result, of the same shape; optional for a single element.
        create_graph: whether to record both, so that they are differentiable.

    Returns:
        The value of `func`, and a gradient for each input.

    Raises:
        NoGradientError: a result does not depend on the inputs, or `v` is missing.
        ShapeError: `v` has another shape than the result.
        TypeError: an input or a result is not a tensor.
        DTypeError: an input is not floating-point.
    """
    points = _points(inputs, create_graph)
    results = _results("vjp", func, points)
    found: Any = grad(results, points, v, None, create_graph, materialize_grads=True)
    values = _all(results) if create_graph else tuple(each.detach() for each in _all(results))
    return (
        values if isinstance(results, tuple) else values[0],
        found if isinstance(inputs, tuple) else found[0],
    )


def _all(tensors: Tensors) -> tuple[Tensor, ...]:
    return tensors if isinstance(tensors, tuple) else (tensors,)


def _points(inputs: Tensors, create_graph: bool) -> tuple[Tensor, ...]:
    """Return views of the inputs, or leaves with the same elements, to differentiate."""
    require_tensors("a derivative", *_all(inputs))
    if create_graph:
        return tuple(
            x.view(x.shape) if x.requires_grad else x.detach().requires_grad_()
            for x in _all(inputs)
        )
    return tuple(x.detach().requires_grad_() for x in _all(inputs))


def _results(name: str, func: Callable[..., Tensors], points: tuple[Tensor, ...]) -> Tensors:
    with enable_grad():
        results = func(*points)
    require_tensors(name, *_all(results))
    return results


def _rows(result: Tensor, points: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Return the Jacobian of a result with respect to each of several points."""
    elements = result.reshape(-1).unbind() if result.requires_grad else ()
    gradients = [
        grad(element, points, None, True, create_graph, materialize_grads=True)
        for element in elements
    ]
    found = []
    for number, point in enumerate(points):
        shape = result.shape + point.shape
        rows: list[Any] = [gradient[number] for gradient in gradients]
        found.append(stack(rows).reshape(shape) if rows else point.new_zeros(shape))
    return tuple(found)
