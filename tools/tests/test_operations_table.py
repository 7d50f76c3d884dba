"""The table of operations and backends, generated from reports of the conformance kit."""

import json
import re
from pathlib import Path

import pytest

import operations_table as table

CHECKED_IN = Path(__file__).parents[2] / "packages/mt-tensor/docs/operations.md"


def named(text: str) -> list[list[str]]:
    """Return the names of the operations in each table of a document."""
    return [re.findall(r"^\| `(\w+)`", part, re.MULTILINE) for part in text.split("\n## ")[1:]]


def test_checked_in_table_lists_the_current_operations() -> None:
    operators, others = table.operations()
    assert named(CHECKED_IN.read_text()) == [operators, others], "run `hatch run operations`"


def test_built_in_backends_support_every_operation() -> None:
    for line in CHECKED_IN.read_text().splitlines():
        if line.startswith("| `"):
            simple, numpy = (cell.strip() for cell in line.split("|")[2:4])
            assert simple in {"passed", "composed"}
            assert numpy in {"passed", "composed", "fused kernel"}


REPORTS = [
    {
        "backend": "mine",
        "kernels": ["softmax"],
        "operations": {"softmax": {"passed": 3}, "exp": {"passed": 2}, "sum": {"passed": 1}},
    },
    {"backend": "yours", "kernels": [], "operations": {"sum": {"passed": 8, "failed": 1}}},
]


def test_table_shows_the_results_of_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "mine.json", tmp_path / "yours.json"]
    for path, report in zip(paths, REPORTS, strict=True):
        path.write_text(json.dumps(report))
    assert table.main([str(path) for path in paths]) == 0
    text = capsys.readouterr().out
    assert "| operation | mine | yours |" in text
    assert "| `softmax` | fused kernel | – |" in text
    assert "| `exp` | passed | – |" in text
    assert "| `sum` | composed | not supported |" in text
    assert named(text) == list(table.operations())


def test_without_reports_the_command_exits_with_status_2_and_a_hint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert table.main([]) == 2
    assert "--mt-report" in capsys.readouterr().err
