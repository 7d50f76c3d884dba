"""The layering check finds each kind of violation."""

import ast
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import check_layering
import pytest
from check_layering import (
    LayeringError,
    Wheel,
    check_borders,
    check_examples,
    check_installed,
    check_parts,
    find_wheels,
    forbidden_imports,
    imported_modules,
    third_party,
    unpacked,
)
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.programs import ProgramError
from mt.requirements import closure
from mt.source.borders import trespasses
from mt.source.modules import Module
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()


def installed(**requires: list[str]) -> dict[NormalizedName, list[Requirement]]:
    return {
        canonicalize_name(name): [Requirement(line) for line in lines]
        for name, lines in requires.items()
    }


def wheel(folder: Path, stage: str, files: dict[str, str]) -> Wheel:
    its_stage = WORKSPACE[stage]
    path = folder / f"{its_stage.import_name}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return Wheel(its_stage, path)


GOOD = {
    "mt_tensor/__init__.py": "import numpy\nimport mt_autodiff\n",
    "mt_tensor/py.typed": "",
    "mt_tensor-0.1.0.dist-info/licenses/LICENSE": "",
}


def test_a_good_wheel_has_no_problems(tmp_path: Path) -> None:
    good = wheel(tmp_path, "tensor", GOOD)
    assert list(good.problems()) == []
    assert list(forbidden_imports(WORKSPACE, good.stage, good.imports())) == []


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ("mt_tensor/tests/test_it.py", "contains a test"),
        ("tests/test_it.py", "outside its package"),
    ],
)
def test_a_wheel_with_something_else_is_named(tmp_path: Path, added: str, complaint: str) -> None:
    problems = list(wheel(tmp_path, "tensor", GOOD | {added: ""}).problems())
    assert any(complaint in problem for problem in problems)


def test_a_command_may_be_outside_of_the_package(tmp_path: Path) -> None:
    points = "[console_scripts]\nmt-tensor = mt_begin:main\n\n[other]\nx = mt_more:main\n"
    added = {"mt_begin.py": "import torch", "mt_tensor-0.1.0.dist-info/entry_points.txt": points}
    good = wheel(tmp_path, "tensor", GOOD | added)
    assert list(good.problems()) == []
    assert ("torch", "mt_begin.py:1") in good.imports()  # it is looked at as the others are
    (problem,) = wheel(tmp_path, "tensor", GOOD | added | {"mt_more.py": ""}).problems()
    assert "contains mt_more.py, which is outside its package" in problem


@pytest.mark.parametrize("lost", GOOD)
def test_a_wheel_that_lacks_something_is_named(tmp_path: Path, lost: str) -> None:
    files = {name: text for name, text in GOOD.items() if name != lost}
    (problem,) = wheel(tmp_path, "tensor", files).problems()
    assert "lacks" in problem


def test_a_core_in_a_wheel_that_needs_the_rest_is_named(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    stage = replace(WORKSPACE["tensor"], folder=tmp_path)
    core = wheel(
        tmp_path,
        "tensor",
        {
            "mt_tensor/core/low.py": "from mt_tensor import more\nx = more\n",
            "mt_tensor/more.py": "x = 1\n",
        },
    )
    library = unpacked([core], tmp_path / "source")
    readme.write_text("# No order yet\n")
    assert list(check_parts(stage, library)) == []
    readme.write_text("## Reading order\n\n1. [high](src/mt_tensor/core/high.py) - all.\n")
    assert list(check_parts(stage, library)) == [
        "core/low.py (core), line 1, imports more.py (rest)",
        "core/low.py is missing from the reading order",
        "core/high.py is in the reading order, but not a file of the core",
    ]


TENSOR_FILES = {
    "mt_tensor/__init__.py": "import mt_tensor.linalg\nfrom mt_tensor.strides import size_of\n",
    "mt_tensor/errors.py": "class TensorError(Exception): ...\n",
    "mt_tensor/extending.py": "from mt_tensor.strides import Shape as Shape\n",
    "mt_tensor/linalg/__init__.py": "from mt_tensor.inside.norms import norm\n",
    "mt_tensor/inside/norms.py": "def norm(): ...\n",
    "mt_tensor/strides.py": "Shape = tuple\ndef size_of(): ...\n",
    "mt_tensor/testing/samples.py": "SAMPLES = []\n",
}

PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "packages/*/README.md", "packages/*/docs/*.md")
    for path in ROOT.glob(pattern)
)

INSIDE = [
    ("from mt_tensor.strides import size_of", "mt_tensor.strides"),
    ("from mt_tensor import strides", "mt_tensor.strides"),
    ("import mt_tensor.strides", "mt_tensor.strides"),
    ("import mt_tensor.strides as s", "mt_tensor.strides"),
    ("from mt_tensor.strides import *", "mt_tensor.strides"),
    ("from mt_tensor.inside.norms import norm", "mt_tensor.inside.norms"),
    ("from mt_tensor.inside import norms", "mt_tensor.inside.norms"),
    ("import mt_tensor as mt; mt.strides.size_of()", "mt_tensor.strides"),
    ("import mt_tensor; mt_tensor.strides.size_of()", "mt_tensor.strides"),
    ("if 1: from mt_tensor.strides import Shape", "mt_tensor.strides"),
    ("def f(): from mt_tensor.strides import Shape", "mt_tensor.strides"),
]

PUBLIC = """
import mt_tensor as mt
import mt_tensor.errors
from mt_tensor import errors, linalg, size_of, unknown_to_readers_of_text
from mt_tensor import *
from mt_tensor.errors import TensorError
from mt_tensor.extending import Shape
from mt_tensor.linalg import norm
from mt_tensor.testing.samples import SAMPLES
mt.size_of(), mt.errors.TensorError, mt.linalg.norm
from mt_nn.distributions import inside
from mt_nn.inside import x
import numpy.linalg
"""


def test_public_names_may_be_used(tmp_path: Path) -> None:
    nn = {"mt_nn/__init__.py": PUBLIC, "mt_nn/inside.py": "x = 1\n"}
    wheels = [wheel(tmp_path, "tensor", TENSOR_FILES), wheel(tmp_path, "nn", nn)]
    library = unpacked(wheels, tmp_path / "source")
    for stage in ("tensor", "nn"):
        assert list(check_borders(WORKSPACE, WORKSPACE[stage], library)) == []


@pytest.mark.parametrize(("text", "inside"), INSIDE)
def test_a_use_of_another_packages_inside_is_named(tmp_path: Path, text: str, inside: str) -> None:
    nn = {"mt_nn/__init__.py": "", "mt_nn/deep/file.py": f"{text}\n"}
    wheels = [wheel(tmp_path, "tensor", TENSOR_FILES), wheel(tmp_path, "nn", nn)]
    library = unpacked(wheels, tmp_path / "source")
    complaint = f"line 1 uses {inside}, which is private to mt_tensor"
    assert list(check_borders(WORKSPACE, WORKSPACE["nn"], library)) == [
        f"mt_nn/deep/file.py, {complaint}"
    ]
    (tmp_path / "examples" / "mine").mkdir(parents=True)
    (tmp_path / "examples" / "mine" / "program.py").write_text(text)
    assert list(check_examples(WORKSPACE, tmp_path / "examples", library)) == [
        f"examples/mine/program.py, {complaint}"
    ]


@pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda stage: stage.short)
def test_a_stage_uses_only_public_names_of_others(stage: Stage) -> None:
    assert list(check_borders(WORKSPACE, stage, WORKSPACE.library())) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_show_only_public_names(document: Path) -> None:
    for example in PYTHON.findall(document.read_text(encoding="utf-8")):
        program = Module("document", document, example, ast.parse(example))
        assert list(trespasses(WORKSPACE.library(), program, WORKSPACE.public)) == []


def test_the_examples_use_only_public_names() -> None:
    assert list(check_examples(WORKSPACE, ROOT / "examples", WORKSPACE.library())) == []


@pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda stage: stage.short)
def test_public_names_of_a_stage_exist(stage: Stage) -> None:
    library = WORKSPACE.library()
    for place in stage.public:
        assert library.module(f"{stage.import_name}.{place.removesuffix('.*')}") is not None


def test_imports_are_found_wherever_they_hide() -> None:
    source = """
import os.path as p, json
from . import sibling
from .sibling import thing
def late():
    from numba.core import types
    if True:
        import mt_fast
"""
    assert list(imported_modules(source, "x.py")) == [
        ("os", 2),
        ("json", 2),
        ("numba", 6),
        ("mt_fast", 8),
    ]


def test_a_late_import_of_a_later_stage_is_forbidden(tmp_path: Path) -> None:
    bad = wheel(tmp_path, "tensor", {"mt_tensor/a.py": "def f():\n    import mt_fast\n"})
    (problem,) = forbidden_imports(WORKSPACE, bad.stage, bad.imports())
    assert problem == "mt_tensor/a.py:2 imports mt_fast, which mt-tensor does not depend on"


def test_a_stage_without_dependencies_imports_only_the_standard_library() -> None:
    stage = WORKSPACE["operators"]
    fine = [("math", "a.py:1"), ("mt_operators", "a.py:2"), ("__future__", "a.py:3")]
    assert list(forbidden_imports(WORKSPACE, stage, fine)) == []
    (problem,) = forbidden_imports(WORKSPACE, stage, [("numpy", "a.py:4")])
    assert problem == "a.py:4 imports numpy, but mt-operators does not declare it"


def test_dependencies_of_an_extra_may_be_imported() -> None:
    stage = WORKSPACE["autodiff"]
    assert list(forbidden_imports(WORKSPACE, stage, [("matplotlib", "a.py:1")])) == []
    (problem,) = forbidden_imports(WORKSPACE, stage, [("numpy", "a.py:2")])
    assert problem == "a.py:2 imports numpy, but mt-autodiff does not declare it"


def test_third_parties_come_from_the_stages_below_and_from_the_extra() -> None:
    assert third_party(WORKSPACE, WORKSPACE["operators"]).keys() == set()
    assert third_party(WORKSPACE, WORKSPACE["tensor"]).keys() == {"numpy"}
    assert third_party(WORKSPACE, WORKSPACE["nn"]).keys() == {"numpy"}
    assert third_party(WORKSPACE, WORKSPACE["nn"], ["fast"]).keys() == {
        "numpy",
        "numba",
        "platformdirs",
    }


def test_the_closure_follows_extras_and_markers() -> None:
    there = installed(
        a=["b[x]>=1", "never; python_version < '3'"], b=["c; extra == 'x'", "d; extra == 'y'"], c=[]
    )
    assert closure([Requirement("a")], there) == {"a", "b", "c"}


TENSOR: dict[str, list[str]] = {"mt_operators": [], "mt_autodiff": [], "mt_tensor": [], "numpy": []}


def test_exactly_the_declared_distributions_may_come() -> None:
    stage = WORKSPACE["tensor"]
    assert list(check_installed(WORKSPACE, stage, (), installed(**TENSOR))) == []

    more = installed(**TENSOR, numba=[])
    (problem,) = check_installed(WORKSPACE, stage, (), more)
    assert "installed numba" in problem

    later = installed(**TENSOR, mt_fast=[])
    (problem,) = check_installed(WORKSPACE, stage, (), later)
    assert "installed mt-fast" in problem

    less = installed(**{name: [] for name in TENSOR if name != "numpy"})
    (problem,) = check_installed(WORKSPACE, stage, (), less)
    assert "did not install numpy" in problem


def test_transitive_dependencies_are_allowed() -> None:
    fast: dict[str, list[str]] = {"mt_fast": [], "platformdirs": []}
    fast |= {"numba": ["llvmlite>=0.44"], "llvmlite": []}
    there = installed(**TENSOR | fast)
    assert list(check_installed(WORKSPACE, WORKSPACE["fast"], (), there)) == []


class Loaded(check_layering.Environment):
    """An environment in which an import loads the given modules of the given distributions."""

    def __init__(self, modules: str) -> None:
        self.modules = modules

    def installed(self) -> dict[NormalizedName, list[Requirement]]:
        return installed(**TENSOR, numba=[], mt_fast=[])

    def ask(self, program: str, *arguments: str) -> str:
        return self.modules


def test_an_import_may_not_load_undeclared_packages() -> None:
    stage = WORKSPACE["tensor"]
    fine = Loaded('{"numpy": ["numpy"], "mt_tensor": ["mt-tensor"], "_editable_hook": []}')
    assert list(check_layering.check_imports(WORKSPACE, stage, fine)) == []

    bad = Loaded('{"numba": ["numba"], "mt_fast": ["mt-fast"]}')
    assert list(check_layering.check_imports(WORKSPACE, stage, bad)) == [
        "`import mt_tensor` loads mt_fast of mt-fast",
        "`import mt_tensor` loads numba of numba",
    ]


def test_an_empty_environment_answers_for_itself(tmp_path: Path) -> None:
    environment = check_layering.Environment(tmp_path / "environment")
    assert environment.installed() == {}
    assert environment.ask(check_layering.IMPORTS, "json") == "{}\n"
    with pytest.raises(ProgramError, match="No module named 'numpy'"):
        environment.ask(check_layering.IMPORTS, "numpy")


def test_a_missing_or_doubled_wheel_is_an_error(tmp_path: Path) -> None:
    for stage in WORKSPACE.stages.values():
        wheel(tmp_path, stage.name, {})
    assert [found.stage for found in find_wheels(WORKSPACE, tmp_path)] == list(
        WORKSPACE.stages.values()
    )
    (tmp_path / "mt_nn-0.2.0-py3-none-any.whl").touch()
    with pytest.raises(LayeringError, match="2 wheels of mt-nn"):
        find_wheels(WORKSPACE, tmp_path)
