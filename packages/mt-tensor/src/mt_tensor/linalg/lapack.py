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


def check_equation(name: str, a: Tensor, b: Tensor, left: bool) -> None:
    """Raise ShapeError unless the matrices of `A X = B`, or `X A = B`, match."""
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise ShapeError(
            f"{name}() of {'A X = B' if left else 'X A = B'} was given A of shape {a.shape} and B "
            f"of shape {b.shape}, which do not match."
        )


def is_vector(a: Tensor, b: Tensor) -> bool:
    """Return whether the right side of `A X = B` is a vector, or a batch of them."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])


def default_rtol(x: Tensor) -> float:
    """Return the default tolerance of singular values, relative to the largest one."""
    return max(x.shape[-2:]) * float(np.finfo(x.dtype.numpy).eps)


@as_one_call
def lapack(
    name: str,
    function: Callable[..., Array],
    *tensors: Tensor,
    problem: str = "the iteration for eigenvalues or singular values did not converge",
    finite: bool = False,
) -> Tensor:
    """Apply a function of float64 arrays to tensors, without recording; the dtype is kept.

    Args:
        name: the name of the operation, for error messages.
        function: takes one array per tensor, and returns an array.
        *tensors: tensors of one dtype and backend.
        problem: what is wrong with the matrices if the function raises NumPy's LinAlgError.
        finite: whether to check that all elements are finite. With others, LAPACK's iterations may
            not terminate, or may return numbers that mean nothing.

    Raises:
        LinAlgError: the function failed, or an element is infinite or nan and must not be.
    """
    first = tensors[0]
    arrays = [np.asarray(x.backend.to_host(x._tensor), np.float64) for x in tensors]
    if finite and not all(np.isfinite(a).all() for a in arrays):
        raise LinAlgError(
            f"{name}(): a matrix has an infinite or nan element: replace such elements first."
        )
    try:
        with np.errstate(all="ignore"):
            return first._uploaded(np.asarray(function(*arrays)), first.dtype)
    except np.linalg.LinAlgError:
        raise LinAlgError(f"{name}(): {problem}.") from None
