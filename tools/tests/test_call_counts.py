"""The number of Python calls of small operations, which determine most of their time."""

import gc
import os
import sys
from collections.abc import Callable
from types import FrameType

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.workspace import ROOT

PACKAGES = str(ROOT / "packages")


def count_calls(function: Callable[[], object], before: Callable[[], object]) -> int:
    """Return the number of calls of Python functions of the packages, in the third run.

    Calls in NumPy, the standard library, C and generated code are not counted.
    """
    for _ in range(2):  # the first runs fill caches and compile code
        before()
        function()
    before()
    calls = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        file = frame.f_code.co_filename
        calls += event == "call" and file.startswith(PACKAGES) and f"{os.sep}src{os.sep}" in file

    profile = sys.getprofile()
    gc.disable()  # or finalizers of other objects would be counted
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(profile)
        gc.enable()
    return calls


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
def test_warm_call_on_numpy_makes_few_python_calls(
    make: Callable[[], tuple[Callable[[], object], Callable[[], None]]], most: int
) -> None:
    with mt.use_backend("numpy"):
        function, before = make()
        calls = count_calls(function, before)
    assert 0 < calls <= most
