"""The counts of `mt bench launches`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import mt_tensor as mt
from mt.bench import launches
from mt.bench.command import main


def test_launches_of_a_step_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> Callable[[], Any]:
        x, seen = mt.ones(3), mt.zeros(3)
        return lambda: seen.add_(x)

    monkeypatch.setattr(launches, "STEPS", {"sums": make})
    assert main(["launches", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {
        "step": "sums",
        "launches": 1,
        "allocations": 0,
        "uploads": 0,
        "downloads": 0,
        "synchronisations": 0,
        "least_blocks": None,
    }
    assert main(["launches", "--each"]) == 0
    assert "1 add_float32_contiguous" in capsys.readouterr().out
