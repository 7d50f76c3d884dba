"""A table of operations and backends in Markdown, made of what the conformance kit reported.

    pytest --pyargs mt_tensor.conformance --mt-backend numpy --mt-report numpy.json
    python tools/operations_table.py numpy.json ... > operations.md

`hatch run operations` does so for all backends of this workspace.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mt_operators import OPERATORS
from mt_operators.testing import SPECS, WHOLE_SPECS
from mt_tensor.testing import TENSOR_SPECS

INTRODUCTION = """\
# Operations and backends

This file is made by `hatch run operations`, from what the conformance kit reports.

- **passed**: one pass of the backend's own over the elements, and all tests of the kit pass.
- **composed**: made of the backend's primitives, and all tests of the kit pass.
- **fused kernel**: the backend has a version of its own, which agrees with the composed one.
- **not supported**: a test of the kit fails.
- **–**: the kit was not run on it.
"""


def operations() -> tuple[list[str], list[str]]:
    """Return the names of the scalar operators, and of the other operations on tensors."""
    others = dict.fromkeys(spec.name for spec in TENSOR_SPECS if spec.name not in OPERATORS)
    return [*SPECS, *WHOLE_SPECS], list(others)


def state(report: dict[str, Any], name: str) -> str:
    """Return in a word or two what a report says of an operation."""
    counts = report["operations"].get(name)
    if counts is None:
        return "–"
    if set(counts) != {"passed"}:
        return "not supported"
    if name in report["kernels"]:
        return "fused kernel"
    return "passed" if name in OPERATORS else "composed"


def table(reports: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown of all operations, with a column for each report."""
    return "\n".join(_lines(reports)) + "\n"


def _lines(reports: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield INTRODUCTION
    headings = ("Operators", "Operations on tensors")
    for heading, names in zip(headings, operations(), strict=True):
        yield f"## {heading}\n"
        yield " | ".join(["| operation", *(report["backend"] for report in reports)]) + " |"
        yield "|---" * (1 + len(reports)) + "|"
        for name in names:
            cells = [state(report, name) for report in reports]
            yield " | ".join([f"| `{name}`", *cells]) + " |"
        if heading == headings[0]:
            yield ""


def main(paths: Sequence[str]) -> int:
    """Print the table of some reports."""
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.write(table([json.loads(Path(path).read_text()) for path in paths]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
