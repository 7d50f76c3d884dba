"""Modules of the workspace as syntax trees, found by their import names.

Names are resolved as Python does: a module has the names that it defines, assigns and imports, and
a class has those of its bases. Names that are added at run time, such as the methods that rows of
the operator table add to tensors, are not visible here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mt.errors import ToolError
from mt.source.editing import Text

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Statement = Definition | ast.Assign | ast.AnnAssign | ast.Expr


class UnreadableModuleError(ToolError):
    """A file that should contain a module is not valid Python; the message says where."""


@dataclass(frozen=True)
class Imported:
    """A name that a module imports.

    Attributes:
        module: the module it is imported from.
        name: its name there; None if the module itself is imported.
    """

    module: str
    name: str | None


@dataclass(frozen=True, eq=False)
class Module:
    """The source of one module.

    Attributes:
        name: its import name, such as `mt_autodiff.core.scalar`.
        file: its path.
        text: the complete source.
        tree: the parsed source.
    """

    name: str
    file: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__` of a folder."""
        return self.file.name == "__init__.py"

    @property
    def path(self) -> str:
        """The path below the folder of its package: `scalar.py`."""
        return "/".join(self.file.parts[-self.name.count(".") - self.is_package :])

    @cached_property
    def names(self) -> Mapping[str, Statement | Imported]:
        """The statement that binds each name; the last one if there are several."""
        return dict(self._bound(self.tree.body))

    @cached_property
    def place(self) -> Text:
        """Its text, with conversion of positions in the tree."""
        return Text(self.text)

    def _bound(self, body: list[ast.stmt]) -> Iterator[tuple[str, Statement | Imported]]:
        for statement in body:
            if isinstance(statement, ast.If):  # as `if TYPE_CHECKING:`
                yield from self._bound(statement.body)
                yield from self._bound(statement.orelse)
            elif isinstance(statement, ast.Try):
                yield from self._bound(statement.body)
            elif isinstance(statement, ast.Import):
                for alias in statement.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or whole, Imported(whole, None)
            elif isinstance(statement, ast.ImportFrom):
                source = self.absolute(statement)
                for alias in statement.names:
                    yield alias.asname or alias.name, Imported(source, alias.name)
            else:
                for name in defined(statement):
                    yield name, statement  # type: ignore[misc]

    def absolute(self, statement: ast.ImportFrom) -> str:
        """Return the absolute name of the module that a statement imports from."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        above = parts[: len(parts) - statement.level + self.is_package]
        return ".".join([*above, *([statement.module] if statement.module else [])])

    def segment(self, node: ast.AST) -> str:
        """Return the source of a statement with its decorators, dedented."""
        first, last = lines_of(node)
        lines = self.text.splitlines()[first - 1 : last]
        indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        return "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines)


def defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines or assigns."""
    if isinstance(statement, Definition):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    if isinstance(statement, ast.Assign):
        targets = [
            part
            for target in statement.targets
            for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def definitions(module: Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and the methods of its classes, with qualified names."""

    def within(body: list[ast.stmt], prefix: str) -> Any:
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                yield from within(statement.body, f"{prefix}{statement.name}.")
            elif isinstance(statement, Definition):
                yield f"{prefix}{statement.name}", statement

    yield from within(module.tree.body, f"{module.name}.")


def documentation(statement: ast.AST) -> str:
    """Return the text of a string statement, such as a docstring; empty for other statements."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return text.strip() if isinstance(text, str) else ""
    return ""


def lines_of(node: ast.AST) -> tuple[int, int]:
    """Return the first and last line of a statement, including its decorators."""
    if isinstance(node, ast.Module):
        return 1, max([1, *(lines_of(statement)[1] for statement in node.body)])
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])  # type: ignore[attr-defined]
    return first, node.end_lineno or first  # type: ignore[attr-defined]


@lru_cache(maxsize=2000)
def _tree(text: str) -> ast.Module:
    """Return the syntax tree of a text, which is never modified, so that equal texts share it."""
    return ast.parse(text)


class Library:
    """All modules of some packages.

    Args:
        folders: the folder with `__init__.py` of each package, by its import name.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = dict(folders)
        self._read: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """Return the module of this name; None if there is none.

        Raises:
            UnreadableModuleError: its file is not valid Python.
        """
        if name not in self._read:
            file = self._file(name)
            self._read[name] = None if file is None else self._parsed(name, file)
        return self._read[name]

    def _file(self, name: str) -> Path | None:
        package, *rest = name.split(".")
        if package not in self.folders:
            return None
        path = self.folders[package].joinpath(*rest)
        files = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in files if file.is_file()), None)

    def _parsed(self, name: str, file: Path) -> Module:
        try:
            text = file.read_text(encoding="utf-8")
            return Module(name, file, text, _tree(text))
        except UnicodeDecodeError as error:
            raise UnreadableModuleError(f"{file} is not encoded in UTF-8: {error}.") from error
        except SyntaxError as error:
            message = f"{file}:{error.lineno}: {error.msg}. Fix this first."
            raise UnreadableModuleError(message) from error

    def modules(self, package: str) -> Iterator[Module]:
        """Yield the modules of a package, by name."""
        folder = self.folders[package]
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            name = ".".join([package, *parts])
            yield self.module(name) or self._parsed(name, file)
