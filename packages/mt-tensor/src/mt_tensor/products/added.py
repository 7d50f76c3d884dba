"""Scaled products of vectors and matrices added to a tensor, as in torch: addmm, addmv, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import Number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.sums import sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.pointwise.functions import checked_factor, sum_with
from mt_tensor.products.contraction import promoted
from mt_tensor.products.vectors import check_ranks, multiplied
from mt_tensor.reductions.sums import wide

_mm = functools.partial(multiplied, ranks=(2, 2))
_mv = functools.partial(multiplied, ranks=(2, 1))
_bmm = functools.partial(multiplied, ranks=(3, 3))


def _outer(name: str, left: Tensor, right: Tensor) -> Tensor:
    check_ranks(name, (left, right), 1, 1)
    return left.unsqueeze(1) * right


def _added(
    name: str,
    multiply: Callable[[str, Tensor, Tensor], Tensor],
    operands: tuple[Tensor, Tensor, Tensor],
    beta: Number,
    alpha: Number,
) -> Tensor:
    """Return `beta * first + alpha * multiply(name, second, third)` for three operands.

    Compute in the promoted dtype of the operands, or for 16-bit floats in float32, and round once.
    """
    tensors = promoted(name, *operands)
    dtype = tensors[0].dtype
    start, left, right = map(wide, tensors)
    product = multiply(name, left, right)
    beta = checked_factor(f"{name}(): beta", beta, dtype)
    alpha = checked_factor(f"{name}(): alpha", alpha, dtype)
    start = start.expand(product.shape)
    if beta == 0:  # ignores nan, but is recorded, with zeros as gradient
        start = elementwise("where", False, start, 0)
    elif beta != 1:
        start = start * beta
    return sum_with("add", start, product, f"{name}(): alpha", alpha).to(dtype)


@validate_call
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)`.

    Args:
        input: a tensor that broadcasts to (n, k). It is ignored if `beta` is 0, even if it is nan.
        mat1: shape (n, m).
        mat2: shape (m, k).
        beta: the factor of `input`; an integer for integer tensors.
        alpha: the factor of the product; an integer for integer tensors.

    Raises:
        ShapeError: the shapes do not match.
        DTypeError: a factor is a float but the tensors are integers, or the tensors are bool.
    """
    return _added("addmm", _mm, (input, mat1, mat2), beta, alpha)


@validate_call
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return `beta * input + alpha * (mat @ vec)`, for shapes (n, m) and (m,); see `addmm`."""
    return _added("addmv", _mv, (input, mat, vec), beta, alpha)


@validate_call
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return `beta * input + alpha * outer(vec1, vec2)`; see `addmm`."""
    return _added("addr", _outer, (input, vec1, vec2), beta, alpha)


@validate_call
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return `beta * input + alpha * bmm(batch1, batch2)`; see `addmm`."""
    return _added("baddbmm", _bmm, (input, batch1, batch2), beta, alpha)


@validate_call
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return `beta * input + alpha * bmm(batch1, batch2).sum(0)`; see `addmm`."""

    def multiply(name: str, left: Tensor, right: Tensor) -> Tensor:
        return sum(_bmm(name, left, right), 0, dtype=left.dtype)

    return _added("addbmm", multiply, (input, batch1, batch2), beta, alpha)
