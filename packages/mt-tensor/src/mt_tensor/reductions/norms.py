"""p-norms over dimensions."""

from __future__ import annotations

import math
from typing import Any

from mt_tensor.core.arguments import check_floating
from mt_tensor.core.dtypes import as_dtype, as_number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import size_of
from mt_tensor.core.sums import Dims, Sum, reduced_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.reductions.roots import Root
from mt_tensor.reductions.sums import check_not_empty


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Return the p-norm of the elements over dimensions: `sum(abs(x) ** p) ** (1 / p)`.

    The gradient at zero is zero, as in torch.

    Args:
        input: a floating-point tensor.
        p: the exponent. "fro" and None mean 2; inf and -inf the largest and smallest magnitude;
            0 the number of nonzero elements, whose gradient is zero.
        dim: one dimension or several; None for all.
        keepdim: whether to keep the reduced dimensions, with size 1.
        dtype: the floating-point dtype to convert to first.

    Raises:
        DTypeError: `input` or `dtype` is not floating-point.
        IndexingError: a dimension is out of range or repeated; or there are no elements, and
            `p` is negative or inf.
        TypeError: `p` is neither a number nor "fro".
    """
    return p_norm("norm", input, p, dim, keepdim, dtype)


def p_norm(
    name: str, x: Tensor, p: Any, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """Return the p-norm of elements for the function `name` that the user called; see `norm`."""
    require_tensors(name, x)
    check_floating(name, x)
    if p is None or (isinstance(p, str) and p == "fro"):
        p = 2
    if isinstance(p, bool):
        raise TypeError(f"{name}(): p must be a number, inf, -inf or 'fro'; {p!r} was given.")
    exponent = float(as_number(f"{name}(): p", p))
    target = x.dtype if dtype is None else as_dtype(dtype)
    check_floating(name, target)
    x = x.to(target)
    dims = reduced_dims(dim, x.ndim, keepdim)
    if exponent < 0 or exponent == math.inf:
        check_not_empty(name, x, dims, f" of order {exponent:g}")
    wide = x.float() if target.is_narrow else x  # squares may overflow float16
    return _norm(wide, exponent, dims, keepdim).to(target)


def _norm(x: Tensor, p: float, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    if p == 0:
        return elementwise("where", x != 0, 1.0, x.sign()).sum(dims, keepdim)  # nan is nonzero
    is_single = size_of([x.shape[d] for d in dims]) == 1  # its norm is its magnitude
    if p == 2 and not is_single:
        return Root.apply(Sum.apply(x.square(), dims, keepdim))
    size = x.abs()
    if p == 1 or is_single:
        return size.sum(dims, keepdim)
    if math.isinf(p):
        return size.amax(dims, keepdim) if p > 0 else size.amin(dims, keepdim)
    # For p < 1 the derivative of the powers is infinite at zero, so replace zeros first.
    powers = elementwise("where", size == 0, 0.0 if p > 0 else math.inf, _without_zeros(size) ** p)
    total = powers.sum(dims, keepdim)
    roots = _without_zeros(total) ** (1 / p)
    return elementwise("where", total == 0, 0.0 if p > 0 else math.inf, roots)


def _without_zeros(x: Tensor) -> Tensor:
    """Replace zeros by 1, without a gradient."""
    return elementwise("where", x == 0, 1.0, x)
