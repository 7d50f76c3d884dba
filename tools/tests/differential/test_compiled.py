"""Compiled programs give the same results as eager ones, and planted faults are found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from differential.compiled import RECORDED, REPLAYED, UNCOMPILED, run, run_random
from differential.programs import Ref, Source, Step, leaf
from differential.shrinking import smallest
from mt_tensor.programs import fusion, memory_planning
from mt_tensor.programs.program import Instruction

ROW = np.array([1.0, 2.0, 3.0], np.float32)
CHAIN = [
    leaf(ROW, requires_grad=True),
    leaf(ROW + 3),
    Step("*", (Ref(0), Ref(1))),
    Step("-", (Ref(2), Ref(1))),
    Step("/", (Ref(3), Ref(0))),
]


def test_most_random_programs_are_replayed() -> None:
    outcomes = [run_random(0, number).known for number in range(30)]
    assert outcomes.count([REPLAYED]) > 20


def test_program_is_replayed_recorded_again_or_uncompiled() -> None:
    for last, outcome in (
        (Step(".sum()", (Ref(4),)), REPLAYED),
        (Step(".tolist()", (Ref(1),)), UNCOMPILED),
        (Step(".view()", (Ref(1), Source("torch.int32"))), RECORDED),
    ):
        program = run([*CHAIN, last])
        assert program.difference is None
        assert program.known == [outcome]


# --- Planted faults -------------------------------------------------------------------------------


def swapping(composed: Callable[..., Any]) -> Callable[..., Any]:
    """Return a fusion that swaps its last two inputs."""

    def wrong(producer: Instruction, reader: Instruction) -> Instruction | None:
        one: Instruction | None = composed(producer, reader)
        if one is not None and len(one.arguments) > 2:
            *first, x, y = one.arguments
            one.arguments = (*first, y, x)
        return one

    return wrong


def early(last_uses: Callable[..., Any]) -> Callable[..., Any]:
    """Return a search for last uses that ignores the last one."""

    def wrong(calls: Any, kept: Any) -> Any:
        return {group: at - 1 for group, at in last_uses(calls, kept).items()}

    return wrong


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [(fusion, "composed", swapping), (memory_planning, "last_uses", early)],
)
def test_planted_fault_in_the_compiler_is_found(
    module: Any, name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    assert any(run_random(0, number).difference for number in range(200))


def test_program_with_a_difference_is_reduced_to_the_faulty_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fusion, "composed", swapping(fusion.composed))
    program = run([*CHAIN, Step("torch.exp()", (Ref(1),))])
    assert program.difference is not None
    assert [step.form for step in smallest(program, run).steps][-2:] == ["*", "-"]
