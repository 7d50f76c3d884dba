"""Products and parts of matrices, as `torch.linalg` takes their arguments."""

from __future__ import annotations

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, check_floating
from mt_tensor.core.matmul import matmul
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.linalg.systems import inv
from mt_tensor.movement import diagonals
from mt_tensor.products import vectors


@validate_call
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors along `dim`, by default the last dimension.

    Raises:
        ShapeError: the numbers of dimensions differ, or `dim` has not the size 3.
        IndexingError: the other dimensions do not broadcast, or `dim` is out of range.
    """
    return vectors.cross(input, other, dim)


@validate_call
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the dot products of vectors along `dim`; both tensors are broadcast together.

    Raises:
        ShapeError: the vectors are not of one length.
        IndexingError: the shapes do not broadcast, or `dim` is out of range.
        DTypeError: they are no floating-point numbers.
        TypeError: `dim` is not an integer.
    """
    products = x * y
    check_floating("vecdot", products)
    return products.sum(as_integer("dim", dim))


@validate_call
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """Return a view of the diagonals of matrices, by default those of the last two dimensions.

    Raises:
        IndexingError: a dimension is out of range, or both are the same.
    """
    return diagonals.diagonal(A, offset, dim1, dim2)


@validate_call
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return square matrices multiplied by themselves, `n` factors in all; 0 gives the identity.

    Args:
        input: shape (*batch, m, m).
        n: how many factors; if negative, of the inverses of float32 or float64.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: `n` is negative, and a matrix singular.
        DTypeError: `n` is negative, and there are no such inverses.
        TypeError: `n` is not an integer.
    """
    n = as_integer("n", n)
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise ShapeError(f"matrix_power() takes square matrices; shape {input.shape} was given.")
    if n < 0:
        return matrix_power(inv(input), -n)
    power, square = None, input
    while n:
        if n & 1:
            power = square if power is None else matmul(power, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    if power is None:
        eye = np.eye(input.shape[-1])
        return input.clone().copy_(input._uploaded(eye, input.dtype))  # its gradient is zero
    return power if power is not input else power.clone()


@validate_call
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return the powers, from 0 on, of each element, along a new last dimension.

    Args:
        x: shape (*batch, n).
        N: how many powers; n if not given.

    Raises:
        IndexingError: `x` has no dimensions.
        DomainError: `N` is below 2.
        TypeError: `N` is not an integer.
    """
    if not x.ndim:
        raise IndexingError("vander() needs a tensor with at least one dimension.")
    count = x.shape[-1] if N is None else as_integer("N", N, least=2)
    return vectors.vander(x.flatten(), count, increasing=True).reshape(*x.shape, count)
