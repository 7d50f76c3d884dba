"""Programs: sequences of steps, each a line of source that runs with torch and with `mt`.

A step is a call with earlier values and settings as arguments. It is data, which can be modified
(to shrink a program), and the text that is printed is executed, so that a reader sees what runs:

    v0 = torch.tensor([[1.0, 2.0]], dtype=torch.float32, requires_grad=True)
    v1 = v0.permute(1, 0)
    v2 = torch.nn.functional.pad(v1, (1, 0))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.dtypes import Array

HEADER = """\
import torch  # or: import mt_nn.torch_names as torch
from math import inf, nan
"""


class Ref(NamedTuple):
    """A result of a step: its number, and the index if there are several."""

    step: int
    part: int | None = None

    def __str__(self) -> str:
        return f"v{self.step}" if self.part is None else f"v{self.step}[{self.part}]"


class Source(NamedTuple):
    """A setting that is source code: `torch.float32`, `lambda grad: 2 * grad`."""

    text: str


class Elements(NamedTuple):
    """The elements of a new tensor."""

    array: Array


@dataclass(frozen=True)
class Step:
    """One line of a program.

    Attributes:
        form: how it is written: `torch.add()` is a function, `.add_()` a method, `.T` an
            attribute, and operators are `+`, `-x`, `+=`, `[]` and `[]=`.
        args: positional arguments, with the tensor of a method or operator first. Earlier values
            are `Ref`, also in tuples and lists.
        settings: keyword arguments.
        unrecorded: whether it runs under `no_grad()`.
        varied: whether its settings differ from those of a sample, and may be invalid.
    """

    form: str
    args: tuple[Any, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    unrecorded: bool = False
    varied: bool = field(default=False, compare=False, repr=False)

    def text(self, number: int) -> str:
        """Return the line of source, which assigns the value of this number."""
        line = self._line(f"v{number}")
        return f"with torch.no_grad(): {line}" if self.unrecorded else line

    def _line(self, name: str) -> str:
        given = [written(value) for value in self.args]
        if self.form == "[]=":
            return f"{given[0]}[{subscript(self.args[1])}] = {given[2]}"
        if self.form == "[]":
            return f"{name} = {given[0]}[{subscript(self.args[1])}]"
        if self.form.endswith("()"):
            first = "" if self.form[0] != "." else given.pop(0)
            given += [f"{key}={written(value)}" for key, value in self.settings.items()]
            return f"{name} = {first}{self.form[:-2]}({', '.join(given)})"
        if self.form[0] == ".":
            return f"{name} = {given[0]}{self.form}"
        if self.form in IN_PLACE_OPERATORS:
            return f"{name} = {given[0]}; {name} {self.form} {given[1]}"
        if len(given) == 1:
            return f"{name} = {self.form[:-1]}{given[0]}"
        return f"{name} = {given[0]} {self.form} {given[1]}"

    @property
    def operation(self) -> str:
        """Its operation, regardless of the form: `add` for `torch.add()`, `.add()` and `+`."""
        return operation_of(self.form)

    @property
    def refs(self) -> list[Ref]:
        """The earlier values that it uses, in order."""
        return list(parts_of((self.args, self.settings), Ref))


OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "true_divide",
    "//": "floor_divide",
    "%": "remainder",
    "**": "pow",
    "@": "matmul",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
    "<": "lt",
    "<=": "le",
    "==": "eq",
    "!=": "ne",
    ">": "gt",
    ">=": "ge",
    "-x": "neg",
    "+x": "positive",
    "~x": "bitwise_not",
}
"""Python's operators, with the operations that they call."""

CHANGING = "+ - * / // % ** & | ^ << >>"
IN_PLACE_OPERATORS = {f"{form}=": f"{OPERATORS[form]}_" for form in CHANGING.split()}
"""The in-place operators."""


def operation_of(form: str) -> str:
    """Return the operation that a form calls."""
    known = {**OPERATORS, **IN_PLACE_OPERATORS, "[]": "getitem", "[]=": "setitem"}
    return known.get(form) or form.removeprefix("torch").strip(".").removesuffix("()")


def parts_of(value: Any, kind: type) -> Iterator[Any]:
    """Yield all instances of a class in a value, also in tuples, lists and mappings."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, Ref | Source | Elements):
        return
    elif isinstance(value, tuple | list):
        for part in value:
            yield from parts_of(part, kind)
    elif isinstance(value, Mapping):
        yield from parts_of(list(value.values()), kind)


def mapped(value: Any, kind: type | tuple[type, ...], function: Callable[[Any], Any]) -> Any:
    """Apply a function to all instances of classes in a value."""
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, Ref | Source | Elements):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(part, kind, function) for part in value))
    if isinstance(value, tuple | list):
        return type(value)(mapped(part, kind, function) for part in value)
    if isinstance(value, Mapping):
        return {key: mapped(part, kind, function) for key, part in value.items()}
    return value


def written(value: Any) -> str:
    """Return a setting or an argument as source."""
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, Source):
        return value.text
    if isinstance(value, Elements):
        return _elements(value.array)
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return repr(value)


def subscript(index: Any) -> str:
    """Return an index as source."""
    if isinstance(index, tuple) and index:
        return ", ".join(map(subscript, index)) + "," * (len(index) == 1)
    if isinstance(index, slice):
        parts = index.start, index.stop, index.step
        start, stop, step = ("" if part is None else written(part) for part in parts)
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if index is Ellipsis else written(index)


def _elements(array: Array) -> str:
    if array.size == 0 and array.shape != (0,):
        return f"torch.zeros({array.shape}).tolist()"
    return repr(array.tolist())


def listing(steps: Sequence[Step]) -> str:
    """Return the complete source of a program."""
    return HEADER + "\n" + "".join(f"{step.text(n)}\n" for n, step in enumerate(steps))


def leaf(array: Array, requires_grad: bool = False) -> Step:
    """Return the step that creates a tensor."""
    settings: dict[str, Any] = {"dtype": Source(f"torch.{array.dtype.name}")}
    if requires_grad:
        settings["requires_grad"] = True
    if array.size == 0:
        return Step("torch.zeros()", (array.shape,), settings)
    return Step("torch.tensor()", (Elements(np.array(array)),), settings)


def is_leaf(step: Step) -> bool:
    """Return whether a step creates a tensor from constants, as `leaf` does."""
    if step.form == "torch.zeros()":
        return bool(step.args) and isinstance(step.args[0], tuple) and 0 in step.args[0]
    return bool(step.args) and isinstance(step.args[0], Elements)


def without(steps: Sequence[Step], gone: set[int]) -> list[Step] | None:
    """Return a program without some steps; None if others need their results."""
    kept = [number for number in range(len(steps)) if number not in gone]
    place = {number: i for i, number in enumerate(kept)}

    def moved(ref: Ref) -> Ref:
        return Ref(place[ref.step], ref.part)

    result = []
    for number in kept:
        step = steps[number]
        if any(ref.step in gone for ref in step.refs):
            return None
        args, settings = mapped((step.args, dict(step.settings)), Ref, moved)
        result.append(replace(step, args=args, settings=settings))
    return result
