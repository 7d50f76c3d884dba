"""The rows of the group `calls` run in both libraries."""

import pytest

from mt.bench.command import main
from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS
from mt.bench.workloads.calls import prepared

ROWS = [name for name, workload in WORKLOADS.items() if workload.group == "calls"]


@pytest.mark.parametrize("row", ROWS)
def test_row_runs_and_its_backward_reaches_every_leaf(row: str) -> None:
    side = library("mt_tensor", 1)
    run, leaves = prepared(row, side)
    run()
    assert bool(leaves) == row.endswith(".backward()")
    assert all(leaf.grad is not None for leaf in leaves)
    WORKLOADS[row].make(side)()


def test_every_row_runs_in_torch() -> None:
    pytest.importorskip("torch")
    side = library("torch", 1)
    for row in ROWS:
        WORKLOADS[row].make(side)()


def test_rows_are_measured_on_one_thread(capsys: pytest.CaptureFixture[str]) -> None:
    main(["x * y + z", "--group", "calls", "--against", "mt_tensor", "--rounds", "2"])
    printed = capsys.readouterr().out
    assert "backend numpy, 1 thread " in printed
    assert "(x * y + z).sum().backward()" in printed
    assert "geometric mean of 2 ratios" in printed
