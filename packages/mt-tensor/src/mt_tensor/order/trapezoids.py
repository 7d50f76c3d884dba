"""Areas under curves by the trapezoidal rule: `(y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i])`."""

from __future__ import annotations

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import Number, as_number, get_default_dtype, result_type
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.order.ranks import diff
from mt_tensor.order.scans import cumsum


@validate_call
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1
) -> Tensor:
    """Return the area under points that are joined by lines, along a dimension; 0 for no lines.

    Args:
        y: the heights.
        x: where they stand: 1-D, one for each along `dim`, or broadcast with `y`.
        dx: how far apart they stand if `x` is not given; 1 by default.
        dim: the dimension that is summed over.

    Raises:
        DTypeError: `y` or `x` is bool.
        ShapeError: `x` has another number of points.
        IndexingError: there is no such dimension, or the shapes do not broadcast.
        TypeError: both `x` and `dx` are given.
    """
    return _areas("trapezoid", y, x, dx, dim).sum(dim)


trapz = trapezoid


@validate_call
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1
) -> Tensor:
    """Return the areas under the first lines, the first two and so on: one fewer than points.

    Arguments and errors are those of `trapezoid`.
    """
    return cumsum(_areas("cumulative_trapezoid", y, x, dx, dim), dim)


def _areas(name: str, y: Tensor, x: Tensor | None, dx: Number | None, dim: int) -> Tensor:
    """Return the area under each line."""
    points = [y] if x is None else [y, x]
    require_tensors(name, *points)
    common_backend(*points)
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes either x, places, or dx, a distance; not both.")
    for tensor in points:
        check_not_bool(name, tensor)
    d = existing_dim(name, dim, y.shape)
    lines = max(y.shape[d] - 1, 0)
    dtype = result_type(*points)
    if not dtype.is_floating_point:
        dtype = get_default_dtype()
    y = y.to(dtype)
    first, last = y.narrow(d, 0, lines), y.narrow(d, y.shape[d] - lines, lines)
    if x is None:
        return (first + last) * (0.5 if dx is None else as_number("dx", dx) / 2)
    if x.ndim <= 1:
        if x.shape != (y.shape[d],):
            raise ShapeError(
                f"{name}() takes a place for each of {y.shape[d]} points; x has shape {x.shape}."
            )
        steps = diff(x.to(dtype)).view(-1, *(1,) * (y.ndim - 1 - d))
    else:
        steps = diff(x.to(dtype), dim=dim)
    return (first + last) / 2 * steps
