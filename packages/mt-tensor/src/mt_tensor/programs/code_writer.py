"""A program as a function of Python: its guards, its calls, and its effects.

    def run(a, u):
        try:
            if c4['training'] is not k5 and not same(c4['training'], k5): return MISS
            n0 = c7['lr']
        except LOST:
            return MISS
        x0 = a[0]
        m5 = f0(x0, x1)
        m6 = f1(k6, m5, x2)
        del m5
        p2._grad = make(m6, b0)
        return make(m6, b0)

That is all that a run does: nothing is looked up, promoted, broadcast or recorded again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_tensor.core.generator import drawing, numbers_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.program import (
    Box,
    Draw,
    Filled,
    Instruction,
    Memory,
    Program,
    TensorView,
    View,
    last_uses,
    marks_in,
)
from mt_tensor.programs.snapshot import Place, same, same_items
from mt_tensor.programs.symbolic_numbers import Varying

MISS = object()
"""What a run returns if a guard does not hold."""

LOST = (KeyError, IndexError, AttributeError, ValueError, ArithmeticError)
"""Errors of a place that is not there any more."""


def _with_numbers(function: Callable[..., Any], generator: Any, *arguments: Any) -> Any:
    """Call what draws random numbers with those of a generator, of which nobody else draws."""
    with drawing(generator) as numbers:
        return function(numbers, *arguments)


class Source:
    """The text of a function that runs a program, and what its names mean."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "MISS": MISS,
            "LOST": LOST,
            "same": same,
            "same_items": same_items,
            "make": Tensor._make,
            "numbers_of": numbers_of,
            "draw": _with_numbers,
            "array_equal": np.array_equal,
        }
        self._known: dict[int, str] = {}
        self.guards: list[str] = []
        self.lines: list[str] = []
        self._loaded: dict[Any, str] = {}  # by memory and layout: the name of a view
        self._tensors: dict[Any, str] = {}
        self._of_group: dict[Any, list[str]] = {}
        self._boxes: dict[int, str] = {}
        self._lists: dict[int, str] = {}
        self._count = itertools.count()

    # --- Names ----------------------------------------------------------------------------------

    def _new(self, letter: str) -> str:
        """Return the name of something new, a view or a tensor."""
        return f"{letter}{next(self._count)}"

    def constant(self, value: Any, letter: str = "k") -> str:
        """Return the name of something that stays what it is."""
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"{letter}{len(self._known)}"
            self.names[name] = value
        return name

    def place(self, place: Place) -> str:
        """Return the text for what lies in a place."""
        holder = self.constant(place.holder, "c")
        if not place.is_item:
            return f"{holder}.{place.key}"
        key = place.key
        return (
            f"{holder}[{key!r}]" if type(key) in (int, str) else f"{holder}[{self.constant(key)}]"
        )

    # --- What is asked first --------------------------------------------------------------------

    def guard_same(self, text: str, value: Any, plain: bool) -> None:
        """Let the program be run only if something is what it was."""
        name = self.constant(value)
        otherwise = f" and not same({text}, {name})" if plain else ""
        self.guards.append(f"if {text} is not {name}{otherwise}: return MISS")

    def guard(self, condition: str) -> None:
        """Let the program be run only if a condition holds."""
        self.guards.append(f"if not ({condition}): return MISS")

    # --- Memory ---------------------------------------------------------------------------------

    def load(self, memory: Memory, text: str) -> None:
        """Let a memory that is there before come from somewhere."""
        name = self._name(memory, memory.layout, self._new("v"))
        self.lines.append(f"{name} = {text}")

    def _name(self, memory: Memory, layout: Any, name: str) -> str:
        self._loaded[memory, layout] = name
        self._of_group.setdefault(memory.group, []).append(name)
        return name

    def view(self, view: View) -> str:
        """Return the name of a view; it is made from that by which its memory comes."""
        key = view.memory, view.layout
        if key in self._loaded:
            return self._loaded[key]
        memory = view.memory
        home = self._loaded.get((memory, memory.layout))
        if home is None:  # nothing loads it: it is what it was
            same = view.layout is memory.layout
            data = memory.data if same else memory.data.with_layout(view.layout)
            return self._name(memory, view.layout, self.constant(data))
        name = self._name(memory, view.layout, self._new("v"))
        self.lines.append(f"{name} = {home}.with_layout({self.constant(view.layout)})")
        return name

    def tensor(self, tensor_view: TensorView, fresh: bool = False) -> str:
        """Return the name or text of a tensor that shows a view."""
        text = f"make({self.view(tensor_view.view)}, {self.constant(tensor_view.backend)})"
        if fresh:
            return text
        key = tensor_view.view.memory, tensor_view.view.layout
        if key not in self._tensors:
            name = self._tensors[key] = self._new("t")
            self._of_group.setdefault(tensor_view.view.memory.group, []).append(name)
            self.lines.append(f"{name} = {text}")
        return self._tensors[key]

    # --- Calls ----------------------------------------------------------------------------------

    def guard_array(self, text: str, array: Any) -> None:
        """Let the program be run only if an array of NumPy holds what it held."""
        name = self.constant(array)
        self.guard(f"{text} is {name} and array_equal({name}, {self.constant(array.copy())})")

    def calls(self, program: Program, boxes: Sequence[Box] = ()) -> None:
        """Write all calls, and forget memory that is not needed any more.

        Args:
            program: the calls.
            boxes: what is needed at the end.
        """
        last = last_uses(program.instructions, program.kept)
        box_ends: dict[int, list[str]] = {}
        uses = {
            id(box): position
            for position, each in enumerate(program.instructions)
            for box in each.boxes
        } | {id(box): len(program.instructions) for box in boxes}
        for box in boxes:
            for group in box.holds:
                last[group] = len(program.instructions)
        dying: dict[int, list[Any]] = {}
        for group, end in last.items():
            dying.setdefault(end, []).append(group)
        for position, instruction in enumerate(program.instructions):
            self._call(instruction, position, uses, box_ends)
            gone = [
                name
                for group in dying.get(position, ())
                for name in self._of_group.pop(group, ())
                if name[0] in "vt"
            ]
            gone += box_ends.pop(position, [])
            if gone:
                self.lines.append(f"del {', '.join(gone)}")
                for names in (self._loaded, self._tensors):
                    for key in [key for key, name in names.items() if name in gone]:
                        del names[key]

    def _call(
        self,
        instruction: Instruction,
        position: int,
        uses: dict[int, int],
        box_ends: dict[int, list[str]],
    ) -> None:
        function = self.constant(instruction.function, "f")
        filled = {id(each): each for each in instruction.arguments if type(each) is Filled}
        for key in filled:
            self._lists[key] = self._new("list")
            self.lines.append(f"{self._lists[key]} = []")
        arguments = [self.text(each) for each in instruction.arguments]
        arguments += [f"{name}={self.text(each)}" for name, each in instruction.options.items()]
        text = f"{function}({', '.join(arguments)})"
        if instruction.name == "random":
            generator = self.constant(instruction.arguments[0].generator)
            text = f"draw({function}, {', '.join((generator, *arguments[1:]))})"
        results = instruction.results
        if isinstance(results, View):
            name = self._name(results.memory, results.layout, self._new("v"))
            self.lines.append(f"{name} = {text}")
            return
        if not any(marks_in(results)) and not filled:
            self.lines.append(text)
            return
        self.lines.append(f"r = {text}")
        self._take(results, "r", position, uses, box_ends)
        for key, each in filled.items():
            self._take(each.results, self._lists[key], position, uses, box_ends)
        self.lines.append("r = None")

    def _take(
        self,
        results: Any,
        text: str,
        position: int,
        uses: dict[int, int],
        box_ends: dict[int, list[str]],
    ) -> None:
        """Give names to what a call has returned."""
        if isinstance(results, (tuple, list)):
            for at, each in enumerate(results):
                self._take(each, f"{text}[{at}]", position, uses, box_ends)
        elif isinstance(results, View):
            name = self._new("v")
            self.lines.append(f"{self._name(results.memory, results.layout, name)} = {text}")
        elif isinstance(results, TensorView):
            self._take(results.view, f"{text}._tensor", position, uses, box_ends)
        elif isinstance(results, Box) and id(results) in uses:
            name = self._boxes[id(results)] = f"box{position}"
            box_ends.setdefault(uses[id(results)], []).append(name)
            self.lines.append(f"{name} = {text}")

    def text(self, value: Any) -> str:  # noqa: PLR0911 - one for each mark
        """Return the text of an argument or a result."""
        if isinstance(value, View):
            return self.view(value)
        if isinstance(value, TensorView):
            return self.tensor(value)
        if isinstance(value, Box):
            return self._boxes[id(value)]
        if isinstance(value, Filled):
            return self._lists[id(value)]
        if isinstance(value, Draw):
            return f"numbers_of({self.constant(value.generator)})"
        if isinstance(value, Varying):
            return value.text
        if isinstance(value, (tuple, list)) and (any(marks_in(value)) or _varies(value)):
            inner = ", ".join(map(self.text, value))
            if hasattr(value, "_fields"):
                return f"{self.constant(type(value))}({inner})"
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if value else ''})"
        if type(value) is dict and any(marks_in(value)):
            return "{" + ", ".join(f"{k!r}: {self.text(v)}" for k, v in value.items()) + "}"
        if value is None or value is True or value is False:
            return repr(value)
        return self.constant(value)

    def function(self) -> Callable[..., Any]:
        """Return the function."""
        body = ["def run(a, u):"]
        if self.guards:
            body += ["    try:", *(f"        {line}" for line in self.guards)]
            body += ["    except LOST:", "        return MISS"]
        body += [f"    {line}" for line in self.lines]
        text = "\n".join(body)
        exec(compile(text, "<program>", "exec"), self.names)
        run: Callable[..., Any] = self.names["run"]
        run.__doc__ = text
        return run


def _varies(value: Any) -> bool:
    """Whether there is a number that varies among some arguments."""
    if isinstance(value, (tuple, list)):
        return any(map(_varies, value))
    return isinstance(value, Varying)
