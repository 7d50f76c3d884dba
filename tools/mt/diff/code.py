"""What becomes of code from one stage to another.

Every function of the second stage is set against the first stage's: *same*, if it computes the same
with the same names; *renamed*, if with others; *rewritten*, if the first stage has one of this name
that reads otherwise; and a *new idea*, if it has none.
"""

from __future__ import annotations

import ast
import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mt.source.modules import Library, Module
from mt.source.normal import definitions, folded, shape_of, text_of
from mt.source.public import FOR_TESTS

Fate = Literal["same", "renamed", "rewritten", "new idea"]

LEAST = 25
"""How many nodes a function's tree needs to be called renamed: short ones are alike by chance."""

ALIKE = 0.25
"""What share of lines two functions of one name have in common that are versions of each other."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method of a stage.

    Attributes:
        name: as in `mt_autodiff.scalar.Scalar.backward`.
        module: where it is defined.
        node: its definition there.
        code: the same without docstring, annotations and imports.
        shape: what is left if names are taken away, too; empty if it is too short to be told by it.
    """

    name: str
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef
    code: str
    shape: str

    @property
    def short(self) -> str:
        """The name by which its versions know each other: how a class is made is its own affair."""
        parts = self.name.split(".")
        return ".".join(parts[-2:] if parts[-1] == "__init__" else parts[-1:])


@dataclass(frozen=True)
class CodeChange:
    """A function of the second stage beside its counterpart in the first.

    Attributes:
        fate: what became of the counterpart.
        before: the counterpart; None for a new idea.
        after: the function.
    """

    fate: Fate
    before: Function | None
    after: Function

    def lines(self) -> list[str]:
        """Return the differing lines in the form of a unified diff, context included."""
        before = self.before.code.splitlines() if self.before else []
        after = self.after.code.splitlines()
        found = difflib.unified_diff(before, after, n=len(before) + len(after), lineterm="")
        return list(found)[3:] or [f" {line}" for line in after]


def functions(library: Library, package: str) -> Iterator[Function]:
    """Yield the functions and methods of a package, without what it has for tests."""
    for module in library.modules(package):
        if set(module.name.split(".")) & set(FOR_TESTS):
            continue
        for name, node in definitions(module):
            plain = folded(node)
            shape = shape_of(plain) if sum(1 for _ in ast.walk(plain)) >= LEAST else ""
            yield Function(name, module, node, text_of(plain), shape)


def compared_code(library: Library, before: str, after: str) -> list[CodeChange]:
    """Return what became of the code of one package in another, function by function."""
    counterparts = _Counterparts(functions(library, before))
    return [counterparts.of(function) for function in functions(library, after)]


class _Counterparts:
    """The functions of a stage, by what can tell that another one is a version of them."""

    def __init__(self, known: Iterable[Function]) -> None:
        everything = list(known)
        self._by_code = _grouped(everything, lambda function: function.code)
        self._by_shape = _grouped(everything, lambda function: function.shape)
        self._by_name = _grouped(everything, lambda function: function.short)

    def of(self, function: Function) -> CodeChange:
        """Return what became of the function's counterpart."""
        if function.code in self._by_code:
            return CodeChange("same", self._by_code[function.code][0], function)
        if function.shape and function.shape in self._by_shape:
            return CodeChange("renamed", self._by_shape[function.shape][0], function)
        namesakes = self._by_name.get(function.short, [])
        if not namesakes:
            return CodeChange("new idea", None, function)
        likeness, nearest = max(
            ((_likeness(other, function), other) for other in namesakes), key=lambda pair: pair[0]
        )
        if likeness < ALIKE:
            return CodeChange("new idea", None, function)
        return CodeChange("rewritten", nearest, function)


def _grouped(
    known: Iterable[Function], key: Callable[[Function], str]
) -> dict[str, list[Function]]:
    groups: dict[str, list[Function]] = defaultdict(list)
    for function in known:
        groups[key(function)].append(function)
    return dict(groups)


def _likeness(one: Function, other: Function) -> float:
    """Return how much two functions have in common, from 0 to 1, counted in words of code."""
    matcher = difflib.SequenceMatcher(None, one.code.split(), other.code.split(), autojunk=False)
    return matcher.ratio()
