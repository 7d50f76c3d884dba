"""Check the backends: which exist, whether each works here, and which is the default.

A broken library may crash the process that imports it, so a child process imports the backends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import repair

PROBE = """
import json
import mt_tensor as mt
from mt_tensor.backends.listing import contested
for info in mt.backends().values():
    known = [info.name, info.distribution, info.version]
    print(json.dumps([*known, *info.status().partition(": ")[::2]]))
for name, problem in contested().items():
    print(json.dumps([name, "", "", "contested", problem]))
try:
    print(json.dumps(["default", mt.current_backend().name, "", "ready", ""]))
except mt.errors.BackendError as error:
    print(json.dumps(["default", "", "", "broken", str(error)]))
"""


def check_backends() -> Iterator[Finding]:
    """Check each backend, and the default in this environment."""
    status, rows, stderr = run_probe(PROBE)
    for name, distribution, version, state, reason in rows:
        subject = "default backend" if name == "default" else f"backend {name}"
        if state == "ready":
            yield fine(subject, f"{distribution} {version}".strip())
        elif state == "unavailable":
            yield note(subject, "does not run here", reason)
        elif name == "default":
            chosen = os.environ.get("MT_BACKEND", "")
            yield fault(subject, f"MT_BACKEND={chosen} ({reason})", "unset MT_BACKEND")
        else:
            fix = repair(distribution) if distribution else reason
            yield fault(subject, f"is {state}: {reason}", fix)
    if status:
        text = f"mt_tensor cannot be imported, or crashes ({stderr or f'status {status}'})"
        yield fault("backends", text, repair("numpy"))


def run_probe(program: str) -> tuple[int, list[Any], str]:
    """Run a program in a child process.

    Returns:
        Its exit status, the lines of JSON that it printed, and the last line of its stderr.
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, rows, (done.stderr.strip().splitlines() or [""])[-1]
