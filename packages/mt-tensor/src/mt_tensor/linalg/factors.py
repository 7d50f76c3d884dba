"""Matrix factorizations: Cholesky, symmetric eigenvalues, singular values and QR.

A `Function` has a single result, so it packs several factors into one tensor, whose parts are
copied for the user. The gradients of all factors then arrive together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mt_autodiff import GradientError
from mt_autodiff.core.mode import recording
from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.dtypes import Array
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.linalg.lapack import check_matrices, lapack
from mt_tensor.linalg.systems import Solve
from mt_tensor.movement.joining import cat
from mt_tensor.recording.functions import Function

# --- Cholesky factorization: A = L L^T ----------------------------------------------------------


class Cholesky(Function):
    """Compute the lower triangular L with A = L L^T from the lower triangle of A."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return lapack("cholesky", _cholesky, x, problem="a matrix is not positive definite")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """See Murray, Differentiation of the Cholesky decomposition, 2016."""
        (x,) = ctx.saved_tensors
        factor = Cholesky.apply(x).mT
        size = x.shape[-1]
        halved = grad._uploaded(np.tril(np.ones((size, size))) - 0.5 * np.eye(size), x.dtype)
        inner = factor @ grad.tril() * halved
        half = Solve.apply(factor, inner, "cholesky")
        outer = Solve.apply(factor, half.mT, "cholesky").mT
        return (outer + outer.mT) * 0.5


def _cholesky(a: Array) -> Array:
    factor = np.linalg.cholesky(a)
    if np.isnan(factor).any():
        raise np.linalg.LinAlgError
    return factor


@validate_call
def cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """Return the lower triangular `L` for which `input` is `L @ L.mT`.

    Args:
        input: symmetric and positive definite, shape (*batch, n, n), float32 or float64. Only one
            triangle is read.
        upper: whether to read the upper triangle and return the transpose of `L`.

    Raises:
        LinAlgError: a matrix is not positive definite.
        ShapeError: the matrices are not square.
        DTypeError: `input` has another dtype.
    """
    check_matrices("cholesky", input)
    return Cholesky.apply(input.mT).mT if upper else Cholesky.apply(input)


# --- Eigenvalues: A V = V diag(w) ---------------------------------------------------------------


class Eigen(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _divide_by_differences(x: Tensor, values: Tensor) -> Tensor:
    """Return `x[i, j] / (values[j] - values[i])`, and 0 where x is 0, as on the diagonal."""
    return _quotient(x, values.unsqueeze(-2) - values.unsqueeze(-1))


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return `x / y`, and 0 where x is 0."""
    zero = x == 0
    return elementwise("where", zero, 0.0, x / elementwise("where", zero, 1.0, y))


class SymmetricEigen(Function):
    """Compute the eigenvalues, as the first row, and the eigenvectors as columns below."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, uplo: str, name: str) -> Tensor:
        def packed(a: Array) -> Array:
            values, vectors = np.linalg.eigh(a, "L" if uplo == "L" else "U")
            return np.concatenate([values[..., None, :], vectors], -2)

        ctx.settings = uplo, name
        ctx.save_for_backward(x)
        return lapack(name, packed, x.tril() if uplo == "L" else x.triu(), finite=True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        values, vectors = _unpacked(SymmetricEigen.apply(x, *ctx.settings))
        grad_values, grad_vectors = _unpacked(grad)
        rotation = vectors.mT @ grad_vectors
        rotation = _divide_by_differences((rotation - rotation.mT) / 2, values)
        return vectors @ (grad_values.diag_embed() + rotation) @ vectors.mT, None, None


def _unpacked(packed: Tensor) -> tuple[Tensor, Tensor]:
    return packed.select(-2, 0), packed.narrow(-2, 1, packed.shape[-2] - 1)


@validate_call
def eigh(A: Tensor, UPLO: str = "L") -> Eigen:  # noqa: N803 - torch's names
    """Return the eigenvalues and eigenvectors of symmetric matrices.

    Eigenvectors are unique only up to sign. For equal eigenvalues they are not unique, and their
    gradient may be infinite or nan.

    Args:
        A: shape (*batch, n, n), float32 or float64.
        UPLO: the triangle to read: "L" for the lower, "U" for the upper one.

    Returns:
        The named tuple `(eigenvalues, eigenvectors)`: eigenvalues in ascending order, of shape
        (*batch, n), and eigenvectors as columns, of shape (*batch, n, n).

    Raises:
        LinAlgError: an element of the triangle is infinite or nan.
        ShapeError: the matrices are not square.
        DTypeError: `A` has another dtype.
        DomainError: `UPLO` has another value.
    """
    return Eigen(*_copies(_eigen("eigh", A, UPLO)))


@validate_call
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:  # noqa: N803
    """Return the eigenvalues of symmetric matrices in ascending order; see `eigh`.

    Equal eigenvalues are differentiable, too.
    """
    return _eigen("eigvalsh", A, UPLO)[0].clone()


def _eigen(name: str, x: Tensor, uplo: str) -> tuple[Tensor, Tensor]:
    """Return views of the eigenvalues and the eigenvectors."""
    check_matrices(name, x)
    check_choice(name, "UPLO", uplo, ("L", "U"))
    return _unpacked(SymmetricEigen.apply(x, uplo, name))


def _copies(parts: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield copies of the results, so that changing one in place does not affect the others."""
    return (part.clone() for part in parts)


# --- Singular values: A = U diag(S) Vh ----------------------------------------------------------


class Singular(NamedTuple):
    """The factors of `A = U diag(S) Vh`: U has orthonormal columns, Vh rows, and S decreases."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SingularVectors(Function):
    """Compute the reduced factors, stacked vertically: U, S as a row, and the transpose of Vh."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, name: str) -> Tensor:
        def packed(a: Array) -> Array:
            u, s, vh = np.linalg.svd(a, full_matrices=False)
            return np.concatenate([u, s[..., None, :], np.swapaxes(vh, -1, -2)], -2)

        ctx.name = name
        ctx.save_for_backward(x)
        return lapack(name, packed, x, finite=True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """See Townsend, Differentiating the singular value decomposition, 2016."""
        (x,) = ctx.saved_tensors
        rows = x.shape[-2]
        u, s, v = _parts(SingularVectors.apply(x, ctx.name), rows)
        grad_u, grad_s, grad_v = _parts(grad, rows)
        left, right = (
            _divide_by_differences(rotation - rotation.mT, s.square())
            for rotation in (u.mT @ grad_u, v.mT @ grad_v)
        )
        inner = left * s.unsqueeze(-2) + s.unsqueeze(-1) * right + grad_s.diag_embed()
        out = u @ inner @ v.mT
        if rows > s.shape[-1]:  # the component orthogonal to the columns of U
            out = out + _quotient(grad_u - u @ (u.mT @ grad_u), s.unsqueeze(-2)) @ v.mT
        if x.shape[-1] > s.shape[-1]:
            out = out + u @ _quotient(grad_v - v @ (v.mT @ grad_v), s.unsqueeze(-2)).mT
        return out, None


def _parts(packed: Tensor, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    rest = packed.shape[-2] - rows - 1
    return packed.narrow(-2, 0, rows), packed.select(-2, rows), packed.narrow(-2, rows + 1, rest)


@validate_call
def svd(A: Tensor, full_matrices: bool = True) -> Singular:  # noqa: N803
    """Return the singular value decomposition of matrices: `A = U diag(S) Vh`.

    Args:
        A: shape (*batch, m, n), float32 or float64; k is min(m, n).
        full_matrices: whether `U` and `Vh` are square, (m, m) and (n, n), which is not
            differentiable unless m equals n. If False, they are (m, k) and (k, n).

    Returns:
        The named tuple `(U, S, Vh)`; `S` has shape (*batch, k), in decreasing order.

    Raises:
        LinAlgError: an element is infinite or nan.
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` has another dtype.
        GradientError: `A` requires grad, `full_matrices` is True, and m differs from n.
    """
    check_matrices("svd", A, square=False)
    if not full_matrices or A.shape[-1] == A.shape[-2]:
        u, s, v = _parts(SingularVectors.apply(A, "svd"), A.shape[-2])
        return Singular(*_copies((u, s, v.mT)))
    _check_no_gradient("svd() of full matrices", "full_matrices=False", A)
    # One call per result, since the three have different shapes.
    return Singular(
        *(lapack("svd", lambda a, i=i: np.linalg.svd(a)[i], A, finite=True) for i in range(3))
    )


@validate_call
def svdvals(A: Tensor) -> Tensor:  # noqa: N803
    """Return the singular values of matrices in decreasing order; see `svd`.

    Equal singular values are differentiable, too.

    Raises:
        LinAlgError: an element is infinite or nan.
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` is neither float32 nor float64.
    """
    return singular_values("svdvals", A)


def singular_values(name: str, x: Tensor) -> Tensor:
    """Return singular values for the operation `name`; see `svdvals`."""
    check_matrices(name, x, square=False)
    return _parts(SingularVectors.apply(x, name), x.shape[-2])[1].clone()


def _check_no_gradient(what: str, instead: str, x: Tensor) -> None:
    if recording.get() and x.requires_grad:
        raise GradientError(f"{what} is not differentiable: use {instead}, or x.detach().")


# --- QR: an orthogonal and an upper triangular factor -------------------------------------------


class Orthogonal(NamedTuple):
    """The factors of `A = Q R`: Q has orthonormal columns, R is upper triangular."""

    Q: Tensor
    R: Tensor


class QR(Function):
    """Compute the reduced factors of a matrix with no more columns than rows: Q, and R below."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return lapack("qr", lambda a: np.concatenate(np.linalg.qr(a), -2), x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """See Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2010."""
        (x,) = ctx.saved_tensors
        rows, columns = x.shape[-2:]
        packed = QR.apply(x)
        (q, r), (grad_q, grad_r) = (
            (both.narrow(-2, 0, rows), both.narrow(-2, rows, columns)) for both in (packed, grad)
        )
        upper = (grad_r @ r.mT - q.mT @ grad_q).triu()
        symmetric = upper + upper.triu(1).mT
        return Solve.apply(r, (grad_q + q @ symmetric).mT, "qr").mT


@validate_call
def qr(A: Tensor, mode: str = "reduced") -> Orthogonal:  # noqa: N803
    """Return the QR factorization of matrices: `A = Q R`, Q orthogonal and R upper triangular.

    Args:
        A: shape (*batch, m, n), float32 or float64; k is min(m, n). For a gradient, the
            first k columns must be linearly independent.
        mode: "reduced" for Q of shape (m, k) and R (k, n); "complete" for (m, m) and (m, n), which
            is differentiable only if m <= n; "r" for the reduced R, and an empty Q.

    Returns:
        The named tuple `(Q, R)`.

    Raises:
        ShapeError: there are fewer than two dimensions.
        DTypeError: `A` has another dtype.
        GradientError: `A` requires grad, m is greater than n, and the mode is "complete".
        DomainError: `mode` has another value.
    """
    check_matrices("qr", A, square=False)
    check_choice("qr", "mode", mode, ("reduced", "complete", "r"))
    rows, columns = A.shape[-2:]
    if mode == "complete" and rows > columns:
        _check_no_gradient("qr() of complete factors", "mode='reduced'", A)
        return Orthogonal(
            *(lapack("qr", lambda a, i=i: np.linalg.qr(a, "complete")[i], A) for i in (0, 1))
        )
    square = A.narrow(-1, 0, min(rows, columns))
    packed = QR.apply(square)
    q, r = packed.narrow(-2, 0, rows), packed.narrow(-2, rows, square.shape[-1])
    q, r = _copies((q, r))
    if columns > rows:
        r = cat([r, q.mT @ A.narrow(-1, rows, columns - rows)], -1)
    return Orthogonal(q.new_empty(0) if mode == "r" else q, r)
