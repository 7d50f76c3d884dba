"""The import graph of the folders of mt_tensor has no cycles."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import mt_tensor as mt

ROOT = Path(mt.__file__).parent
KIT = {"conformance", "testing"}
REEXPORTS = "extending.py"  # re-exports names for other packages; no folder imports it


def imported_folders(tree: ast.AST) -> set[str]:
    """Return the folders that a module imports when it is loaded."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mt_tensor."):
            found.add(str(node.module).split(".")[1])
        elif not isinstance(node, ast.FunctionDef | ast.If):  # skip `if TYPE_CHECKING`
            found |= imported_folders(node)
    return {name for name in found if (ROOT / name).is_dir()}


def test_imports_between_folders_have_no_cycles() -> None:
    graph = {
        folder.name: set.union(
            set(), *(imported_folders(ast.parse(p.read_text())) for p in modules)
        )
        - {folder.name}
        for folder in ROOT.iterdir()
        if (modules := {*folder.glob("*.py")} - {folder / REEXPORTS}) and folder.name not in KIT
    }
    assert graph["pointwise"] >= {"core"}
    assert not graph["core"]
    assert [*TopologicalSorter(graph).static_order()]  # a CycleError names the cycle
