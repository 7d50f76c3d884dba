"""Tensor contractions with labeled dimensions, the computation of `einsum` and `tensordot`.

For each operand, take the diagonal of repeated labels and sum over labels that only it has. Then
multiply pairs of operands: as matrices if a shared label is summed, else elementwise. This is
composed of views, products and sums, so it is differentiable to any order. The operations are
planned once for the labels and shapes of a call.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, SupportsIndex

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import bool_, result_type
from mt_tensor.core.matmul import matmul
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import Shape, normalize_dims
from mt_tensor.core.sums import sum
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import Permute, reshaped
from mt_tensor.errors import ShapeError
from mt_tensor.movement.diagonals import diagonal

Label = Hashable
"""A letter, a number, or the position of a dimension within an ellipsis."""

Labels = tuple[Label, ...]


class _Plan:
    """The operations that compute a contraction; they depend only on labels and shapes.

    Attributes:
        steps: for each operation its name, the positions of its operands among the tensors and
            earlier results, and its setting.
    """

    def __init__(self, tensors: int) -> None:
        self.steps: list[tuple[str, tuple[int, ...], Any]] = []
        self._tensors = tensors

    def add(self, name: str, *operands: int, setting: Any = None) -> int:
        """Add an operation, and return the position of its result."""
        self.steps.append((name, operands, setting))
        return self._tensors + len(self.steps) - 1


_OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "diagonal": lambda dims, x: diagonal(x, 0, *dims),
    "sum": lambda dims, x: sum(x, dims, dtype=x.dtype),
    "permute": lambda order, x: Permute.apply(x, order),
    "reshape": lambda shape, x: reshaped(x, shape),
    "multiply": lambda _, x, y: x * y,
    "matmul": lambda _, x, y: matmul(x, y),
}
"""The operations of a plan by name; each takes its setting and its operands."""


class _Operand:
    """A tensor of a plan: its position, and the distinct labels and the sizes of its dimensions."""

    def __init__(self, plan: _Plan, at: int, labels: Labels, shape: Shape) -> None:
        self.plan, self.at = plan, at
        self.labels, self.shape = labels, shape

    def length(self, label: Label) -> int:
        """Return the size of a dimension, or 1 for a label that the tensor lacks."""
        return self.shape[self.labels.index(label)] if label in self.labels else 1

    def size(self, labels: Sequence[Label]) -> int:
        """Return the product of the sizes of dimensions."""
        return math.prod(self.length(label) for label in labels)

    def summed(self, labels: Sequence[Label]) -> _Operand:
        """Sum over dimensions."""
        if not labels:
            return self
        dims = tuple(self.labels.index(label) for label in labels)
        kept = tuple(label for label in self.labels if label not in labels)
        at = self.plan.add("sum", self.at, setting=dims)
        return _Operand(self.plan, at, kept, tuple(map(self.length, kept)))

    def ordered(self, labels: Sequence[Label]) -> _Operand:
        """Return the tensor with its dimensions in the order of `labels`."""
        order = tuple(self.labels.index(label) for label in labels)
        if order == tuple(range(len(order))):
            return self
        at = self.plan.add("permute", self.at, setting=order)
        return _Operand(self.plan, at, tuple(labels), tuple(map(self.length, labels)))

    def reshaped(self, shape: Sequence[int]) -> int:
        """Return the position of the tensor in another shape."""
        shape = tuple(shape)
        return self.at if shape == self.shape else self.plan.add("reshape", self.at, setting=shape)

    def aligned(self, labels: Sequence[Label]) -> int:
        """Return the position of the tensor with a dimension per label, of size 1 if absent."""
        present = self.ordered([label for label in labels if label in self.labels])
        return present.reshaped([self.length(label) for label in labels])


def _without_repeated_labels(name: str, operand: _Operand, position: int) -> _Operand:
    """Take the diagonal of dimensions with the same label."""
    at, labels, shape = operand.at, operand.labels, operand.shape
    for label in [label for label, n in Counter(labels).items() if n > 1]:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if shape[first] != shape[second]:
                raise ShapeError(
                    f"{name}(): operand {position} repeats {label!r}, but its sizes "
                    f"{shape[first]} and {shape[second]} differ."
                )
            at = operand.plan.add("diagonal", at, setting=(first, second))
            rest = [dim for dim in range(len(labels)) if dim not in (first, second)]
            shape = (*(shape[dim] for dim in rest), shape[first])
            labels = (*(labels[dim] for dim in rest), label)
    return _Operand(operand.plan, at, labels, shape)


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
    pairs = ((a.length(label), b.length(label)) for label in labels)
    lengths = tuple(second if first == 1 else first for first, second in pairs)
    if not summed:
        at = a.plan.add("multiply", a.aligned(labels), b.aligned(labels))
        return _Operand(a.plan, at, labels, lengths)
    left, right = a.ordered([*batch, *rows, *summed]), b.ordered([*batch, *summed, *columns])
    inner, rows_and_columns = a.size(summed), (a.size(rows), b.size(columns))
    at = a.plan.add(
        "matmul",
        left.reshaped((*map(a.length, batch), rows_and_columns[0], inner)),
        right.reshaped((*map(b.length, batch), inner, rows_and_columns[1])),
    )
    matrices = _Operand(a.plan, at, (), (*lengths[: len(batch)], *rows_and_columns))
    return _Operand(a.plan, matrices.reshaped(lengths), labels, lengths)


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
        return result - math.prod(a.shape) - math.prod(b.shape)

    return min(itertools.combinations(range(len(operands)), 2), key=growth)


@functools.lru_cache(1024)
def _planned(
    name: str, inputs: tuple[Labels, ...], output: Labels, shapes: tuple[Shape, ...]
) -> _Plan:
    """Return the plan of a contraction; see `contract`."""
    lengths: dict[Label, int] = {}
    for position, (shape, labels) in enumerate(zip(shapes, inputs, strict=True)):
        for label, length in zip(labels, shape, strict=True):
            if lengths.setdefault(label, length) == 1:
                lengths[label] = length
            elif length not in (1, lengths[label]):
                raise ShapeError(
                    f"{name}(): operand {position} has size {length} for {label!r}, but another "
                    f"has {lengths[label]}; only sizes of 1 are broadcast."
                )
    plan = _Plan(len(shapes))
    operands = [
        _without_repeated_labels(name, _Operand(plan, position, labels, shape), position)
        for position, (labels, shape) in enumerate(zip(inputs, shapes, strict=True))
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
    operands[0].ordered(output)
    if not plan.steps:  # the result is a view of the only tensor
        plan.add("permute", 0, setting=tuple(range(len(output))))
    return plan


def contract(
    name: str, tensors: Sequence[Tensor], inputs: Sequence[Labels], output: Labels
) -> Tensor:
    """Return the sum of products over all labels that are not in the output.

    Args:
        name: the function that the user called, for error messages.
        tensors: tensors of one dtype.
        inputs: for each tensor, the labels of its dimensions.
        output: the distinct labels of the result, each of which occurs in an operand.

    Raises:
        ShapeError: dimensions with the same label have different sizes, neither of which is 1.
        DTypeError: the tensors are bool, and there are sums.
    """
    if tensors[0].dtype is bool_ and any(
        each not in output for labels in inputs for each in labels
    ):
        check_not_bool(name, tensors[0], "bools cannot be summed; convert with x.long() first")
    shapes = tuple([tensor._tensor.layout.shape for tensor in tensors])
    values = [*tensors]
    for operation, operands, setting in _planned(name, tuple(inputs), output, shapes).steps:
        values.append(_OPERATIONS[operation](setting, *[values[at] for at in operands]))
    return values[-1]


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
        ShapeError: the sizes of a pair differ and neither is 1, which is broadcast; or `dims` is
            neither an integer nor two sequences.
        IndexingError: a dimension is out of range or repeated.
        DTypeError: the tensors are bool, and dimensions are paired.
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
