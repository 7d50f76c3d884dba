"""Products of vectors and matrices, as in torch.

All are composed of `matmul`, elementwise products and views. Arguments are promoted to one dtype;
products of integers are exact.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, check_addressable, check_floating, check_not_bool
from mt_tensor.core.dtypes import Array, as_number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.matmul import matmul
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.sums import sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.movement.diagonals import diagonal
from mt_tensor.movement.rearranging import broadcast_tensors, roll
from mt_tensor.products.contraction import contract, promoted
from mt_tensor.reductions.norms import norm


def check_ranks(name: str, tensors: Sequence[Tensor], *ranks: int) -> None:
    """Raise ShapeError unless tensors have these numbers of dimensions."""
    if [len(tensor._tensor.layout.shape) for tensor in tensors] != [*ranks]:
        expected = " and ".join(f"{rank}-D" for rank in ranks)
        given = " and ".join(str(tensor.shape) for tensor in tensors)
        raise ShapeError(f"{name}() takes {expected} tensors; {given} were given.")


def multiplied(name: str, a: Tensor, b: Tensor, ranks: tuple[int, int]) -> Tensor:
    """Return the matrix product of tensors with these numbers of dimensions.

    Raises:
        ShapeError: the numbers of dimensions are wrong, or the inner sizes differ.
        DTypeError: the tensors are bool.
    """
    check_ranks(name, (a, b), *ranks)
    rows, columns = a._tensor.layout.shape, b._tensor.layout.shape
    if rows[-1] != columns[-2:][0]:
        raise ShapeError(
            f"{name}() cannot multiply shapes {rows} and {columns}: the inner sizes {rows[-1]} and "
            f"{columns[-2:][0]} differ."
        )
    if ranks[0] == 3 and rows[0] != columns[0]:
        raise ShapeError(
            f"{name}() needs equal batch sizes; shapes {rows} and {columns} were given."
        )
    return matmul(a, b)


# --- Products of two tensors --------------------------------------------------------------------


@validate_call
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the dot product of two vectors, a 0-D tensor.

    Raises:
        ShapeError: the tensors are not 1-D, or have different lengths.
        DTypeError: the tensors are bool.
    """
    return multiplied("dot", input, tensor, (1, 1))


@validate_call
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Return the dot product of two vectors; it differs from `dot` only for complex numbers."""
    return multiplied("vdot", input, other, (1, 1))


@validate_call
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix (n, m) and a vector (m,), of shape (n,).

    Raises:
        ShapeError: the numbers of dimensions are wrong, or the inner sizes differ.
        DTypeError: the tensors are bool.
    """
    return multiplied("mv", input, vec, (2, 1))


@validate_call
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of matrices (n, m) and (m, k), of shape (n, k).

    Raises:
        ShapeError: the numbers of dimensions are wrong, or the inner sizes differ.
        DTypeError: the tensors are bool.
    """
    return multiplied("mm", input, mat2, (2, 2))


@validate_call
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of matrices (b, n, m) and (b, m, k), of shape (b, n, k).

    Raises:
        ShapeError: the tensors are not 3-D, or their sizes do not match; nothing is broadcast.
        DTypeError: the tensors are bool.
    """
    return multiplied("bmm", input, mat2, (3, 3))


@validate_call
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of vectors (n,) and (m,), of shape (n, m).

    Raises:
        ShapeError: the tensors are not 1-D.
    """
    check_ranks("outer", (input, vec2), 1, 1)
    return input.unsqueeze(1) * vec2


ger = outer


@validate_call
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return the dot products of vectors along the last dimensions; for a 0-D tensor, the product.

    Raises:
        ShapeError: the last sizes differ.
        DTypeError: the tensors are bool and have dimensions.
    """
    a, b = promoted("inner", input, other)
    if not a.ndim or not b.ndim:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"inner() needs equal last sizes; {a.shape} and {b.shape} were given.")
    rows, columns = (tuple((at, d) for d in range(x.ndim - 1)) for at, x in enumerate((a, b)))
    pair = (*rows, "inner"), (*columns, "inner")
    return contract("inner", (a, b), pair, (*rows, *columns))


@validate_call
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: each element of `input` multiplied by the tensor `other`."""
    rank = max(input.ndim, other.ndim)
    shapes = [(1,) * (rank - x.ndim) + x.shape for x in (input, other)]
    coarse = input.reshape([n for size in shapes[0] for n in (size, 1)])
    fine = other.reshape([n for size in shapes[1] for n in (1, size)])
    return (coarse * fine).reshape([n * m for n, m in zip(*shapes, strict=True)])


@validate_call
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross products of vectors of three elements.

    Args:
        input: vectors along `dim`.
        other: vectors along `dim`; the other dimensions are broadcast.
        dim: the dimension of size 3; None for the first one.

    Raises:
        ShapeError: the numbers of dimensions differ, or the size of `dim` is not 3.
        IndexingError: `dim` is out of range, or the other dimensions do not broadcast.
    """
    a, b = promoted("cross", input, other)
    if a.ndim != b.ndim:
        raise ShapeError(
            f"cross() needs equal numbers of dimensions; {a.shape} and {b.shape} were given."
        )
    threes = [d for d, sizes in enumerate(zip(a.shape, b.shape, strict=True)) if {*sizes} == {3}]
    if dim is None and not threes:
        raise ShapeError(
            f"cross() needs a dimension of size 3; {a.shape} and {b.shape} were given."
        )
    at = threes[0] if dim is None else normalize_dim(dim, a.ndim)
    if at not in threes:
        raise ShapeError(
            f"cross() along dimension {dim} needs size 3; {a.shape} and {b.shape} were given."
        )
    return roll(a, -1, at) * roll(b, -2, at) - roll(a, -2, at) * roll(b, -1, at)


@validate_call
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine similarity of vectors along a dimension, from -1 to 1.

    Args:
        x1: vectors along `dim`.
        x2: vectors along `dim`; both are broadcast.
        dim: the dimension.
        eps: the minimum norm to divide by, so that the result for a zero vector is 0.

    Raises:
        IndexingError: the shapes do not broadcast, or `dim` is out of range.
        DTypeError: neither tensor is floating-point.
        DomainError: `eps` is negative.
    """
    a, b = broadcast_tensors(*promoted("cosine_similarity", x1, x2))
    check_floating("cosine_similarity", a)
    eps = as_number("cosine_similarity(): eps", eps)
    if not eps >= 0:
        raise DomainError(
            f"the eps of cosine_similarity() must not be negative; {eps!r} was given."
        )
    lengths = [elementwise("maximum", norm(x, 2, dim, True), eps) for x in (a, b)]
    return sum(a / lengths[0] * (b / lengths[1]), dim)


# --- Traces, chains and Vandermonde matrices ----------------------------------------------------


@validate_call
def trace(input: Tensor) -> Tensor:
    """Return the sum of the diagonal of a matrix; int64 for integers.

    Raises:
        ShapeError: `input` is not a matrix.
        DTypeError: `input` is bool.
    """
    check_ranks("trace", (input,), 2)
    check_not_bool("trace", input)
    return sum(diagonal(input))


@validate_call
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of matrices, in the order with the fewest scalar multiplications.

    Args:
        tensors: two or more matrices; the first may be a row and the last a column, 1-D.

    Raises:
        ShapeError: there are fewer than two tensors, or the shapes do not match.
        DTypeError: the tensors are bool.
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise ShapeError(f"multi_dot() needs at least two tensors; {len(tensors)} was given.")
    require_tensors("multi_dot", *tensors)
    return _chained("multi_dot", tensors)


def _chained(name: str, tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of two or more tensors for the function `name`; see `multi_dot`."""
    inside = [x for x in tensors[1:-1] if x.ndim != 2]
    if inside or any(x.ndim not in (1, 2) for x in (tensors[0], tensors[-1])):
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(
            f"{name}() takes matrices, and vectors only at the ends; {shapes} were given."
        )
    given = promoted(name, *tensors)
    first, last = given[0].ndim, given[-1].ndim
    matrices = [
        given[0].unsqueeze(0) if first == 1 else given[0],
        *given[1:-1],
        given[-1].unsqueeze(1) if last == 1 else given[-1],
    ]
    for left, right in itertools.pairwise(matrices):
        if left.shape[1] != right.shape[0]:
            raise ShapeError(
                f"{name}(): the inner sizes of consecutive shapes {left.shape} and "
                f"{right.shape} differ."
            )
    out = _multiplied(matrices)
    if first == 1:
        out = out.squeeze(0)
    return out.squeeze(-1) if last == 1 else out


def _multiplied(matrices: list[Tensor]) -> Tensor:
    """Multiply a chain of matrices in the cheapest order, found by dynamic programming."""
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]

    @functools.cache
    def cheapest(start: int, end: int) -> tuple[int, int]:
        """Return the minimum cost of the product of `matrices[start:end]`, and the split."""
        if end - start == 1:
            return 0, start
        return min(
            (
                cheapest(start, middle)[0]
                + cheapest(middle, end)[0]
                + sizes[start] * sizes[middle] * sizes[end],
                middle,
            )
            for middle in range(start + 1, end)
        )

    def product(start: int, end: int) -> Tensor:
        if end - start == 1:
            return matrices[start]
        middle = cheapest(start, end)[1]
        return matmul(product(start, middle), product(middle, end))

    return product(0, len(matrices))


def chain_matmul(*matrices: Tensor) -> Tensor:
    """Return the product of matrices; `linalg.multi_dot` is the newer name in torch.

    Raises:
        ShapeError: no tensor was given, one is not a matrix, or the shapes do not match.
        DTypeError: there are several tensors, and they are bool.
    """
    require_tensors("chain_matmul", *matrices)
    check_ranks("chain_matmul", matrices, *(2,) * len(matrices))
    if not matrices:
        raise ShapeError("chain_matmul() needs at least one matrix; none were given.")
    return matrices[0].clone() if len(matrices) == 1 else _chained("chain_matmul", matrices)


@validate_call
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix of a vector: the powers of each element in a row.

    Args:
        x: 1-D; integers and bools become int64.
        N: the number of powers; by default the number of elements.
        increasing: whether the exponents increase from 0 instead of decreasing to 0.

    Raises:
        ShapeError: `x` is not 1-D, or there would be too many powers.
        DomainError: `N` is negative.
        TypeError: `N` is not an integer.
    """
    if x.ndim != 1:
        raise ShapeError(f"vander() takes a 1-D tensor; shape {x.shape} was given.")
    count = x.shape[0] if N is None else as_integer("vander(): N", N, minimum=0)
    check_addressable((x.shape[0], count))
    return powers(x, np.arange(count) if increasing else np.arange(count)[::-1])


def powers(x: Tensor, exponents: Array) -> Tensor:
    """Return powers of each element, along a new last dimension; those of integers are int64."""
    base = x if x.dtype.is_floating_point else x.long()
    return elementwise("pow", base.unsqueeze(-1), x._uploaded(exponents, base.dtype))
