"""Whose memory a gradient is: a leaf keeps it where nobody else has it, and else a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt


def leaves(count: int) -> list[Any]:
    return [mt.tensor([1.0, -2.0, 3.0], requires_grad=True) for _ in range(count)]


def share(x: Any, y: Any) -> bool:
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
def test_a_gradient_that_was_computed_for_a_leaf_is_not_copied(
    operation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x,) = leaves(1)
    y = operation(x).sum()

    def refuse(*_: Any) -> None:
        raise AssertionError("the gradient was copied.")

    monkeypatch.setattr(x.backend, "converted", refuse, raising=False)
    y.backward()
    assert x.grad is not None


def test_leaves_that_get_the_same_gradient_do_not_share_it() -> None:
    x, y, z = leaves(3)
    (x + y + z * 1.0).exp().sum().backward()
    gradients = [each.grad for each in (x, y, z)]
    for i, first in enumerate(gradients):
        for second in gradients[:i]:
            assert not share(first, second)


def test_a_weight_that_the_caller_holds_is_copied() -> None:
    (x,) = leaves(1)
    (weight,) = mt.autograd.grad(x.exp().sum(), x)  # which was computed, and nobody else's
    x.backward(weight)
    assert not share(x.grad, weight)


def test_a_gradient_that_somebody_has_seen_is_copied() -> None:
    x, y = leaves(2)
    seen = []
    x.register_hook(seen.append)
    z = x * y
    z.register_hook(seen.append)
    z.retain_grad()
    (z * 1.0).sum().backward()
    held = [*seen, z.grad]
    assert len(held) == 3
    for leaf in (x, y):
        assert not any(share(leaf.grad, each) for each in held)


def test_a_gradient_that_was_found_before_may_be_returned_again() -> None:
    x, y = leaves(2)
    (found,) = mt.autograd.grad(x.exp().sum(), x)

    class Known(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x + 0.0

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return found

    Known.apply(x).sum().backward()
    y.register_hook(lambda grad: found)
    (y * 1.0).sum().backward()
    assert not share(x.grad, found)
    assert not share(y.grad, found)


def test_differentiating_twice_gives_new_memory_each_time() -> None:
    (x,) = leaves(1)
    y = x.softmax(0).square().sum()
    y.backward(retain_graph=True)
    first, x.grad = x.grad, None
    y.backward()
    assert x.grad.tolist() == first.tolist()
    assert not share(x.grad, first)
