"""The tape: what it sees of a program, and of which thread."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.core.extensions import ACTIVE
from mt_tensor.core.plans import Cache, drop_plans
from mt_tensor.extending import Call, Tape
from mt_tensor.tape import active_tapes


class Names(Tape):
    """Keeps the names of the calls, operations and walks that it sees."""

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
def test_a_tape_sees_every_call_forward_and_backward(backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        x = mt.ones(2, 3, requires_grad=True)
        for _ in range(2):  # the second time everything is planned
            with Names() as tape:
                mt.softmax((x @ x.T).exp(), 1).sum().backward()
    assert tape.calls[:3] == ["matmul", "exp", "kernel"]
    assert tape.operations[0] == "softmax"
    assert {"exp", "MatMul"} <= set(tape.operations[1:])
    assert tape.calls.count("matmul") == 3
    assert tape.backwards == 1


def test_results_are_the_same_on_a_tape() -> None:
    x = mt.tensor(np.linspace(-2.0, 2.0, 12).reshape(3, 4))

    def computed() -> mt.Tensor:
        y = (x * 2.0 + x.sin()).softmax(1)
        y[0] = 3.0
        return y.where(y > 0.25, x).sum(0)

    expected = computed()
    with Names():
        assert mt.equal(computed(), expected)
    assert mt.equal(computed(), expected)


def test_the_outer_tape_sees_what_the_inner_one_runs() -> None:
    with Names() as outer:
        mt.ones(1).exp()
        with Names() as inner:
            mt.ones(1).sin()
    assert inner.calls == ["full", "sin"]
    assert outer.calls == ["full", "exp", "full", "sin"]


def test_a_tape_may_compute_while_it_handles_a_call() -> None:
    class Doubling(Tape):
        def handle(self, call: Call) -> Any:
            result = call.run()
            return (mt.Tensor._make(result, call.backend) * 2.0)._tensor

    with Doubling():
        doubled = mt.ones(2)
    assert doubled.tolist() == [2.0, 2.0]


def test_a_paused_tape_sees_nothing() -> None:
    with Names() as outer, Names() as inner:
        with outer.paused():
            mt.ones(1).exp()
        with inner.paused():
            mt.ones(1).sin()
    assert inner.calls == []
    assert outer.calls == ["full", "sin"]


def test_other_threads_do_not_write_to_a_tape_nor_keep_its_plans() -> None:
    x = mt.ones(3)
    with Names() as tape:
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    assert tape.calls == []
    with Names() as tape:
        x.exp()
    assert tape.calls == ["exp"]


def test_an_error_ends_the_block_of_a_tape() -> None:
    with pytest.raises(mt.errors.ShapeError), Names():
        mt.ones(2) @ mt.ones(3)
    assert active_tapes() == ()
    assert ACTIVE.count == 0


def test_a_plan_is_not_stored_if_plans_were_dropped_while_it_was_made() -> None:
    class Made(Cache):
        def make(self, key: Any) -> Any:
            if key == "late":
                drop_plans()
            return key

    cache = Made()
    assert [cache["early"], cache["late"]] == ["early", "late"]
    assert dict(cache) == {}
    assert [cache["early"], dict(cache)] == ["early", {"early": "early"}]


def test_a_backend_of_others_is_seen_too() -> None:
    class Other(type(mt.get_backend("simple"))):  # type: ignore[misc]
        name = "other"

        def reduce(self, *arguments: Any) -> Any:
            return super().reduce(*arguments)

    with mt.use_backend(Other()), Names() as tape:
        mt.ones(2).sum()
    assert tape.calls == ["full", "reduce"]
