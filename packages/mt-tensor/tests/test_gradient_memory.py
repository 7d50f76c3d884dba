"""Memory of gradients: a leaf keeps a gradient that nothing else refers to, or else a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt


def leaves(count: int) -> list[Any]:
    return [mt.tensor([1.0, -2.0, 3.0], requires_grad=True) for _ in range(count)]


def share_memory(x: Any, y: Any) -> bool:
    return np.shares_memory(x.numpy(), y.numpy())


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x.exp(),
        lambda x: x * 2.0,
        lambda x: x / mt.tensor([1.0, 2.0, 3.0]),
        lambda x: x.softmax(0),
    ],
)
def test_gradient_computed_for_one_leaf_is_not_copied(
    operation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x,) = leaves(1)
    y = operation(x).sum()

    def fail(*_: Any) -> None:
        raise AssertionError("the gradient was copied.")

    monkeypatch.setattr(x.backend, "converted", fail, raising=False)
    y.backward()
    assert x.grad is not None


def test_leaves_with_equal_gradients_do_not_share_memory() -> None:
    x, y, z = leaves(3)
    (x + y + z * 1.0).exp().sum().backward()
    gradients = [each.grad for each in (x, y, z)]
    for i, first in enumerate(gradients):
        for second in gradients[:i]:
            assert not share_memory(first, second)


def test_gradient_argument_of_backward_is_copied() -> None:
    (x,) = leaves(1)
    (weight,) = mt.autograd.grad(x.exp().sum(), x)  # a computed tensor without other references
    x.backward(weight)
    assert not share_memory(x.grad, weight)


def test_gradient_seen_by_hooks_or_retained_is_copied() -> None:
    x, y = leaves(2)
    seen = []
    x.register_hook(seen.append)
    z = x * y
    z.register_hook(seen.append)
    z.retain_grad()
    (z * 1.0).sum().backward()
    others = [*seen, z.grad]
    assert len(others) == 3
    for leaf in (x, y):
        assert not any(share_memory(leaf.grad, each) for each in others)


def test_existing_tensor_returned_as_gradient_is_copied() -> None:
    x, y = leaves(2)
    (existing,) = mt.autograd.grad(x.exp().sum(), x)

    class ReturnsExisting(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x + 0.0

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return existing

    ReturnsExisting.apply(x).sum().backward()
    y.register_hook(lambda grad: existing)
    (y * 1.0).sum().backward()
    assert not share_memory(x.grad, existing)
    assert not share_memory(y.grad, existing)


def test_each_backward_allocates_a_new_gradient() -> None:
    (x,) = leaves(1)
    y = x.softmax(0).square().sum()
    y.backward(retain_graph=True)
    first, x.grad = x.grad, None
    y.backward()
    assert x.grad.tolist() == first.tolist()
    assert not share_memory(x.grad, first)
