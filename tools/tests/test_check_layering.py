"""The layering check finds each kind of violation."""

import zipfile
from pathlib import Path

import check_layering
import pytest
from check_layering import (
    LayeringError,
    Wheel,
    check_installed,
    find_wheels,
    third_party,
)
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.programs import ProgramError
from mt.requirements import closure
from mt.workspace import Workspace

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


def test_valid_wheel_has_no_problems(tmp_path: Path) -> None:
    good = wheel(tmp_path, "tensor", GOOD)
    assert list(good.problems()) == []


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ("mt_tensor/tests/test_it.py", "contains a test"),
        ("tests/test_it.py", "outside its package"),
    ],
)
def test_wheel_with_tests_or_files_outside_its_package_is_reported(
    tmp_path: Path, added: str, complaint: str
) -> None:
    problems = list(wheel(tmp_path, "tensor", GOOD | {added: ""}).problems())
    assert any(complaint in problem for problem in problems)


def test_only_modules_of_commands_may_be_outside_the_package(tmp_path: Path) -> None:
    points = "[console_scripts]\nmt-tensor = mt_begin:main\n\n[other]\nx = mt_more:main\n"
    added = {"mt_begin.py": "import torch", "mt_tensor-0.1.0.dist-info/entry_points.txt": points}
    good = wheel(tmp_path, "tensor", GOOD | added)
    assert list(good.problems()) == []
    (problem,) = wheel(tmp_path, "tensor", GOOD | added | {"mt_more.py": ""}).problems()
    assert "contains mt_more.py, which is outside its package" in problem


@pytest.mark.parametrize("lost", GOOD)
def test_wheel_without_a_required_file_is_reported(tmp_path: Path, lost: str) -> None:
    files = {name: text for name, text in GOOD.items() if name != lost}
    (problem,) = wheel(tmp_path, "tensor", files).problems()
    assert "lacks" in problem


def test_third_party_packages_come_from_lower_stages_and_extras() -> None:
    assert third_party(WORKSPACE, WORKSPACE["operators"]).keys() == set()
    assert third_party(WORKSPACE, WORKSPACE["tensor"]).keys() == {"numpy"}
    assert third_party(WORKSPACE, WORKSPACE["nn"]).keys() == {"numpy"}
    assert third_party(WORKSPACE, WORKSPACE["nn"], ["fast"]).keys() == {
        "numpy",
        "numba",
        "platformdirs",
    }


def test_closure_follows_extras_and_markers() -> None:
    there = installed(
        a=["b[x]>=1", "never; python_version < '3'"], b=["c; extra == 'x'", "d; extra == 'y'"], c=[]
    )
    assert closure([Requirement("a")], there) == {"a", "b", "c"}


TENSOR: dict[str, list[str]] = {"mt_operators": [], "mt_autodiff": [], "mt_tensor": [], "numpy": []}


def test_undeclared_or_missing_distribution_is_reported() -> None:
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

    def run_program(self, program: str, *arguments: str) -> str:
        return self.modules


def test_import_that_loads_undeclared_packages_is_reported() -> None:
    stage = WORKSPACE["tensor"]
    fine = Loaded('{"numpy": ["numpy"], "mt_tensor": ["mt-tensor"], "_editable_hook": []}')
    assert list(check_layering.check_imports(WORKSPACE, stage, fine)) == []

    bad = Loaded('{"numba": ["numba"], "mt_fast": ["mt-fast"]}')
    assert list(check_layering.check_imports(WORKSPACE, stage, bad)) == [
        "`import mt_tensor` loads mt_fast of mt-fast",
        "`import mt_tensor` loads numba of numba",
    ]


def test_new_environment_contains_only_the_standard_library(tmp_path: Path) -> None:
    environment = check_layering.Environment(tmp_path / "environment")
    assert environment.installed() == {}
    assert environment.run_program(check_layering.IMPORTS, "json") == "{}\n"
    with pytest.raises(ProgramError, match="No module named 'numpy'"):
        environment.run_program(check_layering.IMPORTS, "numpy")


def test_two_wheels_of_a_stage_raise_layering_error(tmp_path: Path) -> None:
    for stage in WORKSPACE.stages.values():
        wheel(tmp_path, stage.name, {})
    assert [found.stage for found in find_wheels(WORKSPACE, tmp_path)] == list(
        WORKSPACE.stages.values()
    )
    (tmp_path / "mt_nn-0.2.0-py3-none-any.whl").touch()
    with pytest.raises(LayeringError, match="2 wheels of mt-nn"):
        find_wheels(WORKSPACE, tmp_path)
