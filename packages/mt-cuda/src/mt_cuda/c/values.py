"""Expressions of C: how one is written, of which type it is, and what two of them become together.

The types follow from what is combined, by the rules that Numba has for the same text: whole numbers
are computed in 64 bits, a whole number beside a float becomes a float64, and a plain number takes
the type of whatever it stands beside. Indices that begin as `index32` stay in 32 bits.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mt_tensor.extending import DTYPES

INDEX = "index32"
TRUTH = "bool"
PLAIN = "plain"
"""The type of a whole number that stands in the text."""

BITS = {n: 8 * t.itemsize for n, t in DTYPES.items() if n not in (TRUTH, "bfloat16")}
"""How many bits an element has, by the name of its type; those of bfloat16 are a uint16."""

FLOATS = tuple(name for name in BITS if name.startswith("float"))
TYPES = (*BITS, INDEX)
"""What converts a number if it is called."""

SIGNS: dict[type, tuple[str, int]] = {
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
"""The operators, as C writes them, and how tightly it binds them."""

COMPARED, PRODUCT = (SIGNS[sign][1] for sign in (ast.Lt, ast.Mult))
ATOM, PREFIX, CHOICE = 12, 11, 2
"""How tightly names and calls are bound, what has a sign before it, and `?:`."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of C.

    Attributes:
        text: how it is written.
        type: the name of its type, of its elements if it is an array.
        binds: how tightly its outermost operator binds.
        shape: the sizes, if it is an array of the block or the thread; `()` for a storage.
        items: the expressions, if it is several.
        space: the macro before pointers into the memory of the array, but for a thread's own.
    """

    text: str
    type: str
    binds: int = ATOM
    shape: tuple[int, ...] | None = None
    items: tuple[Value, ...] = ()
    space: str = ""

    def beside(self, binds: int) -> str:
        """Return the text as an operand of an operator that binds so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"

    def to(self, wanted: str) -> Value:
        """Return it converted to another type."""
        if self.type == wanted:
            return self
        if self.type == PLAIN:
            return Value(_literal(self.text, wanted), wanted, PREFIX)
        if "float16" in (self.type, wanted):
            return self._by_half(wanted)
        return Value(f"({wanted}){self.beside(PREFIX)}", wanted, PREFIX)

    def _by_half(self, wanted: str) -> Value:
        """Convert from float16 or to it, which are 16 bits that C cannot compute with."""
        if wanted == "float16":
            # float32 holds every integer that float16 does not overflow at
            source = self if self.type == "float64" else self.to("float32")
            return Value(f"half_of_{source.type}({source.text})", wanted)
        return Value(f"float_of_half({self.text})", "float32").to(wanted)

    def to_float(self) -> Value:
        """Return it as the float that a function of mathematics takes."""
        return self if self.type in ("float32", "float64") else self.to("float64")

    def stored(self, wanted: str) -> str:
        """Return the text as what a variable of a type is set to; C converts most by itself."""
        if "float16" in (self.type, wanted) or (self.type == PLAIN and wanted in FLOATS):
            return self.to(wanted).text
        return self.text


def _literal(text: str, kind: str) -> str:
    """Return a whole number of the text as one of a type."""
    if kind in ("float32", "float64"):
        return f"{text}.0f" if kind == "float32" else f"{text}.0"
    if text == str(-(2**63)):  # in C that is the negative of what no type holds
        return f"(-({kind}){2**63 - 1} - 1)"
    return f"({kind}){text}u" if kind == "uint64" else f"({kind}){text}"


def computed(kind: str) -> str:
    """Return the type that a number is computed in."""
    if kind in (INDEX, TRUTH, PLAIN, *FLOATS):
        return kind
    return "uint64" if kind.startswith("u") else "int64"


def common(*values: Value) -> str | None:
    """Return the type in which several numbers are computed with; None if there is none."""
    kinds = {value.type for value in values} - {PLAIN}
    if len(kinds) < 2:
        return computed(kinds.pop()) if kinds else PLAIN
    kinds.discard(TRUTH)
    floats = kinds.intersection(FLOATS)
    if floats:
        return "float64" if kinds - floats or len(floats) > 1 else floats.pop()
    if {"int64", "uint64"} <= kinds:
        return None
    return "uint64" if "uint64" in kinds else "int64"


def together(kind: str, left: Value, right: Value, *, shifts: bool = False) -> tuple[Value, Value]:
    """Return two numbers of which C makes that type where it combines them.

    It does so by itself where one of them has the type; what it shifts has the type of the left.
    """
    if kind in (PLAIN, TRUTH):
        return left, right
    if shifts or kind not in (left.type, right.type):
        return left.to(kind), right.to(kind)
    if kind in FLOATS:
        left, right = (each.to(kind) if each.type == PLAIN else each for each in (left, right))
    return left, right


def combined(sign: str, binds: int, left: Value, right: Value, kind: str) -> Value:
    """Return two numbers with an operator between."""
    if sign in ("<<", ">>", "&", "^", "|"):  # whose place among the others nobody remembers
        return Value(f"{left.beside(PREFIX)} {sign} {right.beside(PREFIX)}", kind, binds)
    return Value(f"{left.beside(binds)} {sign} {right.beside(binds + 1)}", kind, binds)


def choice(test: Value, left: Value, right: Value, kind: str) -> Value:
    """Return one of two numbers, by a condition."""
    asked = test.text if test.binds in (COMPARED - 1, COMPARED, ATOM) else f"({test.text})"
    return Value(f"{asked} ? {left.beside(CHOICE)} : {right.beside(CHOICE)}", kind, CHOICE)


def negative(value: Value) -> str:
    """Return a whole number of 64 bits with its sign turned; the smallest stays as it is."""
    return f"(int64)(0 - (uint64){value.beside(PREFIX)})"
