"""The number of Python calls of small operations, which determine most of their time."""

from collections.abc import Callable

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.bench.counting import count_calls


def _backward() -> tuple[Callable[[], object], Callable[[], None]]:
    x, y = (mt.rand(4, requires_grad=True) for _ in range(2))
    losses: list[mt.Tensor] = []

    def before() -> None:
        x.grad = y.grad = None
        losses[:] = [(x * y).tanh().sum()]

    def backward() -> None:
        losses[0].backward()

    return backward, before


def _linear() -> tuple[Callable[[], object], Callable[[], None]]:
    layer, x = nn.Linear(4, 4), mt.rand(4, 4)
    return lambda: layer(x), lambda: None


def _convolution() -> tuple[Callable[[], object], Callable[[], None]]:
    layer, x = nn.Conv2d(1, 1, 3), mt.rand(1, 1, 5, 5)
    return lambda: layer(x), lambda: None


def _adam() -> tuple[Callable[[], object], Callable[[], None]]:
    parameters = [mt.rand(4, 4, requires_grad=True), mt.rand(4, requires_grad=True)]
    for parameter in parameters:
        parameter.grad = mt.rand(*parameter.shape)
    optimizer = nn.optim.Adam(parameters)
    return optimizer.step, lambda: None


@pytest.mark.parametrize(
    ("make", "most"), [(_backward, 44), (_linear, 22), (_convolution, 32), (_adam, 33)]
)
def test_a_warm_call_on_numpy_makes_few_calls_of_python(
    make: Callable[[], tuple[Callable[[], object], Callable[[], None]]], most: int
) -> None:
    with mt.use_backend("numpy"):
        function, before = make()
        calls, _ = count_calls(function, before)
    assert calls <= most
