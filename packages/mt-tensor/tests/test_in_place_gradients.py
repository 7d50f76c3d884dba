"""Gradients through in-place changes of tensors and views: gradcheck, torch, and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_autodiff import GradientError, NoGradientError
from mt_tensor import errors


def stale_views(y: Any, w: Any) -> Any:
    row, flat = y[0], y.view(6)
    y.mul_(w)
    return row * row + flat[:3]


def views_of_views(y: Any, w: Any) -> Any:
    column, row = y[:, 1], y[0]
    column.mul_(w[:, 0])
    row.add_(w[1])
    return y * y + column.sum() * row


def filled_buffer(m: Any, x: Any, w: Any) -> Any:
    buffer = m.zeros(2, 3, dtype=m.float64)
    buffer[0] = w[0] * x[1]
    buffer[1] += x[0]
    buffer[:, 1:] *= 2.0
    return buffer


def set_item(y: Any, key: Any, value: Any) -> None:
    y[key] = value


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, x, w: (x * 2).add_(w),
    "add a constant": lambda m, x, w: (x * w).add_(1.0, alpha=3),
    "multiply": lambda m, x, w: (x * 2).mul_(w),
    "divide": lambda m, x, w: (x * 2).div_(w.exp()),
    "multiply by itself": lambda m, x, w: (y := x * w).mul_(y.clone()),
    "multiply a row": lambda m, x, w: (y := x * 2, y[0].mul_(w[1]))[0],
    "earlier views": lambda m, x, w: stale_views(x * 2, w),
    "views of views": lambda m, x, w: views_of_views(x * 2, w),
    "a buffer that does not require grad": filled_buffer,
    "set a row": lambda m, x, w: (y := x * 2, set_item(y, 0, w[0]))[0],
    "set by mask": lambda m, x, w: (y := x * 2, set_item(y, y > 0, 3.0))[0],
    "set by index": lambda m, x, w: (y := x * 2, set_item(y, m.tensor([1, 0]), w * w))[0],
    "set in a transpose": lambda m, x, w: (y := x * 2, set_item(y.T, 0, w[:, 0]))[0],
    "fill": lambda m, x, w: (y := x * w, y[0].fill_(3.0))[0],
    "zero": lambda m, x, w: (y := x * w, y[:, 1].zero_())[0],
    "zero all": lambda m, x, w: (x * w).zero_() + x,
    "diagonal": lambda m, x, w: (y := x * w, y.diagonal().add_(w[0, :2]))[0],
    "permuted": lambda m, x, w: (y := x * w, y.permute(1, 0)[1:].mul_(w.T[1:]))[0],
    "copy": lambda m, x, w: (x * w).copy_(w),
    "copy, broadcast": lambda m, x, w: (y := x * w, y[:, ::2].copy_(w[:, :1]))[0],
    "one row from another": lambda m, x, w: (y := x * w, y[0].add_(y[1]))[0],
    "all by slice": lambda m, x, w: (y := x * w, y[:].mul_(w))[0],
    "all by narrow": lambda m, x, w: (y := x * w, y.narrow(0, 0, 2).exp_())[0],
    "all by expand": lambda m, x, w: (y := x * w, v := y.expand(2, 3), y.mul_(w), v * v)[3],
    "nested views": lambda m, x, w: (y := x * w, y.view(6)[1:5].view(2, 2)[1].mul_(w[0, :2]))[0],
    "transposed": lambda m, x, w: (y := x * w, y.t_(), y.mul_(w.T), y * y.exp())[3],
    "transposed, with earlier views": lambda m, x, w: (
        y := x * w,
        v := y[0],
        y.transpose_(0, 1),
        v.mul_(w[1]),
        y[1:].exp_(),
        y * y + v.sum(),
    )[5],
    "a transposed view": lambda m, x, w: (
        y := x * w,
        v := y[:1],
        v.t_(),
        v.mul_(w.T[:, :1]),
        y.T * v,
    )[4],
    "reshaped, then set": lambda m, x, w: (
        y := x * w,
        y.unsqueeze_(0).squeeze_(0),
        set_item(y, 0, w[1]),
        y * x,
    )[3],
    "filled by a tensor": lambda m, x, w: (y := x * w, y[0].fill_(w[1, 2]))[0],
    "filled by a tensor under a mask": lambda m, x, w: (x * w).masked_fill(x > 0, w[1, 2]),
    "copy after to()": lambda m, x, w: (x * w).copy_(w.to(m.float64)),
}


def gradients(m: Any, program: Any, numbers: Any, order: int = 1) -> list[Any]:
    """Return the value of a program and the gradients of its two inputs."""
    x, w = (m.tensor(part.tolist(), dtype=m.float64, requires_grad=True) for part in numbers)
    result = program(m, x, w)
    total = (result * result).sum()
    found = m.autograd.grad(total, [x, w], create_graph=order == 2, allow_unused=True)
    if order == 2:
        total = sum((g * g).sum() for g in found if g is not None)
        found = m.autograd.grad(total, [x, w], allow_unused=True)
    zeros = np.zeros((2, 3))
    values = [result.reshape(-1), *found]
    return [zeros if g is None else np.asarray(g.detach().tolist()) for g in values]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_through_in_place_changes_pass_gradcheck_and_gradgradcheck(name: str) -> None:
    numbers = np.random.default_rng(0).standard_normal((2, 2, 3))
    leaves = [mt.tensor(part, requires_grad=True) for part in numbers]

    def program(x: mt.Tensor, w: mt.Tensor) -> mt.Tensor:
        return PROGRAMS[name](mt, x, w).square()

    assert mt.gradcheck(program, leaves)
    assert mt.gradgradcheck(program, leaves)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_through_in_place_changes_match_torch(name: str, order: int) -> None:
    torch = pytest.importorskip("torch")
    numbers = np.random.default_rng(0).standard_normal((2, 2, 3))
    ours, theirs = (gradients(m, PROGRAMS[name], numbers, order) for m in (mt, torch))
    for actual, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


FIRST_ORDER: dict[str, Callable[[Any, Any, Any], Any]] = {
    "softmax over its argument": lambda m, x, w: (
        y := x * w,
        set_item(y, 0, y[0].softmax(0)),
    )[0],
    "log_softmax over all": lambda m, x, w: (
        y := x * w,
        set_item(y, slice(None), y.log_softmax(1)),
    )[0],
    "relu of another row": lambda m, x, w: (y := x * w, set_item(y, 0, y[1].relu()))[0],
}
"""Changes of arguments that only a differentiable gradient (`create_graph`) needs."""


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_argument_that_the_gradient_does_not_need_may_change(name: str) -> None:
    numbers = np.random.default_rng(0).standard_normal((2, 2, 3))
    leaves = [mt.tensor(part, requires_grad=True) for part in numbers]
    assert mt.gradcheck(lambda x, w: FIRST_ORDER[name](mt, x, w).square(), leaves)


def test_create_graph_raises_if_the_argument_of_softmax_was_changed() -> None:
    x = mt.rand(3, requires_grad=True)
    y = x * 2.0
    result = y.softmax(0)
    y.add_(1.0)
    with pytest.raises(errors.InPlaceError, match="'softmax' saved"):
        mt.autograd.grad(result[0], x, create_graph=True)


VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda y: y[0],
    lambda y: y[:, 1:],
    lambda y: y.T,
    lambda y: y.view(6)[::2],
    lambda y: y.diagonal(),
    lambda y: y.unsqueeze(1)[:, 0],
    lambda y: y,
)
CHANGES: tuple[Callable[[Any, Any], Any], ...] = (
    lambda v, w: v.mul_(w),
    lambda v, w: v.add_(w.exp()),
    lambda v, w: v.copy_(w),
    lambda v, w: v.fill_(0.5),
    lambda v, w: set_item(v, 0, w),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 6)), max_size=5))
def test_gradients_through_random_changes_of_views_match_torch(
    steps: list[tuple[int, int, int]],
) -> None:
    torch = pytest.importorskip("torch")

    def program(m: Any, x: Any, w: Any) -> Any:
        y = x * w
        total = y.sum() * 0
        earlier = [view(y) for view in VIEWS]
        for which, change, other in steps:
            target = earlier[other] if other % 2 else VIEWS[which](y)
            CHANGES[change](target, w[1, 2])
            total = total + earlier[which].sum().tanh()
        return y + total

    numbers = np.random.default_rng(len(steps)).standard_normal((2, 2, 3))
    ours, theirs = (gradients(m, program, numbers) for m in (mt, torch))
    for actual, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.booleans()), max_size=4))
def test_gradients_of_changed_tensors_and_views_match_torch(
    steps: list[tuple[int, int, bool]],
) -> None:
    """Compare results of `grad` and retained gradients, for the base and its views."""
    torch = pytest.importorskip("torch")

    def found(m: Any, retained: bool) -> list[Any]:
        x, w = (m.tensor(part.tolist(), dtype=m.float64, requires_grad=True) for part in numbers)
        y = x * w
        views = [view(y) for view in VIEWS]
        if retained:
            for tensor in views:
                tensor.retain_grad()
        for which, change, earlier in steps:
            CHANGES[change](views[which] if earlier else VIEWS[which](y), w[1, 2])
        total = sum(((number + 2) * view * view).sum() for number, view in enumerate(views))
        if retained:
            total.backward()
            gradients = [tensor.grad for tensor in (x, w, *views)]
        else:
            gradients = m.autograd.grad(total, [x, w, *views], allow_unused=True)
        return [None if each is None else each.tolist() for each in gradients]

    numbers = np.random.default_rng(len(steps)).standard_normal((2, 2, 3))
    for retained in (False, True):
        for actual, expected in zip(found(mt, retained), found(torch, retained), strict=True):
            assert (actual is None) == (expected is None)
            if actual is not None:
                np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


def test_changing_a_view_in_place_changes_the_gradient_of_its_base() -> None:
    y = mt.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1.0
    view = y[:2]
    view.mul_(2.0)
    (of_base,) = mt.autograd.grad(view.sum() + y.sum(), y, retain_graph=True)
    (of_view,) = mt.autograd.grad(view.sum() + y.sum(), view, retain_graph=True)
    assert (of_base.tolist(), of_view.tolist()) == ([2.0, 2.0, 1.0], [1.0, 1.0])
    with pytest.raises(NoGradientError, match="no output depends on input 0"):
        mt.autograd.grad(y.sum(), view)


@pytest.mark.parametrize(
    "make",
    [lambda x: x.view(3), lambda x: x.index_put((mt.tensor([0]),), mt.zeros(1)), lambda x: x[:]],
)
def test_change_of_view_created_under_no_grad_is_recorded_if_its_base_requires_no_grad(
    make: Callable[[mt.Tensor], mt.Tensor],
) -> None:
    w = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    base = mt.tensor([4.0, 5.0, 6.0])
    with mt.no_grad():
        y = make(base)
    old = y.tolist()
    y.mul_(w)
    (y * mt.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [old[0], 10 * old[1], 100 * old[2]]
    shares = y._tensor.storage is base._tensor.storage
    assert base.requires_grad == shares


def test_adding_to_gradient_of_another_shape_raises() -> None:
    x = mt.ones(2, 3, requires_grad=True)
    x.sum().backward()
    with mt.no_grad():
        x.t_()
    with pytest.raises(GradientError, match=r"grad has shape \(2, 3\), but .* shape \(3, 2\)"):
        x.sum().backward()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 1], [1, 1]]


def test_changes_that_autograd_cannot_record_raise() -> None:
    leaf = mt.ones(2, 3, requires_grad=True)
    with pytest.raises(errors.InPlaceError, match="a leaf that requires grad"):
        leaf += 1.0
    with pytest.raises(errors.InPlaceError, match="a view of a leaf"):
        leaf[0].mul_(2.0)
    with pytest.raises(errors.InPlaceError, match="a view of a leaf"):
        mt.ones(2, 3, requires_grad=True)[:].mul_(2.0)
    y = leaf * 2.0
    with mt.no_grad():
        view = y[0]
        view.zero_()
    with pytest.raises(errors.InPlaceError, match="created under no_grad"):
        view.add_(1.0 * leaf[0])
    with pytest.raises(errors.InPlaceError, match="created under no_grad"):
        view.add_(1.0)  # this would change y, too
    with pytest.raises(errors.InPlaceError, match="created under no_grad"):
        view.add_(mt.ones(3))
    with pytest.raises(errors.InPlaceError, match="a leaf that requires grad"):
        leaf.t_()
    with pytest.raises(errors.InPlaceError, match="a view of a leaf"):
        leaf[0].unsqueeze_(0)
    z = leaf.exp()
    saved = z * z
    z += 1.0
    with pytest.raises(errors.InPlaceError, match="'mul' saved"):
        saved.sum().backward()


def test_backward_raises_if_a_saved_tensor_was_transposed_in_place() -> None:
    x = mt.ones(2, 3, requires_grad=True)
    for factor in (mt.ones(2, 3), x * 2.0):
        y = factor * x
        factor.t_()
        with pytest.raises(errors.InPlaceError, match="'mul' saved .* changed in place"):
            y.sum().backward()


def test_overwritten_elements_have_gradient_zero() -> None:
    x, w = mt.ones(3, requires_grad=True), mt.ones((), requires_grad=True)
    (x * 2.0).copy_(w * 3.0).sum().backward()
    assert (x.grad.tolist(), w.grad.item()) == ([0, 0, 0], 9)
    v = mt.ones(3, requires_grad=True)
    (v * 2.0).fill_(w).sum().backward()
    assert (v.grad.tolist(), w.grad.item()) == ([0, 0, 0], 12)


def test_retained_gradient_is_that_of_the_changed_tensor() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    y.mul_(2.0)
    y.unsqueeze_(0)
    (y * y).sum().backward()
    assert y.retains_grad
    assert y.grad.tolist() == [[4, 16]]


def test_view_keeps_its_graph_if_its_base_is_changed_under_no_grad() -> None:
    weight = mt.ones(2, 3, requires_grad=True)
    row = weight[0]
    with mt.no_grad():
        weight += 1.0
    (row * row).sum().backward()
    assert weight.grad.tolist() == [[4, 4, 4], [0, 0, 0]]


def test_view_of_a_constant_can_become_a_leaf() -> None:
    base = mt.zeros(4)
    part = base[:2].requires_grad_()
    (part * 3.0).sum().backward()
    assert part.is_leaf
    assert part.grad.tolist() == [3, 3]
    assert not base.requires_grad


def test_requires_grad_false_does_not_separate_a_view_from_its_base() -> None:
    base, factor = mt.ones(4), mt.tensor(3.0, requires_grad=True)
    part = base[:2].requires_grad_(False)
    base.mul_(factor)
    assert part.requires_grad
    part.sum().backward()
    assert factor.grad.item() == 2


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[0],
        lambda x: x[..., 2],
        lambda x: x[:, :, 1:],
        lambda x: x[:, :, ::2],
        lambda x: x.flip(2),
        lambda x: x.narrow(2, 0, 2),
        lambda x: mt.pad(x, (-1, 0)),
        lambda x: x.reshape(3, 2),
        lambda x: x.expand(4, 2, 3),
        lambda x: x.permute(2, 1, 0),
        lambda x: x.diagonal(0, 1, 2),
        lambda x: x.unfold(2, 2, 1),
        lambda x: x.sum(2),
        lambda x: x * 1,
    ],
)
def test_gradient_of_a_view_fits_its_transposed_leaf_or_raises(
    view: Callable[[mt.Tensor], mt.Tensor], create_graph: bool
) -> None:
    x = mt.ones(1, 2, 3, requires_grad=True)
    y = view(x) * 2
    with mt.no_grad():
        x.transpose_(0, -1)
    try:
        y.sum().backward(create_graph=create_graph)
    except (GradientError, errors.TensorError):
        assert x.grad is None
    else:
        assert x.grad.shape == x.shape


class _Identity(mt.Function):
    """Return the argument itself."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def test_view_returned_by_a_function_remains_a_view_of_its_base() -> None:
    base = mt.zeros(3)
    view = base[1:]
    with mt.no_grad():
        same = _Identity.apply(view)
        assert same is view
    view.mul_(mt.ones(2, requires_grad=True))
    for tensor in (base, view):
        assert tensor.requires_grad
        assert not tensor.is_leaf


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_changes_through_data_are_not_detected(backend: str) -> None:
    with mt.use_backend(backend):
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        total = (x * w).sum()
        w.data.mul_(2.0)
        w.data[0] = 5.0
        total.backward()
    assert w.tolist() == [5.0, 8.0]
    assert x.grad is not None
    assert x.grad.tolist() == [5.0, 8.0]  # as in torch: the elements at the time of backward
    total = (x * w).sum()
    w.detach().mul_(2.0)
    with pytest.raises(errors.InPlaceError):
        total.backward()
