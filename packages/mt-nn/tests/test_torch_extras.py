"""Names of torch that old or larger programs use, on `torch_names`; einops."""

import importlib.util
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.torch_names as torch
import mt_tensor as mt


@pytest.mark.parametrize("name", ["relu_", "elu_", "celu_", "selu_", "leaky_relu_", "hardtanh_"])
def test_activations_in_place(name: str) -> None:
    x = mt.tensor([-1.0, 0.5, 2.0])
    expected = getattr(torch.nn.functional, name[:-1])(x)
    result = getattr(torch.nn.functional, name)(x)
    assert result.tolist() == x.tolist() == expected.tolist()


def test_old_names() -> None:
    assert torch.nn.init.constant is torch.nn.init.constant_
    assert torch.nn.init.kaiming_normal is torch.nn.init.kaiming_normal_
    assert torch.optim.lr_scheduler._LRScheduler is torch.optim.lr_scheduler.LRScheduler
    x = torch.autograd.Variable(mt.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(x, torch.autograd.Variable)
    assert not isinstance(1.0, torch.autograd.Variable)
    (gradient,) = torch.autograd.grad((x * x).sum(), x, only_inputs=True)
    assert gradient.tolist() == [2.0, 2.0]
    with pytest.raises(mt.errors.DomainError):
        torch.autograd.grad((x * x).sum(), x, is_grads_batched=True)


def test_decorators_of_jit_do_nothing() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    for decorator in (torch.jit.script, torch.jit.export, torch.jit.ignore, torch.jit.unused):
        assert decorator(double) is double
    assert torch.jit.ignore(drop=True)(double) is double
    assert not torch.jit.is_scripting()


def test_functions_with_another_form() -> None:
    table = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    torch.embedding(table, mt.tensor([1, 1, 0]), 0).sum().backward()
    assert table.grad is not None
    assert table.grad.tolist() == [[0.0, 0.0], [2.0, 2.0]]
    assert torch.fill(mt.ones(2), 3.0).tolist() == [3.0, 3.0]
    memory = bytearray(8)
    torch.frombuffer(memory, dtype=torch.float32, offset=4)[0] = 1.0
    assert np.frombuffer(memory, np.float32).tolist() == [0.0, 1.0]
    assert torch.repeat_interleave(mt.tensor([2, 0, 1])).tolist() == [0, 0, 2]
    assert mt.arange(4).index_fill(0, mt.tensor([-1, 0]), 9).tolist() == [9, 1, 2, 9]


def test_packed_sequences_and_modules_move() -> None:
    packed = nn.utils.rnn.pack_sequence([mt.ones(2, 1), mt.ones(1, 1)]).to("simple", mt.float64)
    assert (packed.data.backend.name, packed.data.dtype) == ("simple", mt.float64)
    layer = nn.Linear(2, 1)
    assert layer.to_empty(device="simple").share_memory().weight.backend.name == "simple"


@pytest.mark.parametrize("requires_grad", [False, True])
def test_checkpoints_compute_again(requires_grad: bool) -> None:
    layer, calls = nn.Linear(3, 3), []

    def function(x: mt.Tensor, scale: float) -> tuple[mt.Tensor, mt.Tensor]:
        calls.append(mt.rand(2).tolist())
        out = layer(x).tanh() * scale
        return out, out.square()

    def gradients(run: Any) -> list[Any]:
        layer.zero_grad()
        x = mt.ones(2, 3, requires_grad=requires_grad)
        first, second = run(x)
        (first.sum() + second.sum()).backward()
        return [None if each is None else each.numpy() for each in (x.grad, layer.weight.grad)]

    expected = gradients(lambda x: function(x, 2.0))
    calls.clear()
    found = gradients(lambda x: torch.utils.checkpoint.checkpoint(function, x, 2.0))
    assert (found[0] is None) is not requires_grad
    for one, other in zip(found[not requires_grad :], expected[not requires_grad :], strict=True):
        np.testing.assert_allclose(one, other, 1e-5)
    assert len(calls) == 2
    assert calls[0] == calls[1]  # the same random numbers


@pytest.mark.skipif(importlib.util.find_spec("einops") is None, reason="einops is not installed")
def test_einops() -> None:
    import einops

    from mt_nn.utils.einops import Rearrange, Reduce

    array = np.arange(1.0, 25).reshape(2, 3, 4)
    x = mt.tensor(array, requires_grad=True)
    for call in (
        lambda a: einops.rearrange(a, "a b c -> c (b a)"),
        lambda a: einops.rearrange([a, a], "n a b c -> a (n b) c"),
        *(
            lambda a, how=how: einops.reduce(a, "a (b d) c -> b c", how, d=3)
            for how in ("sum", "mean", "max", "min", "prod")
        ),
        lambda a: einops.repeat(a, "a b c -> a b (c d)", d=2),
        lambda a: einops.einsum(a, a, "a b c, a d c -> b d"),
        lambda a: einops.pack([a, a[0]], "* c")[0],
        lambda a: einops.unpack(a, [[1], [2]], "a * c")[1],
    ):
        np.testing.assert_allclose(call(x).detach().numpy(), call(array), 1e-6)
    assert einops.parse_shape(x, "a b c") == {"a": 2, "b": 3, "c": 4}
    network = nn.Sequential(Rearrange("a b c -> a (b c)"), Reduce("a (b c) -> a b", "sum", b=3))
    network(x).sum().backward()
    assert x.grad is not None
    assert (x.grad == 1.0).all()
    assert list(network.state_dict()) == []
