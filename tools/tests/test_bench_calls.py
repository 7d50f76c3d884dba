"""The rows of the group `calls` run in both libraries, and their Python calls can be counted."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

from mt.bench.command import main
from mt.bench.counting import PACKAGES, count_calls
from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS
from mt.bench.workloads.calls import prepare

ROWS = [name for name, workload in WORKLOADS.items() if workload.group == "calls"]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_runs_and_its_backward_reaches_every_leaf(row: str) -> None:
    side = library("mt_tensor", 1)
    call = prepare(row, side)
    call.run()
    assert bool(call.leaves) == row.endswith(".backward()")
    assert all(leaf.grad is not None for leaf in call.leaves)
    call.clear()
    assert all(leaf.grad is None for leaf in call.leaves)
    WORKLOADS[row].make(side)()


def test_every_row_runs_in_torch() -> None:
    pytest.importorskip("torch")
    side = library("torch", 1)
    for row in ROWS:
        WORKLOADS[row].make(side)()


def test_rows_are_measured_on_one_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[argparse.Namespace] = []
    monkeypatch.setattr("mt.bench.comparison.run", given.append)
    for arguments in (["--group", "calls"], ["--group", "calls", "--threads", "2"]):
        main([*arguments, "--against", "mt_tensor"])
    assert [options.threads for options in given] == [[1], [2]]
    monkeypatch.undo()
    main(["x * y + z", "--group", "calls", "--against", "mt_tensor", "--rounds", "2"])
    printed = capsys.readouterr().out
    assert "(x * y + z).sum().backward()" in printed
    assert "geometric mean of 2 ratios" in printed


# --- Counting -------------------------------------------------------------------------------------


def functions(**sources: str) -> dict[str, Any]:
    """Return functions in source files of a package that does not exist."""
    names: dict[str, Any] = {}
    for file, source in sources.items():
        path = Path(PACKAGES, "mt-none", "src", "mt_none", f"{file}.py")
        exec(compile(source, str(path), "exec"), names)
    return names


def test_calls_and_moves_between_files_are_counted() -> None:
    names = functions(
        first="def once(): return 1\ndef thrice(): return once() + twice()",
        second="def twice(): return once() + once()",
    )
    # thrice, once | twice | once, once
    assert count_calls(names["thrice"]) == (5, 2)
    assert count_calls(lambda: [names["once"](), names["once"]()]) == (2, 0)


def test_only_code_of_the_packages_is_counted() -> None:
    assert count_calls(lambda: Path("a").with_suffix(".py")) == (0, 0)
    assert count_calls(lambda: sorted([2, 1])) == (0, 0)


def test_only_the_third_run_is_counted() -> None:
    names = functions(first="def call(): return 1")
    runs: list[int] = []

    def function() -> None:
        runs.append(len(runs))
        for _ in range(runs[-1] + 1):
            names["call"]()

    assert count_calls(function, before=names["call"]) == (3, 0)
    assert runs == [0, 1, 2]


def test_an_earlier_profile_function_is_put_back_after_an_error() -> None:
    def fail() -> None:
        if sys.getprofile() is not ignore:
            raise ValueError("counted")

    def ignore(*_: object) -> None:
        """Do nothing."""

    sys.setprofile(ignore)
    try:
        with pytest.raises(ValueError, match="counted"):
            count_calls(fail)
        assert sys.getprofile() is ignore
    finally:
        sys.setprofile(None)


def test_the_counts_of_each_row_and_of_its_backward_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["(x * y).tanh()", "--group", "calls", "--count"]) == 0
    title, forward, both = capsys.readouterr().out.splitlines()
    assert title.split() == ["backend", "numpy", "calls", "moves", "(backward", "alone)"]
    counted = [int(count) for count in forward.removeprefix("(x * y).tanh() ").split()]
    calls, moves, of_backward, moves_of_backward = map(int, both.split()[-4:])
    assert len(counted) == 2
    assert counted[0] + of_backward < calls
    assert counted[1] + moves_of_backward < moves


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group", "layers"], "argument --count: only with --group calls"),
        (["--group", "calls", "--backend", "nobody"], "no backend is called 'nobody'"),
    ],
)
def test_uncountable_rows_are_an_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="[12]"):
        main([*arguments, "--count"])
    assert message in capsys.readouterr().err
