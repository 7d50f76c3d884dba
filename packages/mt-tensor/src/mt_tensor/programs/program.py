"""The intermediate representation of a program: operands, instructions, and the program itself.

An instruction is a recorded call of a backend. Its arguments are those of the call, with an operand
in place of each value that may differ at a replay: a view of a buffer (`View`), a tensor
(`TensorView`), a value that only other instructions read (`Opaque`), random numbers
(`RandomSource`), or a number that is computed at each replay (`SymbolicNumber`). All other
arguments, such as formulas, layouts, operators and plain numbers, are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mt_operators import Formula, Operator
from mt_operators.core.tracing import graph_of
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.layout import Layout
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.pytree import leaves_in, map_leaves
from mt_tensor.programs.symbolic_numbers import SymbolicNumber

Origin = Literal["x", "m", "k"]
"""Where a buffer comes from: an input, an allocation by the program, or a constant."""


@dataclass(eq=False, slots=True)
class Buffer:
    """A storage that a program uses.

    Attributes:
        data: the view of it that was recorded; a replay gets it through a view of this layout.
        group: the alias group: the same for all buffers that share bytes.
        origin: where a replay gets it from.
        number: distinguishes it from the other buffers of the program.
        is_constant: whether it is allocated with the same elements at each replay.
    """

    data: TensorData
    group: Any
    origin: Origin
    number: int
    is_constant: bool = False

    @property
    def layout(self) -> Layout:
        """The layout of the view through which a replay gets the buffer."""
        return self.data.layout

    @property
    def view(self) -> View:
        """The view through which a replay gets the buffer."""
        return View(self, self.data.layout)

    @property
    def name(self) -> str:
        """The name in listings of the program."""
        return f"{self.origin}{self.number}"

    @property
    def allocated(self) -> bool:
        """Whether an instruction of the program allocates the buffer."""
        return self.origin == "m"

    def release(self) -> None:
        """Drop the recorded elements; a program keeps only those of constants."""
        if self.origin != "k":
            self.data = TensorData.of_storage(None, self.layout)


@dataclass(frozen=True, slots=True)
class View:
    """A view of a buffer."""

    buffer: Buffer
    layout: Layout

    @property
    def bytes(self) -> int:
        """The number of bytes of its elements; an element that is repeated counts once."""
        count = 1 if self.layout.size else 0
        for size, stride in zip(self.layout.shape, self.layout.strides, strict=True):
            count *= size if stride else 1
        return count * self.layout.dtype.numpy.itemsize


@dataclass(frozen=True, slots=True)
class TensorView:
    """A tensor over a view."""

    view: View
    backend: TensorBackend


@dataclass(eq=False, slots=True)
class Opaque:
    """A value that one instruction returns and only other instructions can read.

    Attributes:
        groups: the alias groups of the buffers in it.
    """

    groups: frozenset[Any]


@dataclass(eq=False, slots=True)
class RandomSource:
    """The random numbers of a generator; of the current generator if it is None."""

    generator: Any


Operand = View | TensorView | Opaque | RandomSource | SymbolicNumber | Tensor
"""A value that may differ at a replay; tensors occur only in the results of a function."""


@dataclass(eq=False, slots=True)
class Instruction:
    """A recorded call of a backend.

    Attributes:
        name: the name of the method of the contract, the formula, or the named operation.
        backend: the backend that is called.
        function: the function that is called.
        arguments: its positional arguments, with operands.
        options: its keyword arguments, with operands.
        results: its results, with an operand for each new buffer or opaque value.
        changes: the views that it writes to.
        formula: the formula that it computes for each element; None for other calls.
        pure: whether results depend on the arguments alone, and there are no side effects.
        may_fail: whether it may raise an error, depending on elements.
        work: the floating-point operations of a fused kernel; None if they are not known.
        operands: the operands among its arguments.
        reads: the views among its arguments, including those that it writes to.
        makes: the views of the buffers that it allocates.
        uses: alias groups and opaque values that it may read or write.
        defines: alias groups that it allocates or writes to, and opaque values that it returns.
    """

    name: str
    backend: TensorBackend
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    results: Any
    changes: Sequence[View] = ()
    formula: Formula | None = None
    pure: bool = True
    may_fail: bool = False
    work: int | None = None
    operands: list[Operand] = field(init=False)
    reads: list[View] = field(init=False)
    makes: list[View] = field(init=False)
    uses: set[Any] = field(init=False)
    defines: set[Any] = field(init=False)

    def __post_init__(self) -> None:
        """Find the operands."""
        self.operands = operands_in((self.arguments, self.options))
        results = operands_in(self.results)
        self.reads, self.makes = views_of(self.operands), views_of(results)
        self.uses = roots_of(self.operands)
        self.defines = {view.buffer.group for view in (*self.makes, *self.changes)}
        self.defines.update(each for each in results if isinstance(each, Opaque))

    @property
    def consumed(self) -> list[Opaque]:
        """The opaque values among the arguments."""
        return [each for each in self.operands if isinstance(each, Opaque)]

    @property
    def produced(self) -> list[Opaque]:
        """The opaque values that it returns."""
        return [each for each in self.defines if isinstance(each, Opaque)]

    @property
    def changed_groups(self) -> set[Any]:
        """The alias groups that it writes to, other than those that it allocates."""
        return {view.buffer.group for view in self.changes}

    @property
    def changes_inputs(self) -> bool:
        """Whether it writes to a buffer that the program does not allocate."""
        return any(not view.buffer.allocated for view in self.changes)

    @property
    def operations(self) -> int | None:
        """The number of floating-point operations; None if unknown."""
        if self.formula is not None:
            leaves = ("argument", "constant")
            steps = [e for e in graph_of(self.formula).expressions if e.operation not in leaves]
            return (self.makes or self.changes)[0].layout.size * len(steps)
        if self.name == "matmul":
            return 2 * self.makes[0].layout.size * self.reads[0].layout.shape[-1]
        if self.name in ("reduce", "scatter"):
            return self.reads[0].layout.size
        return 0 if self.name in MOVEMENT else self.work

    @property
    def bytes(self) -> int:
        """The minimum number of bytes that it reads and writes."""
        overwritten = self.changes if self.formula is None else ()
        total = sum(view.bytes for view in (*self.reads, *self.makes, *self.changes))
        return total - sum(view.bytes for view in overwritten)

    def __str__(self) -> str:
        """Return a line such as `m2 = matmul(x0, x1)`."""
        shown = [text for value in self.arguments if (text := _shown(value))]
        shown += [f"{key}={text}" for key, value in self.options.items() if (text := _shown(value))]
        line = f"{self.name}({', '.join(shown)})"
        if self.makes:
            return f"{', '.join(view.buffer.name for view in self.makes)} = {line}"
        if self.changes:
            return f"{', '.join(view.buffer.name for view in self.changes)} := {line}"
        return line


MOVEMENT = (
    "checked_indices", "concatenate", "copy", "empty", "from_host", "full", "gather", "random",
)  # fmt: skip
"""Methods of the contract without floating-point operations."""


@dataclass(eq=False)
class Program:
    """A sequence of instructions.

    Attributes:
        name: the name of the function.
        instructions: the instructions.
        results: the operands that the function returns.
        outputs: the views and opaque values that outlive a replay: results and stored values.
        calls: the function that runs them; a backend may have replaced it.
        recorded: the number of instructions before any optimization.
        eager_peak: `peak` before any optimization.
    """

    name: str
    instructions: list[Instruction]
    results: Sequence[Any]
    outputs: Sequence[View | Opaque]
    calls: Callable[..., Any] | None = field(init=False, default=None)
    recorded: int = field(init=False)
    eager_peak: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the instructions and the memory of the program as recorded."""
        self.recorded, self.eager_peak = len(self.instructions), self.peak

    @property
    def inputs(self) -> list[View | Opaque]:
        """The buffers and opaque values that it uses and does not make."""
        used: dict[View | Opaque, None] = {}
        made: set[View | Opaque] = set()
        for call in self.instructions:
            used.update(dict.fromkeys([*(view.buffer.view for view in call.reads), *call.consumed]))
            made.update([*(view.buffer.view for view in call.makes), *call.produced])
        views = [view.buffer.view for view in views_of(self.outputs)]
        return [each for each in dict.fromkeys([*used, *views]) if each not in made]

    @property
    def live_out(self) -> set[Any]:
        """The alias groups and opaque values that outlive a replay."""
        return roots_of(self.outputs)

    @property
    def operations(self) -> int:
        """The number of floating-point operations of a replay, as far as known."""
        return sum(each.operations or 0 for each in self.instructions)

    @property
    def bytes(self) -> int:
        """The minimum number of bytes that a replay reads and writes."""
        return sum(each.bytes for each in self.instructions)

    @property
    def peak(self) -> int:
        """The peak number of bytes of the buffers that the program allocates."""
        last = last_uses(self.instructions, self.live_out)
        now = highest = 0
        seen: set[Any] = set()
        freed = [0] * (len(self.instructions) + 1)
        for position, instruction in enumerate(self.instructions):
            for view in instruction.makes:
                group = view.buffer.group
                if group not in seen:
                    seen.add(group)
                    now += view.bytes
                    freed[last[group]] += view.bytes
            highest = max(highest, now)
            now -= freed[position]
        return highest

    def __str__(self) -> str:
        """List the instructions, with dtype, shape, bytes and operations of each."""
        lines = [str(each) for each in self.instructions]
        width = min(max(map(len, lines), default=0), 60)
        rows = []
        for instruction, line in zip(self.instructions, lines, strict=True):
            views = instruction.makes or instruction.changes
            first = ", ".join(f"{v.layout.dtype.name} {v.layout.shape}" for v in views[:1])
            more = f" and {len(views) - 1} more" if len(views) > 1 else ""
            count = instruction.operations
            work = "" if count == 0 else f"  {'? ' if count is None else _amount(count)}FLOP"
            rows.append(f"{line:<{width}}  {first}{more}  {_amount(instruction.bytes)}B{work}")
        head = (
            f"{self.name}: {len(rows)} {'call' if len(rows) == 1 else 'calls'}, of {self.recorded} "
            f"as recorded; {_amount(self.operations)}FLOP, {_amount(self.bytes)}B read and "
            f"written;\n  at most {_amount(self.peak)}B in use, of {_amount(self.eager_peak)}B as "
            "recorded"
        )
        returned = ", ".join(map(_shown, operands_in(self.results)))
        return "\n".join([head, *(f"  {row}" for row in rows), f"  return {returned}".rstrip()])


def operands_in(value: Any) -> list[Operand]:
    """Return the operands in nested arguments or results, in order."""
    return [leaf for leaf in leaves_in(value) if isinstance(leaf, Operand)]


def views_of(operands: Iterable[Any]) -> list[View]:
    """Return the views among operands, including those of tensors."""
    views = [each.view if isinstance(each, TensorView) else each for each in operands]
    return [each for each in views if isinstance(each, View)]


def roots_of(operands: Sequence[Any]) -> set[Any]:
    """Return the opaque values among operands, and the alias groups of all of them."""
    opaque = [each for each in operands if isinstance(each, Opaque)]
    groups = {view.buffer.group for view in views_of(operands)}
    return groups.union(opaque, *[each.groups for each in opaque])


def substitute(call: Instruction, replacements: Mapping[Buffer, Buffer]) -> Instruction:
    """Return an instruction in which buffers are replaced by others."""
    views = (*call.reads, *call.makes, *call.changes)
    if not any(view.buffer in replacements for view in views):
        return call

    def other(value: Any) -> Any:
        if isinstance(value, View):
            return View(replacements.get(value.buffer, value.buffer), value.layout)
        if isinstance(value, TensorView):
            return TensorView(other(value.view), value.backend)
        return value

    fields = ("arguments", "options", "results", "changes")
    return replace(call, **{name: map_leaves(getattr(call, name), other) for name in fields})


def shared_groups(calls: Iterable[Instruction]) -> set[Any]:
    """Return the alias groups with several buffers, and those of buffers in opaque values."""
    members: dict[Any, set[Buffer]] = {}
    shared: set[Any] = set()
    for call in calls:
        shared.update(*[each.groups for each in call.consumed])
        for view in (*call.reads, *call.makes):
            members.setdefault(view.buffer.group, set()).add(view.buffer)
    return shared | {group for group, buffers in members.items() if len(buffers) > 1}


def last_uses(calls: Sequence[Instruction], live_out: Iterable[Any] = ()) -> dict[Any, int]:
    """Return for each alias group and opaque value the position of its last use.

    Values that outlive the program count as used after the last instruction.
    """
    last: dict[Any, int] = {}
    for position, call in enumerate(calls):
        last.update(dict.fromkeys(call.uses | call.defines, position))
    return last | dict.fromkeys(live_out, len(calls))


def _shown(value: Any) -> str:
    """Return the text of an argument in listings; an empty string if it is omitted."""
    if isinstance(value, View):
        return value.buffer.name
    if isinstance(value, TensorView):
        return value.view.buffer.name
    if isinstance(value, Operator):
        return value.name
    if isinstance(value, SymbolicNumber):
        return value.code
    if isinstance(value, (tuple, list)) and not all(isinstance(each, bool) for each in value):
        inner = [text for each in value if (text := _shown(each))]
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})" if inner else ""
    return repr(value) if isinstance(value, (bool, int, float)) else ""


def _amount(number: int) -> str:
    """Return a number with a decimal prefix, such as 1.5 M."""
    size, prefixes = float(number), ["", "k", "M", "G", "T"]
    while size >= 1000 and len(prefixes) > 1:
        size /= 1000
        del prefixes[0]
    return f"{size:.3g} {prefixes[0]}" if prefixes[0] else f"{number} "
