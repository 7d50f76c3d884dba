"""The benchmark measures both sides and says so; how fast they are is no test's business."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.chart import draw
from bench.libraries import library
from bench.startup import first_step, import_seconds
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


def test_the_chart_names_every_row(tmp_path: Path) -> None:
    rows = [
        {"name": f"row {i}", "ratio": ratio, "quartiles": [0.9 * ratio, 1.2 * ratio], "target": 0.5}
        for i, ratio in enumerate((0.1, 0.9, 3.0))
    ]
    picture = tmp_path / "chart.svg"
    draw(rows, picture)
    text = picture.read_text()
    assert all(f"row {i}" in text for i in range(3))


def test_every_workload_runs_here_and_says_what_is_expected_of_it() -> None:
    side = library("mt_tensor", 1)
    small = ("(x * y + z).sum(), 8 elements: forward and backward", "matmul, 64 x 64", "Linear(")
    for name in (name for name in WORKLOADS if name.startswith(small)):
        WORKLOADS[name].make(side)()
    assert all(0 < workload.target <= 1.5 for workload in WORKLOADS.values())


def test_waiting_times_are_measured() -> None:
    assert import_seconds("json", 1) > 0
    assert 0 < first_step("mt_tensor", {"MT_BACKEND": "numpy"}) < 600
