"""The counts of `mt bench launches`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import mt_tensor as mt
from mt.bench import launches
from mt.bench.command import main


def test_steps_of_other_packages_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> Callable[[], Any]:
        x, seen = mt.ones(3), mt.zeros(3)
        return lambda: seen.add_(x)

    monkeypatch.setattr(launches, "steps", lambda: {"sums": make})
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


def test_without_steps_the_report_says_where_they_come_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launches, "steps", dict)
    assert main(["launches"]) == 0
    assert "pip install mt-nn" in capsys.readouterr().out
