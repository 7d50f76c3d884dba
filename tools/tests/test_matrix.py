"""The matrix holds the stage that changed and all that build on it, on every Python."""

import json
from typing import Any

import pytest

from mt.matrix import command, jobs
from mt.workspace import Workspace, WorkspaceError

WORKSPACE = Workspace.read()
PYTHONS = ("3.11", "3.12")
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "default": {"scripts": {}},
    **{
        f"stage.py{python}-{stage.short}": {"python": python}
        for python in PYTHONS
        for stage in WORKSPACE.stages.values()
    },
}


def names(*wanted: str) -> list[str]:
    return [stage.short for stage in jobs.stages_of_names(WORKSPACE, wanted)]


def changed(*files: str) -> list[str]:
    return [stage.short for stage in jobs.stages_of_files(WORKSPACE, files)]


def test_a_package_brings_everything_downstream_of_it() -> None:
    assert names("mt-tensor") == ["tensor", "fast", "cuda", "nn"]
    assert names("mt-fast") == ["fast", "cuda"]
    assert names("mt-nn") == ["nn"]
    assert names("mt-nn", "mt-fast") == ["fast", "cuda", "nn"]
    assert names("mt-operators") == [stage.short for stage in WORKSPACE.stages.values()]


def test_a_changed_file_concerns_its_stage_and_downstream() -> None:
    assert changed("packages/mt-fast/src/mt_fast/loops.py") == ["fast", "cuda"]
    assert changed() == []


@pytest.mark.parametrize(
    "file",
    ["pyproject.toml", "tools/mt/workspace.py", "packages/mt-gone/README.md", "packages/README.md"],
)
def test_any_other_changed_file_concerns_every_stage(file: str) -> None:
    assert changed("packages/mt-nn/README.md", file) == names("mt-operators")


def test_every_wanted_stage_runs_on_every_python() -> None:
    wanted = jobs.stages_of_names(WORKSPACE, ["mt-nn"])
    assert jobs.jobs(WORKSPACE, ENVIRONMENTS, wanted) == [
        {"stage": "nn", "python": python, "environment": f"stage.py{python}-nn"}
        for python in PYTHONS
    ]


def test_a_stage_without_an_environment_is_an_error() -> None:
    incomplete = {name: config for name, config in ENVIRONMENTS.items() if "cuda" not in name}
    with pytest.raises(WorkspaceError, match="no environment tests mt-cuda"):
        jobs.jobs(WORKSPACE, incomplete, [])


def test_it_prints_one_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "environments", lambda: ENVIRONMENTS)
    assert command.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert len(json.loads(printed)["include"]) == len(WORKSPACE.stages) * len(PYTHONS)


def test_an_unknown_package_is_an_error_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="1"):
        command.main(["mt-tensors"])
    assert "no stage is called 'mt-tensors'" in capsys.readouterr().err
