"""What all of linear algebra needs: matrices that are checked, and sent to NumPy's LAPACK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mt_tensor.checks import check_float32_or_float64, check_same_dtype
from mt_tensor.core.dtypes import Array
from mt_tensor.core.operands import common_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import LinAlgError, ShapeError
from mt_tensor.recording.one_call import as_one_call


def check_matrices(name: str, *tensors: Tensor, square: bool = True) -> None:
    """Check that tensors are matrices to compute with, or batches of them.

    Raises:
        ShapeError: they have fewer than two dimensions, or are to be square and are not.
        DTypeError: they are neither float32 nor float64, or not of one dtype.
        BackendMismatchError: they belong to different backends.
    """
    common_backend(*tensors)
    check_same_dtype(name, *tensors)
    for x in tensors:
        check_float32_or_float64(name, x)
        if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
            kind = "square matrices" if square else "matrices"
            raise ShapeError(f"{name}() takes {kind}; shape {x.shape} was given.")


def finite(a: Array) -> Array:
    """Return matrices to find singular values of; of infinities LAPACK's search may never end.

    Raises:
        numpy.linalg.LinAlgError: an element is infinite or nan.
    """
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("an element is infinite or nan")
    return a


@as_one_call
def lapack(problem: str, function: Callable[..., Array], *tensors: Tensor) -> Tensor:
    """Return what LAPACK makes of float64 arrays, as a constant tensor of the tensors' dtype.

    Args:
        problem: what it means if there is no result.
        function: takes an array for each tensor, and returns one.
        *tensors: of one dtype and backend.

    Raises:
        LinAlgError: there is no result, for what `problem` says.
    """
    first = tensors[0]
    arrays = [np.asarray(x.backend.to_host(x._tensor), np.float64) for x in tensors]
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*arrays))
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{problem} ({error}).") from None
    return first._uploaded(result, first.dtype)
