"""Updates in place by the `numpy` backend: several tensors in one pass, block by block.

NumPy's functions do one step each: over whole arrays, a formula of twelve steps reads and writes
memory twelve times. What is done with one block of all rows before the next stays in the
processor's cache. Each step writes to a scratch buffer that is free again, or to the row that its
result replaces, once that has been read:

>>> from mt_operators import Formula
>>> roll = Formula("roll", 3, 2, lambda x, v, rate: (x - rate * (v + x), v + x))
>>> print(update_source(roll, ("row", "row", "number"), (0, 1)))
def in_place(size, x0, x1, x2):
    x2, = array((x2,), x0.dtype)
    buffers = empty((1, min(size, BLOCK)), x0.dtype)
    for lo in range(0, size, BLOCK):
        y0, y1 = x0[lo : lo + BLOCK], x1[lo : lo + BLOCK]
        r0, = buffers[:, : y0.size]
        add(y1, y0, out=y1)
        mul(x2, y1, out=r0)
        sub(y0, r0, out=y0)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from mt_operators import Formula
from mt_operators.core.graph import PYTHON, Expression, Graph
from mt_operators.core.lowering import lowered
from mt_tensor.core.dtypes import Number
from mt_tensor.core.host import no_warnings
from mt_tensor.core.numpy_functions import ATOMIC, FUNCTIONS, SPECIAL_CASES, UFUNCS
from mt_tensor.core.tensor_data import TensorData

Kind = Literal["row", "number"]
"""What an argument is: a contiguous array of one dimension; or a number, or an array of one."""

BLOCK = 16384
"""How many elements a block has. With fewer the calls would take longer than the arithmetic."""


def update(
    formula: Formula, out: Sequence[TensorData], inputs: Sequence[TensorData | Number]
) -> bool:
    """Replace rows by the results of a formula of them, and return whether all views are rows.

    Of 16 bits each step would be rounded.
    """
    layout = out[0].layout
    try:
        changed = tuple(map(inputs.index, out))
    except ValueError:  # an output is no input
        return False
    if layout.dtype.is_narrow:
        return False
    kinds: list[Kind] = []
    arguments: list[Any] = []
    for data in inputs:
        if not isinstance(data, TensorData):
            kinds.append("number")
            arguments.append(data)
        elif data.layout.row_major and data.layout.shape == layout.shape:
            kinds.append("row")
            array = getattr(data, "_array", None)  # missing until it is first needed
            arguments.append((data.array if array is None else array).reshape(-1))
        elif data.layout.size == 1:
            kinds.append("number")
            arguments.append(data.array.reshape(()))
        else:
            return False
    function = update_function(formula, tuple(kinds), changed)
    no_warnings().run(function, layout.size, *arguments)
    return True


@functools.lru_cache(None)
def update_function(
    formula: Formula, kinds: tuple[Kind, ...], changed: tuple[int, ...]
) -> Callable[..., None]:
    """Return a function of a number of elements, and of the formula's arguments as arrays.

    Args:
        formula: what to compute.
        kinds: what each argument is.
        changed: which of them, rows, the results replace.
    """
    namespace: dict[str, Any] = {**FUNCTIONS, "BLOCK": BLOCK, "where": np.where}
    namespace |= {"array": np.array, "copy": np.copy, "empty": np.empty}
    text = update_source(formula, kinds, changed)
    exec(compile(text, f"<{formula.name} in place on arrays>", "exec"), namespace)
    return namespace["in_place"]  # type: ignore[no-any-return]


def update_source(formula: Formula, kinds: Sequence[Kind], changed: Sequence[int]) -> str:
    """Return the text of such a function."""
    return _Writer(lowered(formula, ATOMIC), kinds, changed).text()


class _Writer:
    """The steps of a formula as calls that each write into memory which is not needed any more."""

    def __init__(self, graph: Graph, kinds: Sequence[Kind], changed: Sequence[int]) -> None:
        self._outputs = graph.outputs
        self._rows = [i for i, kind in enumerate(kinds) if kind == "row"]
        self._arguments = range(graph.arity)
        self._changed = changed
        self._row_of = dict(zip(graph.outputs, changed, strict=True))  # a result is written to
        self._last = {  # where each value is read last; a result is read in the end
            at: position for position, e in enumerate(graph.expressions) for at in e.operands
        }
        self._last |= dict.fromkeys(graph.outputs, len(graph.expressions))
        self._names: list[str] = []
        self._once: list[str] = []  # statements before the loop, of numbers alone
        self._steps: list[str] = []
        self._buffers: list[str] = []
        self._free: list[str] = []
        for position, expression in enumerate(graph.expressions):
            self._names.append(self._name(position, expression))

    def text(self) -> str:
        """Return the function."""
        first = self._changed[0]  # which has the type of the computation
        once, steps = self._once, [*self._steps, *self._stores()]
        if self._buffers:
            shape = f"({len(self._buffers)}, min(size, BLOCK))"
            once = [f"buffers = empty({shape}, x{first}.dtype)", *once]
            steps = [f"{', '.join(self._buffers)}, = buffers[:, : y{first}.size]", *steps]
        if numbers := "".join(f"x{i}, " for i in self._arguments if i not in self._rows):
            once = [f"{numbers.strip()} = array(({numbers.strip()}), x{first}.dtype)", *once]
        rows = ", ".join(f"y{i}" for i in self._rows)
        blocks = ", ".join(f"x{i}[lo : lo + BLOCK]" for i in self._rows)
        loop = [f"    {line}" for line in (f"{rows} = {blocks}", *steps)]
        head = f"def in_place(size, {', '.join(f'x{i}' for i in self._arguments)}):"
        return "\n    ".join((head, *once, "for lo in range(0, size, BLOCK):", *loop))

    def _name(self, position: int, expression: Expression) -> str:
        """Return the name of a value, and note the statement that computes it.

        Numbers are named x or n, rows y, scratch buffers r, and new arrays t.
        """
        operation, operands = expression.operation, expression.operands
        if operation == "argument":
            return f"{'y' if position in self._rows else 'x'}{position}"
        number, value = f"n{position}", f"t{position}"
        if operation == "constant":
            written = repr(expression.number)
            if not math.isfinite(expression.number):
                written = f"float('{written}')"
            self._once.append(f"{number} = array({written}, x{self._changed[0]}.dtype)")
            return number
        names = [self._names[at] for at in operands]
        if operation in PYTHON and operation not in UFUNCS:
            text = PYTHON[operation].format(*names)
        else:
            text = f"{operation}({', '.join(names)})"
        if all(name[0] in "xn" for name in names):
            self._once.append(f"{number} = {text}")
            return number
        if expression.is_bool or operation not in UFUNCS:
            self._steps.append(f"{value} = {text}")
            return value
        self._release(position, operands)
        name = self._target(position)
        self._steps.append(f"{text[:-1]}, out={name})")
        return name

    def _release(self, position: int, operands: Sequence[int]) -> None:
        """Free the scratch buffers whose values are read for the last time."""
        for at in set(operands):
            name = self._names[at]
            if self._last[at] == position and name in self._buffers:
                self._free.append(name)

    def _target(self, position: int) -> str:
        """Return where a value is to be written."""
        row = self._row_of.get(position)
        if row is not None and self._last.get(row, -1) <= position:
            return f"y{row}"
        if not self._free:
            self._buffers.append(f"r{len(self._buffers)}")
            return self._buffers[-1]
        return self._free.pop()

    def _stores(self) -> list[str]:
        """Return the statements that put results into rows where they have not been written to."""
        pairs = zip(self._changed, (self._names[at] for at in self._outputs), strict=True)
        left = [(row, name) for row, name in pairs if name != f"y{row}"]
        kept = [f"k{row} = copy({name})" for row, name in left if name[0] == "y"]
        return [*kept, *(f"y{row}[:] = {f'k{row}' if n[0] == 'y' else n}" for row, n in left)]


SPECIAL_CASES["update"] = update
