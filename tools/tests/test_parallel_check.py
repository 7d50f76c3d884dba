"""The report on parallel loops covers each of them."""

import pytest

from mt.parallel_check.command import main


def test_every_loop_is_parallel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1"]) == 0
    printed = capsys.readouterr().out
    for name in ("tensor_map", "tensor_zip", "tensor_reduce", "tensor_matrix_multiply"):
        report = printed.split(f"\n{name}\n")[1]
        assert "prange" in report.split("=====", 2)[2]
