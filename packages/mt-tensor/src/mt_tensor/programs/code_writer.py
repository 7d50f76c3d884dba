"""Code generation: a program becomes two Python functions: its calls, and its guards and effects.

    def calls(a):
        [v0, s1] = a
        a.clear()
        v2 = f0(v0, k6)
        v3 = f1(k7, v2, v0, s1)
        del v0, v2
        return [v3]

    def run(a, u):
        try:
            if c4['training'] is not k5 and not same(c4['training'], k5): return MISS
            n0 = c7['lr']
        except LOOKUP_ERRORS:
            return MISS
        v = [a[0], (n0 * 2)]
        [v3] = calls(v)
        p2._grad = make(v3, b0)
        return make(v3, b0)

A replay does nothing else: no dispatch, promotion or broadcasting, and no recording of gradients. A
backend may replace `calls` by a function that does the same (`TensorBackend.program`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container
from typing import Any

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.generator import current_generator, drawing, numbers_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.comparison import same, same_items
from mt_tensor.programs.program import (
    Instruction,
    Opaque,
    Operand,
    Program,
    RandomSource,
    TensorView,
    View,
    last_uses,
    operands_in,
    views_of,
)
from mt_tensor.programs.storages import state_pattern
from mt_tensor.programs.symbolic_numbers import SymbolicNumber

MISS = object()
"""The return value of a replay if a guard fails."""

LOOKUP_ERRORS = (KeyError, IndexError, AttributeError, ValueError, ArithmeticError)
"""Errors of guards that read state which is no longer there."""

LETTERS = {View: "v", TensorView: "t", Opaque: "o", RandomSource: "g", SymbolicNumber: "s"}
"""The first letters of local names."""


def _draw(function: Callable[..., Any], generator: Any, *arguments: Any) -> Any:
    """Call a function with the random numbers of a generator, which it locks meanwhile."""
    with drawing(generator) as numbers:
        return function(numbers, *arguments)


class CodeWriter:
    """Writes the code of the functions that run a program.

    Attributes:
        names: the global names of the code, and their values.
        guards: the lines that return `MISS` if the program is not valid.
        lines: the other lines of `run`, or of `calls` while these are written.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "MISS": MISS,
            "LOOKUP_ERRORS": LOOKUP_ERRORS,
            "same": same,
            "same_items": same_items,
            "make": Tensor._make,
            "state_pattern": state_pattern,
            "numbers_of": numbers_of,
            "current_generator": current_generator,
            "draw": _draw,
        }
        self.guards: list[str] = []
        self.lines: list[str] = []
        self._constants: dict[int, str] = {}
        self._names: dict[View | TensorView | Opaque, str] = {}
        self._locals: dict[Any, list[Any]] = {}  # the operands that an alias group keeps alive
        self._bound: dict[View | Opaque, str] = {}
        self._parameters: dict[str, str] | None = None  # of `calls` while it is written
        self._calls: list[str] = []
        self._backends: set[TensorBackend] = set()
        self._count = itertools.count()

    # --- Names ----------------------------------------------------------------------------------

    def constant(self, value: Any, letter: str = "k") -> str:
        """Return the global name of an object."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"{letter}{len(self._constants)}"
            self.names[name] = value
        return name

    def assign(self, operand: View | TensorView | Opaque, code: str) -> str:
        """Assign an expression to a local name, by which later code refers to an operand."""
        name = self._local(operand, f"{LETTERS[type(operand)]}{next(self._count)}")
        self.lines.append(f"{name} = {code}")
        return name

    def bind(self, operand: View | Opaque, code: str) -> None:
        """Represent an operand by an expression, which is evaluated where the operand is used."""
        self._bound[operand] = code

    def _local(self, operand: View | TensorView | Opaque, name: str) -> str:
        """Refer to an operand by a local name until its last use."""
        self._names[operand] = name
        view = operand.view if isinstance(operand, TensorView) else operand
        root = view.buffer.group if isinstance(view, View) else view
        self._locals.setdefault(root, []).append(operand)
        return name

    def _name(self, operand: View | Opaque) -> str | None:
        """Return the name of an operand, or its expression; None if there is neither."""
        if operand in self._names or operand not in self._bound:
            return self._names.get(operand)
        code = self._passed(operand, self._bound[operand])
        return code if self._parameters is None else self._local(operand, code)

    def _passed(self, operand: Operand, code: str) -> str:
        """Return an expression; inside `calls`, the name of the parameter that gets its value."""
        if self._parameters is None:
            return code
        if code not in self._parameters:
            self._parameters[code] = f"{LETTERS[type(operand)]}{next(self._count)}"
        return self._parameters[code]

    def _view(self, view: View) -> str:
        """Return the name of a view; first create the view from the buffer's view if necessary."""
        name, buffer, layout = self._name(view), view.buffer, view.layout
        if name is None:
            base = self._name(buffer.view)
            if base is not None:
                return self.assign(view, f"{base}.with_layout({self.constant(layout)})")
            same = layout is buffer.layout  # a constant
            data = buffer.data if same else buffer.data.with_layout(layout)
            name = self._names[view] = self.constant(data)
        return name

    def new_tensor(self, operand: TensorView) -> str:
        """Return an expression that makes a tensor."""
        return f"make({self._view(operand.view)}, {self.constant(operand.backend)})"

    # --- Guards ---------------------------------------------------------------------------------

    def guard_same(self, code: str, value: Any, by_value: bool) -> None:
        """Require that an expression is the same object, or an equal constant."""
        name = self.constant(value)
        unless = f" and not same({code}, {name})" if by_value else ""
        self.guards.append(f"if {code} is not {name}{unless}: return MISS")

    def guard(self, condition: str) -> None:
        """Require a condition."""
        self.guards.append(f"if not ({condition}): return MISS")

    # --- Instructions ---------------------------------------------------------------------------

    def instructions(self, program: Program) -> None:
        """Write the calls of a program as the function `calls`, and a call of it.

        Each call is followed by a `del` of the values that are no longer needed.
        """
        run, self.lines, self._parameters = self.lines, [], {}
        last = last_uses(program.instructions, program.live_out)
        ending: dict[int, list[Any]] = {}
        for root, position in last.items():
            ending.setdefault(position, []).append(root)
        consumed = program.live_out.union(*[each.consumed for each in program.instructions])
        for position, instruction in enumerate(program.instructions):
            self._instruction(instruction, consumed)
            dead = [
                self._names.pop(operand)
                for root in ending.get(position, ())
                for operand in self._locals.pop(root, ())
            ]
            if dead:
                self.lines.append(f"del {', '.join(dead)}")
        made: list[Any] = [each for each in program.outputs if isinstance(each, Opaque)]
        made += [view.buffer.view for view in views_of(program.outputs) if view.buffer.allocated]
        outputs = {each: self._names[each] for each in made if each not in self._bound}
        returned = ", ".join(outputs.values())
        parameters = ", ".join(self._parameters.values())
        self._calls = [f"[{parameters}] = a", "a.clear()", *self.lines, f"return [{returned}]"]
        self._backends = {each.backend for each in program.instructions}
        self.lines = [*run, f"v = [{', '.join(self._parameters)}]", f"[{returned}] = calls(v)"]
        self._names, self._parameters = outputs, None

    def _instruction(self, instruction: Instruction, consumed: Container[Any]) -> None:
        function = self.constant(instruction.function, "f")
        arguments = [self.expression(each) for each in instruction.arguments]
        arguments += [
            f"{name}={self.expression(each)}" for name, each in instruction.options.items()
        ]
        code = f"{function}({', '.join(arguments)})"
        if instruction.name == "random":
            generator = self._generator(instruction.arguments[0])
            code = f"draw({function}, {', '.join((generator, *arguments[1:]))})"
        if isinstance(instruction.results, View):
            self.assign(instruction.results, code)
        elif operands_in(instruction.results):
            self.lines.append(f"r = {code}")
            self._unpack(instruction.results, "r", consumed)
            self.lines.append("r = None")
        else:
            self.lines.append(code)

    def _generator(self, source: RandomSource) -> str:
        given = source.generator
        return self._passed(
            source, "current_generator()" if given is None else self.constant(given)
        )

    def _unpack(self, results: Any, code: str, consumed: Container[Any]) -> None:
        """Assign the parts of a result to local names."""
        if isinstance(results, (tuple, list)):
            for at, each in enumerate(results):
                self._unpack(each, f"{code}[{at}]", consumed)
        elif isinstance(results, TensorView):
            self.assign(results.view, f"{code}._tensor")
        elif isinstance(results, View) or (isinstance(results, Opaque) and results in consumed):
            self.assign(results, code)

    def expression(self, value: Any) -> str:  # noqa: PLR0911 - one for each operand
        """Return the expression for an operand, nested operands, or a constant."""
        if isinstance(value, View):
            return self._view(value)
        if isinstance(value, TensorView):
            return self._names.get(value) or self.assign(value, self.new_tensor(value))
        if isinstance(value, Opaque):
            return str(self._name(value))
        if isinstance(value, RandomSource):
            return f"numbers_of({self._generator(value)})"
        if isinstance(value, SymbolicNumber):
            return self._passed(value, value.code)
        if value is None or value is True or value is False:
            return repr(value)
        if not isinstance(value, (tuple, list, dict)) or not operands_in(value):
            return self.constant(value)
        if isinstance(value, dict):
            items = [f"{key!r}: {self.expression(each)}" for key, each in value.items()]
            return f"{{{', '.join(items)}}}"
        inner = ", ".join(map(self.expression, value))
        if hasattr(value, "_fields"):
            return f"{self.constant(type(value))}({inner})"
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)"

    def function(self, runs_once: bool = False) -> Callable[..., Any]:
        """Compile the code, and return the function; its docstring is the code."""
        body = ["def calls(a):", *(f"    {line}" for line in self._calls), "def run(a, u):"]
        if self.guards:
            body += ["    try:", *(f"        {line}" for line in self.guards)]
            body += ["    except LOOKUP_ERRORS:", "        return MISS"]
        body += [f"    {line}" for line in self.lines]
        code = "\n".join(body)
        exec(compile(code, "<program>", "exec"), self.names)
        if len(self._backends) == 1 and not runs_once:
            (backend,) = self._backends
            self.names["calls"] = backend.program(self.names["calls"])
        run: Callable[..., Any] = self.names["run"]
        run.__doc__ = code
        return run
