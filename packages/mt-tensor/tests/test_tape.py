"""Tapes: recorded calls, nesting, pausing, threads and exceptions."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.core.extensions import ACTIVE_TAPES
from mt_tensor.core.plans import Cache, drop_plans
from mt_tensor.extending import Call, Tape
from mt_tensor.tape import active_tapes


class RecordingTape(Tape):
    """A tape that records the names of calls and operations, and counts backward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.operations: list[str] = []
        self.backwards = 0

    def handle(self, call: Call) -> Any:
        self.calls.append(call.name)
        return call.run()

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        self.operations.append(name)
        return function(*arguments)

    def handle_backward(self, walk: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.backwards += 1
        return walk(*arguments)


@pytest.mark.parametrize("backend", ["numpy", "simple", "fast"])
def test_tape_records_forward_and_backward_calls(backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        x = mt.ones(2, 3, requires_grad=True)
        for _ in range(2):  # the second time, all plans are cached
            with RecordingTape() as tape:
                mt.softmax((x @ x.T).exp(), 1).sum().backward()
    assert tape.calls[:3] == ["matmul", "exp", "kernel"]
    assert tape.operations[0] == "softmax"
    assert {"exp", "MatMul"} <= set(tape.operations[1:])
    assert tape.calls.count("matmul") == 3
    assert tape.backwards == 1


def test_tape_does_not_change_results() -> None:
    x = mt.tensor(np.linspace(-2.0, 2.0, 12).reshape(3, 4))

    def compute() -> mt.Tensor:
        y = (x * 2.0 + x.sin()).softmax(1)
        y[0] = 3.0
        return y.where(y > 0.25, x).sum(0)

    expected = compute()
    with RecordingTape():
        assert mt.equal(compute(), expected)
    assert mt.equal(compute(), expected)


def test_outer_tape_records_calls_of_inner_tape() -> None:
    with RecordingTape() as outer:
        mt.ones(1).exp()
        with RecordingTape() as inner:
            mt.ones(1).sin()
    assert inner.calls == ["full", "sin"]
    assert outer.calls == ["full", "exp", "full", "sin"]


def test_tape_may_compute_in_its_handler() -> None:
    class Doubling(Tape):
        def handle(self, call: Call) -> Any:
            result = call.run()
            return (mt.Tensor._make(result, call.backend) * 2.0)._tensor

    with Doubling():
        doubled = mt.ones(2)
    assert doubled.tolist() == [2.0, 2.0]


def test_paused_tape_and_tapes_inside_it_record_nothing() -> None:
    with RecordingTape() as outer, RecordingTape() as inner:
        with outer.paused():
            mt.ones(1).exp()
        with inner.paused():
            mt.ones(1).sin()
    assert inner.calls == []
    assert outer.calls == ["full", "sin"]


def test_tape_ignores_calls_and_plans_of_other_threads() -> None:
    x = mt.ones(3)
    with RecordingTape() as tape:
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    assert tape.calls == []
    with RecordingTape() as tape:
        x.exp()
    assert tape.calls == ["exp"]


def test_exception_deactivates_tape() -> None:
    with pytest.raises(mt.errors.ShapeError), RecordingTape():
        mt.ones(2) @ mt.ones(3)
    assert active_tapes() == ()
    assert ACTIVE_TAPES.count == 0


def test_plan_is_not_cached_if_plans_were_dropped_meanwhile() -> None:
    class EchoCache(Cache):
        def make(self, key: Any) -> Any:
            if key == "late":
                drop_plans()
            return key

    cache = EchoCache()
    assert [cache["early"], cache["late"]] == ["early", "late"]
    assert dict(cache) == {}
    assert [cache["early"], dict(cache)] == ["early", {"early": "early"}]


def test_tape_records_calls_of_third_party_backend() -> None:
    class Other(type(mt.get_backend("simple"))):  # type: ignore[misc]
        name = "other"

        def reduce(self, *arguments: Any) -> Any:
            return super().reduce(*arguments)

    with mt.use_backend(Other()), RecordingTape() as tape:
        mt.ones(2).sum()
    assert tape.calls == ["full", "reduce"]
