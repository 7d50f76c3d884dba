"""The graph of stages is read from the packages' declarations, and mistakes are reported."""

import textwrap
from pathlib import Path

import pytest

from mt.workspace import UnknownStageError, Workspace, WorkspaceError


def package(root: Path, name: str, dependencies: str = "[]", extras: str = "") -> None:
    folder = root / "packages" / name
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\ndependencies = {dependencies}\n'
        f"[project.optional-dependencies]\n{textwrap.dedent(extras)}"
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    package(tmp_path, "mt-top", '["mt-middle>=0.1"]', 'side = ["mt-side"]\nplot = ["matplotlib"]')
    package(tmp_path, "mt-bottom")
    package(tmp_path, "mt-middle", '["mt_bottom>=0.1,<0.2", "numpy>=2"]')
    package(tmp_path, "mt-side", '["mt-middle"]')
    return Workspace.read(tmp_path)


def test_stages_are_ordered_by_their_dependencies(workspace: Workspace) -> None:
    assert list(workspace.stages) == ["mt-bottom", "mt-middle", "mt-side", "mt-top"]


@pytest.mark.parametrize("name", ["mt-middle", "mt_middle", "middle", "MT-Middle"])
def test_stage_is_found_by_any_of_its_names(workspace: Workspace, name: str) -> None:
    stage = workspace[name]
    assert (stage.name, stage.short, stage.import_name) == ("mt-middle", "middle", "mt_middle")


def test_unknown_stage_is_an_error_that_lists_the_stages(workspace: Workspace) -> None:
    with pytest.raises(UnknownStageError, match=r"'centre'.*mt-bottom, mt-middle"):
        workspace["centre"]


def test_upstream_contains_all_dependencies(workspace: Workspace) -> None:
    top = workspace["top"]
    assert [s.short for s in workspace.upstream(top)] == ["bottom", "middle", "top"]
    assert [s.short for s in workspace.upstream(top, ["side"])] == [
        "bottom",
        "middle",
        "side",
        "top",
    ]


def test_circular_dependencies_raise_workspace_error(tmp_path: Path) -> None:
    package(tmp_path, "mt-egg", '["mt-hen"]')
    package(tmp_path, "mt-hen", '["mt-egg"]')
    with pytest.raises(WorkspaceError, match=r"cycle: mt-\w+ -> mt-\w+ -> mt-\w+"):
        Workspace.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[project", "not valid TOML"),
        ("[tool.other]", "'project' is missing"),
        ('[project]\nname = "mt-a"\ndependencies = ["numpy=>2"]', "invalid dependency"),
    ],
)
def test_invalid_pyproject_raises_workspace_error_with_the_package_name(
    tmp_path: Path, text: str, complaint: str
) -> None:
    file = tmp_path / "packages" / "mt-a" / "pyproject.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(WorkspaceError, match=f"mt-a.*{complaint}"):
        Workspace.read(tmp_path)


def test_folder_without_packages_raises_workspace_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no package found"):
        Workspace.read(tmp_path)
