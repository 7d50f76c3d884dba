"""Gradient hooks and retained gradients, in mt_tensor and in torch."""

import gc
import weakref
from typing import Any

import pytest

import mt_tensor as mt
from mt_autodiff import GradientError, NoGradientError


@pytest.fixture(params=["mt", "torch"])
def lib(request: pytest.FixtureRequest) -> Any:
    """Return each library: these tests pass with torch as well."""
    return mt if request.param == "mt" else pytest.importorskip("torch")


def test_hooks_see_and_replace_gradients(lib: Any) -> None:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    seen: list[Any] = []
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.register_hook(lambda grad: grad * 10.0)
    handle = x.register_hook(lambda grad: grad + 1.0)
    (y * y).sum().backward()
    assert seen == [[6.0, 12.0]]
    assert x.grad.tolist() == [181.0, 361.0]
    handle.remove()
    handle.remove()
    x.grad = None
    (x * 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_hook_is_called_once_with_the_summed_gradient(lib: Any) -> None:
    x = lib.tensor([1.0], requires_grad=True)
    y = x * 1.0
    seen: list[float] = []
    y.register_hook(lambda grad: seen.append(grad.item()))
    (y * 2.0 + y * 3.0 + y).sum().backward()
    assert seen == [6.0]


def test_hooks_change_the_results_of_autograd_grad(lib: Any) -> None:
    x = lib.tensor([2.0], requires_grad=True)
    x.register_hook(lambda grad: grad * 5.0)
    (grad,) = lib.autograd.grad((x * x).sum(), x)
    assert grad.tolist() == [20.0]
    assert x.grad is None


def test_retain_grad_keeps_the_gradient_of_a_non_leaf(lib: Any) -> None:
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    x.retain_grad()  # a leaf always keeps its gradient
    assert not x.retains_grad
    y.register_hook(lambda grad: grad * 2.0)
    (y * y).sum().backward(retain_graph=True)
    assert y.grad.tolist() == [12.0, 24.0]
    assert y.is_leaf is False


def test_post_accumulate_hook_sees_the_accumulated_grad(lib: Any) -> None:
    x = lib.tensor([1.0], requires_grad=True)
    found: list[Any] = []
    handle = x.register_post_accumulate_grad_hook(lambda leaf: found.append(leaf.grad.item()))
    (x * 2.0).sum().backward()
    (x * 3.0).sum().backward()
    assert found == [2.0, 5.0]
    handle.remove()
    (x * 3.0).sum().backward()
    assert len(found) == 2


def test_hook_is_differentiated_under_create_graph(lib: Any) -> None:
    x = lib.tensor([3.0], requires_grad=True)
    y = x * x
    handle = y.register_hook(lambda grad: grad * grad)
    (first,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    handle.remove()
    (second,) = lib.autograd.grad(first.sum(), x)
    assert first.item() == pytest.approx(4 * 81 * 6)  # (2 y)^2 * 2 x = 8 x^5
    assert second.item() == pytest.approx(40 * 81)


def test_hooks_on_unsuitable_tensors_or_with_bad_results_raise() -> None:
    x = mt.ones(2)
    for call in (
        lambda: x.register_hook(print),
        x.retain_grad,
        lambda: x.register_post_accumulate_grad_hook(print),
        lambda: (x.requires_grad_() * 1.0).register_post_accumulate_grad_hook(print),
    ):
        with pytest.raises(NoGradientError):
            call()
    x.requires_grad_()
    with pytest.raises(TypeError, match="3 was given"):
        x.register_hook(3)  # type: ignore[arg-type]
    x.register_hook(lambda grad: grad[:1])
    with pytest.raises(GradientError, match=r"a hook returned a gradient of shape \(1,\)"):
        x.sum().backward()


def test_handle_of_hook_removes_the_hook_at_the_end_of_a_with_block() -> None:
    x = mt.ones(2, requires_grad=True)
    with x.register_hook(lambda grad: grad * 7.0):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


def test_retain_grad_does_not_keep_the_tensor_alive() -> None:
    gc.disable()
    try:
        x = mt.ones(2, requires_grad=True)
        y = x * 2.0
        y.retain_grad()
        reference = weakref.ref(y)
        z = y.sum()
        del y
        assert reference() is None
        z.backward()
    finally:
        gc.enable()
