"""Inverses, linear systems and determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_autodiff import GradientError, is_grad_enabled
from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import Array, as_number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import LinAlgError, ShapeError
from mt_tensor.linalg.lapack import broadcast_batches, check_matrices, finite, lapack
from mt_tensor.recording.functions import Function

SINGULAR = "a matrix is singular and has no inverse"

_NO_SINGULAR_VALUES = "the iteration for singular values did not converge"

# --- Inverses -----------------------------------------------------------------------------------


def _inverse(x: Tensor) -> Tensor:
    """Solve `x X = I`, as LAPACK also does."""
    identity = x._uploaded(np.eye(x.shape[-1]), x.dtype)
    return Solve.apply(x, identity.expand(x.shape))


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
    check_matrices("inv", A)
    return _inverse(A)


@validate_call
def inverse(input: Tensor) -> Tensor:
    """Return the inverses of square matrices; see `linalg.inv`."""
    check_matrices("inverse", input)
    return _inverse(input)


class PseudoInverse(Function):
    """Compute Moore-Penrose inverses; singular values up to `rtol` times the largest count as 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rtol: float) -> Tensor:
        ctx.rtol = rtol
        ctx.save_for_backward(x)
        return lapack(_NO_SINGULAR_VALUES, lambda a: np.linalg.pinv(finite(a), rtol), x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return gradient_of_inverse(x, PseudoInverse.apply(x, ctx.rtol), grad), None


def gradient_of_inverse(x: Tensor, p: Tensor, grad: Tensor) -> Tensor:
    """Return the gradient of matrices of constant rank; see Golub and Pereyra, 1973.

    Args:
        x: the matrices.
        p: their pseudo-inverses.
        grad: the gradient of `p`.
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
    """
    check_matrices("pinv", A, square=False)
    if rtol is None:
        rtol = max(A.shape[-2:]) * float(np.finfo(A.dtype.numpy).eps)
    if not A.numel():
        return A.mT.clone()
    return PseudoInverse.apply(A, as_number("rtol", rtol))


@validate_call
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the Moore-Penrose inverses of matrices; see `linalg.pinv`."""
    return pinv(input, rtol=rcond)


# --- Linear systems -----------------------------------------------------------------------------


class Solve(Function):
    """Solve A X = B for matrices of one batch shape."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return lapack(SINGULAR, np.linalg.solve, a, b)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        grad_b = Solve.apply(a.mT, grad)
        return -(grad_b @ Solve.apply(a, b).mT), grad_b


@validate_call
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803
    """Solve the linear systems `A X = B`, or `X A = B`, for `X`.

    Args:
        A: shape (*batch, n, n), float32 or float64.
        B: shape (*batch, n, k), with batch dimensions that broadcast; (*batch, k, n) if `left` is
            False. For vectors, shape (n,), or (*batch, n) with exactly the batch of `A`.
        left: whether `A` is on the left of `X`.

    Returns:
        A tensor of the broadcast shape of `B`.

    Raises:
        LinAlgError: a matrix is singular.
        ShapeError: the matrices of `A` are not square, or the shapes do not match.
        DTypeError: the dtypes differ, or are neither float32 nor float64.
        IndexingError: the batch dimensions do not broadcast.
    """
    check_matrices("solve", A)
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    a, b = A, B.unsqueeze(-1) if vector else B
    check_matrices("solve", a, b, square=False)
    if not left:
        a, b = a.mT, b.mT
    if a.shape[-1] != b.shape[-2] or (vector and not left):
        raise ShapeError(
            f"solve() of {'A X = B' if left else 'X A = B'} was given A of shape {A.shape} and B "
            f"of shape {B.shape}, which do not match."
        )
    x = Solve.apply(*broadcast_batches(a, b))
    if not left:
        x = x.mT
    return x.squeeze(-1) if vector else x


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
    check_matrices("solve_triangular", A, B, square=False)
    skipped = int(unitriangular)
    triangle = A.triu(skipped) if upper else A.tril(-skipped)
    if unitriangular:
        triangle = triangle + A._uploaded(np.eye(A.shape[-1]), A.dtype)
    try:
        return solve(*broadcast_batches(triangle, B), left=left)
    except LinAlgError:
        raise LinAlgError(
            "solve_triangular() takes triangular matrices without zeros on the diagonal."
        ) from None


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
        return lapack("", np.linalg.det, x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        value = Determinant.apply(x)
        if not (value == 0).any():
            return (grad * value)[..., None, None] * _inverse(x).mT
        if is_grad_enabled():
            raise GradientError(
                "the second derivative of det() is not supported where a matrix is singular: call "
                "backward() without create_graph."
            )
        return grad[..., None, None] * lapack(_NO_SINGULAR_VALUES, _cofactors, x)


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
        return lapack("", lambda a: np.linalg.slogdet(a)[1], x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad[..., None, None] * _inverse(x).mT


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

    The results for a singular matrix are 0 and -inf; its gradient raises `LinAlgError`.

    Returns:
        The named tuple `(sign, logabsdet)`.

    Raises:
        ShapeError: the matrices are not square.
        DTypeError: `input` is neither float32 nor float64.
    """
    check_matrices("slogdet", input)
    sign = lapack("", lambda a: np.linalg.slogdet(a)[0], input)
    return SignAndLogarithm(sign, LogAbsDet.apply(input))


@validate_call
def logdet(input: Tensor) -> Tensor:
    """Return the logarithms of determinants, nan for negative determinants; see `slogdet`."""
    sign, logarithm = slogdet(input)
    return elementwise("where", sign < 0, float("nan"), logarithm)
