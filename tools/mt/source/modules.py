"""Modules of the workspace as syntax trees, found by their import names.

A name means here what it means to Python: a module's names are what it defines, assigns and
imports, and a class has those of its bases. What a program puts there while it runs, as the rows of
the operator table become methods of tensors, no reader of text can see.
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
    """A file that should hold a module is not Python; says where."""


@dataclass(frozen=True)
class Imported:
    """A name that a module takes from elsewhere.

    Attributes:
        module: where it comes from.
        name: what it is called there; None if it is the module itself.
    """

    module: str
    name: str | None


@dataclass(frozen=True, eq=False)
class Module:
    """The source of one module.

    Attributes:
        name: what a program imports, as in `mt_autodiff.core.scalar`.
        file: where it stands.
        text: all of it.
        tree: the same, parsed.
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
        """Where it lies below the folder of its package: `scalar.py`."""
        return "/".join(self.file.parts[-self.name.count(".") - self.is_package :])

    @cached_property
    def names(self) -> Mapping[str, Statement | Imported]:
        """What each name of the module is; of several statements about one, the last."""
        return dict(self._bound(self.tree.body))

    @cached_property
    def place(self) -> Text:
        """Its text, in which the tree says what stands where."""
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
        """Return the full name of the module that a statement imports from."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        above = parts[: len(parts) - statement.level + self.is_package]
        return ".".join([*above, *([statement.module] if statement.module else [])])

    def segment(self, node: ast.AST) -> str:
        """Return the text of a statement, its decorators included, without indentation."""
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
    """Yield the functions of a module and the methods of its classes, with their dotted names."""

    def within(body: list[ast.stmt], prefix: str) -> Any:
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                yield from within(statement.body, f"{prefix}{statement.name}.")
            elif isinstance(statement, Definition):
                yield f"{prefix}{statement.name}", statement

    yield from within(module.tree.body, f"{module.name}.")


def documentation(statement: ast.AST) -> str:
    """Return the text of a string that stands alone, which documents something; else nothing."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return text.strip() if isinstance(text, str) else ""
    return ""


def lines_of(node: ast.AST) -> tuple[int, int]:
    """Return the first and the last line of a statement; the first is that of its decorators."""
    if isinstance(node, ast.Module):
        return 1, max([1, *(lines_of(statement)[1] for statement in node.body)])
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])  # type: ignore[attr-defined]
    return first, node.end_lineno or first  # type: ignore[attr-defined]


@lru_cache(maxsize=2000)
def _tree(text: str) -> ast.Module:
    """Return the syntax tree of a text, which nobody changes: copies of a package share it."""
    return ast.parse(text)


class Library:
    """All modules of some packages.

    Args:
        folders: by the import name of each package, the folder that holds its `__init__.py`.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = dict(folders)
        self._read: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """Return the module of this name, or its stub if it has one; None if there is neither.

        Raises:
            UnreadableModuleError: its file is not Python.
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
        for file in (path / "__init__.pyi", path / "__init__.py", path.with_suffix(".py")):
            if file.is_file():
                return file
        return None

    def _parsed(self, name: str, file: Path) -> Module:
        try:
            text = file.read_text(encoding="utf-8")
            return Module(name, file, text, _tree(text))
        except UnicodeDecodeError as error:
            raise UnreadableModuleError(f"{file} is not written in UTF-8: {error}.") from error
        except SyntaxError as error:
            message = f"{file}:{error.lineno}: {error.msg}. Mend this first."
            raise UnreadableModuleError(message) from error

    def modules(self, package: str) -> Iterator[Module]:
        """Yield the modules of a package, by name."""
        folder = self.folders[package]
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            name = ".".join([package, *parts])
            found = self.module(name)
            if found is not None:
                yield found if found.file == file else self._parsed(name, file)
