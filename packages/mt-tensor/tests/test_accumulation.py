"""Accumulation of gradients in `grad`: in place or as a new tensor, as in torch."""

from collections.abc import Callable
from typing import Any

import pytest

import mt_tensor as mt

pytestmark = [  # torch's
    pytest.mark.filterwarnings("ignore:.*do not obey the gradient layout:UserWarning"),
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning"),
]


@pytest.fixture(params=["mt", "torch"])
def m(request: pytest.FixtureRequest) -> Any:
    """Return mt_tensor or torch: the tests hold for both."""
    return mt if request.param == "mt" else pytest.importorskip("torch")


def test_backward_adds_gradient_to_grad_in_place(m: Any) -> None:
    flat = m.zeros(6)
    weight, bias = (m.ones(*shape, requires_grad=True) for shape in ((2, 2), (2,)))
    weight.grad, bias.grad = flat[:4].view(2, 2), flat[4:]
    for _ in range(2):
        ((weight * m.tensor([1.0, 2.0])).sum(1) + bias).sum().backward()
    assert flat.tolist() == [2.0, 4.0, 2.0, 4.0, 2.0, 2.0]


LAYOUTS: list[Callable[[Any], Any]] = [
    lambda grad: grad.t(),
    lambda grad: grad[:, ::2],
    lambda grad: grad[1:, :2],
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_backward_adds_in_place_to_strided_grad(m: Any, layout: Callable[[Any], Any]) -> None:
    base = m.zeros(3, 4)
    grad = layout(base)
    x = m.ones(*grad.shape, requires_grad=True)
    x.grad = grad
    (x * 3.0).sum().backward()
    assert x.grad is grad
    assert base.sum().item() == 3.0 * grad.numel()


def test_grad_is_replaced_only_with_create_graph(m: Any) -> None:
    x = m.tensor([2.0], requires_grad=True)

    def backward(create_graph: bool) -> Any:
        (x * x * x).sum().backward(create_graph=create_graph)
        return x.grad

    first = backward(False)
    assert backward(False) is first
    assert first.tolist() == [24.0]
    second = backward(True)  # a new tensor, since the sum has a graph
    assert second is not first
    assert second.requires_grad
    assert (first.tolist(), second.tolist()) == ([24.0], [36.0])
    assert backward(False) is second  # in place again
    assert second.tolist() == [48.0]


def test_gradients_with_create_graph_share_no_memory(m: Any) -> None:
    a, b, w = (m.tensor([value], requires_grad=True) for value in (1.0, 2.0, 3.0))
    ((a + b) * w).sum().backward(create_graph=True)
    assert a.grad.requires_grad
    a.sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([4.0], [3.0])
    b.grad.sum().backward()  # through the copy
    assert w.grad.tolist() == [4.0]


def test_backward_copies_gradient_argument_that_requires_grad(m: Any) -> None:
    x = m.ones(2, requires_grad=True)
    weight = m.tensor([3.0, 4.0], requires_grad=True)
    for times in (1.0, 2.0):
        x.backward(weight)
        assert not x.grad.requires_grad
        assert x.grad.tolist() == [3.0 * times, 4.0 * times]
    assert weight.tolist() == [3.0, 4.0]


def test_retain_grad_accumulates_out_of_place(m: Any) -> None:
    x = m.ones(2, requires_grad=True)
    y = x * 1.0
    y.retain_grad()
    z = y.sum()
    z.backward(retain_graph=True)
    first = y.grad
    z.backward(retain_graph=True)
    assert (first.tolist(), y.grad.tolist()) == ([1.0, 1.0], [2.0, 2.0])
    x.grad = y.grad = old = m.zeros(2)
    z.backward(inputs=[y])
    assert (old.tolist(), y.grad.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_backward_with_inputs_adds_only_to_their_grad(m: Any) -> None:
    x, other = m.ones(2, requires_grad=True), m.ones(2, requires_grad=True)
    x.grad = grad = m.ones(2)
    (x * other).sum().backward(inputs=[x])
    assert x.grad is grad
    assert (grad.tolist(), other.grad) == ([2.0, 2.0], None)


def test_gradient_that_overlaps_grad_is_added_correctly() -> None:
    """Torch raises an error here."""
    x = mt.zeros(2, 2, requires_grad=True)
    x.grad = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
    x.backward(x.grad.t())
    assert x.grad.tolist() == [[2.0, 5.0], [5.0, 8.0]]


def test_backward_raises_for_expanded_grad(m: Any) -> None:
    x = m.ones(3, requires_grad=True)
    x.grad = m.zeros(1).expand(3)
    with pytest.raises(RuntimeError):
        x.sum().backward()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
