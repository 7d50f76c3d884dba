"""The table of operations and backends, made of reports of the conformance kit."""

import json
import re
from pathlib import Path

import pytest

import operations_table as table

CHECKED_IN = Path(__file__).parents[2] / "packages/mt-tensor/docs/operations.md"


def named(text: str) -> list[list[str]]:
    """Return the operations that the tables of a document name, table by table."""
    return [re.findall(r"^\| `(\w+)`", part, re.MULTILINE) for part in text.split("\n## ")[1:]]


def test_the_checked_in_table_names_the_present_operations() -> None:
    operators, others = table.operations()
    assert named(CHECKED_IN.read_text()) == [operators, others], "run `hatch run operations`"


def test_the_built_in_backends_have_every_operation() -> None:
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


def test_the_table_says_what_reports_say(
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


def test_without_reports_it_says_how_to_make_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([]) == 2
    assert "--mt-report" in capsys.readouterr().err
