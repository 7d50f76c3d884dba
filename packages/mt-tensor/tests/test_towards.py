"""Gradients by some of what a result was computed from: the same, and nothing else is computed."""

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_autodiff import GraphFreedError
from mt_tensor.autograd import grad


class Product(mt.Function):
    """A product that notes which gradients it was asked for."""

    asked: ClassVar[list[tuple[bool, ...]]] = []

    @staticmethod
    def forward(ctx: Any, a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        Product.asked.append(ctx.needs_input_grad)
        a, b = ctx.saved_tensors
        return grad * b, grad * a


def numbers(seed: int, count: int) -> list[mt.Tensor]:
    rng = np.random.default_rng(seed)
    return [mt.tensor(rng.standard_normal((3, 3)), requires_grad=True) for _ in range(count)]


@settings(deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, 99)] * 2), min_size=1, max_size=9),
    chosen=st.sets(st.integers(0, 11), min_size=1),
    create_graph=st.booleans(),
)
def test_they_are_those_of_a_walk_to_all(
    steps: list[tuple[int, int, int]], chosen: set[int], create_graph: bool
) -> None:
    made = numbers(1, 3)
    kinds = [mt.Tensor.__matmul__, mt.Tensor.__mul__, Product.apply, mt.Tensor.__sub__]
    for kind, first, second in steps:
        made.append(kinds[kind](made[first % len(made)], made[second % len(made)]).tanh())
    for tensor in made:
        tensor.retain_grad()
    result = made[-1].sum()
    named = [made[i] for i in sorted(chosen) if i < len(made)] or [made[0]]
    found = grad(result, named, retain_graph=True, create_graph=create_graph, allow_unused=True)
    assert all(tensor.grad is None for tensor in made)
    result.backward()
    for tensor, ours in zip(named, found, strict=True):
        assert (ours is None) == (tensor.grad is None)
        if ours is not None and tensor.grad is not None:
            assert ours.requires_grad <= create_graph
            np.testing.assert_allclose(ours.tolist(), tensor.grad.tolist(), rtol=1e-12)


def test_a_function_is_asked_for_what_leads_there() -> None:
    x, weight, other = numbers(0, 3)
    Product.asked.clear()
    result = Product.apply(Product.apply(x, weight), other).sum()
    grad(result, x, retain_graph=True)
    assert Product.asked == [(True, False)] * 2
    grad(result, weight, retain_graph=True)
    assert Product.asked[2:] == [(True, False), (False, True)]
    grad(result, other, retain_graph=True)
    assert Product.asked[4:] == [(False, True)]
    result.backward()
    assert Product.asked[5:] == [(True, True)] * 2


def test_hooks_see_what_is_on_the_way() -> None:
    x, weight = numbers(0, 2)
    seen = []
    middle, beside = x * 2.0, weight * 3.0
    middle.register_hook(lambda grad: seen.append("middle"))
    beside.register_hook(lambda grad: seen.append("beside"))
    (middle @ beside).sum().backward(retain_graph=True)
    assert sorted(seen) == ["beside", "middle"]
    grad((middle @ beside).sum(), x)
    assert seen[2:] == ["middle"]


def test_what_is_behind_a_wanted_tensor_and_wanted_too() -> None:
    x = mt.tensor(3.0, requires_grad=True)
    middle = x * x
    by_middle, by_x = grad(middle * middle, [middle, x])
    assert (by_middle.item(), by_x.item()) == (18.0, 108.0)


def test_a_graph_that_is_freed_says_so() -> None:
    x, weight = numbers(0, 2)
    middle = x @ weight
    result = middle.sum()
    result.backward()
    for wanted in (x, middle):
        with pytest.raises(GraphFreedError):
            grad(result, wanted)
