"""`autograd.grad` with respect to selected tensors, which computes no other gradients."""

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_autodiff import GraphFreedError
from mt_tensor.autograd import grad


class Product(mt.Function):
    """A product that records `needs_input_grad` in each backward pass."""

    requested: ClassVar[list[tuple[bool, ...]]] = []

    @staticmethod
    def forward(ctx: Any, a: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> Any:
        Product.requested.append(ctx.needs_input_grad)
        a, b = ctx.saved_tensors
        return grad * b, grad * a


def random_leaves(seed: int, count: int) -> list[mt.Tensor]:
    rng = np.random.default_rng(seed)
    return [mt.tensor(rng.standard_normal((3, 3)), requires_grad=True) for _ in range(count)]


@settings(deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, 99)] * 2), min_size=1, max_size=9),
    selected=st.sets(st.integers(0, 11), min_size=1),
    create_graph=st.booleans(),
)
def test_grad_of_selected_tensors_equals_full_backward(
    steps: list[tuple[int, int, int]], selected: set[int], create_graph: bool
) -> None:
    tensors = random_leaves(1, 3)
    operations = [mt.Tensor.__matmul__, mt.Tensor.__mul__, Product.apply, mt.Tensor.__sub__]
    for operation, first, second in steps:
        tensors.append(
            operations[operation](
                tensors[first % len(tensors)], tensors[second % len(tensors)]
            ).tanh()
        )
    for tensor in tensors:
        tensor.retain_grad()
    result = tensors[-1].sum()
    inputs = [tensors[i] for i in sorted(selected) if i < len(tensors)] or [tensors[0]]
    grads = grad(result, inputs, retain_graph=True, create_graph=create_graph, allow_unused=True)
    assert all(tensor.grad is None for tensor in tensors)
    result.backward()
    for tensor, ours in zip(inputs, grads, strict=True):
        assert (ours is None) == (tensor.grad is None)
        if ours is not None and tensor.grad is not None:
            assert ours.requires_grad <= create_graph
            np.testing.assert_allclose(ours.tolist(), tensor.grad.tolist(), rtol=1e-12)


def test_function_computes_gradients_only_on_paths_to_selected_tensors() -> None:
    x, weight, other = random_leaves(0, 3)
    Product.requested.clear()
    result = Product.apply(Product.apply(x, weight), other).sum()
    grad(result, x, retain_graph=True)
    assert Product.requested == [(True, False)] * 2
    grad(result, weight, retain_graph=True)
    assert Product.requested[2:] == [(True, False), (False, True)]
    grad(result, other, retain_graph=True)
    assert Product.requested[4:] == [(False, True)]
    result.backward()
    assert Product.requested[5:] == [(True, True)] * 2


def test_hooks_run_only_on_paths_to_selected_tensors() -> None:
    x, weight = random_leaves(0, 2)
    called = []
    left, right = x * 2.0, weight * 3.0
    left.register_hook(lambda grad: called.append("left"))
    right.register_hook(lambda grad: called.append("right"))
    (left @ right).sum().backward(retain_graph=True)
    assert sorted(called) == ["left", "right"]
    grad((left @ right).sum(), x)
    assert called[2:] == ["left"]


def test_grad_of_intermediate_tensor_and_of_its_input() -> None:
    x = mt.tensor(3.0, requires_grad=True)
    middle = x * x
    middle_grad, x_grad = grad(middle * middle, [middle, x])
    assert (middle_grad.item(), x_grad.item()) == (18.0, 108.0)


def test_grad_of_freed_graph_raises() -> None:
    x, weight = random_leaves(0, 2)
    middle = x @ weight
    result = middle.sum()
    result.backward()
    for tensor in (x, middle):
        with pytest.raises(GraphFreedError):
            grad(result, tensor)
