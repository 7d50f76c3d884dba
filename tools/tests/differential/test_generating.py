"""Programs are written as source that runs, and cover every public operation."""

from typing import Any

import numpy as np

import mt_nn.torch_names
import mt_tensor as mt
from differential.operations import LEFT_OUT, catalogue, function_of, public_names
from differential.programs import Elements, Ref, Source, Step, leaf, listing, without
from differential.recording import recorded
from differential.running import run_random

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def test_listing_of_a_program_is_source_that_runs() -> None:
    steps = [
        leaf(MATRIX, requires_grad=True),
        Step("[]", (Ref(0), (slice(None, None, 2), None))),
        Step("+", (Ref(1), 0.5)),
        Step("torch.stack()", ([Ref(2), Ref(2)],), {"dim": -1}),
        Step(".backward()", (Ref(3), Ref(3)), unrecorded=True),
        Step("[]=", (Ref(2), ..., float("-inf")), unrecorded=True),
        Step("*=", (Ref(2), 2)),
        Step(".T", (Ref(0),)),
        Step("-x", (Ref(7),)),
        Step(".to()", (Ref(8), Source("torch.int64"))),
    ]
    text = listing(steps)
    assert text.splitlines()[3:] == [
        "v0 = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float32, requires_grad=True)",
        "v1 = v0[::2, None]",
        "v2 = v1 + 0.5",
        "v3 = torch.stack([v2, v2], dim=-1)",
        "with torch.no_grad(): v4 = v3.backward(v3)",
        "with torch.no_grad(): v2[...] = -inf",
        "v6 = v2; v6 *= 2",
        "v7 = v0.T",
        "v8 = -v7",
        "v9 = v8.to(torch.int64)",
    ]
    names: dict[str, object] = {}
    exec(text.replace("import torch  # or: ", ""), names)
    assert isinstance(names["v9"], mt.Tensor)
    assert names["torch"] is mt_nn.torch_names


def test_listing_of_an_empty_array_shows_its_shape() -> None:
    assert isinstance(leaf(MATRIX).args[0], Elements)
    assert leaf(np.zeros((0, 3))).text(0) == "v0 = torch.zeros((0, 3), dtype=torch.float64)"


def test_only_unused_steps_are_removed_and_references_renumbered() -> None:
    steps = [leaf(MATRIX), leaf(MATRIX), Step(".T", (Ref(1),))]
    assert without(steps, {1}) is None
    shorter = without(steps, {0})
    assert shorter is not None
    assert [step.text(i) for i, step in enumerate(shorter)][1] == "v1 = v0.T"


def test_every_public_operation_is_covered_or_excluded_with_a_reason() -> None:
    assert set(public_names()) <= catalogue().keys()


def test_every_excluded_operation_exists() -> None:
    for name in LEFT_OUT:
        owner, _, last = name.rpartition(".")
        homes = [mt_nn.functional] if owner else [mt, mt.Tensor]
        assert any(hasattr(home, last) for home in homes), name


def test_every_form_of_an_operation_exists_in_torch(torch: Any) -> None:
    for operation in catalogue().values():
        for form in {*operation.forms, *(sample.form for sample in operation.samples)}:
            if form[0] == ".":
                assert hasattr(torch.Tensor, form[1:].removesuffix("()")), form
            elif form.startswith("torch."):
                exec(form.removesuffix("()"), {"torch": torch})


def test_calls_of_a_sample_row_are_recorded() -> None:
    def row(x: mt.Tensor) -> mt.Tensor:
        return mt.cat([x.T[1:], x], dim=0).sum(keepdim=True)

    row.__module__ = "mt_tensor.testing.invented"
    calls = recorded(row, [MATRIX])
    assert [call.form for call in calls] == [".T", "[]", "torch.cat()", ".sum()"]
    assert calls[2].settings == {"dim": 0}
    assert function_of("torch.cat()") is mt.cat


def test_seed_and_number_determine_a_program() -> None:
    def program(seed: int, number: int) -> str:
        return listing(run_random(seed, number, with_torch=False).steps)

    for number in range(5):
        assert program(3, number) == program(3, number)
    assert program(3, 0) != program(4, 0)
