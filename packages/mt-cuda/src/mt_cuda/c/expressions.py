"""Translate the expressions of a kernel to C."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from mt_cuda.c.values import (
    BOOL,
    CHOICE,
    COMPARED,
    FLOATS,
    INDEX,
    LITERAL,
    OPERATORS,
    PREFIX,
    TYPES,
    Value,
    choice,
    combined,
    common,
    computed,
    negative,
    promoted,
)
from mt_cuda.core.errors import KernelError

_INDICES = {
    "cuda.threadIdx.x": "THREAD",
    "cuda.blockIdx.x": "BLOCK_X",
    "cuda.blockIdx.y": "BLOCK_Y",
    "cuda.blockDim.x": "THREADS",
    "cuda.gridDim.x": "BLOCKS_X",
    "cuda.gridDim.y": "BLOCKS_Y",
}
"""The 32-bit indices and sizes of a grid, and their macros."""

_GRID = {"cuda.grid(1)": "GRID_INDEX", "cuda.gridsize(1)": "GRID_SIZE"}
"""The 64-bit index of a thread in the grid and number of threads, and their macros."""


class Functions(Protocol):
    """The functions inside a kernel."""

    def arity(self, name: str) -> int | None:
        """Return the number of parameters of a function; None if there is none with this name."""

    def call(self, name: str, arguments: Sequence[Value]) -> tuple[str, tuple[str, ...]]:
        """Return the C name of a function for these arguments, and the types of its results."""


class Expressions:
    """A translator of the expressions of one function.

    Attributes:
        kernel: the name of the kernel.
        functions: the functions that can be called.
        names: the variables that have a value.
        wraps: whether integers wrap around, as those of a formula do; other integers are indices,
            which never overflow. In C, overflow is defined only for unsigned integers.
    """

    def __init__(
        self, kernel: str, functions: Functions, names: dict[str, Value], *, wraps: bool
    ) -> None:
        self.kernel = kernel
        self.functions = functions
        self.names = names
        self.wraps = wraps

    def refuse(self, node: ast.AST, why: str = "is not supported") -> NoReturn:
        """Raise KernelError for a statement or expression without a C equivalent."""
        raise KernelError(
            f"kernel {self.kernel} cannot be written in C: `{ast.unparse(node)}` {why}."
        )

    def value(self, node: ast.expr) -> Value:
        """Translate an expression."""
        kind = type(node).__name__.lower()
        found: Callable[[Any], Value] = getattr(self, f"of_{kind}", self.refuse)
        return found(node)

    def of_name(self, node: ast.Name) -> Value:
        """Translate a variable, `inf` or `nan`."""
        if node.id in ("inf", "nan"):
            return Value({"inf": "INFINITY", "nan": "NAN"}[node.id], "float32")
        if node.id not in self.names:
            self.refuse(node, "has no value yet")
        return self.names[node.id]

    def of_constant(self, node: ast.Constant) -> Value:
        """Translate a literal."""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self.refuse(node)
        return Value(repr(node.value), LITERAL if isinstance(node.value, int) else "float64")

    def of_attribute(self, node: ast.Attribute) -> Value:
        """Translate an index or size of the grid, such as `cuda.threadIdx.x`."""
        name = ast.unparse(node)
        if name not in _INDICES:
            self.refuse(node)
        return Value(_INDICES[name], INDEX)

    def of_tuple(self, node: ast.Tuple) -> Value:
        """Translate a tuple."""
        return Value("", "", items=tuple(self.value(each) for each in node.elts))

    def of_subscript(self, node: ast.Subscript) -> Value:
        """Translate an array element."""
        array = self.value(node.value)
        if array.shape is None:
            self.refuse(node, "has no elements")
        at = self.value(node.slice)
        places = "".join(f"[{place.text}]" for place in at.items or (at,))
        return Value(f"{array.text}{places}", array.type)

    def of_unaryop(self, node: ast.UnaryOp) -> Value:
        """Translate a negation, or a bitwise complement."""
        value = self.value(node.operand)
        value = value.to(computed(value.type))
        if isinstance(node.op, ast.Invert):
            return Value(f"~{value.operand(PREFIX)}", value.type, PREFIX)
        if not isinstance(node.op, ast.USub):
            self.refuse(node)
        if self.wraps and value.type == "int64":
            return Value(negative(value), "int64", PREFIX)
        return Value(f"-{value.operand(PREFIX)}", value.type, PREFIX)

    def of_binop(self, node: ast.BinOp) -> Value:
        """Translate an operation on two numbers, in their common type."""
        left, right = self.value(node.left), self.value(node.right)
        sign, binds = self.sign(node, node.op)
        kind = self.common(node, left, right)
        if isinstance(node.op, ast.Div) and kind not in FLOATS:
            kind = "float64"
        if kind == BOOL and sign not in "&|^":
            self.refuse(node, "computes with bools")
        left, right = promoted(kind, left, right, shifts=sign in ("<<", ">>"))
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and kind == "int64":
            name = "floor_quotient" if isinstance(node.op, ast.FloorDiv) else "floor_remainder"
            return Value(f"{name}({left.text}, {right.text})", kind)
        if self.wraps and kind == "int64" and sign in ("+", "-", "*", "<<"):
            unsigned = combined(sign, binds, left.to("uint64"), right, kind)
            return Value(f"(int64)({unsigned.text})", kind, PREFIX)
        return combined(sign, binds, left, right, kind)

    def sign(self, node: ast.expr, operator: ast.AST) -> tuple[str, int]:
        """Return the C operator and its precedence."""
        if type(operator) not in OPERATORS:
            self.refuse(node)
        return OPERATORS[type(operator)]

    def common(self, node: ast.expr, *values: Value) -> str:
        """Return the common type of several numbers."""
        kind = common(*values)
        if kind is None:
            self.refuse(node, "combines signed and unsigned 64-bit integers")
        return kind

    def of_compare(self, node: ast.Compare) -> Value:
        """Translate a comparison."""
        if len(node.ops) > 1:
            self.refuse(node, "is a chained comparison")
        sign, binds = self.sign(node, node.ops[0])
        left, right = self.value(node.left), self.value(node.comparators[0])
        left, right = promoted(self.common(node, left, right), left, right)
        return Value(f"{left.operand(binds + 1)} {sign} {right.operand(binds + 1)}", BOOL, binds)

    def of_ifexp(self, node: ast.IfExp) -> Value:
        """Translate a conditional expression."""
        test, left, right = (self.value(each) for each in (node.test, node.body, node.orelse))
        kind = left.type if left.type == right.type else self.common(node, left, right)
        return choice(test, *promoted(kind, left, right), kind)

    def of_call(self, node: ast.Call) -> Value:
        """Translate a call."""
        called = ast.unparse(node.func)
        if (text := ast.unparse(node)) in _GRID:
            return Value(_GRID[text], "int64")
        if called in TYPES:
            (number,) = self.arguments(node, 1)
            return _conversion(node.args[0], number, called)
        if called == "bfloat16":
            (number,) = self.arguments(node, 1)
            number = number.to_float()
            return Value(f"bfloat16_of_{number.type}({number.text})", "uint16")
        if called == "float_of_bfloat16":
            (number,) = self.arguments(node, 1)
            return Value(f"{called}({number.text})", "float32")
        if (arity := self.functions.arity(called)) is not None:
            arguments = self.arguments(node, arity)
            name, kinds = self.functions.call(called, arguments)
            if len(kinds) > 1:
                self.refuse(node, "returns several values")
            return Value(f"{name}({', '.join(each.text for each in arguments)})", kinds[0])
        if called in ("min", "max"):
            sign = "<" if called == "min" else ">"
            return self.extreme(node, sign, *self.arguments(node, 2))
        if called == "abs":
            return _absolute(*self.arguments(node, 1))
        module, _, name = called.partition(".")
        if module not in ("math", "libdevice"):
            self.refuse(node)
        floats = [each.to_float() for each in self.arguments(node)]
        kind = self.common(node, *floats)
        if module == "libdevice" and kind == "float32":
            name = name.removesuffix("f")
        return Value(f"{name}({', '.join(each.to(kind).text for each in floats)})", kind)

    def arguments(self, node: ast.Call, count: int | None = None) -> list[Value]:
        """Translate the arguments of a call; if `count` is given, there must be as many."""
        if node.keywords or count not in (None, len(node.args)):
            self.refuse(node, "has an unexpected number of arguments, or keywords")
        return [self.value(each) for each in node.args]

    def extreme(self, node: ast.expr, sign: str, left: Value, right: Value) -> Value:
        """Return the smaller or the larger of two numbers."""
        kind = self.common(node, left, right)
        left, right = promoted(kind, left, right)
        text = f"{left.operand(COMPARED + 1)} {sign} {right.operand(COMPARED + 1)}"
        return choice(Value(text, BOOL, COMPARED), left, right, kind)


def _conversion(node: ast.expr, value: Value, target: str) -> Value:
    """Convert a number; a float literal is written as a literal of the type."""
    stands = isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)
    if target == "float32" and value.type == "float64" and stands:
        return Value(f"{value.text}f", target, value.binds)
    return value.to(target)


def _absolute(value: Value) -> Value:
    """Return the absolute value."""
    if value.type in FLOATS:
        return Value(f"fabs({value.text})", value.type)
    value = value.to(computed(value.type))
    if value.type != "int64":
        return value
    test = f"{value.operand(COMPARED + 1)} < 0"
    return Value(f"{test} ? {negative(value)} : {value.text}", value.type, CHOICE)
