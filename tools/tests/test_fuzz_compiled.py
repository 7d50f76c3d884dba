"""Random compiled programs have the same results, and planted faults are found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mt.fuzz.campaign import count_some, least
from mt.fuzz.command import main
from mt.fuzz.compiled import EAGER, REPLAYED, UNCOMPILED, run
from mt.fuzz.programs import Ref, Source, Step, leaf
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


def test_programs_do_the_same_when_they_are_compiled() -> None:
    counts = count_some(0, range(120), "numpy", "compiled")
    assert counts.unjudged == []
    assert counts.judged[REPLAYED] > 80
    assert counts.judged.keys() <= {REPLAYED, EAGER, UNCOMPILED}


def test_a_report_contains_the_settings_of_a_program() -> None:
    for last, name in (
        (Step(".sum()", (Ref(4),)), REPLAYED),
        (Step(".tolist()", (Ref(1),)), UNCOMPILED),
        (Step(".view()", (Ref(1), Source("torch.int32"))), EAGER),
    ):
        program, difference = run([*CHAIN, last])
        assert difference is None
        assert program.met == [name]


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
def test_a_planted_fault_is_found(
    module: Any, name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    assert count_some(0, range(200), "numpy", "compiled").unjudged


def test_a_difference_is_made_small_and_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fusion, "composed", swapping(fusion.composed))
    program, difference = run([*CHAIN, Step("torch.exp()", (Ref(1),))])
    assert difference is not None
    steps, _ = least(program, difference, "compiled")
    assert [step.form for step in steps][-2:] == ["*", "-"]
    seen = [main(["--compile", "--only", str(number)]) for number in range(8)]
    assert 1 in seen  # which of them have fused operations depends on compositions
    said = capsys.readouterr().out
    assert "# compiled:" in said
    assert "# eager:" in said
