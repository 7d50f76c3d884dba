"""What modules of tensors add: conversion of a whole network, and its gradients."""

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_tensor.errors import UnknownBackendError


class Net(nn.Module):
    """A layer, and buffers of floats and of integers."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("mean", mt.ones(2))
        self.register_buffer("count", mt.tensor(7))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return self.linear(x) + self.mean


def test_a_network_takes_another_element_type() -> None:
    net = Net()
    before = net.linear.weight.detach().numpy().copy()
    net(mt.ones(1, 3)).sum().backward()
    weight = net.linear.weight
    assert net.double() is net
    assert net.linear.weight is weight
    assert weight.requires_grad
    assert weight.grad is not None
    assert {weight.dtype, weight.grad.dtype, net.mean.dtype} == {mt.float64}
    assert net.count.dtype is mt.int64
    np.testing.assert_array_equal(weight.detach().numpy(), before)
    assert net(mt.ones(1, 3, dtype="float64")).dtype is mt.float64
    assert net.half().linear.bias.dtype is mt.float16
    assert net.float().mean.dtype is mt.float32


def test_a_network_moves_to_another_backend() -> None:
    net = Net().to("simple")
    assert {p.value.backend.name for p in net.parameters()} == {"simple"}
    assert {net.mean.backend.name, net.count.backend.name} == {"simple"}
    assert net(mt.ones(1, 3, backend="simple")).shape == (1, 2)
    with pytest.raises(UnknownBackendError):
        net.to("nowhere")


def test_gradients_are_forgotten_or_set_to_zero_and_refused() -> None:
    net = Net()
    net(mt.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.linear.weight.grad.tolist() == [[0] * 3] * 2
    net.zero_grad()
    assert net.linear.weight.grad is None
    assert not net.requires_grad_(False)(mt.ones(1, 3)).requires_grad
    assert net.requires_grad_()(mt.ones(1, 3)).requires_grad
