"""`autograd.checkpoint`: the gradients of a plain call, and less memory."""

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
    "a view of an argument": lambda x, y: x[0] * 1 + y.sum(),
    "an argument itself": lambda x, y: x,
    "no use of an argument": lambda x, y: x.exp(),
}


def leaves() -> tuple[mt.Tensor, mt.Tensor]:
    x = mt.tensor([[0.3, -0.4], [1.1, 0.7]], dtype="float64", requires_grad=True)
    return x, mt.tensor([0.2, 0.6], dtype="float64", requires_grad=True)


def gradients(function: Callable[..., Any], order: int) -> list[Any]:
    mt.manual_seed(3)
    x, y = leaves()
    result = function(x.sin(), y).square().sum()
    for _ in range(order - 1):
        found = mt.autograd.grad(result, [x, y, W], create_graph=True, allow_unused=True)
        result = sum((each.square().sum() for each in found if each is not None), mt.tensor(0.0))
    found = mt.autograd.grad(result, [x, y, W], allow_unused=True)
    drawn = mt.rand(2)  # the state of the generator is the same afterwards
    return [*(None if each is None else each.tolist() for each in found), drawn.tolist()]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_a_plain_call(name: str, order: int) -> None:
    function = FUNCTIONS[name]
    expected = gradients(function, order)
    found = gradients(lambda *args: checkpoint(function, *args), order)
    for ours, plain in zip(found, expected, strict=True):
        assert (ours is None) == (plain is None)
        if plain is not None:
            np.testing.assert_allclose(ours, plain, rtol=1e-14, atol=1e-14)


def test_results_in_containers_keep_them() -> None:
    x, y = leaves()
    first, rest = checkpoint(pair, x, other={"y": y})
    assert (first.shape, rest["number"], rest["sum"].requires_grad) == ((2, 2), 3, True)
    rest["sum"].sum().backward()
    np.testing.assert_allclose(x.grad, np.full((2, 2), 0.8))
    np.testing.assert_allclose(y.grad, [1.7, 1.7])


def test_parameters_alone_get_gradients() -> None:
    W.grad = None
    checkpoint(lambda factor: (W * W).sum() * factor, 2.0).backward()
    np.testing.assert_allclose(W.grad, 4 * W.detach().numpy())


def test_autocast_of_the_call_is_used_again() -> None:
    kinds = []

    def product(x: mt.Tensor) -> mt.Tensor:
        result = x @ x
        kinds.append(result.dtype)
        return result.float()

    x = mt.ones(2, 2, requires_grad=True)
    with mt.autocast("cpu", dtype=mt.bfloat16):
        result = checkpoint(product, x)
    result.sum().backward()
    assert kinds == [mt.bfloat16, mt.bfloat16]


def test_intermediate_results_are_not_kept() -> None:
    """Bytes of living arrays after a forward pass: those of the blocks' arguments only."""
    import tracemalloc

    def block(x: mt.Tensor) -> mt.Tensor:
        for _ in range(10):
            x = (x.sin() * 1.5).exp().tanh()
        return x

    def kept(call: Callable[[mt.Tensor], mt.Tensor]) -> int:
        x = mt.ones(10_000, requires_grad=True)
        tracemalloc.start()
        result = x
        for _ in range(4):
            result = call(result)
        bytes_kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        result.sum().backward()
        return bytes_kept

    assert kept(lambda x: checkpoint(block, x)) < 6 * 40_000
    assert kept(block) > 60 * 40_000


def test_a_segment_is_as_checkpoints_of_its_functions() -> None:
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


def test_without_recording_the_function_is_called_once() -> None:
    calls: list[Any] = []
    with mt.no_grad():
        result = checkpoint(lambda x: calls.append(x) or x * 2, mt.ones(2, requires_grad=True))
    assert (len(calls), result.requires_grad) == (1, False)


def test_changed_arguments_and_results_raise_errors() -> None:
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


def test_checkpoints_in_a_compiled_step_are_eager() -> None:
    x = mt.tensor([0.3, 0.4], requires_grad=True)

    def step(x: mt.Tensor) -> mt.Tensor:
        x.grad = None
        checkpoint(lambda x: x.sin().exp(), x, preserve_rng_state=False).sum().backward()
        assert x.grad is not None
        return x.grad * 1

    expected = step(x).tolist()
    compiled = mt.compile(step)
    assert [compiled(x).tolist() for _ in range(3)] == [expected] * 3
