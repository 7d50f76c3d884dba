"""The report on parallel loops speaks of each of them."""

import sys

import parallel_check
import pytest


def test_every_loop_is_parallel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["parallel_check", "1"])
    parallel_check.main()
    printed = capsys.readouterr().out
    for name in ("tensor_map", "tensor_zip", "tensor_reduce", "tensor_matrix_multiply"):
        report = printed.split(f"\n{name}\n")[1]
        assert "prange" in report.split("=====", 2)[2]
