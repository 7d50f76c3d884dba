"""`Function`: several results, results without a gradient, and results that are views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import Function, Tensor
from mt_tensor.errors import InPlaceError


class Parts(Function):
    """The product and the sum of two tensors, and where the first is larger."""

    materialize = True
    seen: tuple[Any, ...] = ()

    @classmethod
    def of(cls, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        result: Any = cls.apply(x, y)
        return result  # type: ignore[no-any-return]

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(x, y)
        ctx.set_materialize_grads(Parts.materialize)
        return x * y, x + y, x > y

    @staticmethod
    def backward(ctx: Any, product: Any, total: Any, larger: Any) -> Any:
        Parts.seen = product, total, larger
        x, y = ctx.saved_tensors
        product = 0.0 if product is None else product
        total = 0.0 if total is None else total
        return product * y + total, product * x + total


def leaves() -> tuple[Tensor, Tensor]:
    x = mt.tensor([1.0, 2.0, 3.0], dtype="float64", requires_grad=True)
    y = mt.tensor([5.0, 0.5, -1.0], dtype="float64", requires_grad=True)
    return x, y


USES: dict[str, Callable[[Any, Any], Any]] = {
    "first": lambda p, s: (p * p).sum(),
    "second": lambda p, s: s.sum(),
    "both": lambda p, s: (p * s).sum(),
    "both twice": lambda p, s: (p * s + p.exp() * s).sum(),
}


@pytest.mark.parametrize("use", USES)
def test_the_gradients_of_several_results_meet_in_one_call(use: str) -> None:
    x, y = leaves()
    product, total, larger = Parts.of(x, y)
    assert not larger.requires_grad
    assert larger.dtype is mt.bool_
    USES[use](product, total).backward()
    a, b = leaves()
    USES[use](a * b, a + b).backward()
    np.testing.assert_allclose(x.grad.numpy(), a.grad.numpy(), rtol=1e-14)
    np.testing.assert_allclose(y.grad.numpy(), b.grad.numpy(), rtol=1e-14)


def test_gradients_of_several_results_have_gradients() -> None:
    x, y = leaves()
    assert mt.gradgradcheck(lambda x, y: Parts.of(x, y)[0] * Parts.of(x, y)[1], (x, y))


@pytest.mark.parametrize("materialize", [True, False])
def test_a_result_without_a_gradient_gives_backward_zeros_or_none(materialize: bool) -> None:
    Parts.materialize = materialize
    try:
        x, y = leaves()
        Parts.of(x, y)[1].sum().backward()
    finally:
        Parts.materialize = True
    product, total, _ = Parts.seen
    assert total.tolist() == [1.0, 1.0, 1.0]
    assert product.tolist() == [0.0, 0.0, 0.0] if materialize else product is None


def test_a_gradient_with_respect_to_one_input_needs_only_that() -> None:
    x, y = leaves()
    product, total, _ = Parts.of(x, y)
    (gradient,) = mt.autograd.grad((product + total).sum(), y)
    assert gradient.tolist() == [2.0, 3.0, 4.0]
    assert x.grad is None


class Sorted(Function):
    """Elements in order, with a float that tells how many there are, marked as a constant."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        values, order = x.sort()
        count = mt.full((), float(x.numel()))
        ctx.save_for_backward(order)
        ctx.mark_non_differentiable(count)
        return values, count

    @staticmethod
    def backward(ctx: Any, grad: Tensor, count: Tensor) -> Any:
        (order,) = ctx.saved_tensors
        return mt.zeros_like(grad).scatter(0, order, grad)


def test_a_result_marked_non_differentiable_requires_no_gradient() -> None:
    x = mt.tensor([3.0, 1.0, 2.0], requires_grad=True)
    results: Any = Sorted.apply(x)
    values, count = results
    assert values.requires_grad
    assert not count.requires_grad
    (values * mt.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


class Reversed(Function):
    """A view of the argument, whose gradient changes its sign."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return -grad


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "of the result": lambda x, y: y.mul_(2.0),
    "of a part of the result": lambda x, y: y[:2].mul_(2.0),
    "of the argument": lambda x, y: x.mul_(2.0),
    "of the result, detached": lambda x, y: y.detach().mul_(2.0),
    "of the result, under no_grad": lambda x, y: mt.no_grad()(y.mul_)(2.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_view_returned_by_a_function_never_loses_its_gradient(change: str) -> None:
    leaf = mt.ones(3, requires_grad=True)
    x = leaf * 1.0
    y = Reversed.apply(x)

    def change_and_differentiate() -> None:
        CHANGES[change](x, y)
        y.sum().backward()

    with pytest.raises(InPlaceError, match="a result of a Function shares memory"):
        change_and_differentiate()


def test_a_view_returned_by_a_function_has_the_functions_gradient() -> None:
    leaf = mt.ones(3, requires_grad=True)
    Reversed.apply(leaf * 1.0).sum().backward()
    assert leaf.grad.tolist() == [-1.0, -1.0, -1.0]


def test_a_view_of_constants_may_be_changed_with_its_argument() -> None:
    x = mt.ones(3)
    y = Reversed.apply(x)
    x.mul_(2.0)
    weight = mt.ones(3, requires_grad=True)
    (y * weight).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_functions_may_change_and_return_an_argument() -> None:
    class Triple(mt.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(3.0)

        @staticmethod
        def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
            return 3.0 * grad

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2.0
    assert Triple.apply(y) is y
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [72.0, 144.0]
    for leaf_or_view in (x, (x * 1.0)[:1]):
        with pytest.raises(InPlaceError):
            Triple.apply(leaf_or_view)
