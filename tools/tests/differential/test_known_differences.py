"""Known differences from torch: their conditions, and their number."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn.torch_names
import mt_tensor as mt
from differential import known
from differential.conditions import CONDITIONS, Context
from differential.known import known_differences
from differential.programs import Ref, Step, leaf
from differential.running import run
from mt.tables import TableError

needs_torch = pytest.mark.usefixtures("torch")
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def test_list_of_known_differences_does_not_grow() -> None:
    names = [each.name for each in known_differences()]
    assert len(set(names)) == len(names)
    assert len(names) <= 191


def _refusing(x: mt.Tensor) -> None:
    raise mt.errors.ShapeError("no")


@needs_torch
def test_known_difference_is_not_reported_if_its_condition_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "known.toml"
    file.write_text(
        '[[known]]\nname = "exp"\ndifferences = ["refused"]\noperations = "exp|log"\n'
        'ours = "ShapeError: no"\nwhen = ["not finite"]\nreason = "to see"\n'
    )
    monkeypatch.setattr(known, "known_differences", lambda: known_differences(file))
    monkeypatch.setattr(mt_nn.torch_names, "exp", _refusing)
    for array, is_known in ((np.array([np.inf]), True), (np.array([1.0]), False)):
        program = run([leaf(array), Step("torch.exp()", (Ref(0),)), leaf(MATRIX)])
        assert (program.difference is None) == is_known
        assert program.known == ["exp"] * is_known


@needs_torch
def test_known_difference_applies_only_within_its_tolerance_and_after_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "known.toml"
    monkeypatch.setattr(known, "known_differences", lambda: known_differences(file))
    monkeypatch.setattr(mt_nn.torch_names, "exp", lambda x: x.exp() + 0.5)
    ones = np.ones((2, 3))
    steps = [leaf(ones), Step(".neg()", (Ref(0),)), leaf(MATRIX), Step("torch.exp()", (Ref(2),))]
    for line, is_known in (
        ("within = 1.0", True),
        ("within = 0.1", False),
        ('after = "neg"', True),
        ('after = "abs"', False),
        ('after = "neg"\nthere = ["equal elements"]', True),
        ('after = "neg"\nthere = ["empty"]', False),
    ):
        file.write_text(
            f'[[known]]\nname = "x"\ndifferences = ["values"]\noperations = "exp"\n{line}\n'
            'reason = "to see"\n'
        )
        known_differences.cache_clear()
        assert (run(steps).difference is None) == is_known


@needs_torch
def test_operations_that_crash_torch_run_only_in_mt_tensor() -> None:
    steps = [leaf(np.array([-(2**63)])), Step("torch.lcm()", (Ref(0), 2**63 - 1))]
    program = run(steps)
    assert program.difference is None
    assert (program.known, program.over) == (["crashes of torch"], True)


def test_invalid_list_of_known_differences_raises_table_error(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    entry = '[[known]]\nname = "x"\noperations = "a"\nreason = "b"\ndifferences = ["{}"]\n'
    for text, message in (
        (entry.format("colour"), "x: differences: 'colour' is not one of refused"),
        (entry.format("values") + 'when = ["late"]\n', "x: when: 'late' is not one of"),
        (entry.format("values") + "sometimes = true\n", "x: 'sometimes' is unknown"),
    ):
        file.write_text(text)
        known_differences.cache_clear()
        with pytest.raises(TableError, match=message):
            known_differences(file)


@pytest.mark.parametrize(
    ("condition", "call", "operands", "other"),
    [
        ("equal elements", "torch.sort()", [[1.0, 1.0]], [[1.0, 2.0]]),
        ("equal elements", "torch.sort()", [[np.nan, 1.0]], [[0.0, 1.0]]),
        ("short", "torch.cosine_similarity()", [[0.0, 1e-9], [1.0, 2.0]], [[0.0, 1.0], [1.0, 2.0]]),
        ("about one", "torch.atanh()", [[0.5, -1.0]], [[0.5, 2.0]]),
        ("beyond integers", "torch.byte()", [[0.0, 1e10]], [[0.0, -1e9]]),
        ("beyond integers", "torch.byte()", [[np.nan]], [[255.5]]),
        ("blank label", "torch.ctc_loss()", [[0.5], [1, 0]], [[0.5], [1, 2]]),
        ("singular", "torch.det()", [[[1.0, 2.0], [2.0, 4.0]]], [[[1.0, 2.0], [2.0, 5.0]]]),
        ("squares overflow", "torch.mul()", [[1e30], [2**40]], [[1e150], [1]]),
    ],
)
def test_condition_holds_only_for_matching_operands(
    condition: str, call: str, operands: Any, other: Any
) -> None:
    for given, holds in ((operands, True), (other, False)):
        arrays = [np.array(values) for values in given]
        if condition == "squares overflow" and holds:
            arrays[0] = arrays[0].astype(np.float32)
        steps = [leaf(array) for array in arrays]
        steps.append(Step(call, tuple(map(Ref, range(len(arrays))))))
        context = Context(steps, {f"v{i}": array for i, array in enumerate(arrays)})
        assert CONDITIONS[condition](context) == holds


def test_factors_condition_holds_only_for_valid_factorizations() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    u, s, v = np.linalg.svd(matrix)
    q, r = np.linalg.qr(matrix)
    for name, right in (("svd", (u, s, v)), ("qr", (-q, -r)), ("eigh", np.linalg.eigh(matrix))):
        steps = [leaf(matrix), Step(f"torch.linalg.{name}()", (Ref(0),))]
        for factor, found in ((1.0, True), (1.5, False)):
            after = {f"v1[{i}]": part * factor for i, part in enumerate(right)}
            context = Context(steps, {"v0": matrix}, after)
            assert CONDITIONS["factors"](context) == found
