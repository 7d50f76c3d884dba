"""Derivatives of functions at a point: Jacobians, Hessians and vector-Jacobian products.

Inputs of a function of several tensors are given as a tuple, and results are then tuples too. These
are the transformations of `autograd.func`, applied at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff import NoGradientError, set_grad_enabled
from mt_tensor.autograd import func as transforms
from mt_tensor.core.tensor import Tensor

Tensors = Tensor | tuple[Tensor, ...]
"""A tensor, or a tuple of tensors."""


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
    points, argnums = _arguments(inputs)
    with set_grad_enabled(create_graph):
        return transforms.jacrev(func, argnums)(*points)


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

    def single(*points: Tensor) -> Tensor:
        return transforms.single_number("hessian", func(*points))

    points, argnums = _arguments(inputs)
    with set_grad_enabled(create_graph):
        return transforms.jacrev(transforms.grad(single, argnums), argnums)(*points)


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
        The value of `func`, and a gradient for each input, with zeros where there is no dependency.

    Raises:
        NoGradientError: `v` is missing.
        ShapeError: the shape of `v` differs from that of the result.
        TypeError: an input or a result is not a tensor.
        DTypeError: an input is not floating-point.
    """
    with set_grad_enabled(create_graph):
        value, product = transforms.vjp(func, *_arguments(inputs)[0])
        if v is None and isinstance(value, Tensor) and value.numel() != 1:
            raise NoGradientError(
                f"vjp() of a result of shape {value.shape} needs v=, one value per element."
            )
        gradients = product(v)
    return value, gradients if isinstance(inputs, tuple) else gradients[0]


def _arguments(inputs: Tensors) -> tuple[tuple[Tensor, ...], transforms.Argnums]:
    """Return the arguments of the function, and the positions to differentiate with respect to."""
    return (inputs, tuple(range(len(inputs)))) if isinstance(inputs, tuple) else ((inputs,), 0)
