"""The recorded graph: what it holds, and when it lets go."""

import gc
import weakref

import numpy as np

import mt_tensor as mt
from mt_tensor.recording.graph import Node


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
