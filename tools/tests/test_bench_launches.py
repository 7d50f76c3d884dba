"""The counts of `mt bench launches`."""

import pytest

from mt.bench.command import main


def test_launches_of_a_step_are_counted_per_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launches", "LeNet, batch 16", "--each"]) == 0
    counts, *kernels = capsys.readouterr().out.splitlines()
    assert counts.startswith("LeNet, batch 16, SGD: 31 launches, ")
    assert counts.endswith(", 0 uploads, 0 downloads, 0 synchronisations")
    assert sum(int(line.split()[0]) for line in kernels) == 31
