"""Inverses, linear systems and determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_autodiff import GradientError, is_grad_enabled
from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import Array, as_number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.linalg.lapack import (
    broadcast_batches,
    check_equation,
    check_matrices,
    default_rtol,
    is_vector,
    lapack,
)
from mt_tensor.recording.functions import Function

# --- Inverses -----------------------------------------------------------------------------------


def _inverse(name: str, x: Tensor) -> Tensor:
    """Return the inverses, computed by solving `x X = I` as LAPACK does."""
    check_matrices(name, x)
    identity = x._uploaded(np.eye(x.shape[-1]), x.dtype)
    return Solve.apply(x, identity.expand(x.shape), name)


@validate_call
def inv(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """Return the inverses of square matrices.

    Args:
        A: shape (*batch, n, n), float32 or float64.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: the matrices are not square.
        DTypeError: `A` has another dtype.
    """
    return _inverse("inv", A)


@validate_call
def inverse(input: Tensor) -> Tensor:
    """Return the inverses of square matrices; see `linalg.inv`."""
    return _inverse("inverse", input)


class PseudoInverse(Function):
    """Compute Moore-Penrose inverses; singular values up to `rtol` times the largest count as 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rtol: float, name: str) -> Tensor:
        ctx.settings = rtol, name
        ctx.save_for_backward(x)
        return lapack(name, lambda a: np.linalg.pinv(a, rtol), x, finite=True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return gradient_of_inverse(x, PseudoInverse.apply(x, *ctx.settings), grad), None, None


def gradient_of_inverse(x: Tensor, p: Tensor, grad: Tensor) -> Tensor:
    """Return the gradient with respect to matrices of constant rank; see Golub and Pereyra, 1973.

    Args:
        x: the matrices.
        p: their pseudo-inverses.
        grad: the gradient with respect to `p`.
    """
    g = grad.mT
    left, right = g - x @ p @ g, g - g @ p @ x  # (I - x p) g and g (I - p x)
    return -(p.mT @ grad @ p.mT) + left @ p @ p.mT + p.mT @ p @ right


@validate_call
def pinv(A: Tensor, *, rtol: float | None = None) -> Tensor:  # noqa: N803
    """Return the Moore-Penrose inverses of matrices of any shape.

    `pinv(A) @ b` is the `x` of smallest norm that minimizes the norm of `A @ x - b`.

    Args:
        A: shape (*batch, n, m), float32 or float64.
        rtol: singular values up to `rtol` times the largest count as 0; by default the larger size
            times the machine epsilon.

    Raises:
        LinAlgError: an element is infinite or nan.
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` has another dtype.
        TypeError: `rtol` is not a number.
    """
    return _pseudo_inverse("pinv", A, None if rtol is None else as_number("pinv(): rtol", rtol))


@validate_call
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the Moore-Penrose inverses of matrices; see `linalg.pinv`."""
    return _pseudo_inverse("pinverse", input, as_number("pinverse(): rcond", rcond))


def _pseudo_inverse(name: str, x: Tensor, rtol: float | None) -> Tensor:
    check_matrices(name, x, square=False)
    if not x.numel():
        return x.mT.clone()
    return PseudoInverse.apply(x, default_rtol(x) if rtol is None else rtol, name)


# --- Linear systems -----------------------------------------------------------------------------


class Solve(Function):
    """Solve A X = B for matrices of one batch shape, in the operation `name`."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, name: str) -> Tensor:
        ctx.name = name
        ctx.save_for_backward(a, b)
        singular = "a matrix is singular and has no inverse"
        return lapack(name, np.linalg.solve, a, b, problem=singular)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        grad_b = Solve.apply(a.mT, grad, ctx.name)
        return -(grad_b @ Solve.apply(a, b, ctx.name).mT), grad_b, None


@validate_call
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803
    """Solve the linear systems `A X = B`, or `X A = B`, for `X`.

    Args:
        A: shape (*batch, n, n), float32 or float64.
        B: shape (*batch, n, k), with batch dimensions that broadcast; (*batch, k, n) if `left` is
            False. For vectors, shape (n,), or (*batch, n) with exactly the batch of `A`.
        left: whether `A` is on the left of `X`.

    Returns:
        A tensor of the shape of `B`, with the broadcast batch dimensions.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: the matrices of `A` are not square, or the shapes do not match.
        DTypeError: the dtypes differ, or are neither float32 nor float64.
        IndexingError: the batch dimensions do not broadcast.
    """
    check_matrices("solve", A)
    if not is_vector(A, B):
        return _solve("solve", A, B, left)
    if not left:
        raise ShapeError(
            f"solve() of X A = B was given A of shape {A.shape} and B of shape {B.shape}, which is "
            "not a matrix."
        )
    return _solve("solve", A, B.unsqueeze(-1), left).squeeze(-1)


def _solve(name: str, a: Tensor, b: Tensor, left: bool) -> Tensor:
    """Solve the linear systems of matrices `A X = B`, or `X A = B`, for `X`."""
    check_matrices(name, a, b, square=False)
    check_equation(name, a, b, left)
    if left:
        return Solve.apply(*broadcast_batches(a, b), name)
    return Solve.apply(*broadcast_batches(a.mT, b.mT), name).mT


@validate_call
def solve_triangular(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Tensor:
    """Solve `A X = B`, or `X A = B`, for `X`, with a triangular `A`.

    Args:
        A: shape (*batch, n, n), float32 or float64.
        B: shape (*batch, n, k), or (*batch, k, n) if `left` is False; the batch dimensions
            broadcast.
        upper: whether to read the upper triangle instead of the lower one.
        left: whether `A` is on the left of `X`.
        unitriangular: whether to treat the diagonal as ones.

    Raises:
        LinAlgError: there is a zero on the diagonal.
        ShapeError: the matrices of `A` are not square, or the shapes do not match.
        DTypeError: the dtypes differ, or are neither float32 nor float64.
        IndexingError: the batch dimensions do not broadcast.
    """
    check_matrices("solve_triangular", A)
    skipped = int(unitriangular)
    triangle = A.triu(skipped) if upper else A.tril(-skipped)
    if unitriangular:
        triangle = triangle + A._uploaded(np.eye(A.shape[-1]), A.dtype)
    return _solve("solve_triangular", triangle, B, left)


# --- Determinants -------------------------------------------------------------------------------


class SignAndLogarithm(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude, which does not overflow."""

    sign: Tensor
    logabsdet: Tensor


class Determinant(Function):
    """Compute determinants; the derivatives are the cofactors."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return lapack("det", np.linalg.det, x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        value = Determinant.apply(x)
        if not (value == 0).any():
            return (grad * value)[..., None, None] * _inverse("det", x).mT
        if is_grad_enabled():
            raise GradientError(
                "the second derivative of det() is not supported where a matrix is singular: call "
                "backward() without create_graph."
            )
        return grad[..., None, None] * lapack("det", _cofactors, x)


def _cofactors(x: Array) -> Array:
    """Return the cofactors of matrices that may be singular, from their singular values."""
    if not np.isfinite(x).all():
        return np.full_like(x, np.nan)
    u, s, vh = np.linalg.svd(x)
    others = np.stack([np.delete(s, i, -1).prod(-1) for i in range(s.shape[-1])], -1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return np.asarray(sign[..., None, None] * ((u * others[..., None, :]) @ vh))


class LogAbsDet(Function):
    """Compute the logarithms of the magnitudes of determinants."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return lapack("slogdet", lambda a: np.linalg.slogdet(a)[1], x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad[..., None, None] * _inverse("slogdet", x).mT


@validate_call
def det(input: Tensor) -> Tensor:
    """Return the determinants of square matrices.

    Args:
        input: shape (*batch, n, n), float32 or float64.

    Returns:
        Shape (*batch,). The second derivative is not supported where a matrix is singular.

    Raises:
        ShapeError: the matrices are not square.
        DTypeError: `input` has another dtype.
    """
    check_matrices("det", input)
    return Determinant.apply(input)


@validate_call
def slogdet(input: Tensor) -> SignAndLogarithm:
    """Return the signs of determinants, and the logarithms of their magnitudes.

    The results for a singular matrix are 0 and -inf; its gradient raises `LinAlgError`. The sign of
    a determinant that is nan is 0.

    Args:
        input: shape (*batch, n, n), float32 or float64.

    Returns:
        The named tuple `(sign, logabsdet)`, of shape (*batch,).

    Raises:
        ShapeError: the matrices are not square.
        DTypeError: `input` is neither float32 nor float64.
    """
    check_matrices("slogdet", input)
    return SignAndLogarithm(lapack("slogdet", _signs, input), LogAbsDet.apply(input))


def _signs(x: Array) -> Array:
    """Return the signs of determinants; 0 for nan, for which NumPy returns 1."""
    sign, logarithm = np.linalg.slogdet(x)
    return np.where(np.isnan(logarithm), 0.0, sign)


@validate_call
def logdet(input: Tensor) -> Tensor:
    """Return the logarithms of determinants, nan for negative determinants; see `slogdet`."""
    sign, logarithm = slogdet(input)
    return elementwise("where", sign < 0, float("nan"), logarithm)
