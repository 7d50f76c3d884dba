"""Products, powers and diagonals of matrices with the arguments of `torch.linalg`."""

from __future__ import annotations

import numpy as np

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, check_addressable, check_floating
from mt_tensor.core.matmul import matmul
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.linalg.systems import inv
from mt_tensor.movement import diagonals
from mt_tensor.products import vectors


@validate_call
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors along `dim`, by default the last dimension.

    Raises:
        ShapeError: the numbers of dimensions differ, or the size of `dim` is not 3.
        IndexingError: the other dimensions do not broadcast, or `dim` is out of range.
    """
    return vectors.cross(input, other, dim)


@validate_call
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the dot products of vectors along `dim`; both tensors are broadcast.

    Raises:
        ShapeError: the vectors have different lengths.
        IndexingError: the shapes do not broadcast, or `dim` is out of range.
        DTypeError: neither tensor is floating-point.
        TypeError: `dim` is not an integer.
    """
    products = x * y
    check_floating("vecdot", products)
    return products.sum(as_integer("vecdot(): dim", dim))


@validate_call
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """Return a view of the diagonals of matrices, by default those of the last two dimensions.

    Raises:
        IndexingError: a dimension is out of range, or both are the same.
    """
    return diagonals.diagonal(A, offset, dim1, dim2)


@validate_call
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return the n-th power of square matrices; the identity for 0.

    Args:
        input: shape (*batch, m, m).
        n: the exponent; if negative, powers of the inverses, for float32 and float64.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: `n` is negative, and a matrix is singular.
        DTypeError: `n` is negative, and the dtype is neither float32 nor float64.
        TypeError: `n` is not an integer.
    """
    n = as_integer("matrix_power(): n", n)
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
        return input.clone().copy_(input._uploaded(eye, input.dtype))  # recorded, with gradient 0
    return power if power is not input else power.clone()


@validate_call
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return Vandermonde matrices: the powers 0, 1, ... of each element along a new last dimension.

    Args:
        x: shape (*batch, n).
        N: the number of powers; n by default.

    Raises:
        IndexingError: `x` has no dimensions.
        DomainError: `N` is less than 2.
        TypeError: `N` is not an integer.
    """
    existing_dim("vander", -1, x.shape)
    count = x.shape[-1] if N is None else as_integer("vander(): N", N, minimum=2)
    check_addressable((*x.shape, count))
    return vectors.powers(x, np.arange(count))
