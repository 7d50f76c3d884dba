"""Vector and matrix norms, as in `torch.linalg`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.dtypes import as_number
from mt_tensor.core.strides import is_integer, normalize_dims
from mt_tensor.core.sums import Dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.linalg.factors import singular_values
from mt_tensor.reductions.norms import p_norm
from mt_tensor.reductions.sums import wide


@validate_call
def vector_norm(
    x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the norms of vectors: `sum(abs(x) ** ord) ** (1 / ord)` over dimensions.

    Args:
        x: a floating-point tensor.
        ord: the exponent; inf, -inf, or 0 for the number of nonzero elements.
        dim: one dimension or several; None for all.
        keepdim: whether to keep the reduced dimensions, with size 1.
        dtype: the dtype to convert to first.

    Raises:
        TypeError: `ord` is not a number.
        DTypeError: `x` is not floating-point.
        IndexingError: a dimension is out of range or repeated; or there are no elements, and
            `ord` is negative or inf.
    """
    return p_norm("vector_norm", x, as_number("vector_norm(): ord", ord), dim, keepdim, dtype)


@validate_call
def matrix_norm(
    A: Tensor,  # noqa: N803 - torch's name
    ord: float | str = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return matrix norms; 0 for matrices without elements.

    Args:
        A: a floating-point tensor of at least two dimensions; float32 or float64 for norms of
            singular values.
        ord: "fro" for the square root of the sum of squares, "nuc" for the sum of singular values,
            2 for the largest singular value, 1 for the largest sum of magnitudes in a column, inf
            in a row; -2, -1 and -inf for the smallest.
        dim: the dimensions of the rows and columns.
        keepdim: whether to keep the reduced dimensions, with size 1.
        dtype: the dtype to convert to first.

    Raises:
        DomainError: `ord` has another value.
        ShapeError: there are fewer than two dimensions.
        IndexingError: a dimension is out of range or repeated.
        DTypeError: `A` has another dtype.
        TypeError: `dim` is not a sequence of two dimensions.
        LinAlgError: an element is infinite or nan, for norms of singular values.
    """
    x = A if dtype is None else A.to(dtype)
    check_floating("matrix_norm", x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_norm() takes matrices; shape {x.shape} was given.")
    if not isinstance(dim, Sequence) or len(dim) != 2:
        raise TypeError(f"matrix_norm() takes two dimensions as dim; {dim!r} was given.")
    rows, columns = normalize_dims(dim, x.ndim)
    if isinstance(ord, bool):
        raise TypeError(f"matrix_norm(): ord must be a number or a string; {ord!r} was given.")
    check_choice("matrix_norm", "ord", ord, ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf))
    x = x.movedim((rows, columns), (-2, -1))
    if ord == "fro" or not x.numel():
        out = p_norm("matrix_norm", x, 2, (-2, -1))
    elif ord in ("nuc", 2, -2):
        values = singular_values("matrix_norm", x)
        out = values.sum(-1) if ord == "nuc" else values.select(-1, 0 if ord == 2 else -1)
    else:
        sums = wide(x).abs().sum(-2 if abs(float(ord)) == 1 else -1)
        out = (sums.amax(-1) if float(ord) > 0 else sums.amin(-1)).to(x.dtype)
    return out.unsqueeze(min(rows, columns)).unsqueeze(max(rows, columns)) if keepdim else out


@validate_call
def norm(
    A: Tensor,  # noqa: N803
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return vector or matrix norms, depending on `ord` and the number of dimensions.

    Args:
        A: a floating-point tensor.
        ord: None for the square root of the sum of all squares; otherwise as for `vector_norm`
            along one dimension, or `matrix_norm` along two.
        dim: one dimension or two; None for all dimensions of a vector or matrix.
        keepdim: whether to keep the reduced dimensions, with size 1.
        dtype: the dtype to convert to first.

    Raises:
        ShapeError: `ord` was given, and the number of dimensions is not 1 or 2.
        IndexingError: a dimension is out of range or repeated.
        DTypeError: `A` has another dtype.
        DomainError: `ord` has another value.
        TypeError: `ord` of a vector norm is not a number.
    """
    if ord is None:
        return p_norm("norm", A, 2, dim, keepdim, dtype)
    dims = range(A.ndim) if dim is None else (dim,) if is_integer(dim) else dim
    if not isinstance(dims, Sequence) or len(dims) not in (1, 2):
        raise ShapeError(
            f"linalg.norm() with ord={ord!r} takes one dimension or two; shape {A.shape} and "
            f"dim={dim!r} were given."
        )
    if len(dims) == 1:
        return p_norm("norm", A, as_number("norm(): ord", ord), dims[0], keepdim, dtype)
    return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
