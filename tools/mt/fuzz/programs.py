"""What a program is: steps, of which each is a line of source that torch and `mt` both run.

A step calls something on earlier values and settings. It is data, which can be changed (to shrink a
program), and it is run as the very text that is printed, so that a reader sees what was done:

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
    """What a step gave: the number of the step, and which of several results."""

    step: int
    part: int | None = None

    def __str__(self) -> str:
        return f"v{self.step}" if self.part is None else f"v{self.step}[{self.part}]"


class Source(NamedTuple):
    """A setting that is written as it stands: `torch.float32`, `lambda grad: 2 * grad`."""

    text: str


class Elements(NamedTuple):
    """The elements of a new tensor."""

    array: Array


@dataclass(frozen=True)
class Step:
    """One line of a program.

    Attributes:
        form: how it is written: `torch.add()` is a function, `.add_()` a method, `.T` an attribute,
            and operators are `+`, `-x`, `+=`, `[]` and `[]=`.
        args: positional arguments, the tensor of a method or operator first. `Ref` stands for
            earlier values, also in tuples and lists.
        settings: keyword arguments.
        unrecorded: whether it runs under `no_grad()`.
        oracle: what it gives by NumPy; see `Oracle`.
        varied: whether its settings are others than those of a sample, and may make no sense.
    """

    form: str
    args: tuple[Any, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    unrecorded: bool = False
    oracle: Any = field(default=None, compare=False, repr=False)
    varied: bool = field(default=False, compare=False, repr=False)

    def text(self, number: int) -> str:
        """Return the line, which gives the value of this number."""
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
        """What is done, however it is written: `add` for `torch.add()`, `.add()` and `+`."""
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
"""The operators of Python, and the operations that they are."""

CHANGING = "+ - * / // % ** & | ^ << >>"
IN_PLACE_OPERATORS = {f"{form}=": f"{OPERATORS[form]}_" for form in CHANGING.split()}
"""Those that change their first operand."""


def operation_of(form: str) -> str:
    """Return the operation that a form is a way to write."""
    known = {**OPERATORS, **IN_PLACE_OPERATORS, "[]": "getitem", "[]=": "setitem"}
    return known.get(form) or form.removeprefix("torch").strip(".").removesuffix("()")


def parts_of(value: Any, kind: type) -> Iterator[Any]:
    """Yield all that is of a class in a value, also in tuples, lists, slices and mappings."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, Ref | Source | Elements):
        return
    elif isinstance(value, tuple | list):
        for part in value:
            yield from parts_of(part, kind)
    elif isinstance(value, Mapping):
        yield from parts_of(list(value.values()), kind)


def mapped(value: Any, kind: type, function: Callable[[Any], Any]) -> Any:
    """Return a value in which a function has been applied to all that is of a class."""
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, Ref | Source | Elements):
        return value
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
    """Return an index as it stands between brackets."""
    if isinstance(index, tuple) and index:
        return ", ".join(map(subscript, index)) + "," * (len(index) == 1)
    if isinstance(index, slice):
        start, stop, step = ("" if i is None else written(i) for i in _slice(index))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if index is Ellipsis else written(index)


def _slice(index: slice) -> tuple[Any, Any, Any]:
    return index.start, index.stop, index.step


def _elements(array: Array) -> str:
    if array.size == 0 and array.shape != (0,):
        return f"torch.zeros({array.shape}).tolist()"
    return repr(array.tolist())


def listing(steps: Sequence[Step]) -> str:
    """Return the source of a program, complete, to be pasted and run."""
    return HEADER + "\n" + "".join(f"{step.text(n)}\n" for n, step in enumerate(steps))


def leaf(array: Array, requires_grad: bool = False) -> Step:
    """Return the step that makes a tensor."""
    settings: dict[str, Any] = {"dtype": Source(f"torch.{array.dtype.name}")}
    if requires_grad:
        settings["requires_grad"] = True
    if array.size == 0:
        return Step("torch.zeros()", (array.shape,), settings)
    return Step("torch.tensor()", (Elements(np.array(array)),), settings)


def is_leaf(step: Step) -> bool:
    """Whether a step makes a tensor from nothing, as `leaf` does."""
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
