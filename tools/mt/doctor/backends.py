"""Check the backends: which exist, whether each works here, and which is the default."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import repair
from mt.workspace import Workspace

VARIABLE = "MT_BACKEND"


def check_backends(workspace: Workspace) -> Iterator[Finding]:
    """Check each backend, and the default in this environment."""
    try:
        import mt_tensor as mt
        from mt_tensor.backends.listing import contested
        from mt_tensor.errors import BackendError
    except Exception:  # noqa: BLE001 - the import check has reported it
        return
    for name, info in mt.backends().items():
        status, _, reason = info.status().partition(": ")
        if status == "ready":
            yield fine(f"backend {name}", f"{info.distribution} {info.version}")
        elif status == "unavailable":
            yield note(f"backend {name}", "does not run here", reason)
        else:
            fix = repair(workspace, info.distribution)
            yield fault(f"backend {name}", f"is broken: {reason}", fix)
    for name, problem in contested().items():
        yield fault(f"backend {name}", "is claimed twice", problem)
    chosen = os.environ.get(VARIABLE, "")
    try:
        yield fine("default backend", mt.current_backend().name)
    except BackendError as error:
        yield fault("default backend", f"{VARIABLE}={chosen} ({error})", f"unset {VARIABLE}")
