"""Sums of products of elements, dimensions named by labels: what `einsum` and `tensordot` compute.

Every operand is brought to the labels that it has once each, sums out what nobody else needs, and
is then multiplied pair by pair: as matrices if a shared label is summed, else element by element.
All of it is composed of movements, products and sums, so that gradients of any order follow.
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
"""A letter, a number, or the place of a dimension that an ellipsis stands for."""

Labels = tuple[Label, ...]


class _Operand:
    """A tensor and the labels of its dimensions, each label once."""

    def __init__(self, tensor: Tensor, labels: Labels) -> None:
        self.tensor = tensor
        self.labels = labels

    def length(self, label: Label) -> int:
        """Return the size of a dimension, 1 if there is no such dimension."""
        return self.tensor.shape[self.labels.index(label)] if label in self.labels else 1

    def size(self, labels: Sequence[Label]) -> int:
        """Return the number of elements in some dimensions."""
        return math.prod(self.length(label) for label in labels)

    def summed(self, labels: Sequence[Label]) -> _Operand:
        """Return it with dimensions summed away."""
        if not labels:
            return self
        dims = tuple(self.labels.index(label) for label in labels)
        total = sum(self.tensor, dims, dtype=self.tensor.dtype)
        return _Operand(total, tuple(label for label in self.labels if label not in labels))

    def ordered(self, labels: Sequence[Label]) -> Tensor:
        """Return the tensor with its dimensions in the order of `labels`, which are all its own."""
        return self.tensor.permute(tuple(self.labels.index(label) for label in labels))

    def aligned(self, labels: Sequence[Label]) -> Tensor:
        """Return the tensor with a dimension for each label, of size 1 where it has none."""
        present = self.ordered([label for label in labels if label in self.labels])
        return present.reshape(tuple(self.length(label) for label in labels))


def _once_each(name: str, tensor: Tensor, labels: Labels, position: int) -> _Operand:
    """Take the diagonal of dimensions with one label."""
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
    """Multiply two operands, and sum over the labels that they share and nobody else needs."""
    shared = [label for label in a.labels if label in b.labels and label not in kept]
    # Where one side is 1 it repeats, so that it can be taken out of the other side's sum.
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
    """Return which two to multiply next: those whose product is smallest beside themselves."""

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
    """Return the sum of products over all labels that the output lacks.

    Args:
        name: the function that is asked for, for messages.
        tensors: of one dtype.
        inputs: for each tensor, the labels of its dimensions.
        output: the labels of the result, each once, and each that of an operand.

    Raises:
        ShapeError: dimensions with one label have different lengths, none of them 1.
        DTypeError: products of bool would have to be added up.
    """
    if any(label not in output for labels in inputs for label in labels):
        check_not_bool(name, tensors[0], "it cannot add them up; convert with x.long() first")
    lengths: dict[Label, int] = {}
    for position, (tensor, labels) in enumerate(zip(tensors, inputs, strict=True)):
        for label, length in zip(labels, tensor.shape, strict=True):
            if lengths.setdefault(label, length) == 1:
                lengths[label] = length
            elif length not in (1, lengths[label]):
                raise ShapeError(
                    f"{name}(): operand {position} has size {length} for {label!r}, where "
                    f"another has {lengths[label]}; only sizes of 1 are repeated."
                )
    operands = [
        _once_each(name, tensor, labels, position)
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
    """Return tensors of one backend as the dtype that they are promoted to.

    Raises:
        TypeError: something is no tensor.
        BackendMismatchError: they belong to different backends.
    """
    require_tensors(name, *tensors)
    common_backend(*tensors)
    dtype = result_type(*tensors)
    return [tensor.to(dtype) for tensor in tensors]


@validate_call
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return products summed over pairs of dimensions.

    Args:
        a: a tensor.
        b: a tensor.
        dims: two sequences, the dimensions of each that are summed over together; or a number, for
            the last so many of `a` and the first so many of `b`.

    Returns:
        A tensor with the remaining dimensions of `a`, and then those of `b`.

    Raises:
        ShapeError: the sizes of a pair differ, or `dims` is no such number or pair.
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
    """Return which dimensions of two tensors are summed over together."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, SupportsIndex):
        count = operator.index(dims)
        if not 0 <= count <= min(ndim_a, ndim_b):
            raise ShapeError(
                f"tensordot() of tensors with {ndim_a} and {ndim_b} dimension(s) cannot sum over "
                f"{count}."
            )
        return range(ndim_a - count, ndim_a), range(count)
    if not isinstance(dims, Sequence) or isinstance(dims, str) or len(dims) != 2:
        raise ShapeError(f"tensordot() takes a number or two sequences as dims; got {dims!r}.")
    first, second = (d if isinstance(d, Sequence) else (d,) for d in dims)
    first, second = normalize_dims(first, ndim_a), normalize_dims(second, ndim_b)
    if len(first) != len(second):
        raise ShapeError(f"tensordot() pairs dimensions; the numbers in {dims} differ.")
    return first, second
