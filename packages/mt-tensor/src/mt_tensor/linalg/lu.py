"""LU factorization with partial pivoting, `A = P L U`, and linear systems solved with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import Array, int32
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, IndexingError, LinAlgError, ShapeError
from mt_tensor.linalg.lapack import check_equation, check_matrices, lapack
from mt_tensor.linalg.systems import Solve
from mt_tensor.movement.joining import cat
from mt_tensor.recording.functions import Function


class PackedFactors(NamedTuple):
    """L without its diagonal of ones and U in one matrix, and the row swaps, counted from 1."""

    LU: Tensor
    pivots: Tensor


class Factors(NamedTuple):
    """The factors of `A = P L U`: a permutation, a lower and an upper triangular matrix."""

    P: Tensor
    L: Tensor
    U: Tensor


# --- Factorization --------------------------------------------------------------------------------


class LU(Function):
    """Compute L and U in one matrix, and below it a row with the pivots, padded with zeros."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, pivot: bool, singular: bool) -> Tensor:
        ctx.pivot, ctx.name = pivot, "lu" if singular else "lu_factor"
        ctx.save_for_backward(x)
        return lapack(ctx.name, lambda a: _factorized(a, pivot, singular), x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradient of a matrix of full rank; further rows or columns follow linearly."""
        (x,) = ctx.saved_tensors
        rows, columns = x.shape[-2:]
        k = min(rows, columns)
        factors, pivots = _split(LU.apply(x, ctx.pivot, True))
        lower, upper = _triangles(factors)
        grad_lower = grad.narrow(-2, 0, rows).narrow(-1, 0, k).tril(-1)
        grad_upper = grad.narrow(-2, 0, k).triu()
        (l1, l2), (grad_l1, grad_l2) = (
            each.split([k, rows - k], -2) for each in (lower, grad_lower)
        )
        (u1, u2), (grad_u1, grad_u2) = (
            each.split([k, columns - k], -1) for each in (upper, grad_upper)
        )
        inner = (l1.mT @ grad_l1 - grad_u2 @ u2.mT).tril(-1)
        inner = inner + (grad_u1 @ u1.mT - l2.mT @ grad_l2).triu()
        grad_a1 = cat([Solve.apply(l1.mT, inner, ctx.name), grad_l2], -2)
        grad_a = Solve.apply(u1, grad_a1.mT, ctx.name).mT
        if columns > rows:
            grad_a = cat([grad_a, Solve.apply(l1.mT, grad_u2, ctx.name)], -1)
        return _permutation(ctx.name, pivots, grad_a) @ grad_a, None, None


def _factorized(a: Array, pivot: bool, singular: bool) -> Array:
    """Return L and U in one matrix, and the pivots as a last row, by Crout's algorithm.

    Args:
        a: matrices, of any batch shape.
        pivot: whether to swap rows so that the largest element of a column becomes the pivot.
        singular: whether the diagonal of U may contain zeros.

    Raises:
        LinAlgError: the diagonal of U contains a zero, and `singular` is False.
    """
    *batch, rows, columns = a.shape
    k = min(rows, columns)
    packed = np.zeros((int(np.prod(batch)), rows + 1, columns))
    x, pivots = packed[:, :-1], packed[:, -1, :k]
    x[...] = a.reshape(x.shape)
    every = np.arange(len(x))
    for i in range(k):
        x[:, i:, i] -= (x[:, i:, :i] @ x[:, :i, i, None])[..., 0]
        best = i + abs(x[:, i:, i]).argmax(-1) if pivot else np.full(len(x), i)
        pivots[:, i] = best + 1
        largest = x[every, best]
        x[every, best] = x[:, i]
        x[:, i] = largest
        x[:, i, i + 1 :] -= (x[:, i, None, :i] @ x[:, :i, i + 1 :])[:, 0]
        divisor = x[:, i, i]
        if not singular and (divisor == 0).any():
            raise LinAlgError(
                f"lu_factor() takes matrices that are not singular, but U[{i}, {i}] is zero: use "
                "linalg.lu(), which also returns the factors of singular matrices."
            )
        if pivot:  # a column of zeros stays as it is
            divisor = np.where(divisor == 0, 1.0, divisor)
        x[:, i + 1 :, i] /= divisor[:, None]
    return packed.reshape(*batch, rows + 1, columns)


def _split(packed: Tensor) -> tuple[Tensor, Tensor]:
    """Return L and U in one matrix, and the pivots, of the result of `LU`."""
    rows = packed.shape[-2] - 1
    pivots = packed.select(-2, rows).narrow(-1, 0, min(rows, packed.shape[-1]))
    return packed.narrow(-2, 0, rows), pivots.detach().to(int32)


def _triangles(factors: Tensor) -> tuple[Tensor, Tensor]:
    """Return L and U, given both in one matrix."""
    rows, columns = factors.shape[-2:]
    k = min(rows, columns)
    ones = factors._uploaded(np.eye(rows, k), factors.dtype)
    return factors.narrow(-1, 0, k).tril(-1) + ones, factors.narrow(-2, 0, k).triu()


def _permutation(name: str, pivots: Tensor, like: Tensor) -> Tensor:
    """Return permutation matrices with the dtype and the number of rows of `like`.

    Raises:
        IndexingError: a pivot is out of range.
    """
    rows = like.shape[-2]
    return lapack(name, lambda given: _permuted_rows(name, given, rows), pivots.to(like.dtype))


def _permuted_rows(name: str, pivots: Array, rows: int) -> Array:
    *batch, k = pivots.shape
    swaps = pivots.astype(np.int64).reshape(int(np.prod(batch)), k) - 1
    if ((swaps < 0) | (swaps >= rows)).any():
        raise IndexingError(
            f"{name}() takes pivots from 1 to {rows}, row numbers as lu_factor() returns them; "
            f"{pivots.astype(int).tolist()} was given."
        )
    order = np.tile(np.arange(rows), (len(swaps), 1))
    every = np.arange(len(swaps))
    for i in range(k):
        other = swaps[:, i]
        order[every, i], order[every, other] = order[every, other], order[every, i].copy()
    return np.swapaxes(np.eye(rows)[order], -1, -2).reshape(*batch, rows, rows)


@validate_call
def lu_factor(A: Tensor, *, pivot: bool = True) -> PackedFactors:  # noqa: N803 - torch's name
    """Return the LU factorization of matrices in a compact form, for `lu_solve`.

    Args:
        A: shape (*batch, m, n), float32 or float64; k is min(m, n). For a gradient, the first k
            rows of `P.mT @ A` and its first k columns must be linearly independent.
        pivot: whether to swap rows; without it, a zero on the diagonal is an error.

    Returns:
        The named tuple `(LU, pivots)`: L and U in one matrix of shape (*batch, m, n), and int32 of
        shape (*batch, k): row `i` was swapped with row `pivots[i] - 1`.

    Raises:
        LinAlgError: the diagonal of U contains a zero.
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` has another dtype.
    """
    check_matrices("lu_factor", A, square=False)
    return PackedFactors(*_split(LU.apply(A, pivot, False)))


@validate_call
def lu(A: Tensor, *, pivot: bool = True) -> Factors:  # noqa: N803
    """Return the LU factorization of matrices: `A = P L U`.

    Args:
        A: as for `lu_factor`; matrices may be singular.
        pivot: whether to swap rows. Without it, `P` is empty, and `A = L U`.

    Returns:
        The named tuple `(P, L, U)`, of shapes (*batch, m, m), (*batch, m, k) and (*batch, k, n).

    Raises:
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` has another dtype.
    """
    check_matrices("lu", A, square=False)
    factors, pivots = _split(LU.apply(A, pivot, True))
    permutation = _permutation("lu", pivots, A) if pivot else A.new_empty(0)
    return Factors(permutation, *_triangles(factors))


@validate_call
def lu_unpack(
    LU_data: Tensor,  # noqa: N803
    LU_pivots: Tensor,  # noqa: N803
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> Factors:
    """Return the factors P, L and U, given the results of `linalg.lu_factor`.

    Args:
        LU_data: L and U in one matrix.
        LU_pivots: the row swaps; not read unless P is returned.
        unpack_data: whether to return L and U; otherwise they are empty.
        unpack_pivots: whether to return P; otherwise it is empty.

    Returns:
        The named tuple `(P, L, U)`.

    Raises:
        ShapeError: the shapes do not match.
        DTypeError: `LU_data` is neither float32 nor float64, or `LU_pivots` is not int32.
        IndexingError: a pivot is out of range.
    """
    check_matrices("lu_unpack", LU_data, square=False)
    if unpack_pivots:
        _check_factors("lu_unpack", LU_data, LU_pivots)
    nothing = LU_data.flatten()[:0]
    return Factors(
        _permutation("lu_unpack", LU_pivots, LU_data) if unpack_pivots else LU_data.new_empty(0),
        *(_triangles(LU_data) if unpack_data else (nothing.clone(), nothing.clone())),
    )


def _check_factors(name: str, factors: Tensor, pivots: Tensor) -> None:
    """Check the results of `lu_factor` as arguments."""
    common_backend(factors, pivots)
    if pivots.dtype is not int32:
        raise DTypeError(
            f"{name}() takes pivots of int32, as lu_factor() returns them; {pivots.dtype.name} was "
            "given."
        )
    expected = (*factors.shape[:-2], min(factors.shape[-2:]))
    if pivots.shape != expected:
        raise ShapeError(
            f"{name}() takes pivots of shape {expected} for factors of shape {factors.shape}; "
            f"{pivots.shape} was given."
        )


# --- Equations ------------------------------------------------------------------------------------


@validate_call
def lu_solve(
    LU: Tensor,  # noqa: N803
    pivots: Tensor,
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Tensor:
    """Solve `A X = B`, or `X A = B`, for `X`, given the LU factorization of `A`.

    Args:
        LU: L and U in one matrix, from `lu_factor`, shape (*batch, n, n).
        pivots: the row swaps, from `lu_factor`.
        B: shape (*batch, n, k), or (*batch, k, n) if `left` is False; the batch dimensions
            broadcast.
        left: whether `A` is on the left of `X`.
        adjoint: whether to solve with the transpose of `A`.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: the matrices are not square, or the shapes do not match.
        DTypeError: the dtypes differ, or are neither float32 nor float64; or the pivots are not
            int32.
        IndexingError: the batch dimensions do not broadcast, or a pivot is out of range.
    """
    check_matrices("lu_solve", LU)
    _check_factors("lu_solve", LU, pivots)
    check_matrices("lu_solve", LU, B, square=False)
    check_equation("lu_solve", LU, B, left)
    b = B if left else B.mT
    batch = shape_broadcast(LU.shape[:-2], b.shape[:-2])
    lower, upper = (each.expand(*batch, *LU.shape[-2:]) for each in _triangles(LU))
    b, permutation = b.expand(*batch, *b.shape[-2:]), _permutation("lu_solve", pivots, LU)
    if adjoint is left:  # with the transpose of A = P L U
        x = permutation @ Solve.apply(lower.mT, Solve.apply(upper.mT, b, "lu_solve"), "lu_solve")
    else:
        x = Solve.apply(upper, Solve.apply(lower, permutation.mT @ b, "lu_solve"), "lu_solve")
    return x if left else x.mT
