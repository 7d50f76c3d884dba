"""`mt doctor`: problems of this machine or environment, and their fixes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from mt.doctor.report import examined, lines
from mt.errors import reported
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print all findings; the status is 1 if there is a fault."""
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
        print("\n".join(lines(findings)))
    return int(any(finding.state == "fault" for finding in findings))
