"""Check that all installed packages can be imported, in dependency order.

A broken library may crash the process, so a child process imports them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from mt.doctor.findings import Finding, fault
from mt.doctor.packages import installed, repair
from mt.workspace import Workspace

IMPORT = """
import importlib, json, sys
for name in sys.argv[1:]:
    print(json.dumps({"begins": name}), flush=True)
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(json.dumps({"fails": name, "reason": f"{type(error).__name__}: {error}"}), flush=True)
"""


def check_imports(workspace: Workspace) -> Iterator[Finding]:
    """Import NumPy, Numba and every installed stage; the first failure is the cause of the rest."""
    wanted = {"numpy": "numpy", "numba": "numba"}
    wanted |= {str(stage.name): stage.import_name for stage in workspace.stages.values()}
    present = {name: module for name, module in wanted.items() if installed(name)}
    reason, module = _failure([*present.values()])
    for name, imported in present.items():
        if imported == module:
            yield fault(name, f"cannot be imported ({reason})", repair(workspace, name))


def _failure(modules: Sequence[str]) -> tuple[str, str]:
    """Return the reason and the module of the first import that fails; empty if none does."""
    status, lines, stderr = answers(IMPORT, *modules)
    for line in lines:
        if "fails" in line:
            return line["reason"], line["fails"]
    if status:
        return f"it crashes the process with status {status}: {stderr}", lines[-1]["begins"]
    return "", ""


def answers(program: str, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run a program in a child process.

    Returns:
        Its exit status, the JSON lines that it printed, and the last line of its stderr.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, lines, (done.stderr.strip().splitlines() or [""])[-1]
