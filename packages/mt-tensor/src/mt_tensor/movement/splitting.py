"""Taking tensors apart along a dimension, in views, and the inverse of merging dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, as_integers
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.subscripts import Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import resolve_shape
from mt_tensor.errors import ShapeError
from mt_tensor.movement.turning import check_dimensions


def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Return views of pieces that follow each other along a dimension.

    Args:
        tensor: at least one dimension.
        split_size_or_sections: the length of the pieces, of which the last may be shorter; or the
            length of each piece.
        dim: the dimension.

    Raises:
        ShapeError: a length is negative or zero, or the lengths do not add up to the size.
        TypeError: `split_size_or_sections` is neither an integer nor a sequence.
    """
    require_tensors("split", tensor)
    d = existing_dim("split", dim, tensor.shape)
    whole = tensor.shape[d]
    if isinstance(split_size_or_sections, Sequence):
        lengths = as_integers((split_size_or_sections,))
        if sum(lengths) != whole or any(length < 0 for length in lengths):
            raise ShapeError(
                f"split() into {lengths}: the lengths must add up to {whole}, the size of "
                f"dimension {dim}, and none be negative."
            )
        return _pieces(tensor, d, lengths)
    size = as_integer("split_size_or_sections", split_size_or_sections)
    if size < 0 or (size == 0 and whole):
        raise ShapeError(f"split() takes pieces of at least one element; {size} was given.")
    if not whole:
        return _pieces(tensor, d, (0,))
    return _pieces(tensor, d, [min(size, whole - start) for start in range(0, whole, size)])


MOST_EMPTY = 2**20
"""Into more pieces only what has as many elements is taken apart: the rest would be empty."""


def _check_count(name: str, count: int, whole: int) -> None:
    """Raise ShapeError if a dimension is to be taken apart into far more pieces than elements."""
    if count > max(whole, MOST_EMPTY):
        raise ShapeError(
            f"{name}() of {whole} element(s) into {count} pieces: nearly all would be empty."
        )


def _pieces(tensor: Tensor, dim: int, lengths: Sequence[int]) -> tuple[Tensor, ...]:
    before = (slice(None),) * dim
    ends = accumulate(lengths, initial=0)
    return tuple(
        [Select.apply(tensor, (*before, slice(start, stop))) for start, stop in pairwise(ends)]
    )


@validate_call
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most `chunks` views of equal length along a dimension; the last may be shorter.

    Raises:
        DomainError: `chunks` is not positive.
        ShapeError: it is beyond `MOST_EMPTY` where there is nothing.
        TypeError: it is no integer.
    """
    d = existing_dim("chunk", dim, input.shape)
    count = as_integer("chunks", chunks, least=1)
    whole = input.shape[d]
    if whole:
        return split(input, -(-whole // count), d)
    _check_count("chunk", count, whole)
    return _pieces(input, d, [0] * count)


@validate_call
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Return views along a dimension, cut before each index or into a number of even sections.

    Args:
        input: at least one dimension.
        indices_or_sections: where to cut, as slices count; or the number of sections, whose
            lengths differ by at most one, longer ones first. Either may be a tensor.
        dim: the dimension.

    Raises:
        DomainError: the number of sections is not positive.
        ShapeError: it is beyond both the size and `MOST_EMPTY`.
        TypeError: it is no integer.
    """
    d = existing_dim("tensor_split", dim, input.shape)
    whole = input.shape[d]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if not isinstance(indices_or_sections, Sequence):
        count = as_integer("indices_or_sections", indices_or_sections, least=1)
        _check_count("tensor_split", count, whole)
        return _pieces(input, d, [whole // count + (i < whole % count) for i in range(count)])
    cuts = [None, *as_integers((indices_or_sections,)), None]
    return tuple(input[(*(slice(None),) * d, slice(start, stop))] for start, stop in pairwise(cuts))


@validate_call
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Return views side by side: of vectors along their dimension, of others along the second.

    Args:
        input: at least one dimension.
        indices_or_sections: where to cut, or into how many sections of equal length.

    Raises:
        ShapeError: there are no dimensions, or no sections of equal length.
    """
    return _even_split("hsplit", input, indices_or_sections, min(1, input.ndim - 1), least=1)


@validate_call
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Return views below each other, along the first of two dimensions or more; see `hsplit`."""
    return _even_split("vsplit", input, indices_or_sections, 0, least=2)


@validate_call
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Return views in depth, along the third of three dimensions or more; see `hsplit`."""
    return _even_split("dsplit", input, indices_or_sections, 2, least=3)


def _even_split(
    name: str, input: Tensor, indices_or_sections: int | Sequence[int], dim: int, least: int
) -> tuple[Tensor, ...]:
    """Split a tensor of so many dimensions at least; into sections only if they are even."""
    check_dimensions(name, least, input)
    if not isinstance(indices_or_sections, Sequence):
        count = as_integer("indices_or_sections", indices_or_sections, least=1)
        if input.shape[dim] % count:
            raise ShapeError(
                f"{name}() makes sections of equal length, which {count} of {input.shape[dim]} "
                "element(s) are not: use tensor_split()."
            )
    return tensor_split(input, indices_or_sections, dim)


@validate_call
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of pieces of the given lengths along a dimension; see `split`."""
    return split(input, tuple(as_integers((split_sizes,))), dim)


@validate_call
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a copy of `length` elements from `start` on along `dim`: what `narrow` views."""
    return input.narrow(dim, start, length).clone()


@validate_call
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of all slices along a dimension, which they no longer have."""
    d = existing_dim("unbind", dim, input.shape)
    before = (slice(None),) * d
    return tuple([Select.apply(input, (*before, i)) for i in range(input.shape[d])])


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return a view with one dimension spread over several; one of the sizes may be -1.

    Raises:
        ShapeError: the sizes do not multiply to the size of the dimension.
    """
    d = existing_dim("unflatten", dim, input.shape)
    given = as_integers((sizes,))
    if not given:
        raise ShapeError("unflatten() needs at least one size.")
    return input.view(
        *input.shape[:d], *resolve_shape(given, input.shape[d]), *input.shape[d + 1 :]
    )
