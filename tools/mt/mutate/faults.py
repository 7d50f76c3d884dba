"""The faults that can be planted in a file, each a small change of its text.

A *place* is a piece of code that can be wrong: a comparison, a number, an argument, a statement. It
has one or more faults, which are wrong in different ways. Code that computes nothing has none:
docstrings, annotations, code for type checkers, `__all__`, error messages, texts of `--help` and
`__repr__`, sizes and colors of plots, and checks like those of types: the options of `@dataclass`
and `zip`.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

Edit = tuple[int, int, str]
"""A range of bytes, and its replacement."""

REPLACEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
"""The text of each operator, and its replacement."""

SILENT = {"__repr__", "__str__"}
"""Functions that only format text."""

MESSAGES = {"message", "hint", "reason"}
"""Names of variables for error messages."""

LOOKS = {
    *("description", "epilog", "help", "metavar", "prog"),
    *("alpha", "c", "cmap", "color", "colors", "dpi", "edgecolors", "figsize", "framealpha"),
    *("layout", "linewidths", "loc", "marker", "s", "width_ratios"),
}
"""Arguments of argparse that are texts, and of matplotlib that set the style."""


@dataclass(frozen=True)
class Fault:
    """A change of the text of a file.

    Attributes:
        file: its path, relative to the root of the workspace.
        function: the qualified name of its function or class; empty at module level.
        line: the first line that it changes, stripped.
        change: a description of the change in the line.
        number: the number of the line, from 1.
        within: the first and last line of its innermost statement.
        at_import: whether it runs at import, outside of calls.
        edit: the change of the bytes of the file.
        source: the original file.
        again: the number of earlier faults with the same description.
    """

    file: str
    function: str
    line: str
    change: str
    number: int
    within: tuple[int, int]
    at_import: bool
    edit: Edit
    source: bytes = field(repr=False)
    again: int = 0

    @property
    def name(self) -> str:
        """A short name, which stays the same when lines move."""
        key = "\0".join((self.file, self.function, self.line, self.change, str(self.again)))
        return hashlib.sha256(key.encode()).hexdigest()[:8]

    @property
    def planted(self) -> bytes:
        """The file with the fault."""
        start, end, text = self.edit
        return self.source[:start] + text.encode() + self.source[end:]

    @property
    def difference(self) -> str:
        """The fault as a unified diff."""
        before, after = (text.decode().splitlines() for text in (self.source, self.planted))
        lines = difflib.unified_diff(before, after, self.file, self.file, lineterm="", n=2)
        return "\n".join(lines)


def places(file: Path, root: Path) -> list[list[Fault]]:
    """Return the faults that can be planted in a file, grouped by place."""
    source = file.read_bytes()
    reader = _Reader(source, file.relative_to(root).as_posix())
    reader.visit(ast.parse(source))
    found, seen = [], Counter[tuple[str, str, str]]()
    for faults in reader.places:
        numbered = []
        for fault in faults:
            key = (fault.function, fault.line, fault.change)
            numbered.append(replace(fault, again=seen[key]))
            seen[key] += 1
        found.append(numbered)
    return found


class _Reader(ast.NodeVisitor):
    """Collects the places in a syntax tree.

    Args:
        source: the text.
        name: the path of the file.
    """

    def __init__(self, source: bytes, name: str) -> None:
        self.source = source
        self.name = name
        self.places: list[list[Fault]] = []
        self._lines = source.splitlines(keepends=True)
        self._starts = list(accumulate(map(len, self._lines), initial=0))
        self._function: list[str] = []
        self._calls = 0
        self._bound: list[set[str]] = [set()]
        self._statement: ast.stmt | None = None

    # --- Positions and texts ----------------------------------------------------------------------

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of the first byte of a node and of the byte after it."""
        first, last = self._starts[node.lineno - 1], self._starts[node.end_lineno - 1]  # type: ignore[attr-defined]
        return first + node.col_offset, last + node.end_col_offset  # type: ignore[attr-defined]

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _place(self, *edits: Edit) -> None:
        """Add the faults of a place, except for those that change nothing."""
        faults = [
            self._fault(edit)
            for edit in edits
            if self.source[edit[0] : edit[1]] != edit[2].encode()
        ]
        if faults:
            self.places.append(faults)

    def _fault(self, edit: Edit) -> Fault:
        start, end, text = edit
        number = bisect_right(self._starts, start)
        statement = self._statement
        return Fault(
            file=self.name,
            function=".".join(self._function),
            line=self._lines[number - 1].decode().strip(),
            change=_short(self.source[start:end].decode()) + " -> " + _short(text),
            number=number,
            within=(number, number)
            if statement is None
            else (statement.lineno, statement.end_lineno or statement.lineno),
            at_import=not self._calls,
            edit=edit,
            source=self.source,
        )

    def _instead(self, node: ast.AST, *texts: str) -> None:
        """Add the replacement of a node by other texts."""
        start, end = self._span(node)
        self._place(*((start, end, text) for text in texts))

    def _operator(self, kind: ast.AST, left: ast.AST, right: ast.AST) -> None:
        """Add the replacement of the operator between two nodes."""
        written, planted = REPLACEMENTS.get(type(kind), ("", ""))
        if not written:
            return
        begin, end = self._span(left)[1], self._span(right)[0]
        # The edit includes both operands, so that the change can be understood.
        pattern = written if "\\" in written else re.escape(written)
        found = re.search(pattern.encode(), self.source[begin:end])
        if found is None:
            return
        first, last = self._span(left)[0], self._span(right)[1]
        text = (
            self.source[first : begin + found.start()]
            + planted.encode()
            + self.source[begin + found.end() : last]
        )
        self._place((first, last, text.decode()))

    # --- Statements -------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        """Track the innermost statement, for the lines that tests execute."""
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            before, self._statement = self._statement, node
            super().visit(node)
            self._statement = before
        else:
            super().visit(node)

    def _deleted(self, node: ast.stmt) -> None:
        self._instead(node, "pass")

    def _all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit the body and the defaults of a function, if it computes anything."""
        names = {ast.unparse(decorator) for decorator in node.decorator_list}
        if node.name in SILENT or names & {"overload", "abstractmethod"}:
            return
        for outside in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if outside is not None:
                self.visit(outside)
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self._function.append(node.name)
        self._calls += 1
        self._bound.append({argument.arg for argument in arguments})
        self._all(node.body)
        self._bound.pop()
        self._calls -= 1
        self._function.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body and keywords of a class."""
        for keyword in node.keywords:
            self.visit(keyword.value)
        self._function.append(node.name)
        self._bound.append(set())
        self._all(node.body)
        self._bound.pop()
        self._function.pop()

    def visit_Expr(self, node: ast.Expr) -> None:
        """Delete a call whose result is unused; skip docstrings."""
        if isinstance(node.value, ast.Call):
            self._deleted(node)
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Delete the assignment of a name, attribute or element that has a value already."""
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & ({"__all__", "__version__"} | MESSAGES):
            return
        if not names - self._bound[-1] and not any(
            isinstance(target, ast.Tuple) for target in node.targets
        ):
            self._deleted(node)
        self._bound[-1] |= names
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Delete an annotated assignment; skip the annotation."""
        if node.value is not None:
            if not isinstance(node.target, ast.Name):
                self._deleted(node)
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Delete an augmented assignment, or replace its operator."""
        written, planted = REPLACEMENTS.get(type(node.op), ("", ""))
        if written:
            start, end = self._span(node)
            text = self.source[start:end].decode().replace(f"{written}=", f"{planted}=", 1)
            self._place((start, end, "pass"), (start, end, text))
        self.visit(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        """Delete a `del` statement."""
        self._deleted(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Delete a `raise` statement; skip its message."""
        self._deleted(node)

    def visit_Return(self, node: ast.Return) -> None:
        """Return None instead of a value."""
        if node.value is not None and ast.unparse(node.value) != "None":
            self._instead(node, "return None")
            self.visit(node.value)

    def visit_Break(self, node: ast.Break) -> None:
        """Continue a loop instead of leaving it."""
        self._instead(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        """Leave a loop instead of continuing it."""
        self._instead(node, "break")

    def visit_With(self, node: ast.With) -> None:
        """Remove the context manager of a block, if the block does not use its value."""
        start = self._span(node)[0]
        if not any(item.optional_vars for item in node.items):
            end = self._span(node.items[-1].context_expr)[1]
            end = self.source.index(b":", end)
            self._place((start, end, "if True"))
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Reraise an exception, or do not catch one of several."""
        start, end = self._span(node.body[0])[0], self._span(node.body[-1])[1]
        self._place((start, end, "raise"))
        if isinstance(node.type, ast.Tuple):
            for element in node.type.elts:
                kept = [self._text(other) for other in node.type.elts if other is not element]
                self._instead(node.type, f"({', '.join(kept)},)")
        self._all(node.body)

    def visit_If(self, node: ast.If) -> None:
        """Force a condition; skip blocks for type checkers and `python -m`."""
        test = ast.unparse(node.test)
        if test in {"TYPE_CHECKING", "not TYPE_CHECKING"} or "__name__" in test:
            return
        self._condition(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Skip a loop."""
        if not isinstance(node.test, ast.Constant):
            self._instead(node.test, "False")
        self.generic_visit(node)

    # --- Expressions ------------------------------------------------------------------------------

    def _condition(self, test: ast.expr) -> None:
        # Parenthesized if it is an assignment, as in `if (found := find()):`.
        self._instead(test, "True", "False")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Force a condition."""
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Force a condition."""
        for test in node.ifs:
            self._condition(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Replace each comparison."""
        operands = [node.left, *node.comparators]
        for kind, left, right in zip(node.ops, operands, operands[1:], strict=False):
            self._operator(kind, left, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Replace `and` by `or`, and the reverse."""
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._operator(node.op, left, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Replace an arithmetic operator."""
        if not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
            self._operator(node.op, node.left, node.right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Remove a sign or a `not`."""
        if not isinstance(node.op, ast.UAdd):
            self._instead(node, self._text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Replace a number or a bool."""
        value = node.value
        if isinstance(value, bool):
            self._instead(node, str(not value))
        elif isinstance(value, int):
            self._instead(node, str(value + 1), f"({value - 1})", *(["0"] if value else []))
        elif isinstance(value, float) and value == value and abs(value) != float("inf"):
            self._instead(node, repr(value * 10) if value else "1.0")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip f-strings: their nodes have no positions before Python 3.12."""

    def visit_Call(self, node: ast.Call) -> None:
        """Remove an argument."""
        name = ast.unparse(node.func)
        if name.removeprefix("dataclasses.") in {"dataclass", "TypeVar", "ParamSpec", "cast"}:
            return
        if name == "zip":  # `strict` is a check, like types
            self._all(node.args)
            return
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for place, argument in enumerate(arguments):
            last = place == len(node.args) - 1 and place > 0
            named = isinstance(argument, ast.keyword) and argument.arg
            if isinstance(argument, ast.keyword) and argument.arg in LOOKS:
                continue
            if (named or last) and not isinstance(argument, ast.Starred):
                before, end = self._span(arguments[place - 1]) if place else (0, 0), 0
                start = before[1] if place else self._span(argument)[0]
                end = self._span(argument)[1]
                if not place:  # include the comma after it
                    rest = re.match(rb"\s*,\s*", self.source[end:])
                    end += rest.end() if rest else 0
                self._place((start, end, ""))
            self.visit(argument)
        self.visit(node.func)

    def visit_Slice(self, node: ast.Slice) -> None:
        """Start a slice later, or end it earlier."""
        for bound, sign in ((node.lower, "+"), (node.upper, "-")):
            if bound is not None and not isinstance(bound, ast.Constant):
                self._instead(bound, f"({self._text(bound)}) {sign} 1")
        self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        """Skip annotations."""


def _short(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def effective(folder: Path, root: Path, excluded: frozenset[str]) -> Iterator[list[Fault]]:
    """Yield the places of a package, file by file.

    Args:
        folder: its source folder.
        root: the folder that paths are relative to.
        excluded: files and folders to skip.
    """
    for file in sorted(folder.rglob("*.py")):
        if not excluded & set(file.relative_to(folder).with_suffix("").parts):
            yield from places(file, root)
