"""`mt doctor`: what ails this machine or environment, and the cure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from mt.doctor.findings import Finding
from mt.doctor.report import examined, lines
from mt.errors import reported
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Show what was found; the status is 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        prog="mt doctor",
        description="Diagnose problems of this machine or environment, and how to fix them.",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    with reported("doctor"):
        findings = list(examined(Workspace.read()))
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        _show(findings)
    return int(any(finding.state == "fault" for finding in findings))


def _show(findings: Sequence[Finding]) -> None:
    """Print findings, in colour if what draws it is installed."""
    try:
        from rich.console import Console

        from mt.doctor.printing import show
    except ImportError:
        print("\n".join(lines(findings)))
    else:
        show(findings, Console())
