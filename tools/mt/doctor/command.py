"""`mt doctor`: problems of this machine or environment, and their fixes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from mt.doctor.backends import check_backends
from mt.doctor.cache import check_caches
from mt.doctor.findings import Finding
from mt.doctor.gpu import check_gpu
from mt.doctor.packages import check_libraries, check_python, check_stages
from mt.doctor.processors import check_compiler, check_processors
from mt.doctor.settings import check_settings
from mt.errors import reported
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print all findings; the status is 1 if there is a fault."""
    parser = argparse.ArgumentParser(
        prog="mt doctor",
        description="Diagnose problems of this machine or environment, and how to fix them.",
    )
    parser.parse_args(arguments)
    with reported("doctor"):
        findings = list(_examined(Workspace.read()))
    print("\n".join(lines(findings)))
    return int(any(finding.state == "fault" for finding in findings))


def _examined(workspace: Workspace) -> Iterator[Finding]:
    """Yield the findings of all checks."""
    yield from check_python(workspace)
    yield from check_stages(workspace)
    yield from check_libraries(workspace)
    yield from check_backends()
    yield from check_settings()
    yield from check_processors()
    yield from check_compiler()
    yield from check_caches()
    yield from check_gpu()


def lines(findings: Sequence[Finding]) -> list[str]:
    """Return findings, and below them each fix with the subjects that it applies to."""
    width = max(len(finding.subject) for finding in findings)
    fixes: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        if finding.fix:
            fixes.setdefault((finding.state, finding.fix), []).append(finding.subject)
    return [
        *(f"{finding.state:5}  {finding.subject:{width}}  {finding.text}" for finding in findings),
        *(f"\n{state} {', '.join(subjects)}: {fix}" for (state, fix), subjects in fixes.items()),
    ]
