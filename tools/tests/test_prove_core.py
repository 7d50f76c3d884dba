"""The check that a core trains alone: what is deleted, what is run, and how it fails."""

import subprocess
import sys
from pathlib import Path

import prove_core
import pytest

from mt.errors import ToolError
from mt.workspace import Workspace

WORKSPACE = Workspace.read()


def test_strip_keeps_only_the_core_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "p"
    for name in ("core/low.py", "more/high.py", "__init__.py", "py.typed", "single.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    prove_core.strip(package)
    kept = {str(file.relative_to(package)) for file in package.rglob("*") if file.is_file()}
    assert kept == {"core/low.py", "__init__.py", "py.typed"}


def test_strip_without_a_core_raises_and_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text("")
    with pytest.raises(ToolError, match="has no folder core/"):
        prove_core.strip(tmp_path)
    assert (tmp_path / "single.py").exists()


def test_stages_and_scripts_of_all_trainings_exist() -> None:
    for training in prove_core.TRAININGS:
        assert training.stage in {stage.short for stage in WORKSPACE.stages.values()}
        assert (prove_core.TRAININGS_FOLDER / training.script).is_file()


def test_moons_training_succeeds_with_complete_packages() -> None:
    script = prove_core.TRAININGS_FOLDER / "moons.py"
    command = [sys.executable, str(script)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "two moons: " in result.stdout


def test_missing_wheel_exits_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove_core.main(["--dist", str(tmp_path)]) == 1
    assert "contains 0 wheels of mt-operators" in capsys.readouterr().err
