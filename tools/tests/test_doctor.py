"""The doctor finds what is wrong, says how to cure it, and then fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mt.workspace import ROOT


def examine(**changes: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Run the command in a process of its own; return its status and the findings by subject."""
    done = subprocess.run(
        [sys.executable, "-m", "mt", "doctor", "--json"],
        cwd=ROOT / "tools",
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(done.stdout):
        found.setdefault(finding["subject"], []).append(finding)
    return done.returncode, found


def test_nothing_is_wrong_here() -> None:
    status, found = examine(MT_BACKEND="")
    assert status == 0
    assert {"Python", "mt-operators", "mt-nn", "numpy", "backend numpy", "cache"} <= set(found)
    assert all(finding["state"] != "fault" for findings in found.values() for finding in findings)
    assert all(
        bool(finding["cure"]) == (finding["state"] != "fine")
        for findings in found.values()
        for finding in findings
    )


@pytest.mark.parametrize(
    ("name", "value", "subject", "state", "cure"),
    [
        ("MT_BACKEND", "nobody", "default backend", "fault", "unset MT_BACKEND"),
        ("NUMBA_DISABLE_JIT", "1", "compiler", "fault", "unset NUMBA_DISABLE_JIT"),
        ("MT_FAST_CACHE", "off", "cache", "note", "unset MT_FAST_CACHE"),
        ("NUMBA_NUM_THREADS", "1", "threads", "note", "unset NUMBA_NUM_THREADS"),
    ],
)
def test_a_setting_that_does_harm_is_found(
    name: str, value: str, subject: str, state: str, cure: str
) -> None:
    status, found = examine(**{name: value})
    if name == "NUMBA_NUM_THREADS" and (os.cpu_count() or 1) == 1:
        pytest.skip("one thread is all there are")
    assert [f["cure"] for f in found[subject] if f["state"] == state] == [cure]
    assert status == (state == "fault")


def test_a_cache_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, found = examine(MT_FAST_CACHE=str(tmp_path / "file" / "folder"))
    assert status == 1
    assert found["cache"][0]["state"] == "fault"
    assert "MT_FAST_CACHE=" in found["cache"][0]["cure"]
