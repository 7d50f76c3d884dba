"""The README of the tools lists every command, and its examples have the documented output."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mt.__main__ import COMMANDS, main
from mt.workspace import ROOT

README = ROOT / "tools" / "mt" / "README.md"
TEXT = README.read_text()
EXAMPLES = re.findall(r"^```console\n\$ (.*)\n((?s:.*?))^```", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("command", "wanted"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_example_prints_the_documented_output(
    command: str,
    wanted: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if "mt matrix" in command and shutil.which("hatch") is None:
        pytest.skip("hatch is not on the search path")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("MT_BACKEND", raising=False)
    status = _run(command)
    printed, message = capfd.readouterr()
    assert status == ("doctor" in command), message
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(wanted, printed, options), printed


def _run(command: str) -> int:
    """Run a command in this process, which has read the stages, unless it needs a shell."""
    if command.startswith("hatch run mt "):
        return main(shlex.split(command.removeprefix("hatch run mt ")))
    path = [str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        command.replace("hatch run mt", f'"{sys.executable}" -m mt'),
        shell=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        check=False,
    ).returncode


def test_every_command_has_a_section_and_a_row() -> None:
    for command in COMMANDS:
        assert f"\n## mt {command}\n" in TEXT
        assert f"| [`mt {command}`](#mt-{command}) |" in TEXT
    assert set(re.findall(r"^## mt (\S+)", TEXT, re.MULTILINE)) == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"usage: mt {command}" in capsys.readouterr().out


def test_command_without_its_library_exits_with_status_1_and_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("mt.stages.command", "rich", "rich.console"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["stages"]) == 1
    message = capsys.readouterr().err
    assert "mt stages: rich.console is not installed" in message
    assert "requirements-dev.txt" in message
