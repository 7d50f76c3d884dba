"""Random programs: generating, comparing, shrinking, and known differences."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn.torch_names
import mt_tensor as mt
from mt.fuzz import judging
from mt.fuzz.campaign import count_some, least
from mt.fuzz.command import main
from mt.fuzz.differences import Difference, refusals
from mt.fuzz.judging import judgements
from mt.fuzz.operations import LEFT_OUT, catalogue, function_of, is_random, public_names
from mt.fuzz.programs import Elements, Ref, Source, Step, leaf, listing, without
from mt.fuzz.recording import recorded
from mt.fuzz.rounding import close, within_rounding
from mt.fuzz.running import Run, made_up, run
from mt.tables import TableError

needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is missing")
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


# --- Programs -------------------------------------------------------------------------------------


def test_a_program_is_source_that_runs() -> None:
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


def test_a_step_that_others_need_is_kept() -> None:
    steps = [leaf(MATRIX), leaf(MATRIX), Step(".T", (Ref(1),))]
    assert without(steps, {1}) is None
    shorter = without(steps, {0})
    assert shorter is not None
    assert [step.text(i) for i, step in enumerate(shorter)][1] == "v1 = v0.T"


# --- Operations -----------------------------------------------------------------------------------


def test_every_public_operation_is_fuzzed_or_excluded_with_a_reason() -> None:
    assert set(public_names()) <= catalogue().keys()


def test_every_exclusion_is_needed() -> None:
    for name in LEFT_OUT:
        owner, _, last = name.rpartition(".")
        homes = [mt_nn.functional] if owner else [mt, mt.Tensor]
        assert any(hasattr(home, last) for home in homes), name


@needs_torch
def test_every_form_of_an_operation_is_torchs() -> None:
    import torch

    for operation in catalogue().values():
        for form in {*operation.forms, *(sample.form for sample in operation.samples)}:
            if form[0] == ".":
                assert hasattr(torch.Tensor, form[1:].removesuffix("()")), form
            elif form.startswith("torch."):
                exec(form.removesuffix("()"), {"torch": torch})


def test_a_row_is_written_down_as_calls() -> None:
    def row(x: mt.Tensor) -> mt.Tensor:
        return mt.cat([x.T[1:], x], dim=0).sum(keepdim=True)

    row.__module__ = "mt_tensor.testing.invented"
    calls = recorded(row, [MATRIX])
    assert [call.form for call in calls] == [".T", "[]", "torch.cat()", ".sum()"]
    assert calls[2].settings == {"dim": 0}
    assert function_of("torch.cat()") is mt.cat


# --- Comparing ------------------------------------------------------------------------------------


def test_programs_are_identified_by_seed_and_number() -> None:
    for number in range(5):
        first, second = (listing(made_up(3, number)[0].steps) for _ in range(2))
        assert first == second
    assert listing(made_up(3, 0)[0].steps) != listing(made_up(4, 0)[0].steps)


def test_refusals_are_compared() -> None:
    ours, fault = mt.errors.ShapeError("no"), AttributeError("oh")
    assert refusals(ours, NameError()) is None
    assert refusals(ours, None) == Difference("refused", "", "ShapeError: no", "accepted")
    accepted = Difference("accepted", "", "accepted", "ValueError: no")
    assert refusals(None, ValueError("no")) == accepted
    for theirs in (ValueError(), None):
        difference = refusals(fault, theirs)
        assert difference is not None
        assert (difference.kind, difference.ours) == ("fault", "AttributeError: oh")


@needs_torch
def test_rounding_is_distinguished_from_errors() -> None:
    steps = [leaf(np.array([1e4, 1.0, -1e4], np.float32)), Step(".sum()", (Ref(0),))]
    states = [{"v0": np.array([1e4, 1.0, -1e4], np.float32)}]
    right = np.float32(1.0)
    assert not close(np.array(np.float32(1.001)), np.array(right)).any()
    assert within_rounding(np.array(np.float32(1.001)), np.array(right), "v1", steps, states).all()
    assert not within_rounding(
        np.array(np.float32(1.2)), np.array(right), "v1", steps, states
    ).any()


@needs_torch
def test_a_program_is_compared_behind_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [leaf(MATRIX), Step("torch.exp()", (Ref(0),))]
    assert run(steps)[1] is None
    for wrong, kind in (
        (lambda x: x.exp() + 1e-5, "values"),
        (lambda x: x.exp().double(), "dtype"),
        (lambda x: x.exp().T[0], "shape"),
        (lambda x: x.exp_(), "values"),
        (lambda x: x, "values"),
        (lambda x: [x.exp()], "parts"),
        (lambda x: x.reshape(-1), "shape"),
        (lambda x: x.exp().requires_grad_(), "requires_grad"),
        (lambda x: x.view(-5), "refused"),
        (lambda x: x.no_such_method(), "fault"),
    ):
        monkeypatch.setattr(mt_nn.torch_names, "exp", wrong)
        difference = run(steps)[1]
        assert difference is not None
        assert difference.kind == kind


@needs_torch
def test_shared_memory_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mt_nn.torch_names, "clone", lambda x: x.detach())
    difference = run([leaf(MATRIX), Step("torch.clone()", (Ref(0),))])[1]
    assert difference == Difference("memory", "v1", "that of v0", "that of v1")


def test_programs_agree_with_torch() -> None:
    pytest.importorskip("torch")
    counts = count_some(1, range(300), "numpy")
    assert counts.programs == 300
    assert counts.unjudged == []


@needs_torch
def test_a_rejected_operation_must_not_change_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_done(x: mt.Tensor) -> mt.Tensor:
        x[0] = 7.0
        raise mt.errors.DomainError("too late")

    monkeypatch.setattr(mt_nn.torch_names, "exp", half_done)
    difference = run([leaf(MATRIX), Step("torch.exp()", (Ref(0),))])[1]
    assert difference is not None
    assert (difference.kind, difference.value) == ("half done", "v0")


@needs_torch
def test_the_rounding_of_a_formula_is_that_of_the_oracle() -> None:
    x = np.array(0.08265195786972952)  # of which tanh takes all but two thousandths away
    steps = [leaf(x), Step("torch.nn.functional.tanhshrink()", (Ref(0),))]
    states, right = [{"v0": x}], x - np.tanh(x)
    assert not close(right + 2e-17, right).any()
    assert within_rounding(right + 2e-17, right, "v1", steps, states).all()
    assert not within_rounding(right + 2e-15, right, "v1", steps, states).any()


@needs_torch
def test_a_matrix_is_rounded_by_its_norm_and_a_root_by_the_size_of_its_power() -> None:
    matrix, huge = np.array([[1.0, 0.0, 1.0], [65504.0, 0.0, 0.0]]), np.array([1e30, 0.0])
    for call, x, args, right, off in (
        ("torch.linalg.pinv()", matrix, (), np.linalg.pinv(matrix), 1e-15),
        ("torch.linalg.vector_norm()", huge, (3,), np.array(1e30), 1e16),
    ):
        steps, states = [leaf(x), Step(call, (Ref(0), *args))], [{"v0": x}]
        assert not close(right + off, right).all()
        assert within_rounding(right + off, right, "v1", steps, states).all()
        assert not within_rounding(right + off * 1e6, right, "v1", steps, states).any()


@needs_torch
def test_a_gradient_of_rounded_saved_values_is_as_coarse() -> None:
    narrow, wide = np.zeros(2, np.float32), np.array([0.13, 0.07])
    for operation, known in (("hypot_", True), ("hypot", False)):
        steps = [leaf(narrow), leaf(wide, True), Step(f".{operation}()", (Ref(0), Ref(1)))]
        steps += [leaf(np.ones(2)), Step("torch.autograd.grad()", (Ref(2), [Ref(1)], Ref(3)))]
        states = [{"v0": narrow}, {"v1": wide}, {"v2": wide.astype(np.float32)}, {}]
        found = within_rounding(np.ones(2) + 3e-8, np.ones(2), "v4[0]", steps, states)
        assert found.all() == known


@needs_torch
def test_nan_and_infinity_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [leaf(np.array([np.inf, 1.0])), Step("torch.exp()", (Ref(0),))]
    for wrong, kind in (
        (lambda x: x.exp() - x.exp() + x.exp(), "infinite"),
        (lambda x: x.exp() - x.exp(), "values"),
    ):
        monkeypatch.setattr(mt_nn.torch_names, "exp", wrong)
        difference = run(steps)[1]
        assert difference is not None
        assert difference.kind == kind


@needs_torch
def test_the_signs_of_zeros_count_where_nothing_is_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zero = leaf(np.array([0.0, 0.0]))
    for name, counts in (("sin", True), ("sum", False)):
        right = getattr(mt, name)
        monkeypatch.setattr(mt_nn.torch_names, name, lambda x, right=right: -right(x))
        difference = run([zero, Step(f"torch.{name}()", (Ref(0),))])[1]
        assert (difference is not None) == counts


def test_invalid_factors_are_detected() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    u, s, v = np.linalg.svd(matrix)
    q, r = np.linalg.qr(matrix)
    for name, right in (("svd", (u, s, v)), ("qr", (-q, -r)), ("eigh", np.linalg.eigh(matrix))):
        steps = [leaf(matrix), Step(f"torch.linalg.{name}()", (Ref(0),))]
        for factor, found in ((1.0, True), (1.5, False)):
            after = {f"v1[{i}]": part * factor for i, part in enumerate(right)}
            scene = judging.Scene(steps, {"v0": matrix}, after)
            assert judging.CONDITIONS["factors"](scene) == found


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
def test_conditions_of_known_differences(
    condition: str, call: str, operands: Any, other: Any
) -> None:
    for given, holds in ((operands, True), (other, False)):
        arrays = [np.array(values) for values in given]
        if condition == "squares overflow" and holds:
            arrays[0] = arrays[0].astype(np.float32)
        steps = [leaf(array) for array in arrays]
        steps.append(Step(call, tuple(map(Ref, range(len(arrays))))))
        scene = judging.Scene(steps, {f"v{i}": array for i, array in enumerate(arrays)})
        assert judging.CONDITIONS[condition](scene) == holds


def test_numpy_is_an_oracle_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mt.fuzz.running.find_spec", lambda _: None)
    counts = count_some(0, range(60), "numpy")
    assert counts.programs == 60
    assert not counts.unjudged
    monkeypatch.setattr(mt.Tensor, "amax", lambda x, *args, **settings: x.amin(*args, **settings))
    monkeypatch.setattr(mt, "amax", mt.Tensor.amax)
    sample = catalogue()["amax"].samples[0]
    assert sample.oracle is not None
    program = Run()
    assert program.theirs is None


# --- Shrinking and judging ------------------------------------------------------------------------


@needs_torch
def test_a_program_is_shrunk_to_a_minimal_one_with_the_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mt_nn.torch_names, "exp", lambda x: x.exp() + (x > 3) * 0.5)
    steps = [
        leaf(MATRIX, requires_grad=True),
        leaf(MATRIX),
        Step("torch.cat()", ([Ref(0), Ref(1)],), {"dim": 1}),
        Step(".T", (Ref(2),)),
        Step("torch.exp()", (Ref(3),)),
        Step(".neg()", (Ref(4),)),
    ]
    program, difference = run(steps)
    assert difference is not None
    shortest, _ = least(program, difference)
    assert [step.text(i) for i, step in enumerate(shortest)] == [
        "v0 = torch.tensor(4.0, dtype=torch.float32)",
        "v1 = torch.exp(v0)",
    ]


def _refusing(x: mt.Tensor) -> None:
    raise mt.errors.ShapeError("no")


@needs_torch
def test_a_judged_difference_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "judged.toml"
    file.write_text(
        '[[judged]]\nname = "exp"\ndifferences = ["refused"]\noperations = "exp|log"\n'
        'ours = "ShapeError: no"\nwhen = ["not finite"]\nreason = "to see"\n'
    )
    monkeypatch.setattr("mt.fuzz.judging.judgements", lambda: judgements(file))
    monkeypatch.setattr(mt_nn.torch_names, "exp", _refusing)
    for array, known in ((np.array([np.inf]), True), (np.array([1.0]), False)):
        program, difference = run([leaf(array), Step("torch.exp()", (Ref(0),)), leaf(MATRIX)])
        assert (difference is None) == known
        assert program.met == ["exp"] * known


def test_the_list_can_only_shrink() -> None:
    names = [judgement.name for judgement in judgements()]
    assert len(set(names)) == len(names)
    assert len(names) <= 193


@needs_torch
def test_a_known_difference_can_have_a_tolerance_and_a_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "judged.toml"
    monkeypatch.setattr("mt.fuzz.judging.judgements", lambda: judgements(file))
    monkeypatch.setattr(mt_nn.torch_names, "exp", lambda x: x.exp() + 0.5)
    ones = np.ones((2, 3))
    steps = [leaf(ones), Step(".neg()", (Ref(0),)), leaf(MATRIX), Step("torch.exp()", (Ref(2),))]
    for says, known in (
        ("within = 1.0", True),
        ("within = 0.1", False),
        ('after = "neg"', True),
        ('after = "abs"', False),
        ('after = "neg"\nthere = ["equal elements"]', True),
        ('after = "neg"\nthere = ["empty"]', False),
    ):
        file.write_text(
            f'[[judged]]\nname = "x"\ndifferences = ["values"]\noperations = "exp"\n{says}\n'
            'reason = "to see"\n'
        )
        judgements.cache_clear()
        assert (run(steps)[1] is None) == known


@needs_torch
def test_operations_that_crash_torch_run_only_here() -> None:
    steps = [leaf(np.array([-(2**63)])), Step("torch.lcm()", (Ref(0), 2**63 - 1))]
    program, difference = run(steps)
    assert difference is None
    assert (program.met, program.over) == (["crashes of torch"], True)


def test_mistakes_in_the_list_are_named(tmp_path: Path) -> None:
    file = tmp_path / "judged.toml"
    entry = '[[judged]]\nname = "x"\noperations = "a"\nreason = "b"\ndifferences = ["{}"]\n'
    for text, said in (
        (entry.format("colour"), "x: differences: 'colour' is none of refused"),
        (entry.format("values") + 'when = ["late"]\n', "x: when: 'late' is none of"),
        (entry.format("values") + "sometimes = true\n", "x: 'sometimes' is unknown"),
    ):
        file.write_text(text)
        judging.judgements.cache_clear()
        with pytest.raises(TableError, match=said):
            judgements(file)


def test_random_results_are_not_compared() -> None:
    x = leaf(MATRIX)
    assert is_random(Step("torch.nn.functional.dropout()", (Ref(0),), {"p": 0.5}))
    assert not is_random(Step("torch.nn.functional.dropout()", (Ref(0), 0.0)))
    assert not is_random(Step("torch.nn.functional.dropout()", (Ref(0),), {"training": False}))
    assert run([x, Step("torch.rand_like()", (Ref(0),)), Step(".exp()", (Ref(1),))])[1] is None


# --- The command ----------------------------------------------------------------------------------


def test_one_program_is_shown_as_source(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--seed", "7", "--only", "3"])
    assert capsys.readouterr().out.startswith("import torch  # or: import mt_nn.torch_names")


def test_elements_are_written_with_their_shape() -> None:
    assert isinstance(leaf(MATRIX).args[0], Elements)
    assert leaf(np.zeros((0, 3))).text(0) == "v0 = torch.zeros((0, 3), dtype=torch.float64)"
