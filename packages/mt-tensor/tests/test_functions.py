"""Function: several results, non-differentiable results, views and in-place changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import Function, Tensor
from mt_tensor.errors import InPlaceError


class ProductAndSum(Function):
    """Return the product, the sum and `x > y`; record the gradients that backward gets."""

    materialize = True
    received: tuple[Any, ...] = ()

    @classmethod
    def compute(cls, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        result: Any = cls.apply(x, y)
        return result  # type: ignore[no-any-return]

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(x, y)
        ctx.set_materialize_grads(ProductAndSum.materialize)
        return x * y, x + y, x > y

    @staticmethod
    def backward(ctx: Any, product: Any, total: Any, larger: Any) -> Any:
        ProductAndSum.received = product, total, larger
        x, y = ctx.saved_tensors
        product = 0.0 if product is None else product
        total = 0.0 if total is None else total
        return product * y + total, product * x + total


def leaves() -> tuple[Tensor, Tensor]:
    x = mt.tensor([1.0, 2.0, 3.0], dtype="float64", requires_grad=True)
    y = mt.tensor([5.0, 0.5, -1.0], dtype="float64", requires_grad=True)
    return x, y


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "first": lambda p, s: (p * p).sum(),
    "second": lambda p, s: s.sum(),
    "both": lambda p, s: (p * s).sum(),
    "both twice": lambda p, s: (p * s + p.exp() * s).sum(),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_backward_gets_the_gradients_of_all_results(loss: str) -> None:
    x, y = leaves()
    product, total, larger = ProductAndSum.compute(x, y)
    assert not larger.requires_grad
    assert larger.dtype is mt.bool_
    LOSSES[loss](product, total).backward()
    a, b = leaves()
    LOSSES[loss](a * b, a + b).backward()
    np.testing.assert_allclose(x.grad.numpy(), a.grad.numpy(), rtol=1e-14)
    np.testing.assert_allclose(y.grad.numpy(), b.grad.numpy(), rtol=1e-14)


def test_function_with_several_results_has_second_derivatives() -> None:
    x, y = leaves()
    assert mt.gradgradcheck(
        lambda x, y: ProductAndSum.compute(x, y)[0] * ProductAndSum.compute(x, y)[1], (x, y)
    )


@pytest.mark.parametrize("materialize", [True, False])
def test_unused_result_passes_zeros_or_none_to_backward(materialize: bool) -> None:
    ProductAndSum.materialize = materialize
    try:
        x, y = leaves()
        ProductAndSum.compute(x, y)[1].sum().backward()
    finally:
        ProductAndSum.materialize = True
    product, total, _ = ProductAndSum.received
    assert total.tolist() == [1.0, 1.0, 1.0]
    assert product.tolist() == [0.0, 0.0, 0.0] if materialize else product is None


def test_grad_with_respect_to_one_input_ignores_the_other() -> None:
    x, y = leaves()
    product, total, _ = ProductAndSum.compute(x, y)
    (gradient,) = mt.autograd.grad((product + total).sum(), y)
    assert gradient.tolist() == [2.0, 3.0, 4.0]
    assert x.grad is None


class Sort(Function):
    """Sort, and return the number of elements as well, marked as non-differentiable."""

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


def test_result_marked_non_differentiable_does_not_require_grad() -> None:
    x = mt.tensor([3.0, 1.0, 2.0], requires_grad=True)
    results: Any = Sort.apply(x)
    values, count = results
    assert values.requires_grad
    assert not count.requires_grad
    (values * mt.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


class NegatedGradient(Function):
    """Return a view of the argument, and negate its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return -grad


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "result": lambda x, y: y.mul_(2.0),
    "part of the result": lambda x, y: y[:2].mul_(2.0),
    "argument": lambda x, y: x.mul_(2.0),
    "detached result": lambda x, y: y.detach().mul_(2.0),
    "result under no_grad": lambda x, y: mt.no_grad()(y.mul_)(2.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_backward_raises_if_memory_of_a_returned_view_was_changed(change: str) -> None:
    leaf = mt.ones(3, requires_grad=True)
    x = leaf * 1.0
    y = NegatedGradient.apply(x)

    def change_and_differentiate() -> None:
        CHANGES[change](x, y)
        y.sum().backward()

    with pytest.raises(InPlaceError, match="a result of a Function shares memory"):
        change_and_differentiate()


def test_returned_view_has_the_gradient_of_the_function() -> None:
    leaf = mt.ones(3, requires_grad=True)
    NegatedGradient.apply(leaf * 1.0).sum().backward()
    assert leaf.grad.tolist() == [-1.0, -1.0, -1.0]


def test_returned_view_of_a_constant_may_be_changed_in_place() -> None:
    x = mt.ones(3)
    y = NegatedGradient.apply(x)
    x.mul_(2.0)
    weight = mt.ones(3, requires_grad=True)
    (y * weight).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_mark_dirty_allows_changing_and_returning_an_argument() -> None:
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
