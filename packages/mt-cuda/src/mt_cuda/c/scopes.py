"""Find the C declarations of the variables of a function that is written in Python.

Python's variables belong to the function; C's belong to a block, and are declared before they are
used. To keep both sources similar, a variable is declared at its first assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


class Block:
    """The statements of the body of a function, a loop or a branch.

    Attributes:
        statements: the statements.
        uses: the names in it and in nested blocks, in the order of evaluation.
        heads: the names in the block itself.
        inner: the nested blocks.
        known: the identifiers of `uses`.
        known_here: the identifiers of `heads`.
    """

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.statements = statements
        self.uses: list[ast.Name] = []
        self.heads: list[ast.Name] = []
        self.inner: list[Block] = []
        for statement in statements:
            names = list(_names_of(statement))
            inside = [Block(b) for b in (getattr(statement, n, None) for n in _PARTS) if b]
            self.heads += names
            self.inner += inside
            self.uses += [*names, *(use for block in inside for use in block.uses)]
        self.known = {use.id for use in self.uses}
        self.known_here = {use.id for use in self.heads}

    def first(self, name: str) -> ast.Name:
        """Return the first use of a name."""
        return next(use for use in self.uses if use.id == name)

    def assigns_first(self, name: str) -> bool:
        """Whether every branch of the block with this name assigns it before it is read."""
        if name in self.known_here:
            first = self.first(name)
            return first in self.heads and isinstance(first.ctx, ast.Store)
        return all(block.assigns_first(name) for block in self.inner if name in block.known)

    def each_for_itself(self, name: str) -> bool:
        """Whether only nested blocks use a name: one of them, or each assigns it first."""
        inside = [block for block in self.inner if name in block.known]
        return name not in self.known_here and (
            len(inside) == 1 or all(block.assigns_first(name) for block in inside)
        )


_PARTS = ("body", "orelse")


@dataclass(slots=True)
class Scopes:
    """The blocks in which variables are declared.

    A variable belongs to the innermost block that contains all its uses, and is declared at its
    first assignment, if that is in this very block. If sibling blocks use the same name
    independently, each has its own variable.

    Attributes:
        here: the names, as nodes of the tree, that are declared by an assignment.
        early: for each block, the names that are declared at its beginning.
    """

    here: set[ast.Name] = field(default_factory=set)
    early: dict[int, list[str]] = field(default_factory=dict)

    def find(self, block: Block, outer: frozenset[str]) -> None:
        """Find the declarations in a block and in nested blocks; `outer` is declared already."""
        known = set(outer)
        assigned = {use.id for use in block.uses if isinstance(use.ctx, ast.Store)}
        for name in dict.fromkeys(use.id for use in block.uses):
            if name not in assigned - outer or block.each_for_itself(name):
                continue
            known.add(name)
            first = block.first(name)
            if first in block.heads and isinstance(first.ctx, ast.Store):
                self.here.add(first)
            else:
                self.early.setdefault(id(block.statements), []).append(name)
        for inner in block.inner:
            self.find(inner, frozenset(known))


def _names_of(statement: ast.stmt) -> Iterator[ast.Name]:
    """Yield the names of a statement without its nested blocks, in the order of evaluation.

    The variable of a loop is not among them: the loop declares it.
    """
    match statement:
        case ast.While() | ast.If():
            parts: list[ast.AST] = [statement.test]
        case ast.For():
            parts = [statement.iter]
        case ast.Assign():
            parts = [statement.value, *statement.targets]
        case ast.AugAssign():
            parts = [statement.value, statement.target]
        case _:
            parts = [statement]
    names = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)]
    yield from sorted(names, key=lambda name: isinstance(name.ctx, ast.Store))
