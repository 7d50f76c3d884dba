"""Stages, examples and documents import only public modules of packages.

A package lists the modules that others may import in its `pyproject.toml`, as in
`public = ["errors", "testing.*"]` below `[tool.mt]`, where `testing.*` includes everything in the
folder.
"""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from griffe import Module

from mt.source.symbols import load
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()
MODULES = load(*WORKSPACE.sources)
PUBLIC = {stage.import_name: stage.public for stage in WORKSPACE.stages.values()}
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "packages/*/README.md", "packages/*/docs/*.md")
    for path in ROOT.glob(pattern)
)
PROGRAMS = sorted([*ROOT.glob("examples/**/*.py"), *ROOT.glob("packages/*/src/*.py")])

each_stage = pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda s: s.short)


def module(name: str) -> Module | None:
    """Return the module of a name; None if the name is something else."""
    found: Any = MODULES.members.get(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = found.members.get(part) if isinstance(found, Module) else None
    return found if isinstance(found, Module) else None


def used(owner: str, name: str) -> str:
    """Return the module that is used if a name is imported from a module."""
    found = module(owner)
    is_inside = found is not None and name not in found.imports and module(f"{owner}.{name}")
    return f"{owner}.{name}" if is_inside else owner


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the modules that a program imports, or takes from a package as in `mt.tape`."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                bound |= {alias.asname: alias.name} if alias.asname else {package: package}
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, used(node.module, alias.name)) for alias in node.names)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in bound:
                yield node.lineno, used(bound[name], attribute)


def private(text: str, own: str = "") -> list[str]:
    """Return a message for each use of a private module of a package that is not its own."""
    return [
        f"line {line} uses {name}"
        for line, name in uses(ast.parse(text))
        if name.partition(".")[0] != own and not is_public(name)
    ]


def is_public(name: str) -> bool:
    package, _, path = name.partition(".")
    places = PUBLIC.get(package, ["*"])
    return not path or any(fnmatch(path, each) or f"{path}.*" == each for each in places)


@pytest.mark.parametrize(
    "text",
    [
        "from mt_tensor.tape import record",
        "from mt_tensor import tape",
        "import mt_tensor.tape as s",
        "from mt_tensor.tape import *",
        "import mt_tensor as mt; mt.tape.record()",
        "import mt_tensor; mt_tensor.tape.record()",
        "def f(): from mt_tensor.tape import record",
    ],
)
def test_use_of_a_private_module_is_found_outside_its_package(text: str) -> None:
    assert private(text, "mt_nn") == ["line 1 uses mt_tensor.tape"]
    assert private(text, "mt_tensor") == []


@pytest.mark.parametrize(
    "text",
    [
        "import mt_tensor as mt; mt.linalg.norm, mt.backends(), mt.errors.TensorError",
        "from mt_tensor import errors, linalg, zeros, unknown_to_readers_of_text",
        "from mt_tensor import *",
        "from mt_tensor.testing.samples import SAMPLES",
        "import numpy.linalg",
    ],
)
def test_use_of_public_modules_is_allowed(text: str) -> None:
    assert private(text) == []


@each_stage
def test_stages_use_only_public_modules_of_other_stages(stage: Stage) -> None:
    for file in stage.source.rglob("*.py"):
        assert private(file.read_text(encoding="utf-8"), stage.import_name) == [], file


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_programs_use_only_public_modules(program: Path) -> None:
    assert private(program.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_only_public_modules(document: Path) -> None:
    for example in PYTHON.findall(document.read_text(encoding="utf-8")):
        assert private(example) == []


@each_stage
def test_declared_public_modules_exist(stage: Stage) -> None:
    for place in stage.public:
        assert module(f"{stage.import_name}.{place.removesuffix('.*')}") is not None
