"""The report of `mt parallel-check` covers every loop."""

import pytest

from mt.parallel_check.command import main


def test_report_shows_prange_for_every_loop(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1"]) == 0
    printed = capsys.readouterr().out
    for name in ("tensor_map", "tensor_zip", "tensor_reduce", "tensor_matrix_multiply"):
        report = printed.split(f"\n{name}\n")[1]
        assert "prange" in report.split("=====", 2)[2]
