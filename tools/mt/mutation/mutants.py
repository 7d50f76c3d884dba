"""Select the mutants that count, and draw a random sample of them.

A mutant does not count if it differs only where code computes nothing, as in annotations and
messages, or if `equivalent.toml` lists it with a reason: the name of its innermost function or
class, if any, and its lines before and after the mutation, without regard to spaces.

    [[mutant]]
    file = "src/mt_operators/datasets.py"
    function = "simple"
    before = "return _in_square(N, seed, lambda x1, x2: x1 < 0.5)"
    after = ["return _in_square(N, seed, lambda x1, x2: x1 <= 0.5)"]
    reason = "No random number is exactly on the boundary."
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from mt.tables import check_table, read_table

EQUIVALENT = Path(__file__).with_name("equivalent.toml")

Change = tuple[str, str, str, str]
"""A file, a function, and the lines that a mutation changes, before and after, without spaces."""


def equivalent(file: Path = EQUIVALENT) -> dict[Change, str]:
    """Return the mutants that change nothing observable, with the reason for each.

    Raises:
        TableError: an entry is invalid.
    """
    found = {}
    for entry in read_table(file).get("mutant", []):
        texts = dict.fromkeys(("file", "function", "before", "reason"), str)
        check_table(file.name, entry, {**texts, "after": list})
        for after in entry["after"]:
            lines = (_joined(entry["before"]), _joined(after))
            found[entry["file"], entry["function"], *lines] = entry["reason"]
    return found


def drawn(items: Iterable[Any], count: int, seed: int, ignored: Collection[Change]) -> list[Any]:
    """Draw work items of cosmic-ray that count, at most one from each place of the code.

    Each has a random number that depends only on the seed, its function and its number among the
    mutants of this kind in its file, so that the sample hardly changes with the code.

    Args:
        items: the work items to draw from.
        count: the number of items to draw; fewer are drawn if there are not as many.
        seed: the seed.
        ignored: changes that are not drawn.
    """
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator
    from cosmic_ray.util import read_python_source

    def chance(item: Any) -> bytes:
        (spec,) = item.mutations
        name = (seed, spec.module_path, spec.definition_name, spec.operator_name, spec.occurrence)
        return hashlib.sha256(repr(tuple(map(str, name))).encode()).digest()

    places: dict[tuple[Path, Any], Any] = {}
    for item in sorted(items, key=chance):
        if len(places) == count:
            break
        (spec,) = item.mutations
        before = read_python_source(spec.module_path)
        after = mutate_code(before, get_operator(spec.operator_name)(), spec.occurrence)
        place = (str(spec.module_path), spec.definition_name or "")
        if counts(before, after) and (*place, *changed(before, after)) not in ignored:
            places.setdefault((spec.module_path, spec.start_pos), item)
    return list(places.values())


def counts(before: str, after: str) -> bool:
    """Return whether a module is valid after a mutation, and computes something else."""
    try:
        mutated = ast.parse(after)
    except SyntaxError:
        return False
    original = ast.parse(before)
    return ast.dump(_Computing().visit(mutated)) != ast.dump(_Computing().visit(original))


def changed(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ between two texts, without spaces."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
    removed = "".join(line[1:] for line in lines if line.startswith("-"))
    added = "".join(line[1:] for line in lines if line.startswith("+"))
    return _joined(removed), _joined(added)


def _joined(text: str) -> str:
    return "".join(text.split())


class _Computing(ast.NodeTransformer):
    """Remove code that computes nothing: annotations, texts, messages, code for type checkers."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        node.returns = None
        decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
        if len(node.body) == 1 and ast.get_docstring(node) is not None:  # of a Protocol
            return None
        if node.name in {"__repr__", "__str__"} or decorators & {"overload", "abstractmethod"}:
            return None
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = []  # as in `@dataclass(frozen=True)`
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg in {"strict", "help"} else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        messages = {"message", "hint", "reason"}
        is_message = any(ast.unparse(target) in messages for target in node.targets)
        return None if is_message else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")

    def visit_If(self, node: ast.If) -> ast.AST | None:
        condition = ast.unparse(node.test)
        if "TYPE_CHECKING" in condition or "__name__" in condition:
            return None
        return self.generic_visit(node)
