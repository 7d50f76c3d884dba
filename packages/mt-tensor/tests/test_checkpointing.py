"""`autograd.checkpoint`: the gradients of a plain call with less memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError
from mt_tensor.autograd import checkpoint, checkpoint_sequential
from mt_tensor.errors import DomainError, InPlaceError

W = mt.tensor([[0.5, -0.2], [0.1, 0.3]], dtype="float64", requires_grad=True)


def pair(x: mt.Tensor, other: dict[str, mt.Tensor]) -> tuple[mt.Tensor, dict[str, Any]]:
    return (x @ W).tanh(), {"sum": x.sum() * other["y"], "number": 3}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "one tensor": lambda x, y: (x @ W).sin() * y,
    "containers": lambda x, y: pair(x, {"y": y})[0] + pair(x, {"y": y})[1]["sum"],
    "random numbers": lambda x, y: (mt.rand_like(x) * x).exp() @ W + y,
    "view of an argument": lambda x, y: x[0] * 1 + y.sum(),
    "argument itself": lambda x, y: x,
    "unused argument": lambda x, y: x.exp(),
}


def leaves() -> tuple[mt.Tensor, mt.Tensor]:
    x = mt.tensor([[0.3, -0.4], [1.1, 0.7]], dtype="float64", requires_grad=True)
    return x, mt.tensor([0.2, 0.6], dtype="float64", requires_grad=True)


def gradients(function: Callable[..., Any], order: int) -> list[Any]:
    mt.manual_seed(3)
    x, y = leaves()
    result = function(x.sin(), y).square().sum()
    for _ in range(order - 1):
        grads = mt.autograd.grad(result, [x, y, W], create_graph=True, allow_unused=True)
        result = sum((each.square().sum() for each in grads if each is not None), mt.tensor(0.0))
    grads = mt.autograd.grad(result, [x, y, W], allow_unused=True)
    random = mt.rand(2)  # to compare the generator's state afterwards
    return [*(None if each is None else each.tolist() for each in grads), random.tolist()]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_first_and_second_gradients_of_checkpoint_match_plain_call(name: str, order: int) -> None:
    function = FUNCTIONS[name]
    expected = gradients(function, order)
    result = gradients(lambda *args: checkpoint(function, *args), order)
    for gradient, expected_gradient in zip(result, expected, strict=True):
        assert (gradient is None) == (expected_gradient is None)
        if expected_gradient is not None:
            np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-14, atol=1e-14)


def test_results_in_containers_are_returned_and_differentiated() -> None:
    x, y = leaves()
    first, rest = checkpoint(pair, x, other={"y": y})
    assert (first.shape, rest["number"], rest["sum"].requires_grad) == ((2, 2), 3, True)
    rest["sum"].sum().backward()
    np.testing.assert_allclose(x.grad, np.full((2, 2), 0.8))
    np.testing.assert_allclose(y.grad, [1.7, 1.7])


def test_closure_parameters_get_gradients() -> None:
    W.grad = None
    checkpoint(lambda factor: (W * W).sum() * factor, 2.0).backward()
    np.testing.assert_allclose(W.grad, 4 * W.detach().numpy())


def test_recomputation_uses_autocast_of_the_call() -> None:
    dtypes = []

    def product(x: mt.Tensor) -> mt.Tensor:
        result = x @ x
        dtypes.append(result.dtype)
        return result.float()

    x = mt.ones(2, 2, requires_grad=True)
    with mt.autocast("cpu", dtype=mt.bfloat16):
        result = checkpoint(product, x)
    result.sum().backward()
    assert dtypes == [mt.bfloat16, mt.bfloat16]


def test_checkpoint_keeps_no_intermediate_results() -> None:
    """After a forward pass, only the arguments of the blocks are allocated."""
    import tracemalloc

    def block(x: mt.Tensor) -> mt.Tensor:
        for _ in range(10):
            x = (x.sin() * 1.5).exp().tanh()
        return x

    def allocated(call: Callable[[mt.Tensor], mt.Tensor]) -> int:
        x = mt.ones(10_000, requires_grad=True)
        tracemalloc.start()
        result = x
        for _ in range(4):
            result = call(result)
        bytes_kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        result.sum().backward()
        return bytes_kept

    assert allocated(lambda x: checkpoint(block, x)) < 6 * 40_000
    assert allocated(block) > 60 * 40_000


def test_checkpoint_sequential_recomputes_all_but_last_segment() -> None:
    calls = []

    def numbered(number: int) -> Callable[[mt.Tensor], mt.Tensor]:
        def function(x: mt.Tensor) -> mt.Tensor:
            calls.append(number)
            return x * float(number + 1)

        return function

    x = mt.ones(2, requires_grad=True)
    checkpoint_sequential([numbered(i) for i in range(5)], 2, x).sum().backward()
    assert calls == [0, 1, 2, 3, 4, 0, 1]  # the last segment runs once
    np.testing.assert_array_equal(x.grad, [120, 120])
    with pytest.raises(DomainError, match="from 1 to 2 segments"):
        checkpoint_sequential([numbered(0)] * 2, 3, x)
    with pytest.raises(DomainError, match="at least one function"):
        checkpoint_sequential([], 1, x)


def test_checkpoint_without_grad_calls_function_once() -> None:
    calls: list[Any] = []
    with mt.no_grad():
        result = checkpoint(lambda x: calls.append(x) or x * 2, mt.ones(2, requires_grad=True))
    assert (len(calls), result.requires_grad) == (1, False)


def test_backward_raises_if_arguments_or_results_changed() -> None:
    x = mt.ones(2, requires_grad=True)
    y = x * 1
    result = checkpoint(lambda y: y.exp(), y)
    y.mul_(2)
    with pytest.raises(InPlaceError):
        result.sum().backward()
    calls: list[Any] = []

    def differing(x: mt.Tensor) -> Any:
        calls.append(x)
        return (x * 2, x * 3) if len(calls) == 1 else x * 2

    first, _ = checkpoint(differing, x)
    with pytest.raises(GradientError, match="returned 2 tensor.* and 1 when it ran again"):
        first.sum().backward()


def test_checkpoint_in_compiled_function_matches_eager() -> None:
    x = mt.tensor([0.3, 0.4], requires_grad=True)

    def step(x: mt.Tensor) -> mt.Tensor:
        x.grad = None
        checkpoint(lambda x: x.sin().exp(), x, preserve_rng_state=False).sum().backward()
        assert x.grad is not None
        return x.grad * 1

    expected = step(x).tolist()
    compiled = mt.compile(step)
    assert [compiled(x).tolist() for _ in range(3)] == [expected] * 3
