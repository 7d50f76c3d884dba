"""Run all checks, and collect the fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mt.doctor.backends import check_backends
from mt.doctor.cache import check_cache
from mt.doctor.findings import Finding, State
from mt.doctor.gpu import check_gpu
from mt.doctor.imports import check_imports
from mt.doctor.packages import check_libraries, check_python, check_stages
from mt.doctor.settings import check_settings
from mt.doctor.speed import check_compiler, check_processors
from mt.workspace import Workspace


def examined(workspace: Workspace) -> Iterator[Finding]:
    """Yield the findings of all checks."""
    yield from check_python(workspace)
    yield from check_stages(workspace)
    yield from check_libraries(workspace)
    yield from check_imports(workspace)
    yield from check_backends(workspace)
    yield from check_settings()
    yield from check_processors()
    yield from check_compiler(workspace)
    yield from check_cache()
    yield from check_gpu()


def fixes(findings: Sequence[Finding]) -> list[tuple[State, str, str]]:
    """Return the distinct fixes, each with the state and the subjects it applies to."""
    found: dict[tuple[State, str], list[str]] = {}
    for finding in findings:
        if finding.fix:
            found.setdefault((finding.state, finding.fix), []).append(finding.subject)
    return [(state, ", ".join(subjects), fix) for (state, fix), subjects in found.items()]


def lines(findings: Sequence[Finding]) -> list[str]:
    """Return findings and fixes as plain text, which needs no library."""
    width = max(len(finding.subject) for finding in findings)
    return [
        *(f"{finding.state:5}  {finding.subject:{width}}  {finding.text}" for finding in findings),
        *(f"\n{state} {subjects}: {fix}" for state, subjects, fix in fixes(findings)),
    ]
