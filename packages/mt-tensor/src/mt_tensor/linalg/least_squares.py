"""Ranks of matrices, and least-squares solutions of linear systems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.dtypes import Array, as_number, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import LinAlgError, ShapeError
from mt_tensor.linalg.factors import singular_values
from mt_tensor.linalg.lapack import (
    broadcast_batches,
    check_matrices,
    default_rtol,
    is_vector,
    lapack,
)
from mt_tensor.linalg.systems import PseudoInverse, gradient_of_inverse
from mt_tensor.recording.functions import Function

# --- Ranks ----------------------------------------------------------------------------------------


@validate_call
def matrix_rank(
    A: Tensor,  # noqa: N803 - torch's name
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Return the ranks of matrices: the number of singular values that are not negligible.

    A singular value counts if it is greater than `atol`, and than `rtol` times the largest one.

    Args:
        A: shape (*batch, m, n), float32 or float64.
        tol: the older name of `atol`, which also sets `rtol` to 0.
        hermitian: whether the matrices are symmetric, so that the magnitudes of eigenvalues, which
            are faster to compute, are the singular values. Only the lower triangle is read.
        atol: a number, or a tensor that broadcasts to the batch; 0 by default.
        rtol: a number or a tensor, like `atol`; by default 0 if `atol` is positive, otherwise
            max(m, n) times the machine epsilon.

    Returns:
        Shape (*batch,), int64.

    Raises:
        ShapeError: there are fewer than two dimensions, or `hermitian` is True and the matrices are
            not square.
        DTypeError: `A` has another dtype.
        LinAlgError: an element is infinite or nan.
        TypeError: a tolerance is neither a number nor a tensor, or `tol` was given together with
            `atol` or `rtol`.
    """
    check_matrices("matrix_rank", A, square=hermitian)
    if tol is not None:
        if atol is not None or rtol is not None:
            raise TypeError("matrix_rank() takes tol, or atol and rtol; both were given.")
        atol, rtol = tol, 0.0
    smallest = _tolerance("matrix_rank(): atol", 0.0 if atol is None else atol)
    if rtol is None:
        positive = smallest > 0
        relative = (
            elementwise("where", positive, 0.0, default_rtol(A))
            if isinstance(positive, Tensor)
            else _tolerance("matrix_rank(): rtol", 0.0 if positive else default_rtol(A))
        )
    else:
        relative = _tolerance("matrix_rank(): rtol", rtol)
    x = A.detach()
    if hermitian:
        values = lapack("matrix_rank", _magnitudes, x.tril(), finite=True)
    else:
        values = singular_values("matrix_rank", x)
    if not values.numel():
        return values.sum(-1).to(int64)
    counted = (values > smallest) & (values > relative * values.amax(-1, keepdim=True))
    ranks: Tensor = counted.sum(-1)
    return ranks


def _magnitudes(a: Array) -> Array:
    """Return the magnitudes of the eigenvalues of symmetric matrices: their singular values."""
    return np.abs(np.linalg.eigvalsh(a))


def _tolerance(label: str, given: Any) -> Any:
    """Return a tolerance as a number, or as a tensor with a new last dimension."""
    return given.detach().unsqueeze(-1) if isinstance(given, Tensor) else as_number(label, given)


# --- Least squares --------------------------------------------------------------------------------


class LeastSquaresSolution(NamedTuple):
    """A solution, its squared errors, and the rank and the singular values of the matrix."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class LeastSquares(Function):
    """Compute the X of smallest norm that minimizes the norm of A X - B."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, rcond: float, full_rank: bool) -> Tensor:
        ctx.rcond = rcond
        ctx.save_for_backward(a, b)
        return lapack(
            "lstsq", lambda x, y: _least_squares(x, y, rcond, full_rank), a, b, finite=True
        )

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        inverse = PseudoInverse.apply(a, ctx.rcond, "lstsq")
        return gradient_of_inverse(a, inverse, grad @ b.mT), inverse.mT @ grad, None, None


def _least_squares(a: Array, b: Array, rcond: float, full_rank: bool) -> Array:
    """Solve with singular values; those up to `rcond` times the largest count as 0."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    counts = s > rcond * s[..., :1]
    if full_rank and not counts.all():
        raise LinAlgError(
            "lstsq() with the driver 'gels' takes matrices of full rank: use the driver 'gelsy', "
            "'gelsd' or 'gelss'."
        )
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=counts)
    return np.asarray(np.swapaxes(vh, -1, -2) @ (inverse[..., None] * (np.swapaxes(u, -1, -2) @ b)))


@validate_call
def lstsq(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> LeastSquaresSolution:
    """Return the `X` that minimizes the squared error of `A X = B`.

    If there are several, return the one of smallest norm.

    All drivers use singular values; as in torch, they differ in which results they return. In
    compiled functions with m > n, use "gelsy" or "gels": the others compare ranks on the host.

    Args:
        A: shape (*batch, m, n), float32 or float64. Gradients are those for constant rank.
        B: shape (*batch, m, k), with batch dimensions that broadcast. For vectors, shape (m,), or
            (*batch, m) with exactly the batch of `A`.
        rcond: singular values up to `rcond` times the largest count as 0; by default, and if it is
            negative, the larger of m and n times the machine epsilon.
        driver: "gelsy", the default; "gels" for matrices of full rank, which ignores `rcond`;
            "gelsd" or "gelss".

    Returns:
        A named tuple of four tensors:

        - `solution` of shape (*batch, n, k), or (*batch, n) for vectors.
        - `residuals`, the squared errors of shape (*batch, k), if m > n, all matrices have rank n,
          and the driver is not "gelsy"; otherwise empty.
        - `rank` of shape (*batch,), int64; empty for "gels".
        - `singular_values` of shape (*batch, min(m, n)) for "gelsd" and "gelss"; otherwise empty.

    Raises:
        LinAlgError: an element is infinite or nan; or the driver is "gels", and a matrix does not
            have full rank.
        ShapeError: the shapes do not match, or `A` has fewer than two dimensions.
        DTypeError: the dtypes differ, or are neither float32 nor float64.
        IndexingError: the batch dimensions do not broadcast.
        DomainError: `driver` has another value.
    """
    check_choice("lstsq", "driver", driver, (None, "gelsy", "gels", "gelsd", "gelss"))
    check_matrices("lstsq", A, square=False)
    vector = is_vector(A, B)
    b = B.unsqueeze(-1) if vector else B
    check_matrices("lstsq", A, b, square=False)
    if A.shape[-2] != b.shape[-2]:
        raise ShapeError(
            f"lstsq() was given A of shape {A.shape} and B of shape {B.shape}, which do not match: "
            "they must have the same number of rows."
        )
    rcond = -1.0 if rcond is None else as_number("lstsq(): rcond", rcond)
    if rcond < 0 or driver == "gels":
        rcond = default_rtol(A)
    a, b = broadcast_batches(A, b)
    solution = LeastSquares.apply(a, b, rcond, driver == "gels")
    residuals, rank, values = A.new_empty(0), A.new_empty(0, dtype=int64), A.new_empty(0)
    full_rank = driver == "gels"
    if not full_rank:
        found = singular_values("lstsq", A.detach())
        rank = (found > rcond * found.narrow(-1, 0, min(found.shape[-1], 1))).sum(-1)
        if driver in ("gelsd", "gelss"):
            values = found
            full_rank = A.shape[-2] > A.shape[-1] and bool((rank == A.shape[-1]).all())
    if full_rank and A.shape[-2] > A.shape[-1]:
        residuals = (a @ solution - b).square().sum(-2)
    if vector:
        solution = solution.squeeze(-1)
    return LeastSquaresSolution(solution, residuals, rank, values)
