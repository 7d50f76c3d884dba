"""Expressions of a kernel, as those of C."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from mt_cuda.c.values import (
    CHOICE,
    COMPARED,
    FLOATS,
    INDEX,
    PLAIN,
    PREFIX,
    SIGNS,
    TRUTH,
    TYPES,
    Value,
    choice,
    combined,
    common,
    computed,
    negative,
    together,
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
"""The indices of a thread, and the macros that stand for them; they have 32 bits."""

_GRID = {"cuda.grid": "GRID_INDEX", "cuda.gridsize": "GRID_SIZE"}
"""The same in the whole grid; they have 64 bits."""


class Functions(Protocol):
    """The functions inside a kernel."""

    def has(self, name: str) -> bool:
        """Whether there is a function of that name."""

    def call(self, name: str, arguments: Sequence[Value]) -> tuple[str, tuple[str, ...]]:
        """Return what C calls a function for such arguments, and the types of its results."""


class Expressions:
    """Writes the expressions of one function.

    Attributes:
        kernel: the name of the kernel.
        functions: those that can be called.
        names: the variables that have a value.
        wraps: whether whole numbers wrap around, as those of a formula do, and not only indices,
            which never become so large. C leaves open what happens then, but for unsigned ones.
    """

    def __init__(
        self, kernel: str, functions: Functions, names: dict[str, Value], *, wraps: bool
    ) -> None:
        self.kernel = kernel
        self.functions = functions
        self.names = names
        self.wraps = wraps

    def refuse(self, node: ast.AST, why: str = "is nothing that kernels use") -> NoReturn:
        """Refuse what has no counterpart."""
        raise KernelError(
            f"kernel {self.kernel} cannot be written in C: `{ast.unparse(node)}` {why}."
        )

    def value(self, node: ast.expr) -> Value:
        """Return an expression."""
        kind = type(node).__name__.lower()
        found: Callable[[Any], Value] = getattr(self, f"of_{kind}", self.refuse)
        return found(node)

    def of_name(self, node: ast.Name) -> Value:
        """Return a variable."""
        if node.id in ("inf", "nan"):
            return Value({"inf": "INFINITY", "nan": "NAN"}[node.id], "float32")
        if node.id not in self.names:
            self.refuse(node, "has no value yet")
        return self.names[node.id]

    def of_constant(self, node: ast.Constant) -> Value:
        """Return a number that stands in the text."""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self.refuse(node)
        return Value(repr(node.value), PLAIN if isinstance(node.value, int) else "float64")

    def of_attribute(self, node: ast.Attribute) -> Value:
        """Return an index of the thread."""
        name = ast.unparse(node)
        if name not in _INDICES:
            self.refuse(node)
        return Value(_INDICES[name], INDEX)

    def of_tuple(self, node: ast.Tuple) -> Value:
        """Return several expressions."""
        return Value("", "", items=tuple(self.value(each) for each in node.elts))

    def of_subscript(self, node: ast.Subscript) -> Value:
        """Return an element."""
        array = self.value(node.value)
        if array.shape is None:
            self.refuse(node, "has no elements")
        at = self.value(node.slice)
        places = "".join(f"[{place.text}]" for place in at.items or (at,))
        return Value(f"{array.text}{places}", array.type)

    def of_unaryop(self, node: ast.UnaryOp) -> Value:
        """Return a number with its sign turned, or its bits."""
        value = self.value(node.operand)
        if isinstance(node.op, ast.Invert):
            value = value.to(computed(value.type))
            return Value(f"~{value.beside(PREFIX)}", value.type, PREFIX)
        if not isinstance(node.op, ast.USub):
            self.refuse(node)
        value = value.to(computed(value.type))
        if self.wraps and value.type == "int64":
            return Value(negative(value), "int64", PREFIX)
        return Value(f"-{value.beside(PREFIX)}", value.type, PREFIX)

    def of_binop(self, node: ast.BinOp) -> Value:
        """Return two numbers combined, in the type that both have room in."""
        left, right = self.value(node.left), self.value(node.right)
        sign, binds = SIGNS[type(node.op)]
        kind = self.common(node, left, right)
        if isinstance(node.op, ast.Div) and kind not in FLOATS:
            kind = "float64"
        if kind == TRUTH and sign not in "&|^":
            self.refuse(node, "computes with truth values")
        left, right = together(kind, left, right, shifts=sign in ("<<", ">>"))
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and kind == "int64":
            name = "floor_quotient" if isinstance(node.op, ast.FloorDiv) else "floor_rest"
            return Value(f"{name}({left.text}, {right.text})", kind)
        if self.wraps and kind == "int64" and sign in ("+", "-", "*", "<<"):
            unsigned = combined(sign, binds, left.to("uint64"), right, kind)
            return Value(f"(int64)({unsigned.text})", kind, PREFIX)
        return combined(sign, binds, left, right, kind)

    def common(self, node: ast.expr, *values: Value) -> str:
        """Return the type in which several numbers are computed with."""
        kind = common(*values)
        if kind is None:
            self.refuse(node, "combines signed and unsigned numbers of 64 bits")
        return kind

    def of_compare(self, node: ast.Compare) -> Value:
        """Return a truth value."""
        left, right = self.value(node.left), self.value(node.comparators[0])
        sign, binds = SIGNS[type(node.ops[0])]
        left, right = together(self.common(node, left, right), left, right)
        return Value(f"{left.beside(binds + 1)} {sign} {right.beside(binds + 1)}", TRUTH, binds)

    def of_ifexp(self, node: ast.IfExp) -> Value:
        """Return a choice."""
        test, left, right = (self.value(each) for each in (node.test, node.body, node.orelse))
        kind = left.type if left.type == right.type else self.common(node, left, right)
        return choice(test, *together(kind, left, right), kind)

    def of_call(self, node: ast.Call) -> Value:
        """Return what a function returns."""
        called = ast.unparse(node.func)
        if called in _GRID:
            return Value(_GRID[called], "int64")
        arguments = [self.value(each) for each in node.args]
        if called in TYPES:
            return _conversion(node.args[0], arguments[0], called)
        if called == "bfloat16":
            number = arguments[0].to_float()
            return Value(f"bfloat16_of_{number.type}({number.text})", "uint16")
        if called == "float_of_bfloat16":
            return Value(f"{called}({arguments[0].text})", "float32")
        if self.functions.has(called):
            name, (kind,) = self.functions.call(called, arguments)
            return Value(f"{name}({', '.join(each.text for each in arguments)})", kind)
        if called in ("min", "max"):
            return self.extreme(node, "<" if called == "min" else ">", *arguments)
        if called == "abs":
            return _absolute(arguments[0])
        module, _, name = called.partition(".")
        if module not in ("math", "libdevice"):
            self.refuse(node)
        floats = [each.to_float() for each in arguments]
        kind = self.common(node, *floats)
        if module == "libdevice" and kind == "float32":
            name = name.removesuffix("f")
        return Value(f"{name}({', '.join(each.to(kind).text for each in floats)})", kind)

    def extreme(self, node: ast.expr, sign: str, *values: Value) -> Value:
        """Return the smaller or the larger of two numbers."""
        kind = self.common(node, *values)
        left, right = together(kind, *values)
        text = f"{left.beside(COMPARED + 1)} {sign} {right.beside(COMPARED + 1)}"
        return choice(Value(text, TRUTH, COMPARED), left, right, kind)


def _conversion(node: ast.expr, value: Value, wanted: str) -> Value:
    """Return a number as one of another type; a fraction of the text is written as such."""
    stands = isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)
    if wanted == "float32" and value.type == "float64" and stands:
        return Value(f"{value.text}f", wanted, value.binds)
    return value.to(wanted)


def _absolute(value: Value) -> Value:
    """Return a number without its sign."""
    if value.type in FLOATS:
        return Value(f"fabs({value.text})", value.type)
    value = value.to(computed(value.type))
    if value.type != "int64":
        return value
    test = f"{value.beside(COMPARED + 1)} < 0"
    return Value(f"{test} ? {negative(value)} : {value.text}", value.type, CHOICE)
