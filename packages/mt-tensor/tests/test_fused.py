"""Kernels of fused operations: calls, gradients, higher derivatives and errors."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError, GraphFreedError
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core.named import FUSED, fused
from mt_tensor.errors import InPlaceError
from mt_tensor.kernels.fused import FusedKernel


class Kernel(FusedKernel):
    """Compute `x * y * scale`, and record the calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def fits(self, *arguments: Any) -> bool:
        return bool(arguments[0].dtype is mt.float64)

    def value(self, needs: Sequence[bool], *arguments: Any) -> Any:
        assert not mt.is_grad_enabled()
        x, y, scale = arguments
        self.calls.append(("value", tuple(needs)))
        out = x * y * scale
        return out, (out,)

    def gradient(self, grad: Any, saved: Any, needs: Sequence[bool], *arguments: Any) -> Any:
        assert not mt.is_grad_enabled()
        x, y, scale = arguments
        self.calls.append(("gradient", tuple(needs)))
        assert np.array_equal(saved[0], x.detach() * y.detach() * scale)
        return grad * y * scale, grad * x * scale, None


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    kernel = Kernel()

    class Ops(NumpyOps):
        name = "with a kernel"

        def kernel(self, name: str) -> Any:
            return kernel if name == "scaled_product" else super().kernel(name)

    mt.register_backend("with a kernel", Ops)
    with mt.use_backend("with a kernel"):
        yield kernel


@fused("scaled_product")
def scaled_product(x: mt.Tensor, y: mt.Tensor, scale: float) -> mt.Tensor:
    return x * y * scale


def leaves() -> list[mt.Tensor]:
    return [mt.tensor(a, requires_grad=True) for a in ([1.0, 2.0], [3.0, -1.0])]


def doubles() -> list[mt.Tensor]:
    return [leaf.double().detach().requires_grad_() for leaf in leaves()]


def test_kernel_computes_value_and_gradient(kernel: Kernel) -> None:
    x, y = doubles()
    out = scaled_product(x, y.detach(), 2.0)
    assert str(out.grad_fn) == "<scaled_product>"
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, -2.0]
    assert kernel.calls == [("value", (True, False, False)), ("gradient", (True, False, False))]


def test_arguments_that_do_not_fit_the_kernel_use_the_composition(kernel: Kernel) -> None:
    x, y = leaves()
    scaled_product(x, y, 2.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, -2.0]
    assert kernel.calls == []


def test_higher_derivatives_use_the_composition(kernel: Kernel) -> None:
    x, y = doubles()

    def function(x: mt.Tensor, y: mt.Tensor) -> mt.Tensor:
        return scaled_product(x.exp(), y.sin(), 2.0)

    assert mt.gradcheck(function, [x, y])
    assert mt.gradgradcheck(function, [x, y])
    assert ("gradient", (True, True, False)) in kernel.calls


def test_tensor_passed_twice_gets_the_sum_of_both_gradients(kernel: Kernel) -> None:
    x, _ = doubles()
    first = mt.autograd.grad(scaled_product(x, x, 1.0).sum(), x)[0]
    assert first is not None
    assert first.tolist() == [2.0, 4.0]
    assert mt.gradgradcheck(lambda x: scaled_product(x, x, 1.0), [x])
    # one argument is computed from the other
    assert mt.gradgradcheck(lambda x: scaled_product(x, x * x, 1.0), [x])


def test_create_graph_calls_hooks_of_arguments_once(kernel: Kernel) -> None:
    x, y = doubles()
    seen: list[mt.Tensor] = []
    inner = x * 2.0
    inner.register_hook(seen.append)
    (slope,) = mt.autograd.grad(scaled_product(inner, y, 1.0).sum(), x, create_graph=True)
    assert len(seen) == 1
    assert slope is not None
    (second,) = mt.autograd.grad(slope.sum(), y)
    assert second is not None
    assert second.tolist() == [2.0, 2.0]


def test_backward_raises_if_argument_or_result_was_changed_in_place(kernel: Kernel) -> None:
    x, y = doubles()
    factor = y * 1.0
    out = scaled_product(x, factor, 1.0)
    factor.add_(1.0)
    with pytest.raises(InPlaceError):
        out.sum().backward()
    out = scaled_product(x, y, 1.0)  # the gradient needs the result as well
    out.mul_(2.0)
    with pytest.raises(InPlaceError):
        out.sum().backward()


def test_second_backward_without_retain_graph_raises(kernel: Kernel) -> None:
    x, y = doubles()
    out, ones = scaled_product(x, y, 1.0), mt.ones(2, dtype=mt.float64)
    out.backward(ones, retain_graph=True)
    out.backward(ones)
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, -2.0]
    with pytest.raises(GraphFreedError, match="scaled_product"):
        out.backward(ones)


def test_kernel_with_wrong_number_or_shape_of_gradients_raises(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = doubles()
    monkeypatch.setattr(Kernel, "gradient", lambda self, grad, *_: (grad,))
    with pytest.raises(GradientError, match=r"returned 1 derivative\(s\) for 3 input"):
        scaled_product(x, y, 1.0).sum().backward()
    monkeypatch.setattr(Kernel, "gradient", lambda self, grad, *_: (grad[:1], None, None))
    with pytest.raises(GradientError, match="shape"):
        scaled_product(x, y, 1.0).sum().backward()


def test_saved_tensors_are_freed_with_the_result(kernel: Kernel) -> None:
    x, y = doubles()
    scaled_product(x, y, 1.0)  # caches the number as a tensor
    gc.collect()
    gc.disable()
    try:
        before = sum(type(each) is mt.Tensor for each in gc.get_objects())
        scaled_product(x, y, 1.0)
        after = sum(type(each) is mt.Tensor for each in gc.get_objects())
    finally:
        gc.enable()
    assert before == after


def test_fused_operation_takes_keyword_arguments(kernel: Kernel) -> None:
    x, y = doubles()
    assert scaled_product(x, y, scale=3.0).tolist() == [9.0, -6.0]
    assert scaled_product(x, scale=3.0, y=y).tolist() == [9.0, -6.0]  # in any order
    with pytest.raises(TypeError, match="scale"):
        scaled_product(x, y=y)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="scaled_product"):
        scaled_product(1.0, y, 2.0)  # type: ignore[arg-type]
    assert FUSED["scaled_product"] is not scaled_product
