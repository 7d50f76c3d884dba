"""With which arguments something is called, as its source says."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol


class Class(Protocol):
    """A class in the source, or what stands in the place of one, and those it inherits from."""

    @property
    def node(self) -> ast.AST:
        """The statement that defines it."""

    @property
    def bases(self) -> Sequence[Class]:
        """The classes that it names as its bases, as far as they are known."""


def signature_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the arguments of a function, and what it returns."""
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"({_arguments(function)}){returns}"


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the arguments of a function without `self`."""
    arguments = ast.unparse(function.args)
    for owner in ("self", "cls"):
        if arguments == owner or arguments.startswith(f"{owner}, "):
            return arguments[len(owner) :].removeprefix(", ").removeprefix("/, ")
    return arguments


def made_with(made: Class) -> str:
    """Return the arguments with which a class is called."""
    line = _line_of(made)
    for owners, name in itertools.product((line[:1], line[1:]), ("__new__", "__init__")):
        for owner in owners:
            maker = _member(owner, name)
            if maker is not None:
                return f"({_arguments(maker)})"
            if name == "__init__" and _has_fields(owner):
                fields = [field for each in reversed(_line_of(owner)) for field in _fields(each)]
                return f"({', '.join(fields)})"
    return "()" if all(_is_known(owner) for owner in line) else ""


def _line_of(made: Class) -> list[Class]:
    """Return a class and all that it inherits from, nearest first."""
    return [made, *(each for base in made.bases for each in _line_of(base))]


def _member(owner: Class, name: str) -> ast.FunctionDef | None:
    found = [each for each in _body(owner) if isinstance(each, ast.FunctionDef)]
    return next((each for each in reversed(found) if each.name == name), None)


def _body(owner: Class) -> list[ast.stmt]:
    return owner.node.body if isinstance(owner.node, ast.ClassDef) else []


def _has_fields(owner: Class) -> bool:
    """Return whether a class is made with its fields: a data class or a named tuple."""
    if not isinstance(owner.node, ast.ClassDef):
        return False
    marks = [*owner.node.decorator_list, *owner.node.bases]
    kinds = ("dataclass", "NamedTuple")
    return any(kind in ast.unparse(mark) for mark in marks for kind in kinds)


def _fields(owner: Class) -> Iterator[str]:
    """Yield the fields of a class as arguments."""
    for statement in _body(owner) if _has_fields(owner) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            kind = ast.unparse(statement.annotation)
            default = "" if statement.value is None else f"={ast.unparse(statement.value)}"
            if not kind.startswith("ClassVar") and "init=False" not in default:
                yield f"{statement.target.id}: {kind}{default}"


def _is_known(owner: Class) -> bool:
    """Return whether all bases of a class are in the library, or make nothing of arguments."""
    bases = owner.node.bases if isinstance(owner.node, ast.ClassDef) else []
    plain = [ast.unparse(base).partition("[")[0] for base in bases]
    return len([name for name in plain if name not in ("ABC", "Generic")]) == len(owner.bases)
