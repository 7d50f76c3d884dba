"""What a program is: calls of backends one after the other, and what each reads and writes.

A call's arguments are what the backend was given, with a mark in each place where something else
stands at the next run: a view of memory (`View`), a tensor (`TensorView`), what only another call
understands (`Box`), a sequence of random numbers (`Draw`), a number that varies (`Varying`).
Everything else is as it was: formulas, layouts, operators, plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mt_operators import Formula, Operator
from mt_operators.core.tracing import graph_of
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import DType
from mt_tensor.core.layout import Layout
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.symbolic_numbers import Varying


class Memory:
    """A storage of a program.

    Attributes:
        data: the view by which it came; its layout is that of the view it comes by at each run.
        group: the same for all memories that share bytes.
        made: whether a call of the program makes it; if not, it is there before.
        known: whether its elements are the same at each run: they follow from nothing that varies.
        name: what it is called where the program is shown.
    """

    __slots__ = ("data", "group", "known", "made", "name")

    def __init__(self, data: TensorData, group: Any, made: bool, name: str) -> None:
        self.data = data
        self.group = group
        self.made = made
        self.known = False
        self.name = name

    @property
    def layout(self) -> Layout:
        """The layout of the view by which it comes."""
        return self.data.layout

    def forget(self) -> None:
        """Let the elements go that were there when it was recorded down; a program has its own."""
        if self.made or self.is_before:
            self.data = TensorData.in_rows(None, self.layout)

    @property
    def is_before(self) -> bool:
        """Whether it was there before, and may be other memory, or hold other elements, then."""
        return self.name[0] == "x"


class View:
    """A view of a memory: its layout says which elements."""

    __slots__ = ("layout", "memory")

    def __init__(self, memory: Memory, layout: Layout) -> None:
        self.memory = memory
        self.layout = layout

    @property
    def bytes(self) -> int:
        """How many bytes its elements have; an element that is repeated counts once."""
        sizes = zip(self.layout.shape, self.layout.strides, strict=True)
        count = 0 if not self.layout.size else 1
        for length, stride in sizes:
            count *= length if stride else 1
        return count * self.layout.dtype.numpy.itemsize


class TensorView:
    """A tensor of a backend that shows a view."""

    __slots__ = ("backend", "view")

    def __init__(self, view: View, backend: TensorBackend) -> None:
        self.view = view
        self.backend = backend


class Box:
    """What a call leaves for another one, and nobody else looks into; memory may be in it.

    Attributes:
        holds: groups of the memory in it.
    """

    __slots__ = ("holds",)

    def __init__(self, holds: frozenset[Any]) -> None:
        self.holds = holds


class Draw:
    """The random numbers of a generator; of the current one if it is None."""

    __slots__ = ("generator",)

    def __init__(self, generator: Any) -> None:
        self.generator = generator


class Filled:
    """An empty list that a call puts tensors in, as `batch_norm` does with its statistics.

    Attributes:
        results: what it holds afterwards, marked.
    """

    __slots__ = ("results",)

    def __init__(self, results: list[Any]) -> None:
        self.results = results


class Instruction:
    """One call.

    Attributes:
        name: what it is called in the contract, or the operation that has a kernel.
        backend: whom it asks.
        function: what is called.
        arguments: what it is called with, marked; see this file's head.
        options: likewise, by name.
        results: what it returns, marked: memory in it is new.
        changes: the views that it writes to.
        formula: what it computes for each element, if that is all it does.
        pure: whether it depends on its arguments alone and does nothing but return results.
        may_fail: whether it looks at elements and may raise an error.
        work: how many floating-point operations it takes, if neither name nor formula tells.
    """

    __slots__ = (
        "arguments",
        "backend",
        "changes",
        "formula",
        "function",
        "may_fail",
        "name",
        "options",
        "pure",
        "results",
        "work",
    )

    def __init__(
        self,
        name: str,
        backend: TensorBackend,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        results: Any,
        changes: Sequence[View] = (),
        formula: Formula | None = None,
        pure: bool = True,
        may_fail: bool = False,
        work: int | None = None,
    ) -> None:
        self.name = name
        self.backend = backend
        self.function = function
        self.arguments = arguments
        self.options = options
        self.results = results
        self.changes = list(changes)
        self.formula = formula
        self.pure = pure
        self.may_fail = may_fail
        self.work = work

    @property
    def reads(self) -> list[View]:
        """The views that it is given, those that it writes to among them."""
        return list(views_in((self.arguments, self.options)))

    @property
    def makes(self) -> list[View]:
        """The views of new memory that it returns, or puts in a list."""
        filled = [each.results for each in self.arguments if type(each) is Filled]
        return list(views_in((self.results, filled)))

    @property
    def boxes(self) -> list[Box]:
        """What it is given that another call has left for it."""
        return [each for each in marks_in((self.arguments, self.options)) if type(each) is Box]

    @property
    def operations(self) -> int | None:
        """How many floating-point operations it takes; None if only its kernel knows."""
        if self.formula is not None:
            size = self.makes[0].layout.size if self.makes else self.changes[0].layout.size
            leaves = ("argument", "constant")
            steps = [e for e in graph_of(self.formula).expressions if e.operation not in leaves]
            return size * len(steps)
        if self.name == "matmul":
            inner = self.reads[0].layout.shape[-1]
            return 2 * self.makes[0].layout.size * inner
        if self.name in ("reduce", "scatter"):
            return self.reads[0].layout.size
        return 0 if self.name in MOVING else self.work

    @property
    def bytes(self) -> int:
        """How many bytes it reads and writes at least."""
        written = [*self.makes, *self.changes]
        return sum(view.bytes for view in (*self.reads, *written)) - sum(
            view.bytes for view in self.changes if self.formula is None
        )

    def __str__(self) -> str:
        """Show it as a line of Python."""
        targets = [view.memory.name for view in self.makes]
        shown = [_shown(value) for value in self.arguments]
        shown = [text for text in shown if text]
        shown += [
            f"{name}={text}" for name, value in self.options.items() if (text := _shown(value))
        ]
        text = f"{self.name}({', '.join(shown)})"
        if targets:
            return f"{', '.join(targets)} = {text}"
        if self.changes:
            return f"{', '.join(_shown(view) for view in self.changes)} := {text}"
        return text


MOVING = (
    "checked_indices", "concatenate", "copy", "empty", "from_host", "full", "gather", "random",
)  # fmt: skip
"""Calls of the contract that compute nothing."""


class Program:
    """Calls one after the other, with what goes in and what comes out.

    Attributes:
        name: the function's.
        instructions: the calls.
        results: what the function returned, marked.
        kept: memory that somebody has when the program has run: results, and what was stored.
        recorded: how many calls there were when it was recorded.
        eager_peak: its `peak` then.
    """

    def __init__(
        self, name: str, instructions: list[Instruction], results: Any, kept: Sequence[View]
    ) -> None:
        self.name = name
        self.instructions = instructions
        self.results = results
        self.kept = list(kept)
        self.recorded = len(instructions)
        self.eager_peak = self.peak

    @property
    def operations(self) -> int:
        """How many floating-point operations a run takes, as far as is known."""
        return sum(each.operations or 0 for each in self.instructions)

    @property
    def bytes(self) -> int:
        """How many bytes a run reads and writes at least."""
        return sum(each.bytes for each in self.instructions)

    @property
    def peak(self) -> int:
        """How many bytes of memory that the program makes are in use at the same time, at most."""
        last = last_uses(self.instructions, self.kept)
        now = most = 0
        seen: set[Any] = set()
        ends: dict[int, int] = {}
        for position, instruction in enumerate(self.instructions):
            for view in instruction.makes:
                group = view.memory.group
                if group not in seen:
                    seen.add(group)
                    now += view.bytes
                    end = last.get(group, position)
                    ends[end] = ends.get(end, 0) + view.bytes
            most = max(most, now)
            now -= ends.pop(position, 0)
        return most

    def __str__(self) -> str:
        """List the calls, each with type, shape, bytes and operations of what it computes."""
        lines = [str(each) for each in self.instructions]
        width = min(max(map(len, lines), default=0), 60)
        rows = []
        for instruction, line in zip(self.instructions, lines, strict=True):
            views = instruction.makes or instruction.changes
            kinds = ", ".join(f"{v.layout.dtype.name} {v.layout.shape}" for v in views[:1])
            more = f" and {len(views) - 1} more" if len(views) > 1 else ""
            known = instruction.operations
            work = "" if known == 0 else f"  {'?' if known is None else _amount(known)} FLOP"
            rows.append(f"{line:<{width}}  {kinds}{more}  {_amount(instruction.bytes)}B{work}")
        head = (
            f"{self.name}: {len(self.instructions)} calls, of {self.recorded} as recorded; "
            f"{_amount(self.operations)} FLOP, {_amount(self.bytes)}B read and written; at most "
            f"{_amount(self.peak)}B in use, of {_amount(self.eager_peak)}B as recorded"
        )
        returned = ", ".join(_shown(each) for each in marks_in(self.results))
        return "\n".join([head, *(f"  {row}" for row in rows), f"  return {returned}".rstrip()])


def marks_in(value: Any) -> Iterator[Any]:
    """Yield the marks in arguments or results, in order."""
    if isinstance(value, (View, TensorView, Box, Draw)):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from marks_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from marks_in(each)


def views_in(value: Any) -> Iterator[View]:
    """Yield the views in arguments or results, those that tensors show among them."""
    for mark in marks_in(value):
        if isinstance(mark, View):
            yield mark
        elif isinstance(mark, TensorView):
            yield mark.view


def map_marks(value: Any, new: Callable[[Any], Any]) -> Any:
    """Return arguments or results with each mark replaced by what a function makes of it."""
    if isinstance(value, (View, TensorView, Box, Draw)):
        return new(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[map_marks(each, new) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([map_marks(each, new) for each in value])
    if type(value) is dict:
        return {name: map_marks(each, new) for name, each in value.items()}
    return value


def exchange(call: Instruction, instead: dict[Any, View]) -> None:
    """Let a call read, change and make other memory in the place of some."""

    def other(mark: Any) -> Any:
        if isinstance(mark, View) and mark.memory in instead:
            return View(instead[mark.memory].memory, mark.layout)
        if isinstance(mark, TensorView) and mark.view.memory in instead:
            return TensorView(other(mark.view), mark.backend)
        return mark

    call.arguments = map_marks(call.arguments, other)
    call.options = map_marks(call.options, other)
    call.results = map_marks(call.results, other)
    call.changes = [other(view) for view in call.changes]


def with_others(call: Instruction, instead: dict[Any, View]) -> Instruction:
    """Return a call that reads other memory in the place of some."""
    if any(view.memory in instead for view in (*call.reads, *call.changes)):
        exchange(call, instead)
    return call


def groups_of_several(calls: Iterable[Instruction]) -> set[Any]:
    """Return the groups that several memories belong to."""
    memories: dict[Any, set[int]] = {}
    for each in calls:
        for view in (*each.reads, *each.makes):
            memories.setdefault(view.memory.group, set()).add(id(view.memory))
    return {group for group, members in memories.items() if len(members) > 1}


def last_uses(instructions: Sequence[Instruction], kept: Sequence[View]) -> dict[Any, int]:
    """Return for each group of memory the position of the last call that may look at it."""
    last: dict[Any, int] = {}
    for position, instruction in enumerate(instructions):
        for view in (*instruction.reads, *instruction.makes, *instruction.changes):
            last[view.memory.group] = position
        for box in instruction.boxes:
            for group in box.holds:
                last[group] = position
    for view in kept:
        last[view.memory.group] = len(instructions)
    return last


def _shown(value: Any) -> str:
    """Return what an argument is called where a program is shown; nothing if it tells nothing."""
    if isinstance(value, View):
        return value.memory.name
    if isinstance(value, TensorView):
        return value.view.memory.name
    if isinstance(value, Operator):
        return value.name
    if isinstance(value, (DType, Layout, Box, Draw, str)) or callable(value) or value is None:
        return ""
    if isinstance(value, (tuple, list)):
        inner = [text for each in value if (text := _shown(each))]
        if not inner or all(isinstance(each, bool) for each in value):
            return ""
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if isinstance(value, Varying):
        return value.text
    return repr(value) if isinstance(value, (bool, int, float)) else ""


def _amount(number: int) -> str:
    """Return a number in steps of a thousand, such as 1.5 M."""
    size, unit = float(number), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{number} " if not unit else f"{size:.3g} {_UNITS[unit]}"


_UNITS = ("", "k", "M", "G", "T")
