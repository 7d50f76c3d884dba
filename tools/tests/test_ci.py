"""`.ci/run` is the only list of steps, and the workflow derives its jobs."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mt.matrix.jobs import all_jobs
from mt.workspace import ROOT, Workspace

RUN = ROOT / ".ci" / "run"
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
ENVIRONMENTS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "hatch"
]["envs"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it is a script for bash")

FAKE = """#!/bin/sh
case "$1" in
-c) echo 3.11 ;;
-m) test "$2" = venv && mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/hatch" ;;
--version) echo Hatch ;;
esac
echo "$(basename "$0") $*" >> "$LOG"
case "$*" in "$FAIL") exit 3 ;; esac
"""
"""A fake Python and a fake hatch, which record their arguments."""


def listed() -> list[dict[str, str]]:
    done = subprocess.run([RUN, "--list"], capture_output=True, text=True, check=True)
    steps: list[dict[str, str]] = json.loads(done.stdout)["include"]
    return steps


STEPS = listed()


def run(
    folder: Path, *arguments: str, fail: str = "never", version: str = "3.11"
) -> tuple[int, list[str], str]:
    """Run the script with a fake Python; return its status, the calls of hatch, and its output."""
    fake, log = folder / "python", folder / "log"
    fake.write_text(FAKE.replace("3.11", version))
    fake.chmod(0o755)
    done = subprocess.run(
        [RUN, *arguments],
        env={**os.environ, "PYTHON": str(fake), "LOG": str(log), "FAIL": fail},
        capture_output=True,
        text=True,
        check=False,
    )
    calls = log.read_text().splitlines() if log.exists() else []
    printed = done.stdout if done.returncode in {0, 3} else done.stderr
    return done.returncode, [line for line in calls if line[-9:] != "--version"], printed


def test_every_step_has_a_unique_name_title_and_command_and_the_oldest_python() -> None:
    assert all(step.keys() == {"step", "title", "command", "python"} for step in STEPS)
    for key in ("step", "title", "command"):
        assert len({step[key] for step in STEPS}) == len(STEPS)
    oldest = {stage.pythons[0] for stage in Workspace.read().stages.values()}
    assert {step["python"] for step in STEPS} == oldest


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["step"])
def test_command_of_every_step_exists(step: dict[str, str]) -> None:
    words = step["command"].split()
    if words[:2] == ["hatch", "run"]:
        target = next(word for word in words[2:] if word[0] not in "+-")
        environment, _, script = target.rpartition(":")
        assert script in ENVIRONMENTS[environment or "default"]["scripts"]
    elif words[:2] == ["hatch", "check"]:
        assert f"hatch-check-{words[2]}" in ENVIRONMENTS
    else:
        command = words[words.index("mt") + 1]
        assert (ROOT / "tools" / "mt" / command / "command.py").is_file()


def test_all_steps_run_in_order_without_arguments(tmp_path: Path) -> None:
    status, calls, printed = run(tmp_path)
    assert status == 0
    commands = [step["command"].removeprefix("env PYTHONPATH=tools ") for step in STEPS]
    assert calls[-len(commands) :] == commands
    assert "All steps passed" in printed


def test_only_the_named_steps_run_in_listed_order(tmp_path: Path) -> None:
    chosen = [STEPS[4], STEPS[1]]
    status, calls, printed = run(tmp_path, *(step["step"] for step in chosen))
    assert status == 0
    assert calls[-2:] == [STEPS[1]["command"], STEPS[4]["command"]]
    assert not any(step["command"] in calls for step in STEPS if step not in chosen)
    assert STEPS[1]["title"] in printed


def test_run_stops_at_the_first_failing_step(tmp_path: Path) -> None:
    status, calls, printed = run(tmp_path, fail=STEPS[1]["command"].removeprefix("hatch "))
    assert status == 3
    assert calls[-1] == STEPS[1]["command"]
    assert "All steps passed" not in printed


def test_command_after_two_dashes_runs_with_hatch(tmp_path: Path) -> None:
    command = all_jobs(Workspace.read())[0].command
    status, calls, printed = run(tmp_path, "--", *command.split())
    assert (status, calls[-1], printed) == (0, command, "")
    assert run(tmp_path, "--", *command.split(), fail=command.removeprefix("hatch "))[0] == 3


def test_unknown_step_exits_with_status_2_and_lists_the_steps(tmp_path: Path) -> None:
    done = subprocess.run([RUN, "testing"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown step testing; the steps are" in done.stderr
    assert all(step["step"] in done.stderr for step in STEPS)


def test_old_or_missing_python_exits_with_status_1(tmp_path: Path) -> None:
    status, calls, printed = run(tmp_path, "lint", version="3.9")
    assert (status, len(calls)) == (1, 1)
    assert "is Python 3.9; the packages need 3.11 or newer" in printed
    assert run(tmp_path, "lint", version="3.100")[0] == 0
    done = subprocess.run(
        [RUN, "lint"],
        env={**os.environ, "PYTHON": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Python: install Python 3.11 or newer" in done.stderr


def test_failing_run_leaves_no_temporary_files(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [RUN, "lint"], env={**os.environ, "TMPDIR": str(scratch), "PYTHON": "false"}, check=False
    )
    assert done.returncode != 0
    assert list(scratch.iterdir()) == []


def test_workflow_contains_no_names_of_steps_stages_or_versions() -> None:
    text = "\n".join(line.partition("#")[0] for line in WORKFLOW.read_text().splitlines())
    words = set(re.findall(r"[\w.-]+", text))
    jobs = all_jobs(Workspace.read())
    derived = {step["step"] for step in STEPS} | {"hatch", "pytest", "ruff", "mypy", "oldest"}
    for job in jobs:
        derived |= {job.stage, f"mt-{job.stage}", job.python, job.backend, job.environment}
    assert not words & derived
    assert not re.search(r"\d\.\d", text)


def test_workflow_runs_the_steps_and_jobs_that_commands_list() -> None:
    text = WORKFLOW.read_text()
    used = set(re.findall(r"matrix\.(\w+)", text))
    assert used <= STEPS[0].keys() | all_jobs(Workspace.read())[0].as_json().keys()
    assert {"step", "command", "python"} <= used
    for source in (".ci/run --list", ".ci/run -- python -m mt matrix --json"):
        assert source in text
    for job in (".ci/run -- ${{ matrix.command }}", ".ci/run ${{ matrix.step }}"):
        assert f"- run: {job}\n" in text


def test_workflow_refers_only_to_existing_jobs_and_outputs() -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    assert {needed for job in jobs.values() if (needed := job.get("needs"))} <= jobs.keys()
    for job in jobs.values():
        for name in re.findall(r"needs\.(\w+)\.outputs\.(\w+)", json.dumps(job)):
            assert name[1] in jobs[name[0]]["outputs"]
