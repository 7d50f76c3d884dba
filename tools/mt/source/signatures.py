"""Signatures of functions and constructors, from their source."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class Class(Protocol):
    """A class in the source, or an equivalent object, and its base classes."""

    @property
    def node(self) -> ast.AST:
        """The statement that defines it."""

    @property
    def bases(self) -> Sequence[Class]:
        """Its base classes, as far as they are known."""


def signature_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the parameters and the return annotation of a function."""
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"({_arguments(function)}){returns}"


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the parameters of a function without `self`."""
    arguments = ast.unparse(function.args)
    for owner in ("self", "cls"):
        if arguments == owner or arguments.startswith(f"{owner}, "):
            return arguments[len(owner) :].removeprefix(", ").removeprefix("/, ")
    return arguments


def made_with(made: Class) -> str:
    """Return the parameters of the constructor of a class; empty if they cannot be determined."""
    parameters = _of_constructor(made)
    marks = made.node.decorator_list if isinstance(made.node, ast.ClassDef) else []
    is_layer = "takes_device_and_dtype" in map(ast.unparse, marks)
    return _with_device_and_dtype(parameters) if is_layer and parameters else parameters


def _with_device_and_dtype(parameters: str) -> str:
    """Add the parameters of `mt_nn.utils.factory` after those that can be given by position."""
    function: Any = ast.parse(f"def f{parameters}: ...").body[0]
    given = function.args
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    kept = [(each, default) for each, default in by_name if each.arg not in ("device", "dtype")]
    given.kwonlyargs, given.kw_defaults = [e for e, _ in kept], [default for _, default in kept]
    given.args += [ast.arg("device"), ast.arg("dtype")]
    given.defaults += [ast.Constant(None), ast.Constant(None)]
    return f"({ast.unparse(given)})"


def _of_constructor(made: Class) -> str:
    line = _line_of(made)
    if (declared := _declared(line)) is not None:
        return declared
    for owners, name in itertools.product((line[:1], line[1:]), ("__new__", "__init__")):
        for owner in owners:
            maker = _member(owner, name)
            if maker is not None:
                return f"({_arguments(maker)})"
            if name == "__init__" and _has_fields(owner):
                fields = [field for each in reversed(_line_of(owner)) for field in _fields(each)]
                return f"({', '.join(fields)})"
    return "()" if all(_is_known(owner) for owner in line) else ""


def _declared(line: Sequence[Class]) -> str | None:
    """Return the constructor parameters of classes derived from a `dataclass_transform` class.

    Return None if there is no such base class, or a class below it defines `__init__`.
    """
    marked = [place for place, owner in enumerate(line) if _is_marked(owner)]
    below = line[: marked[0]] if marked else []
    if not marked or any(_member(owner, "__init__") for owner in below):
        return None
    arguments: dict[str, tuple[bool, str]] = {}
    for owner in reversed(below):
        by_name = False
        for name, kind, field in _annotated(owner):
            if kind == "KW_ONLY":
                by_name = True
            else:
                arguments[name] = by_name, field
    in_order = [field for by_name, field in arguments.values() if not by_name]
    by_name_only = [field for by_name, field in arguments.values() if by_name]
    return f"({', '.join([*in_order, *['*'][: len(by_name_only)], *by_name_only])})"


def _is_marked(owner: Class) -> bool:
    """Return whether a class is decorated with `dataclass_transform`."""
    marks = owner.node.decorator_list if isinstance(owner.node, ast.ClassDef) else []
    return any("dataclass_transform" in ast.unparse(mark) for mark in marks)


def _line_of(made: Class) -> list[Class]:
    """Return a class and its bases, nearest first."""
    return [made, *(each for base in made.bases for each in _line_of(base))]


def _member(owner: Class, name: str) -> ast.FunctionDef | None:
    found = [each for each in _body(owner) if isinstance(each, ast.FunctionDef)]
    return next((each for each in reversed(found) if each.name == name), None)


def _body(owner: Class) -> list[ast.stmt]:
    return owner.node.body if isinstance(owner.node, ast.ClassDef) else []


def _has_fields(owner: Class) -> bool:
    """Return whether the fields of a class are its constructor parameters."""
    if not isinstance(owner.node, ast.ClassDef):
        return False
    marks = [*owner.node.decorator_list, *owner.node.bases]
    kinds = ("dataclass", "NamedTuple")
    return any(kind in ast.unparse(mark) for mark in marks for kind in kinds)


def _fields(owner: Class) -> Iterator[str]:
    """Yield the fields of a class as parameters."""
    for _, _, field in _annotated(owner) if _has_fields(owner) else ():
        if "init=False" not in field:
            yield field


def _annotated(owner: Class) -> Iterator[tuple[str, str, str]]:
    """Yield name, annotation and parameter of each annotated name, except for `ClassVar`."""
    for statement in _body(owner):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, kind = statement.target.id, ast.unparse(statement.annotation)
            default = "" if statement.value is None else f"={ast.unparse(statement.value)}"
            if not kind.startswith("ClassVar"):
                yield name, kind, f"{name}: {kind}{default}"


def _is_known(owner: Class) -> bool:
    """Return whether all bases of a class are in the library, or have no constructor parameters."""
    bases = owner.node.bases if isinstance(owner.node, ast.ClassDef) else []
    plain = [ast.unparse(base).partition("[")[0] for base in bases]
    return len([name for name in plain if name not in ("ABC", "Generic")]) == len(owner.bases)
