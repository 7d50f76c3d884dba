"""The recorded graph: what it holds, and when it lets go."""

import gc
import weakref
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.graph import Node


def living_nodes() -> int:
    return sum(issubclass(type(each), Node) for each in gc.get_objects())


def test_a_long_graph_is_differentiated_and_freed_at_once() -> None:
    """Without recursion, and without waiting for the garbage collector: nothing holds itself."""
    gc.collect()
    gc.disable()
    try:
        before = living_nodes()
        x = mt.ones(3, requires_grad=True)
        y = x
        for _ in range(50_000):
            y = (y * 1.0).tanh() if y is x else (y + 0.0) * 1.0
        assert living_nodes() == before + 100_000
        y.sum().backward()
        del y
        assert living_nodes() == before
        np.testing.assert_allclose(np.asarray(x.grad), 1 - np.tanh(1.0) ** 2, rtol=1e-6)
        y = x
        for _ in range(100_000):
            y = y * 1.0
        del y  # never differentiated
        assert living_nodes() == before
    finally:
        gc.enable()


def test_a_result_that_no_gradient_reads_is_freed() -> None:
    x = mt.ones(3, requires_grad=True)
    gone = weakref.ref(total := x + 1.0)
    y = total + x
    del total
    assert gone() is None
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


class Same(mt.Function):
    """Returns what it is given; its gradient is doubled, to be told from none."""

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        return grad * 2.0


def test_a_function_may_return_its_input_which_stays_as_it_was() -> None:
    for leaf in (True, False):
        x = mt.ones(3, requires_grad=True)
        given = x if leaf else x * 1.0
        y = Same.apply(given)
        assert y is not given
        assert given.is_leaf is leaf
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0] * 3
    plain = mt.ones(3)
    assert Same.apply(plain) is plain


class Made(mt.Function):
    """Returns a tensor of its own."""

    made: mt.Tensor

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        Made.made = x * 2.0
        return Made.made

    @staticmethod
    def backward(ctx: Any, grad: mt.Tensor) -> mt.Tensor:
        return grad * 2.0


def test_what_a_function_returns_is_the_result_and_no_copy() -> None:
    assert Made.apply(mt.ones(3, requires_grad=True)) is Made.made
