"""`draw_program`: a drawing of a compiled program with its calls and the memory they use."""

from __future__ import annotations

from typing import Any

from mt_autodiff.core.errors import GraphTooLargeError
from mt_autodiff.drawing.expression import SYMBOLS, on_one_line
from mt_autodiff.drawing.svg import Node as Box
from mt_autodiff.drawing.svg import Svg, render
from mt_tensor.programs.program import Buffer, Instruction, Opaque, Program, View, views_of

MAX_NAME_LENGTH = 24
"""How many characters of a call's name a box shows; fused calls have long names."""


def draw_program(program: Program, *, max_calls: int = 300) -> Svg:
    """Draw the calls of a program that `compile` made: `draw_program(step.program)`.

    An edge leads from the call that wrote a buffer to the calls that read it. Inputs are round, and
    constants have a dashed outline. All paths lead to the results, which include inputs that are
    changed in place. Tooltips show details of the boxes.

    Args:
        program: the program to draw.
        max_calls: the largest number of calls to draw.

    Returns:
        A standalone SVG document.

    Raises:
        TypeError: `program` is not a program, or `max_calls` is not an integer.
        GraphTooLargeError: there are more than `max_calls` calls.
    """
    if not isinstance(program, Program):
        raise TypeError(f"draw_program() takes a program such as step.program, got {program!r}.")
    if not isinstance(max_calls, int):
        raise TypeError(f"max_calls must be an integer, got {max_calls!r}.")
    calls = program.instructions
    if len(calls) > max_calls:
        raise GraphTooLargeError(
            f"{program.name} has {len(calls)} calls, but max_calls is {max_calls}: print it, or "
            f"pass max_calls={len(calls)}."
        )
    graph = _Graph(program)
    title = f"{program.name}: {len(calls)} calls, of {program.recorded} as recorded"
    return render(graph.boxes, graph.inputs, title)


class _Graph:
    """The boxes of a program: first the results, then the calls in reverse order, then the inputs.

    Attributes:
        boxes: the content of each box.
        inputs: for each box the indices of the boxes that it reads.
    """

    def __init__(self, program: Program) -> None:
        count = len(program.instructions)
        self.boxes: list[Any] = [None] * (count + 1)
        self.inputs: list[list[int]] = [[] for _ in self.boxes]
        self._writers: dict[Buffer, int] = {}
        self._producers: dict[Opaque, int] = {}
        unread = set(range(1, count + 1))
        for position, call in enumerate(program.instructions):
            index = count - position
            self.boxes[index] = _box(call)
            self.inputs[index] = self._read(call)
            unread -= set(self.inputs[index])
            for view in (*call.makes, *call.changes):
                self._writers[view.buffer] = index
            self._producers.update(dict.fromkeys(call.produced, index))
        changed = [view.buffer for call in program.instructions for view in call.changes]
        before = [buffer for buffer in changed if not buffer.allocated]
        shown = dict.fromkeys([view.buffer for view in views_of(program.outputs)] + before)
        results = [self._index_of(buffer) for buffer in shown]
        self.inputs[0] = list(dict.fromkeys([*results, *sorted(unread)]))
        names = [f"{buffer.name}: {_shape(buffer.view)}" for buffer in shown]
        self.boxes[0] = Box("operation result", "left", names or ["nothing"], program.name)

    def _read(self, call: Instruction) -> list[int]:
        """Return the indices of the boxes that a call reads."""
        written = call.arguments[0] if call.formula is not None else []
        views = [view for view in call.reads if not (isinstance(written, list) and view in written)]
        indices = [self._index_of(view.buffer) for view in views]
        indices += [self._producers[each] for each in call.consumed if each in self._producers]
        return list(dict.fromkeys(indices))

    def _index_of(self, buffer: Buffer) -> int:
        """Return the index of the box of a buffer's last writer, or else of the buffer."""
        if buffer not in self._writers:
            self._writers[buffer] = len(self.boxes)
            kind = "input" if buffer.origin == "x" else "constant"
            lines = [f"{buffer.name}: {_shape(buffer.view)}"]
            self.boxes.append(Box(kind, "", lines, _details(buffer.view)))
            self.inputs.append([])
        return self._writers[buffer]


def _box(call: Instruction) -> Box:
    """Return the box that shows a call."""
    views = call.makes or call.changes
    name = on_one_line(call.name)
    short = name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
    lines = [f"{view.buffer.name}: {_shape(view)}" for view in views] or [""]
    details = "\n".join([*map(_details, views), f"{call.bytes} bytes read and written"])
    operations = "" if call.operations is None else f"\n{call.operations} operations on numbers"
    return Box("operation", SYMBOLS.get(name, short), lines, f"{call}\n{details}{operations}")


def _shape(view: View) -> str:
    return f"[{'×'.join(map(str, view.layout.shape))}]"


def _details(view: View) -> str:
    return f"{view.buffer.name}: {view.layout.dtype.name}, shape {view.layout.shape}"
