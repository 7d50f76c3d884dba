"""Split tensors into views along a dimension, and split a dimension into several."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from mt_tensor.checks import check_dimensions, existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, as_integers
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.subscripts import Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import resolve_shape
from mt_tensor.errors import ShapeError


def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Split a tensor into consecutive views along a dimension.

    Args:
        tensor: at least one dimension.
        split_size_or_sections: the length of all pieces, of which the last may be shorter; or a
            list of the length of each piece.
        dim: the dimension.

    Raises:
        ShapeError: the length is not positive, or one in a list is negative, or they do not add up
            to the size of the dimension.
        IndexingError: `dim` is out of range, or `tensor` is 0-D.
        TypeError: `split_size_or_sections` is neither an integer nor a sequence.
    """
    require_tensors("split", tensor)
    d = existing_dim("split", dim, tensor.shape)
    size = tensor.shape[d]
    if isinstance(split_size_or_sections, Sequence):
        lengths = as_integers((split_size_or_sections,))
        if sum(lengths) != size or any(length < 0 for length in lengths):
            raise ShapeError(
                f"split() into {lengths}: the lengths must not be negative, and must add up to "
                f"{size}, the size of dimension {dim}."
            )
        return _pieces(tensor, d, lengths)
    length = as_integer("split(): split_size_or_sections", split_size_or_sections)
    if length < 0 or (length == 0 and size):
        raise ShapeError(f"split() takes a positive length of the pieces; {length} was given.")
    if not size:
        return _pieces(tensor, d, (0,))
    return _pieces(tensor, d, [min(length, size - start) for start in range(0, size, length)])


MOST_EMPTY = 2**20
"""The largest number of pieces of a dimension that has fewer elements: most would be empty."""


def _check_count(name: str, count: int, size: int) -> None:
    """Raise ShapeError for far more pieces than elements."""
    if count > max(size, MOST_EMPTY):
        raise ShapeError(
            f"{name}() of {size} element(s) into {count} pieces: nearly all would be empty."
        )


def _pieces(tensor: Tensor, dim: int, lengths: Sequence[int]) -> tuple[Tensor, ...]:
    before = (slice(None),) * dim
    ends = accumulate(lengths, initial=0)
    return tuple(
        [Select.apply(tensor, (*before, slice(start, stop))) for start, stop in pairwise(ends)]
    )


@validate_call
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split into at most `chunks` views of equal length along a dimension; the last may be shorter.

    Raises:
        DomainError: `chunks` is not positive.
        ShapeError: `chunks` is greater than `2**20` for a dimension of size 0.
        IndexingError: `dim` is out of range, or `input` is 0-D.
        TypeError: `chunks` is not an integer.
    """
    d = existing_dim("chunk", dim, input.shape)
    count = as_integer("chunk(): chunks", chunks, minimum=1)
    size = input.shape[d]
    if size:
        return split(input, -(-size // count), d)
    _check_count("chunk", count, size)
    return _pieces(input, d, [0] * count)


@validate_call
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Split into views along a dimension, before each index or into a number of sections.

    Args:
        input: at least one dimension.
        indices_or_sections: the indices to split at, as in slices; or the number of sections, whose
            lengths differ by at most one, longer ones first. Either may be a tensor.
        dim: the dimension.

    Raises:
        DomainError: the number of sections is not positive.
        ShapeError: the number of sections is greater than both the size and `2**20`.
        IndexingError: `dim` is out of range, or `input` is 0-D.
        TypeError: the number of sections is not an integer.
    """
    d = existing_dim("tensor_split", dim, input.shape)
    size = input.shape[d]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if not isinstance(indices_or_sections, Sequence):
        count = as_integer("tensor_split(): indices_or_sections", indices_or_sections, minimum=1)
        _check_count("tensor_split", count, size)
        return _pieces(input, d, [size // count + (i < size % count) for i in range(count)])
    cuts = [None, *as_integers((indices_or_sections,)), None]
    return tuple(input[(*(slice(None),) * d, slice(start, stop))] for start, stop in pairwise(cuts))


@validate_call
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split into views along dimension 1, or dimension 0 of a 1-D tensor.

    Args:
        input: at least one dimension.
        indices_or_sections: the indices to split at, or the number of sections of equal length.

    Raises:
        ShapeError: `input` is 0-D, or the size is not a multiple of the number of sections.
        DomainError: the number of sections is not positive.
    """
    return _even_split("hsplit", input, indices_or_sections, min(1, input.ndim - 1), min_ndim=1)


@validate_call
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split a tensor of at least two dimensions into views along dimension 0; see `hsplit`."""
    return _even_split("vsplit", input, indices_or_sections, 0, min_ndim=2)


@validate_call
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split a tensor of at least three dimensions into views along dimension 2; see `hsplit`."""
    return _even_split("dsplit", input, indices_or_sections, 2, min_ndim=3)


def _even_split(
    name: str, input: Tensor, indices_or_sections: int | Sequence[int], dim: int, min_ndim: int
) -> tuple[Tensor, ...]:
    """Split a tensor of at least `min_ndim` dimensions at indices or into equal sections."""
    check_dimensions(name, min_ndim, input)
    if not isinstance(indices_or_sections, Sequence):
        count = as_integer(f"{name}(): indices_or_sections", indices_or_sections, minimum=1)
        if input.shape[dim] % count:
            raise ShapeError(
                f"{name}() cannot split {input.shape[dim]} element(s) into {count} sections of "
                "equal length: use tensor_split()."
            )
    return tensor_split(input, indices_or_sections, dim)


@validate_call
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split into views of the given lengths along a dimension; see `split`."""
    return split(input, tuple(as_integers((split_sizes,))), dim)


@validate_call
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a copy of `length` slices along `dim`, starting at `start`; see `narrow`."""
    return input.narrow(dim, start, length).clone()


@validate_call
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of all slices along a dimension, which is dropped.

    Raises:
        IndexingError: `dim` is out of range, or `input` is 0-D.
    """
    d = existing_dim("unbind", dim, input.shape)
    before = (slice(None),) * d
    return tuple([Select.apply(input, (*before, i)) for i in range(input.shape[d])])


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return a view with one dimension split into several; one of the sizes may be -1.

    Raises:
        ShapeError: the product of the sizes is not the size of the dimension.
        IndexingError: `dim` is out of range, or `input` is 0-D.
    """
    d = existing_dim("unflatten", dim, input.shape)
    given = as_integers((sizes,))
    if not given:
        raise ShapeError("unflatten() needs at least one size; () was given.")
    return input.view(
        *input.shape[:d], *resolve_shape(given, input.shape[d]), *input.shape[d + 1 :]
    )
