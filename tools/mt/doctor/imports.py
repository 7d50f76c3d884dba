"""Whether what is installed can be imported, each in the order in which it is needed.

A broken library may end the process, so that another one tries.
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
    """Import NumPy, Numba and every stage that is installed; the first that fails is the cause."""
    wanted = {"numpy": "numpy", "numba": "numba"}
    wanted |= {str(stage.name): stage.import_name for stage in workspace.stages.values()}
    present = {name: module for name, module in wanted.items() if installed(name)}
    reason, module = _failure([*present.values()])
    for name, imported in present.items():
        if imported == module:
            yield fault(name, f"cannot be imported ({reason})", repair(workspace, name))


def _failure(modules: Sequence[str]) -> tuple[str, str]:
    """Return why an import fails, and which; nothing if none does."""
    status, lines, said = answers(IMPORT, *modules)
    for line in lines:
        if "fails" in line:
            return line["reason"], line["fails"]
    if status:
        return f"it ends the process with status {status}: {said}", lines[-1]["begins"]
    return "", ""


def answers(program: str, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run a program in a process of its own.

    Returns:
        Its exit status, the lines of JSON that it printed, and the last line of its errors.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, lines, (done.stderr.strip().splitlines() or [""])[-1]
