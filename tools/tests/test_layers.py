"""Stages and cores import only modules of lower layers.

import-linter checks the contracts in `pyproject.toml`. Here are the rules that it cannot express.
Imports inside functions and for type checkers count.
"""

import os
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from mt.source.parts import lines_of_code, part_of
from mt.source.reading import reading_order
from mt.source.symbols import find, load
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()
PACKAGES = [stage.import_name for stage in WORKSPACE.stages.values()]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CONTRACTS = {each["id"]: each for each in SETTINGS["importlinter"]["contracts"]}
METHODS = [tuple(line.split(" -> ")) for line in CONTRACTS["cores"]["ignore_imports"][1:]]
"""Circular imports of tables of methods, which type checkers need."""

each_stage = pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda s: s.short)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


def imported(graph: grimp.ImportGraph, module: str) -> set[str]:
    """Return the modules of its package that a module imports."""
    package = module.partition(".")[0]
    return {
        other
        for other in graph.find_modules_directly_imported_by(module)
        if other.partition(".")[0] == package and (module, other) not in METHODS
    }


def test_import_contracts_hold() -> None:
    assert set(SETTINGS["importlinter"]["root_packages"]) == set(PACKAGES)
    layers = [name for layer in CONTRACTS["stages"]["layers"] for name in layer.split(" | ")]
    assert set(layers) == set(PACKAGES)
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == os.EX_OK


@each_stage
def test_stage_without_dependencies_imports_only_the_standard_library(
    stage: Stage, graph: grimp.ImportGraph
) -> None:
    below = WORKSPACE.upstream(stage)
    declared = {requirement.name for each in below for requirement in each.dependencies}
    if declared <= WORKSPACE.stages.keys():
        extras = {r.name.replace("-", "_") for extra in stage.extras.values() for r in extra}
        found = graph.find_modules_directly_imported_by(stage.import_name, as_package=True)
        roots = {module.partition(".")[0] for module in found}
        assert roots <= sys.stdlib_module_names | {*PACKAGES} | extras


@each_stage
def test_core_modules_import_only_earlier_modules_of_the_reading_order(
    stage: Stage, graph: grimp.ImportGraph
) -> None:
    order = reading_order(stage.folder / "README.md")
    files = (stage.source / "core").rglob("*.py")
    paths = [file.relative_to(stage.source) for file in files if lines_of_code(file.read_text())]
    assert sorted(order) == sorted(path.as_posix() for path in paths)
    modules = [
        ".".join([stage.import_name, *Path(path).with_suffix("").parts]).removesuffix(".__init__")
        for path in order
    ]
    for place, module in enumerate(modules):
        assert imported(graph, module) <= {*modules[:place]}, module


@each_stage
def test_core_imports_only_names_from_other_cores(stage: Stage) -> None:
    modules = load(*WORKSPACE.sources)
    core = modules[stage.import_name].members.get("core")
    pending = [] if core is None else [core]
    for module in pending:
        for member in module.members.values():
            if member.is_alias and member.target_path.rpartition(".")[0] in PACKAGES:
                assert part_of(find(modules, member.target_path).path) == "core", member.path
            elif not member.is_alias and member.is_module:
                pending.append(member)


@each_stage
def test_stages_have_no_circular_imports(stage: Stage, graph: grimp.ImportGraph) -> None:
    """The package itself is excluded: it imports its modules, and they import its version."""
    below = graph.find_descendants(stage.import_name)
    order = TopologicalSorter({module: imported(graph, module) for module in below})
    try:
        order.prepare()
    except CycleError as error:
        pytest.fail(" is imported by ".join(error.args[1]))
