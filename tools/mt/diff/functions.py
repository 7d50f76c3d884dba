"""The functions and methods of a stage, each with what of it can be compared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

from mt.source.modules import Library, Module
from mt.source.normal import definitions, folded, shape_of, text_of
from mt.source.parts import Part, part_of

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method of a stage.

    Attributes:
        name: as in `mt_autodiff.scalar.Scalar.backward`.
        module: where it is defined.
        node: its definition there.
        code: the same without docstring, annotations and imports.
    """

    name: str
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef = field(repr=False)
    code: str = field(repr=False)

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.node.name

    @property
    def owner(self) -> str:
        """The class in whose body it stands, or whose method it becomes; empty if there is none."""
        inside = self.name.removeprefix(f"{self.module.name}.").rpartition(".")[0]
        marks = {ast.unparse(mark).partition("(")[0] for mark in self.node.decorator_list}
        return "Tensor" if not inside and marks & {"method", "attribute"} else inside

    @cached_property
    def shape(self) -> str:
        """Its code without names."""
        return shape_of(self.code)

    @cached_property
    def signs(self) -> str:
        """What is not a name or a number of its code: those of one shape have it in common."""
        return "".join(word for word in self.words if not (word[0].isalnum() or word[0] == "_"))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its code as names, numbers and signs."""
        return tuple(_WORD.findall(self.code))


@cache
def functions(library: Library, package: str, parts: tuple[Part, ...]) -> tuple[Function, ...]:
    """Return the functions and methods of some parts of a package."""
    return tuple(_functions(library, package, parts))


def _functions(library: Library, package: str, parts: tuple[Part, ...]) -> Iterator[Function]:
    for module in library.modules(package):
        if part_of(module) not in parts:
            continue
        plain = definitions(folded(module), module.name)
        for (name, node), (_, left) in zip(
            definitions(module.tree, module.name), plain, strict=True
        ):
            yield Function(name, module, node, text_of(left))
