"""The folders of the package stand one on another: none is imported by what it imports."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import mt_tensor as mt

ROOT = Path(mt.__file__).parent
KIT = {"conformance", "testing"}
BORDER = "extending.py"  # for other packages: it has names of the library, and is imported by none


def imported(tree: ast.AST) -> set[str]:
    """Return the folders that a module imports from as it is loaded."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mt_tensor."):
            found.add(str(node.module).split(".")[1])
        elif not isinstance(node, ast.FunctionDef | ast.If):  # the ifs are for the type checker
            found |= imported(node)
    return {name for name in found if (ROOT / name).is_dir()}


def test_folders_do_not_import_each_other() -> None:
    graph = {
        folder.name: set.union(set(), *(imported(ast.parse(p.read_text())) for p in modules))
        - {folder.name}
        for folder in ROOT.iterdir()
        if (modules := {*folder.glob("*.py")} - {folder / BORDER}) and folder.name not in KIT
    }
    assert graph["pointwise"] >= {"core"}
    assert not graph["core"]
    assert [*TopologicalSorter(graph).static_order()]  # raises CycleError, which names the circle
