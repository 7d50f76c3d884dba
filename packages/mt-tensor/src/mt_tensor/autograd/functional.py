"""Derivatives of functions: their Jacobian and Hessian matrices, and products with a vector.

A function of several tensors is given a tuple of them, and the answer is then a tuple as well.
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
    """Return the derivative of each element of a result by each element of an input.

    >>> import mt_tensor as mt
    >>> jacobian(lambda x: x * x, mt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

    Args:
        func: from tensors to a tensor or a tuple of tensors.
        inputs: a tensor, or a tuple with one for each argument of `func`.
        create_graph: whether the derivatives are recorded, down to what `inputs` came from.

    Returns:
        Shape (*shape of the result, *shape of the input), zeros where one does not depend on the
        other. If `inputs` is a tuple, a tuple with one for each; if `func` returns a tuple, a tuple
        of these.

    Raises:
        TypeError: an input or a result is no tensor.
        DTypeError: the elements of an input are no floating-point numbers.
    """
    points = _points(inputs, create_graph)
    results = _results("jacobian", func, points)
    found = [_rows(result, points, create_graph) for result in _all(results)]
    answers = tuple(each if isinstance(inputs, tuple) else each[0] for each in found)
    return answers if isinstance(results, tuple) else answers[0]


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False) -> Any:
    """Return the second derivatives of a function with one number as its result.

    >>> import mt_tensor as mt
    >>> hessian(lambda x: (x * x * x).sum(), mt.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])

    Args:
        func: from tensors to a tensor of one element.
        inputs: a tensor, or a tuple with one for each argument of `func`.
        create_graph: whether the derivatives are recorded, down to what `inputs` came from.

    Returns:
        Shape (*shape of the input, *shape of the input); of a tuple, a tuple of tuples.

    Raises:
        ShapeError: the result has several elements.
        TypeError: an input or the result is no tensor.
        DTypeError: the elements of an input are no floating-point numbers.
    """

    def gradient(*points: Tensor) -> Tensors:
        result = func(*points)
        require_tensors("hessian", result)
        if result.numel() != 1:
            raise ShapeError(
                "hessian() takes a function with one number as its result; one of shape "
                f"{result.shape} was returned. Reduce it, as in result.sum()."
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
    """Return the value of a function, and a vector times its Jacobian.

    Args:
        func: from tensors to a tensor or a tuple of tensors.
        inputs: a tensor, or a tuple with one for each argument of `func`.
        v: for each result the weights of its elements, of its shape; may be left out if there is
            one element.
        create_graph: whether both are recorded, down to what `inputs` came from.

    Returns:
        What `func` returns, and for each input a tensor of its shape.

    Raises:
        NoGradientError: a result does not depend on the inputs, or `v` is missing.
        ShapeError: `v` has another shape than the result.
        TypeError: an input or a result is no tensor.
        DTypeError: the elements of an input are no floating-point numbers.
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
    """Return where to differentiate: views of the inputs, or leaves with the same elements."""
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
    """Return the Jacobian of one result by each of several points."""
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
