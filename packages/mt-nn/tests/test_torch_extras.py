"""`mt_nn.torch_names`: deprecated names, torch.jit, and functions that differ from mt_tensor's."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.torch_names as torch
import mt_tensor as mt


@pytest.mark.parametrize("name", ["relu_", "elu_", "celu_", "selu_", "leaky_relu_", "hardtanh_"])
def test_in_place_activation_changes_its_input(name: str) -> None:
    x = mt.tensor([-1.0, 0.5, 2.0])
    expected = getattr(torch.nn.functional, name[:-1])(x)
    result = getattr(torch.nn.functional, name)(x)
    assert result.tolist() == x.tolist() == expected.tolist()


def test_deprecated_names_are_available() -> None:
    assert torch.nn.init.constant is torch.nn.init.constant_
    assert torch.nn.init.kaiming_normal is torch.nn.init.kaiming_normal_
    assert torch.optim.lr_scheduler._LRScheduler is torch.optim.lr_scheduler.LRScheduler
    x = torch.autograd.Variable(mt.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(x, torch.autograd.Variable)
    assert not isinstance(1.0, torch.autograd.Variable)
    (gradient,) = torch.autograd.grad((x * x).sum(), x, only_inputs=False)
    assert gradient.tolist() == [2.0, 2.0]
    with pytest.raises(mt.errors.DomainError):
        torch.autograd.grad((x * x).sum(), x, is_grads_batched=True)


def test_jit_decorators_return_the_function_unchanged() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    for decorator in (torch.jit.script, torch.jit.export, torch.jit.ignore, torch.jit.unused):
        assert decorator(double) is double
    assert torch.jit.ignore(drop=True)(double) is double
    assert not torch.jit.is_scripting()


def test_functions_with_torch_specific_signatures_give_torch_results() -> None:
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


def test_packed_sequences_and_modules_move_to_another_backend() -> None:
    packed = nn.utils.rnn.pack_sequence([mt.ones(2, 1), mt.ones(1, 1)]).to("simple", mt.float64)
    assert (packed.data.backend.name, packed.data.dtype) == ("simple", mt.float64)
    layer = nn.Linear(2, 1)
    assert layer.to_empty(device="simple").share_memory().weight.backend.name == "simple"
