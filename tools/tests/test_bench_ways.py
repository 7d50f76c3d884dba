"""`mt bench ways`: the counts and the table."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt.bench import device_calls, ways
from mt.bench.command import main
from mt_cuda import Simulator


def leaf() -> mt.Tensor:
    return mt.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, 1.0]], requires_grad=True)


def call(function: Callable[[mt.Tensor], mt.Tensor]) -> device_calls.Prepare:
    """Return a function that prepares a call of a function of one tensor."""

    def prepare() -> Any:
        x = leaf()
        return lambda: [function(x)], [x]

    return prepare


WAYS: list[tuple[str, Any, str, str | None]] = [
    ("view", lambda x: x.T, "view", "view"),
    ("exp", lambda x: x.exp(), "one kernel", "one kernel"),
    ("softplus of exp", lambda x: x.exp().softplus(), "composed", "composed"),
    ("data", lambda x: x + mt.tensor([1.0, 2.0, 3.0]), "one kernel", "view"),
    ("constant", lambda x: x + x._uploaded(np.ones(3, "f4")), "sends numbers", "view"),
    ("choice", lambda x: x.exp() if (x > 0).any() else x, "waits for a number", "one kernel"),
    ("other choice", lambda x: x.exp() if (x > 9).any() else x, "waits for a number", None),
    ("elements", lambda x: x * len(x.tolist()), "by way of the host", "one kernel"),
    ("no gradient", lambda x: x.isnan(), "one kernel", None),
]


@pytest.mark.parametrize(
    ("function", "forward", "backward"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS]
)
def test_operation_is_classified_by_its_calls_on_the_device(
    function: Any, forward: str, backward: str | None
) -> None:
    count = ways.counted("mine", call(function))
    assert ways.way(count.forward) == forward
    if backward is not None:
        assert count.backward is not None
        assert ways.way(count.backward) == backward


def test_operation_without_gradient_has_no_backward_count() -> None:
    assert ways.counted("mine", call(lambda x: x.isnan())).backward is None


def test_work_while_preparing_a_call_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare() -> Any:
        x = leaf()
        x.tolist()
        return lambda: [x.exp()], [x]

    monkeypatch.setattr(Simulator, "launch", None)  # kernels must not run
    assert ways.way(ways.counted("mine", prepare).forward) == "one kernel"


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [("lists", name, call(function)) for name, function, *_ in WAYS]
    calls.append(("lists", "exp", call(lambda x: x.exp().exp())))
    monkeypatch.setattr(ways, "calls", lambda: iter(calls))


@pytest.mark.usefixtures("few_calls")
def test_table_lists_all_ways_of_an_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ways"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# ")
    assert "\n\n## lists\n\n| operation | forward | backward |\n|---|---|---|\n" in text
    assert "\n| `exp` | one kernel, composed | one kernel, composed |\n" in text
    assert "\n| `no gradient` | one kernel |  |\n" in text


@pytest.mark.usefixtures("few_calls")
def test_table_has_only_the_operations_given_as_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ways", "view", "data"]) == 0
    rows = ["| `view` | view | view |", "| `data` | one kernel | view |"]
    assert capsys.readouterr().out.splitlines()[2:] == rows


def test_every_operation_of_the_sample_tables_is_called() -> None:
    from mt_operators.testing import INTEGER_SPECS, SPECS
    from mt_tensor.testing import TENSOR_SPECS

    names = {name for heading, name, _ in device_calls.calls() if heading == "mt-tensor"}
    rows = {row.name for row in TENSOR_SPECS if not row.optional}
    assert names == {*SPECS, *INTEGER_SPECS, *rows}
