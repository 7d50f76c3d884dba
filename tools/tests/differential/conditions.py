"""The conditions of known differences: on a step, and on the values before and after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from differential.programs import Source, Step, parts_of
from mt_tensor.core.dtypes import Array


@dataclass(frozen=True)
class Context:
    """The context of a difference.

    Attributes:
        steps: the program up to the step that shows it.
        before: the elements of all values before this step.
        after: the elements of all values after this step, in this project.
        memory: for each value the first one that shares its memory.
        states: for each step the elements that it has changed.
    """

    steps: Sequence[Step]
    before: Mapping[str, Array]
    after: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, str] = field(default_factory=dict)
    states: Sequence[Mapping[str, Array]] = ()

    @property
    def step(self) -> Step:
        """The step that shows the difference."""
        return self.steps[-1]

    @property
    def operands(self) -> list[Array]:
        """The elements of the step's operands before it."""
        return [self.before[name] for name in map(str, self.step.refs) if name in self.before]

    def of_kinds(self, kinds: str) -> list[Array]:
        """Return the operands whose dtypes are of one of NumPy's kinds."""
        return [x for x in self.operands if x.dtype.kind in kinds]

    @property
    def settings(self) -> tuple[Any, Any]:
        """The arguments of the step."""
        return self.step.args, self.step.settings

    @property
    def integers(self) -> list[int]:
        """The integers among the arguments of the step."""
        return list(parts_of(self.settings, int))

    @property
    def numbers(self) -> list[float]:
        """The floating-point numbers among the arguments of the step."""
        return list(parts_of(self.settings, float))

    @property
    def all_elements(self) -> list[Array]:
        """All elements in the program."""
        earlier = [array for state in self.states for array in state.values()]
        return [*earlier, *self.before.values(), *self.after.values()]

    def at(self, number: int) -> Context:
        """Return the context of an earlier step."""
        before: dict[str, Array] = {}
        for state in self.states[:number]:
            before |= state
        after = before | dict(self.states[number])
        return Context(self.steps[: number + 1], before, after, self.memory, self.states[:number])

    def result(self, part: int) -> Array:
        """Return one of several results of the step."""
        return self.after[f"v{len(self.steps) - 1}[{part}]"].astype(np.float64)


def _not_finite(arrays: Iterable[Array]) -> bool:
    return any(x.dtype.kind == "f" and not np.isfinite(x).all() for x in arrays)


def _settings_not_finite(context: Context) -> bool:
    return not np.isfinite(context.numbers).all()


def _squares_overflow(context: Context) -> bool:
    """Return whether a number is not finite, or its square overflows in its dtype."""
    limits = [math.sqrt(np.finfo(x.dtype).max) for x in context.of_kinds("f")]
    bound = min(limits, default=math.inf)
    numbers = [*context.operands, np.array(context.numbers)]
    return any(not (abs(x.astype(np.float64)) <= bound).all() for x in numbers)


def _empty(context: Context) -> bool:
    """Return whether an operand, a result or a requested shape has no elements."""
    last = f"v{len(context.steps) - 1}"
    results = [x for name, x in context.after.items() if name.partition("[")[0] == last]
    requested = not context.operands and 0 in context.integers
    return requested or any(x.size == 0 for x in [*context.operands, *results])


def _equal_elements(context: Context) -> bool:
    """Return whether a floating-point operand has two equal elements, or nan."""
    floats = context.of_kinds("f")
    return any(np.isnan(x).any() or np.unique(x).size < x.size for x in floats)


def _short(context: Context) -> bool:
    """Return whether an operand has a vector shorter than a setting, or close to 0."""
    limit = max([1e-8, *context.numbers])
    operands = [x.astype(np.float64) for x in context.operands]
    lengths = [np.linalg.norm(x, axis=dim) for x in operands for dim in range(x.ndim)]
    return any((length <= limit).any() for length in lengths)


def _overlapping(context: Context) -> bool:
    """Return whether two operands share memory."""
    names = [str(ref) for ref in context.step.refs]
    places = [context.memory[name] for name in names if name in context.memory]
    return len(set(places)) < len(places)


def _reinterpreted(context: Context) -> bool:
    """Return whether a tensor is viewed as one of another dtype."""
    views = [step for step in context.steps if step.operation == "view"]
    return any(any(parts_of((step.args, step.settings), Source)) for step in views)


def _blank_label(context: Context) -> bool:
    """Return whether a label of a sequence is the blank label."""
    args, settings = context.settings
    blank = args[4] if len(args) > 4 else settings.get("blank", 0)
    return bool((context.operands[1] == blank).any())


def _not_sorted(context: Context) -> bool:
    """Return whether the sequence to search is not sorted, or a sorter is given."""
    row = context.operands[1 if context.step.operation == "bucketize" else 0]
    return "sorter" in context.step.settings or not (row == np.sort(row)).all()


def _singular(context: Context) -> bool:
    """Return whether a matrix is singular up to rounding."""
    matrices = [np.nan_to_num(x.astype(np.float32)) for x in context.operands if x.ndim > 1]
    return any((np.linalg.matrix_rank(x) < min(x.shape[-2:])).any() for x in matrices)


def _factors(context: Context) -> bool:
    """Return whether the results of a factorization are valid factors, which are not unique."""
    matrix = context.operands[0].astype(np.float64)
    name = context.step.operation.removeprefix("linalg.")
    first, second = context.result(0), context.result(1)
    if name == "qr":
        found, bases = first @ second, [first]
        if (np.tril(second, -1) != 0).any():
            return False
    elif name == "svd":
        third, few = context.result(2), second.shape[-1]
        found = (first[..., :few] * second[..., None, :]) @ third[..., :few, :]
        bases = [first, third.swapaxes(-1, -2)]
    else:
        half = np.triu if "U" in (*context.step.args, *context.step.settings.values()) else np.tril
        diagonal = np.eye(matrix.shape[-1]) * matrix
        matrix = half(matrix) + half(matrix).swapaxes(-1, -2) - diagonal
        found = (second * first[..., None, :]) @ second.swapaxes(-1, -2)
        bases = [second]
    near = 1e-3 if context.operands[0].dtype == np.float16 else 1e-5
    ones = [basis.swapaxes(-1, -2) @ basis for basis in bases]
    return np.allclose(found, matrix, near, near * (1 + abs(matrix).max(initial=0))) and all(
        np.allclose(product, np.eye(product.shape[-1]), near, near) for product in ones
    )


CONDITIONS: dict[str, Callable[[Context], bool]] = {
    "not finite": lambda context: _not_finite(context.operands),
    "settings not finite": _settings_not_finite,
    "infinity anywhere": lambda context: (
        _not_finite(context.all_elements) or _settings_not_finite(context)
    ),
    "squares overflow": _squares_overflow,
    "mixed": lambda context: len({x.dtype for x in context.operands}) > 1,
    "empty": _empty,
    "of one element": lambda context: any(x.size == 1 for x in context.operands),
    "equal elements": _equal_elements,
    "float16": lambda context: any(x.dtype == np.float16 for x in context.operands),
    "integers": lambda context: bool(context.of_kinds("iub")),
    "least integer": lambda context: any(
        (x == np.iinfo(x.dtype).min).any() for x in context.of_kinds("i")
    ),
    "huge integers": lambda context: any(
        ((x >= 2**31 - 1) | (x <= -(2**31))).any() for x in context.of_kinds("iu")
    ),
    "beyond integers": lambda context: any(
        not (abs(x) < 2**31).all() for x in context.of_kinds("f")
    ),
    "about one": lambda context: any((abs(abs(x) - 1) < 1e-5).any() for x in context.of_kinds("f")),
    "huge settings": lambda context: any(abs(n) >= 1 << 31 for n in context.integers),
    "varied": lambda context: context.step.varied,
    "not recorded": lambda context: context.step.unrecorded,
    "changed in place": lambda context: any(
        step.operation.endswith(("_", "setitem")) for step in context.steps
    ),
    "overlapping": _overlapping,
    "reinterpreted": _reinterpreted,
    "short": _short,
    "blank label": _blank_label,
    "not sorted": _not_sorted,
    "singular": _singular,
    "factors": _factors,
}
"""The conditions on a step, and on the values before and after it, that entries may use."""
