"""Programs are compared after every step, up to rounding."""

import numpy as np
import pytest

import mt_nn.torch_names
import mt_tensor as mt
from differential.differences import Difference, compare_errors
from differential.operations import is_random
from differential.programs import Ref, Step, leaf
from differential.rounding import close, within_rounding
from differential.running import run

needs_torch = pytest.mark.usefixtures("torch")
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


@needs_torch
def test_every_kind_of_wrong_result_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [leaf(MATRIX), Step("torch.exp()", (Ref(0),))]
    assert run(steps).difference is None
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
        difference = run(steps).difference
        assert difference is not None
        assert difference.kind == kind


def test_error_in_only_one_library_or_an_internal_error_is_a_difference() -> None:
    ours, fault = mt.errors.ShapeError("no"), AttributeError("oh")
    assert compare_errors(ours, NameError()) is None
    assert compare_errors(ours, None) == Difference("refused", "", "ShapeError: no", "accepted")
    accepted = Difference("accepted", "", "accepted", "ValueError: no")
    assert compare_errors(None, ValueError("no")) == accepted
    for theirs in (ValueError(), None):
        difference = compare_errors(fault, theirs)
        assert difference is not None
        assert (difference.kind, difference.ours) == ("fault", "AttributeError: oh")


@needs_torch
def test_failing_operation_that_changed_its_input_is_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def half_done(x: mt.Tensor) -> mt.Tensor:
        x[0] = 7.0
        raise mt.errors.DomainError("too late")

    monkeypatch.setattr(mt_nn.torch_names, "exp", half_done)
    difference = run([leaf(MATRIX), Step("torch.exp()", (Ref(0),))]).difference
    assert difference is not None
    assert (difference.kind, difference.value) == ("half done", "v0")


@needs_torch
def test_jump_is_within_rounding_only_next_to_the_discontinuity() -> None:
    for x, accepted in ((np.nextafter(1.0, 0.0), True), (1 - 1e-12, False), (0.9, False)):
        steps = [leaf(np.array([x])), Step("torch.floor()", (Ref(0),))]
        good = within_rounding(np.ones(1), np.zeros(1), "v1", steps, [{"v0": np.array([x])}])
        assert good.all() == accepted, x


@needs_torch
def test_rounding_is_estimated_if_earlier_steps_find_other_elements() -> None:
    twice, x = np.array([0.5, 0.5]), np.array([1.0, 2.0])
    steps = [
        leaf(twice),
        Step("torch.unique()", (Ref(0),)),
        leaf(x),
        Step("torch.cos()", (Ref(2),)),
    ]
    states = [{"v0": twice}, {"v1": twice[:1]}, {"v2": x}]
    for off, accepted in ((1e-15, True), (1e-13, False)):
        good = within_rounding(np.cos(x) + off, np.cos(x), "v3", steps, states)
        assert good.all() == accepted


@needs_torch
def test_view_instead_of_a_copy_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mt_nn.torch_names, "clone", lambda x: x.detach())
    difference = run([leaf(MATRIX), Step("torch.clone()", (Ref(0),))]).difference
    assert difference == Difference("memory", "v1", "that of v0", "that of v1")


@needs_torch
def test_nan_instead_of_infinity_is_a_separate_kind_of_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = [leaf(np.array([np.inf, 1.0])), Step("torch.exp()", (Ref(0),))]
    for wrong, kind in (
        (lambda x: x.exp() - x.exp() + x.exp(), "infinite"),
        (lambda x: x.exp() - x.exp(), "values"),
    ):
        monkeypatch.setattr(mt_nn.torch_names, "exp", wrong)
        difference = run(steps).difference
        assert difference is not None
        assert difference.kind == kind


@needs_torch
def test_sign_of_zero_is_compared_except_after_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zero = leaf(np.array([0.0, 0.0]))
    for name, counts in (("sin", True), ("sum", False)):
        right = getattr(mt, name)
        monkeypatch.setattr(mt_nn.torch_names, name, lambda x, right=right: -right(x))
        difference = run([zero, Step(f"torch.{name}()", (Ref(0),))]).difference
        assert (difference is not None) == counts


@needs_torch
def test_random_results_are_not_compared() -> None:
    x = leaf(MATRIX)
    assert is_random(Step("torch.nn.functional.dropout()", (Ref(0),), {"p": 0.5}))
    assert not is_random(Step("torch.nn.functional.dropout()", (Ref(0), 0.0)))
    assert not is_random(Step("torch.nn.functional.dropout()", (Ref(0),), {"training": False}))
    steps = [x, Step("torch.rand_like()", (Ref(0),)), Step(".exp()", (Ref(1),))]
    assert run(steps).difference is None


@needs_torch
def test_error_of_a_sum_is_accepted_only_within_rounding() -> None:
    steps = [leaf(np.array([1e4, 1.0, -1e4], np.float32)), Step(".sum()", (Ref(0),))]
    states = [{"v0": np.array([1e4, 1.0, -1e4], np.float32)}]
    right = np.float32(1.0)
    assert not close(np.array(np.float32(1.001)), np.array(right)).any()
    assert within_rounding(np.array(np.float32(1.001)), np.array(right), "v1", steps, states).all()
    assert not within_rounding(
        np.array(np.float32(1.2)), np.array(right), "v1", steps, states
    ).any()


@needs_torch
def test_rounding_of_tanhshrink_allows_for_cancellation() -> None:
    x = np.array(0.08265195786972952)  # of which x - tanh(x) is only 0.2 %
    steps = [leaf(x), Step("torch.nn.functional.tanhshrink()", (Ref(0),))]
    states, right = [{"v0": x}], x - np.tanh(x)
    assert not close(right + 2e-17, right).any()
    assert within_rounding(right + 2e-17, right, "v1", steps, states).all()
    assert not within_rounding(right + 2e-15, right, "v1", steps, states).any()


@needs_torch
def test_rounding_of_pinv_and_vector_norm_scales_with_the_largest_intermediate() -> None:
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
def test_rounding_of_gradients_allows_for_values_saved_in_float32() -> None:
    narrow, wide = np.zeros(2, np.float32), np.array([0.13, 0.07])
    for operation, known in (("hypot_", True), ("hypot", False)):
        steps = [leaf(narrow), leaf(wide, True), Step(f".{operation}()", (Ref(0), Ref(1)))]
        steps += [leaf(np.ones(2)), Step("torch.autograd.grad()", (Ref(2), [Ref(1)], Ref(3)))]
        states = [{"v0": narrow}, {"v1": wide}, {"v2": wide.astype(np.float32)}, {}]
        found = within_rounding(np.ones(2) + 3e-8, np.ones(2), "v4[0]", steps, states)
        assert found.all() == known


@needs_torch
def test_rounding_of_expanded_elements_is_independent() -> None:
    x = np.array(-1e30)
    steps = [leaf(x), Step(".expand()", (Ref(0), 3)), Step(".std()", (Ref(1),))]
    states = [{"v0": x}, {"v1": np.full(3, -1e30)}]
    zero = np.array(0.0)
    assert within_rounding(np.array(1.7e14), zero, "v2", steps, states).all()
    assert not within_rounding(np.array(1e20), zero, "v2", steps, states).any()
