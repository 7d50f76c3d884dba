"""`einsum`: sums of products of elements, given by an equation of labels.

    C[i, k] = sum over j of A[i, j] * B[j, k]        einsum("ij,jk->ik", A, B)

This file parses the equation; `contraction.py` computes the result.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import EquationError
from mt_tensor.products.contraction import Label, Labels, contract, promoted


class _Equation(NamedTuple):
    """A parsed equation: the labels and ellipses of each operand, and of the output if given."""

    inputs: tuple[Labels, ...]
    output: Labels | None


def _letters(text: str, equation: str) -> Labels:
    """Parse the labels of one operand; spaces are ignored."""
    labels: list[Label] = []
    rest = text.strip(" ")
    while rest:
        found: Label = ... if rest.startswith("...") else rest[0]
        if found is not ... and not (rest[0].isascii() and rest[0].isalpha()):
            raise EquationError(
                f"einsum({equation!r}) contains {rest[0]!r}: labels are ASCII letters, and '...' "
                "is any number of dimensions."
            )
        labels.append(found)
        rest = rest[3 if found is ... else 1 :].lstrip(" ")
    return tuple(labels)


@functools.lru_cache(1024)
def _parse(equation: str) -> _Equation:
    """Parse an equation such as "ij,jk->ik"."""
    inputs, arrow, output = equation.partition("->")
    return _Equation(
        tuple([_letters(text, equation) for text in inputs.split(",")]),
        _letters(output, equation) if arrow else None,
    )


def _parse_sublists(args: Sequence[Any]) -> tuple[_Equation, list[Any]]:
    """Parse arguments of the format `A, [0, 1], B, [1, 2], [0, 2]`."""
    pairs = len(args) // 2
    lists = [*args[1 : 2 * pairs : 2], *args[2 * pairs :]]
    for labels in lists:
        if not isinstance(labels, Sequence) or isinstance(labels, str):
            raise TypeError(
                "einsum() takes an equation and tensors, or tensors each followed by a list of "
                f"integers; {labels!r} was given as a list."
            )
        for label in labels:
            if label is not ... and not isinstance(label, SupportsIndex):
                raise TypeError(
                    f"einsum() takes lists of integers and Ellipsis; {label!r} was given."
                )
            if label is not ... and not 0 <= operator.index(label) < 52:
                raise EquationError(
                    f"einsum(): labels are integers from 0 to 51; {label!r} was given."
                )
    read: list[Labels] = [
        tuple(label if label is ... else operator.index(label) for label in x) for x in lists
    ]
    output = read[pairs] if len(args) % 2 else None
    return _Equation(tuple(read[:pairs]), output), list(args[0::2][:pairs])


def _expand_ellipsis(labels: Labels, ndim: int, longest: int) -> Labels:
    """Replace the ellipsis by one label per dimension, aligned at the last dimension."""
    if ... not in labels:
        return labels
    at = labels.index(...)
    count = ndim - (len(labels) - 1)
    expanded = tuple(("...", dim) for dim in range(longest - count, longest))
    return (*labels[:at], *expanded, *labels[at + 1 :])


@functools.lru_cache(1024)
def _resolve(equation: _Equation, shapes: Sequence[Shape]) -> tuple[tuple[Labels, ...], Labels]:
    """Return the labels of the operands and of the output, without ellipses."""
    longest = 0
    for position, (labels, shape) in enumerate(zip(equation.inputs, shapes, strict=True)):
        named = len([label for label in labels if label is not ...])
        if labels.count(...) > 1:
            raise EquationError(f"einsum(): operand {position} has more than one ellipsis.")
        if named > len(shape) or (named < len(shape) and ... not in labels):
            raise EquationError(
                f"einsum(): operand {position} has {named} label(s)"
                f"{' besides the ellipsis' if ... in labels else ''}, but shape {tuple(shape)}."
            )
        longest = max(longest, len(shape) - named)
    inputs = tuple(
        _expand_ellipsis(labels, len(shape), longest)
        for labels, shape in zip(equation.inputs, shapes, strict=True)
    )
    count = Counter(label for labels in inputs for label in labels)
    if equation.output is None:
        once = sorted(
            (label for label, n in count.items() if n == 1 and not isinstance(label, tuple)),
            key=lambda label: (str(type(label)), label),
        )
        return inputs, (*(("...", dim) for dim in range(longest)), *once)
    if equation.output.count(...) > 1:
        raise EquationError("einsum(): the output has more than one ellipsis.")
    named = len([label for label in equation.output if label is not ...])
    output = _expand_ellipsis(equation.output, named + longest, longest)
    for label, n in Counter(output).items():
        if n > 1:
            raise EquationError(f"einsum(): the output repeats the label {label!r}.")
        if label not in count:
            raise EquationError(f"einsum(): no operand has the label {label!r} of the output.")
    return inputs, output


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Return sums of products of elements, given by an equation.

    Args:
        equation: the labels of the dimensions of each operand, separated by commas, and after `->`
            those of the result. Labels are letters. Labels that the result lacks are summed over, a
            repeated label of an operand selects its diagonal, and `...` is all dimensions without a
            letter, which are broadcast. Without `->`, the result has the dimensions of the ellipsis
            and then, in alphabetical order, the labels that occur once.
        *operands: tensors, which are promoted to one dtype. Sizes of 1 are broadcast. In the format
            `einsum(a, [0, 1], b, [1, 2], [0, 2])`, labels are integers from 0 to 51.

    Raises:
        EquationError: the equation cannot be parsed, or does not match the operands.
        ShapeError: dimensions with the same label have different sizes.
        DTypeError: the tensors are bool, and there are sums.
        TypeError: an operand is not a tensor, or labels are not given as a list of integers.
    """
    if isinstance(equation, str):
        given = list(operands)
        if len(given) == 1 and isinstance(given[0], list | tuple):
            given = list(given[0])
        parsed = _parse(equation)
    else:
        parsed, given = _parse_sublists((equation, *operands))
    require_tensors("einsum", *given)
    if len(given) != len(parsed.inputs):
        raise EquationError(
            f"einsum() was given {len(given)} tensor(s) and labels for {len(parsed.inputs)}."
        )
    inputs, output = _resolve(parsed, tuple([tensor._tensor.layout.shape for tensor in given]))
    return contract("einsum", promoted("einsum", *given), inputs, output)
