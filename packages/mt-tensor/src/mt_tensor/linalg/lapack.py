"""Check matrices, and call NumPy's LAPACK functions with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mt_tensor.checks import check_float32_or_float64, check_same_dtype
from mt_tensor.core.dtypes import Array
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import LinAlgError, ShapeError
from mt_tensor.recording.one_call import as_one_call


def check_matrices(name: str, *tensors: Tensor, square: bool = True) -> None:
    """Check that tensors are matrices, or batches of matrices, of float32 or float64.

    Raises:
        ShapeError: a tensor has fewer than two dimensions, or must be square and is not.
        DTypeError: the dtypes are neither float32 nor float64, or differ.
        BackendMismatchError: the tensors belong to different backends.
    """
    common_backend(*tensors)
    check_same_dtype(name, *tensors)
    for x in tensors:
        check_float32_or_float64(name, x)
        if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
            kind = "square matrices" if square else "matrices"
            raise ShapeError(f"{name}() takes {kind}; shape {x.shape} was given.")


def broadcast_batches(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast the batch dimensions of two tensors of matrices."""
    batch = shape_broadcast(a.shape[:-2], b.shape[:-2])
    return a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])


def finite(a: Array) -> Array:
    """Check that elements are finite; for infinities, LAPACK's singular values may not terminate.

    Raises:
        LinAlgError: an element is infinite or nan.
    """
    if not np.isfinite(a).all():
        raise LinAlgError("a matrix has an infinite or nan element: replace such elements first.")
    return a


@as_one_call
def lapack(problem: str, function: Callable[..., Array], *tensors: Tensor) -> Tensor:
    """Apply a function of float64 arrays to tensors, without recording; the dtype is kept.

    Args:
        problem: the error message if the function fails.
        function: takes one array per tensor, and returns an array.
        *tensors: tensors of one dtype and backend.

    Raises:
        LinAlgError: the function failed.
    """
    first = tensors[0]
    arrays = [np.asarray(x.backend.to_host(x._tensor), np.float64) for x in tensors]
    try:
        with np.errstate(all="ignore"):
            return first._uploaded(np.asarray(function(*arrays)), first.dtype)
    except np.linalg.LinAlgError:
        raise LinAlgError(f"{problem}.") from None
