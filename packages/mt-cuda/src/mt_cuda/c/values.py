"""C expressions: text, type and precedence, and the type of a combination.

The types follow Numba's rules for the same source: integers are computed in 64 bits, an integer and
a float give a float64, and a literal takes the type of the other operand. Indices that start as
`index32` keep 32 bits.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mt_tensor.extending import DTYPES

INDEX = "index32"
BOOL = "bool"
LITERAL = "plain"
"""The type of an integer literal."""

BITS = {n: 8 * t.itemsize for n, t in DTYPES.items() if n not in (BOOL, "bfloat16")}
"""The bits of an element, by the name of its type; those of bfloat16 are a uint16."""

FLOATS = tuple(name for name in BITS if name.startswith("float"))
TYPES = (*BITS, INDEX)
"""The names of types, which are also conversion functions in kernels."""

OPERATORS: dict[type, tuple[str, int]] = {
    ast.Mult: ("*", 10),
    ast.Div: ("/", 10),
    ast.FloorDiv: ("/", 10),
    ast.Mod: ("%", 10),
    ast.Add: ("+", 9),
    ast.Sub: ("-", 9),
    ast.LShift: ("<<", 8),
    ast.RShift: (">>", 8),
    ast.Lt: ("<", 7),
    ast.LtE: ("<=", 7),
    ast.Gt: (">", 7),
    ast.GtE: (">=", 7),
    ast.Eq: ("==", 6),
    ast.NotEq: ("!=", 6),
    ast.BitAnd: ("&", 5),
    ast.BitXor: ("^", 4),
    ast.BitOr: ("|", 3),
}
"""The operators in C, and their precedence."""

COMPARED, PRODUCT = (OPERATORS[sign][1] for sign in (ast.Lt, ast.Mult))
ATOM, PREFIX, CHOICE = 12, 11, 2
"""The precedence of names and calls, of prefix operators, and of `?:`."""


@dataclass(frozen=True, slots=True)
class Value:
    """A C expression.

    Attributes:
        text: its source.
        type: the name of its type; for an array, of its elements.
        binds: the precedence of its outermost operator.
        shape: the sizes, if it is an array of the block or the thread; `()` for a storage.
        items: the expressions of a tuple.
        space: the macro before pointers to the memory of the array; empty for a thread's own.
    """

    text: str
    type: str
    binds: int = ATOM
    shape: tuple[int, ...] | None = None
    items: tuple[Value, ...] = ()
    space: str = ""

    def operand(self, binds: int) -> str:
        """Return the text as an operand of an operator with this precedence."""
        return self.text if self.binds >= binds else f"({self.text})"

    def to(self, target: str) -> Value:
        """Convert to another type."""
        if self.type == target:
            return self
        if self.type == LITERAL:
            return Value(_literal(self.text, target), target, PREFIX)
        if "float16" in (self.type, target):
            return self._by_half(target)
        return Value(f"({target}){self.operand(PREFIX)}", target, PREFIX)

    def _by_half(self, target: str) -> Value:
        """Convert from or to float16, 16 bits for which C has no arithmetic."""
        if target == "float16":
            # float32 represents all integers in the range of float16 exactly
            source = self if self.type == "float64" else self.to("float32")
            return Value(f"half_of_{source.type}({source.text})", target)
        return Value(f"float_of_half({self.text})", "float32").to(target)

    def to_float(self) -> Value:
        """Convert to a float that mathematical functions take."""
        return self if self.type in ("float32", "float64") else self.to("float64")

    def stored(self, target: str) -> str:
        """Return the text to assign to a variable of a type; C converts most types itself."""
        if "float16" in (self.type, target) or (self.type == LITERAL and target in FLOATS):
            return self.to(target).text
        return self.text


def _literal(text: str, kind: str) -> str:
    """Return an integer literal of a type."""
    if kind in ("float32", "float64"):
        return f"{text}.0f" if kind == "float32" else f"{text}.0"
    if text == str(-(2**63)):  # C has no literal for this value
        return f"(-({kind}){2**63 - 1} - 1)"
    return f"({kind}){text}u" if kind == "uint64" else f"({kind}){text}"


def computed(kind: str) -> str:
    """Return the type in which a number is computed."""
    if kind in (INDEX, BOOL, LITERAL, *FLOATS):
        return kind
    return "uint64" if kind.startswith("u") else "int64"


def common(*values: Value) -> str | None:
    """Return the common type of several numbers; None if there is none."""
    kinds = {value.type for value in values} - {LITERAL}
    if len(kinds) < 2:
        return computed(kinds.pop()) if kinds else LITERAL
    kinds.discard(BOOL)
    floats = kinds.intersection(FLOATS)
    if floats:
        return "float64" if kinds - floats or len(floats) > 1 else floats.pop()
    if {"int64", "uint64"} <= kinds:
        return None
    return "uint64" if "uint64" in kinds else "int64"


def promoted(kind: str, left: Value, right: Value, *, shifts: bool = False) -> tuple[Value, Value]:
    """Convert two numbers so that C combines them in the type `kind`.

    If one of them has this type, C converts the other; a shift has the type of its left operand.
    """
    if kind in (LITERAL, BOOL):
        return left, right
    if shifts or kind not in (left.type, right.type):
        return left.to(kind), right.to(kind)
    if kind in FLOATS:
        left, right = (each.to(kind) if each.type == LITERAL else each for each in (left, right))
    return left, right


def combined(sign: str, binds: int, left: Value, right: Value, kind: str) -> Value:
    """Return the expression of a binary operator on two numbers."""
    if sign in ("<<", ">>", "&", "^", "|"):  # parenthesize, since precedences are hard to remember
        return Value(f"{left.operand(PREFIX)} {sign} {right.operand(PREFIX)}", kind, binds)
    return Value(f"{left.operand(binds)} {sign} {right.operand(binds + 1)}", kind, binds)


def choice(test: Value, left: Value, right: Value, kind: str) -> Value:
    """Return one of two numbers, depending on a condition."""
    condition = test.text if test.binds in (COMPARED - 1, COMPARED, ATOM) else f"({test.text})"
    return Value(f"{condition} ? {left.operand(CHOICE)} : {right.operand(CHOICE)}", kind, CHOICE)


def negative(value: Value) -> str:
    """Return the negative of a 64-bit integer; the smallest integer wraps around."""
    return f"(int64)(0 - (uint64){value.operand(PREFIX)})"
