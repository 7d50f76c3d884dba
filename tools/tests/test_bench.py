"""The benchmark measures both sides and says so; how fast they are is no test's business."""

import json
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.workloads import WORKLOADS


def test_rows_are_measured_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    main(["8 elements", "--against", "mt_tensor", "--rounds", "2", "--json", str(file)])
    rows = json.loads(file.read_text())
    assert [row["name"] for row in rows] == [name for name in WORKLOADS if "8 elements" in name]
    for row in rows:
        assert row["ours"] > 0
        assert row["torch"] > 0
        assert row["quartiles"][0] <= row["ratio"] <= row["quartiles"][1]
    printed = capsys.readouterr().out
    assert all(row["name"] in printed for row in rows)
    assert "geometric mean of 4 ratios" in printed


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no such row"])
    assert "no row matches 'no such row'" in capsys.readouterr().err


def test_a_side_that_cannot_run_is_reported() -> None:
    with pytest.raises(SystemExit, match="ended"):
        main(["8 elements", "--against", "no_such_module", "--rounds", "2"])
