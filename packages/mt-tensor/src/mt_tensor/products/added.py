"""Products of vectors and matrices, weighted and added to something, under torch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mt_tensor.dtypes import Number, as_number, type_of_number
from mt_tensor.errors import DTypeError
from mt_tensor.pointwise.elementwise import elementwise
from mt_tensor.products.contraction import promoted
from mt_tensor.products.vectors import bmm, mm, mv, outer
from mt_tensor.reductions.sums import sum

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


def _added(name: str, input: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """Return `beta * input + alpha * product`; what `beta` 0 leaves out may be nan."""
    start, product = promoted(name, input, product)
    beta, alpha = as_number("beta", beta), as_number("alpha", alpha)
    for label, factor in (("beta", beta), ("alpha", alpha)):
        if type_of_number(factor).rank > max(start.dtype.rank, 1):
            raise DTypeError(
                f"{name}() of {start.dtype.name} takes an integer as {label}; {factor!r} was given."
            )
    start = start.expand(product.shape)
    if beta == 0:  # as if it were not there, but with a gradient: zeros
        start = elementwise("where", False, start, 0)
    elif beta != 1:
        start = start * beta
    return start + (product if alpha == 1 else product * alpha)


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)`.

    Args:
        input: anything that broadcasts to (n, k). If `beta` is 0 it is left out, even nan.
        mat1: shape (n, m).
        mat2: shape (m, k).
        beta: a factor; an integer for integers.
        alpha: a factor; an integer for integers.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: a factor has a fraction but the tensors are integers, or they are bool.
    """
    return _added("addmm", input, mm(mat1, mat2), beta, alpha)


def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Tensor:
    """Return `beta * input + alpha * (mat @ vec)`, for shapes (n, m) and (m,); see `addmm`."""
    return _added("addmv", input, mv(mat, vec), beta, alpha)


def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Tensor:
    """Return `beta * input + alpha * outer(vec1, vec2)`; see `addmm`."""
    return _added("addr", input, outer(vec1, vec2), beta, alpha)


def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Tensor:
    """Return `beta * input + alpha * bmm(batch1, batch2)`; see `addmm`."""
    return _added("baddbmm", input, bmm(batch1, batch2), beta, alpha)


def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Tensor:
    """Return `beta * input + alpha * bmm(batch1, batch2).sum(0)`; see `addmm`."""
    product = bmm(batch1, batch2)
    return _added("addbmm", input, sum(product, 0, dtype=product.dtype), beta, alpha)
