"""Tensor contractions with labeled dimensions, the computation of `einsum` and `tensordot`.

For each operand, take the diagonal of repeated labels and sum over labels that only it has. Then
multiply pairs of operands: as matrices if a shared label is summed, else elementwise. This is
composed of views, products and sums, so it is differentiable to any order.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, SupportsIndex

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.matmul import matmul
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import normalize_dims
from mt_tensor.core.sums import sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.movement.diagonals import diagonal

Label = Hashable
"""A letter, a number, or the position of a dimension within an ellipsis."""

Labels = tuple[Label, ...]


class _Operand:
    """A tensor and the distinct labels of its dimensions."""

    def __init__(self, tensor: Tensor, labels: Labels) -> None:
        self.tensor = tensor
        self.labels = labels

    def length(self, label: Label) -> int:
        """Return the size of a dimension, or 1 for a label that the tensor lacks."""
        return self.tensor.shape[self.labels.index(label)] if label in self.labels else 1

    def size(self, labels: Sequence[Label]) -> int:
        """Return the product of the sizes of dimensions."""
        return math.prod(self.length(label) for label in labels)

    def summed(self, labels: Sequence[Label]) -> _Operand:
        """Sum over dimensions."""
        if not labels:
            return self
        dims = tuple(self.labels.index(label) for label in labels)
        total = sum(self.tensor, dims, dtype=self.tensor.dtype)
        return _Operand(total, tuple(label for label in self.labels if label not in labels))

    def ordered(self, labels: Sequence[Label]) -> Tensor:
        """Return the tensor with its dimensions in the order of `labels`."""
        return self.tensor.permute(tuple(self.labels.index(label) for label in labels))

    def aligned(self, labels: Sequence[Label]) -> Tensor:
        """Return the tensor with one dimension per label, of size 1 for labels that it lacks."""
        present = self.ordered([label for label in labels if label in self.labels])
        return present.reshape(tuple(self.length(label) for label in labels))


def _without_repeated_labels(name: str, tensor: Tensor, labels: Labels, position: int) -> _Operand:
    """Take the diagonal of dimensions with the same label."""
    for label in [label for label, n in Counter(labels).items() if n > 1]:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise ShapeError(
                    f"{name}(): operand {position} repeats {label!r}, but its sizes "
                    f"{tensor.shape[first]} and {tensor.shape[second]} differ."
                )
            tensor = diagonal(tensor, 0, first, second)
            rest = [other for at, other in enumerate(labels) if at not in (first, second)]
            labels = (*rest, label)
    return _Operand(tensor, labels)


def _product(a: _Operand, b: _Operand, kept: frozenset[Label]) -> _Operand:
    """Multiply two operands, and sum over shared labels that are not in `kept`."""
    shared = [label for label in a.labels if label in b.labels and label not in kept]
    # A size of 1 is broadcast, so the sum over the other operand can be taken first.
    alone = [label for label in shared if 1 in (a.length(label), b.length(label))]
    a, b = a.summed(alone), b.summed(alone)
    summed = [label for label in shared if label not in alone]
    batch = [label for label in a.labels if label in b.labels and label in kept]
    rows = [label for label in a.labels if label not in b.labels]
    columns = [label for label in b.labels if label not in a.labels]
    labels = (*batch, *rows, *columns)
    if not summed:
        return _Operand(a.aligned(labels) * b.aligned(labels), labels)
    left, right = a.ordered([*batch, *rows, *summed]), b.ordered([*batch, *summed, *columns])
    inner = a.size(summed)
    matrices = matmul(
        left.reshape((*(a.length(label) for label in batch), a.size(rows), inner)),
        right.reshape((*(b.length(label) for label in batch), inner, b.size(columns))),
    )
    lengths = (*(a.length(label) for label in rows), *(b.length(label) for label in columns))
    return _Operand(matrices.reshape((*matrices.shape[: len(batch)], *lengths)), labels)


def _cheapest(operands: Sequence[_Operand], output: Labels) -> tuple[int, int]:
    """Return the pair to multiply next: the one that increases the number of elements least."""

    def growth(pair: tuple[int, int]) -> int:
        a, b = (operands[position] for position in pair)
        rest = {label for at, x in enumerate(operands) if at not in pair for label in x.labels}
        kept = [
            label
            for label in dict.fromkeys((*a.labels, *b.labels))
            if label in rest or label in output
        ]
        result = math.prod(max(a.length(label), b.length(label)) for label in kept)
        return result - a.tensor.numel() - b.tensor.numel()

    return min(itertools.combinations(range(len(operands)), 2), key=growth)


def contract(
    name: str, tensors: Sequence[Tensor], inputs: Sequence[Labels], output: Labels
) -> Tensor:
    """Return the sum of products over all labels that are not in the output.

    Args:
        name: the function that the user called, for error messages.
        tensors: tensors of one dtype.
        inputs: for each tensor, the labels of its dimensions.
        output: the distinct labels of the result, each of which an operand has.

    Raises:
        ShapeError: dimensions with the same label have different sizes, neither of which is 1.
        DTypeError: the tensors are bool, and there are sums.
    """
    if any(label not in output for labels in inputs for label in labels):
        check_not_bool(name, tensors[0], "bools cannot be summed; convert with x.long() first")
    lengths: dict[Label, int] = {}
    for position, (tensor, labels) in enumerate(zip(tensors, inputs, strict=True)):
        for label, length in zip(labels, tensor.shape, strict=True):
            if lengths.setdefault(label, length) == 1:
                lengths[label] = length
            elif length not in (1, lengths[label]):
                raise ShapeError(
                    f"{name}(): operand {position} has size {length} for {label!r}, but another "
                    f"has {lengths[label]}; only sizes of 1 are broadcast."
                )
    operands = [
        _without_repeated_labels(name, tensor, labels, position)
        for position, (tensor, labels) in enumerate(zip(tensors, inputs, strict=True))
    ]
    uses = Counter(label for operand in operands for label in operand.labels)
    operands = [
        operand.summed([x for x in operand.labels if uses[x] == 1 and x not in output])
        for operand in operands
    ]
    while len(operands) > 1:
        first, second = _cheapest(operands, output)
        rest = [operand for at, operand in enumerate(operands) if at not in (first, second)]
        kept = frozenset((*output, *(label for operand in rest for label in operand.labels)))
        operands = [*rest, _product(operands[first], operands[second], kept)]
    return operands[0].ordered(output)


def promoted(name: str, *tensors: Tensor) -> list[Tensor]:
    """Convert tensors of one backend to their promoted dtype.

    Raises:
        TypeError: an argument is not a tensor.
        BackendMismatchError: the tensors belong to different backends.
    """
    require_tensors(name, *tensors)
    common_backend(*tensors)
    dtype = result_type(*tensors)
    return [tensor.to(dtype) for tensor in tensors]


@validate_call
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the sum of products over pairs of dimensions.

    Args:
        a: a tensor.
        b: a tensor.
        dims: two sequences of dimensions, of `a` and of `b`, to pair; or an integer n, for the last
            n dimensions of `a` and the first n of `b`.

    Returns:
        A tensor with the remaining dimensions of `a` followed by those of `b`.

    Raises:
        ShapeError: the sizes of a pair differ, or `dims` is neither an integer nor two sequences.
        IndexingError: a dimension is out of range or repeated.
    """
    a, b = promoted("tensordot", a, b)
    first, second = _paired(dims, a.ndim, b.ndim)
    inputs: list[list[Label]] = [
        [("a", d) for d in range(a.ndim)],
        [("b", d) for d in range(b.ndim)],
    ]
    for i, j in zip(first, second, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise ShapeError(
                f"tensordot() pairs dimension {i} of {a.shape} with dimension {j} of {b.shape}; "
                "their sizes must be equal, or 1."
            )
        inputs[1][j] = inputs[0][i]
    output = [label for label in inputs[0] if label not in inputs[1]]
    output += [label for label in inputs[1] if label not in inputs[0]]
    return contract("tensordot", (a, b), [tuple(labels) for labels in inputs], tuple(output))


def _paired(dims: Any, ndim_a: int, ndim_b: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the paired dimensions of two tensors."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, SupportsIndex):
        count = operator.index(dims)
        if not 0 <= count <= min(ndim_a, ndim_b):
            raise ShapeError(
                f"tensordot() of tensors with {ndim_a} and {ndim_b} dimension(s) cannot pair "
                f"{count} dimension(s)."
            )
        return range(ndim_a - count, ndim_a), range(count)
    if not isinstance(dims, Sequence) or isinstance(dims, str) or len(dims) != 2:
        raise ShapeError(
            f"tensordot() takes an integer or two sequences as dims; {dims!r} was given."
        )
    first, second = (d if isinstance(d, Sequence) else (d,) for d in dims)
    first, second = normalize_dims(first, ndim_a), normalize_dims(second, ndim_b)
    if len(first) != len(second):
        raise ShapeError(f"tensordot() needs dims of equal length; {dims} was given.")
    return first, second
