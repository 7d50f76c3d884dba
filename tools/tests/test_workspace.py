"""Settings that the workspace must repeat are the same in both places."""

import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()
STAGES = list(WORKSPACE.stages.values())
HATCH: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]

each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.short)


def project(stage: Stage) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((stage.folder / "pyproject.toml").read_text())["project"]
    return table


def version(stage: Stage) -> str:
    source = (stage.folder / "src" / stage.import_name / "__init__.py").read_text()
    (line,) = [line for line in source.splitlines() if line.startswith("__version__")]
    return line.partition("=")[2].strip().strip("\"'")


@each_stage
def test_package_folder_is_named_like_its_distribution(stage: Stage) -> None:
    assert stage.folder.name == stage.name


@each_stage
def test_declared_python_versions_are_the_tested_ones(stage: Stage) -> None:
    (matrix,) = HATCH["envs"]["hatch-test"]["matrix"]
    assert matrix["python"] == list(stage.pythons)
    assert project(stage)["requires-python"] == f">={stage.pythons[0]}"


@each_stage
def test_version_range_of_another_stage_contains_its_current_version(stage: Stage) -> None:
    for requirements in (stage.dependencies, *stage.extras.values()):
        for requirement in requirements:
            other = WORKSPACE.stages.get(canonicalize_name(requirement.name))
            if other is not None:
                assert requirement.specifier.contains(version(other), prereleases=True)
                assert "<" in str(requirement.specifier), "stages bound each other from above"


@each_stage
def test_required_dependencies_are_bounded_but_not_pinned(stage: Stage) -> None:
    for requirement in stage.dependencies:
        assert requirement.specifier != SpecifierSet()
        assert "==" not in str(requirement.specifier)


@each_stage
def test_every_package_has_the_licence_of_the_repository(stage: Stage) -> None:
    assert (stage.folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_newest_txt_has_the_lower_bounds_of_the_packages() -> None:
    bounded = {
        requirement.name: min(str(part) for part in requirement.specifier if part.operator == ">=")
        for stage in STAGES
        for requirement in (*stage.dependencies, *(r for e in stage.extras.values() for r in e))
        if "<" in str(requirement.specifier)
    }
    text = (ROOT / ".ci" / "newest.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        name = Requirement(line).name
        assert line == f"{name}{bounded[name]}"


def test_requirements_dev_txt_installs_every_stage() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    editable = [line.partition("[")[0] for line in lines if line.startswith("-e")]
    assert editable == [f"-e ./packages/{stage.name}" for stage in STAGES]
