"""What the workspace must write down twice is the same in both places."""

import tomllib
from typing import Any

import pytest
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


def test_every_stage_has_an_isolated_environment() -> None:
    (matrix,) = HATCH["envs"]["stage"]["matrix"]
    assert matrix["stage"] == [stage.short for stage in STAGES]


@each_stage
def test_an_isolated_environment_sees_what_its_stage_declares(stage: Stage) -> None:
    overrides = HATCH["envs"]["stage"]["overrides"]["matrix"]["stage"]["workspace"]["members"]
    seen = [entry["value"] for entry in overrides if stage.short in entry["if"]]
    assert seen == [f"packages/{below.name}" for below in WORKSPACE.upstream(stage)[:-1]]


@each_stage
def test_folder_and_distribution_share_a_name(stage: Stage) -> None:
    assert stage.folder.name == stage.name


@each_stage
def test_the_pythons_that_are_promised_are_the_pythons_that_are_tested(stage: Stage) -> None:
    prefix = "Programming Language :: Python :: 3."
    promised = [
        line.removeprefix(prefix.removesuffix("3."))
        for line in project(stage)["classifiers"]
        if line.startswith(prefix)
    ]
    for environment in ("stage", "hatch-test"):
        (matrix,) = HATCH["envs"][environment]["matrix"]
        assert matrix["python"] == promised
    assert project(stage)["requires-python"] == f">={promised[0]}"


@each_stage
def test_a_range_on_another_stage_holds_its_present_version(stage: Stage) -> None:
    for requirements in (stage.dependencies, *stage.extras.values()):
        for requirement in requirements:
            other = WORKSPACE.stages.get(canonicalize_name(requirement.name))
            if other is not None:
                assert requirement.specifier.contains(version(other), prereleases=True)
                assert "<" in str(requirement.specifier), "stages bound each other from above"


@each_stage
def test_no_hard_dependency_is_pinned(stage: Stage) -> None:
    for requirement in stage.dependencies:
        assert requirement.specifier != SpecifierSet()
        assert "==" not in str(requirement.specifier)


@each_stage
def test_every_distribution_carries_the_licence(stage: Stage) -> None:
    assert (stage.folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_way_without_hatch_installs_every_stage() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    editable = [line.partition("[")[0] for line in lines if line.startswith("-e")]
    assert editable == [f"-e ./packages/{stage.name}" for stage in STAGES]
