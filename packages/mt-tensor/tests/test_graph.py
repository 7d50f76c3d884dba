"""The recorded graph: when nodes and results are freed, and results of Functions."""

import gc
import weakref
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.graph import Node


def count_nodes() -> int:
    return sum(issubclass(type(each), Node) for each in gc.get_objects())


def test_long_graph_is_differentiated_and_freed_without_recursion() -> None:
    """The graph has no reference cycles, so it is freed without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        before = count_nodes()
        x = mt.ones(3, requires_grad=True)
        y = x
        for _ in range(50_000):
            y = (y * 1.0).tanh() if y is x else (y + 0.0) * 1.0
        assert count_nodes() == before + 100_000
        y.sum().backward()
        del y
        assert count_nodes() == before
        np.testing.assert_allclose(np.asarray(x.grad), 1 - np.tanh(1.0) ** 2, rtol=1e-6)
        y = x
        for _ in range(100_000):
            y = y * 1.0
        del y  # never differentiated
        assert count_nodes() == before
    finally:
        gc.enable()


def test_intermediate_that_no_gradient_needs_is_freed() -> None:
    x = mt.ones(3, requires_grad=True)
    reference = weakref.ref(total := x + 1.0)
    y = total + x
    del total
    assert reference() is None
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


class Identity(mt.Function):
    """Return the argument, and double its gradient to show that backward was called."""

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        return grad * 2.0


def test_function_returning_its_input_leaves_the_input_unchanged() -> None:
    for leaf in (True, False):
        x = mt.ones(3, requires_grad=True)
        argument = x if leaf else x * 1.0
        y = Identity.apply(argument)
        assert y is not argument
        assert argument.is_leaf is leaf
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0] * 3
    constant = mt.ones(3)
    assert Identity.apply(constant) is constant


class Doubled(mt.Function):
    """Return a new tensor, and keep it in `Doubled.result`."""

    result: mt.Tensor

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        Doubled.result = x * 2.0
        return Doubled.result

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        return grad * 2.0


def test_apply_returns_the_tensor_that_forward_returned() -> None:
    assert Doubled.apply(mt.ones(3, requires_grad=True)) is Doubled.result
