"""Integration by the trapezoidal rule: `(y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i])`."""

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
    """Integrate along a dimension by the trapezoidal rule; 0 for fewer than two points.

    Args:
        y: the values to integrate.
        x: their coordinates: 1-D, one per point along `dim`, or a tensor that broadcasts with `y`.
            If `x` has more dimensions than `y`, its points are along the dimension with the same
            number from the front.
        dx: the distance between points if `x` is not given; 1 by default.
        dim: the dimension.

    Raises:
        DTypeError: `y` or `x` is bool.
        ShapeError: `x` has another number of points.
        IndexingError: `dim` is out of range, or the shapes do not broadcast.
        TypeError: both `x` and `dx` were given, or `dx` is not a number.
    """
    areas, d = _areas("trapezoid", y, x, dx, dim)
    return areas.sum(d)


trapz = trapezoid


@validate_call
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1
) -> Tensor:
    """Return cumulative integrals along a dimension, whose size in the result is one smaller.

    Arguments and errors as for `trapezoid`.
    """
    areas, d = _areas("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, d)


def _areas(
    name: str, y: Tensor, x: Tensor | None, dx: Number | None, dim: int
) -> tuple[Tensor, int]:
    """Return the area of each trapezoid, and the dimension to sum over."""
    points = [y] if x is None else [y, x]
    require_tensors(name, *points)
    common_backend(*points)
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes either x (coordinates) or dx (a distance), not both.")
    for tensor in points:
        check_not_bool(name, tensor)
    d = existing_dim(name, dim, y.shape)
    count = max(y.shape[d] - 1, 0)
    dtype = result_type(*points)
    if not dtype.is_floating_point:
        dtype = get_default_dtype()
    y = y.to(dtype)
    if name == "trapezoid" and not y.shape[d]:
        return y, d  # as in torch, the shape of `x` does not matter then
    first, last = y.narrow(d, 0, count), y.narrow(d, y.shape[d] - count, count)
    if x is None:
        return (first + last) * (0.5 if dx is None else as_number(f"{name}(): dx", dx) / 2), d
    if x.ndim <= 1:
        if x.shape != (y.shape[d],):
            raise ShapeError(
                f"{name}() takes x of shape ({y.shape[d]},), a coordinate for each point; "
                f"{x.shape} was given."
            )
        x = x.view(-1, *(1,) * (y.ndim - 1 - d))
    aligned = x.view(*(1,) * (y.ndim - x.ndim), *x.shape)
    steps = diff(aligned.to(dtype), dim=d)
    return (first + last) / 2 * steps, d
