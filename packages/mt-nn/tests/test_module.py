"""What modules of tensors add: conversion of a whole network, and its gradients."""

import copy
from typing import Any

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


# --- Hooks --------------------------------------------------------------------------------------


def test_hooks_see_what_goes_in_and_what_comes_out() -> None:
    layer, seen = nn.Identity(), []
    before = layer.register_forward_pre_hook(lambda module, args: seen.append((module, args)))
    after = layer.register_forward_hook(lambda *given: seen.append(given))
    x = mt.ones(1)
    assert layer(x) is x
    assert [given[0] for given in seen] == [layer, layer]
    assert seen[0][1] == seen[1][1] == (x,)
    assert seen[1][2] is x
    before.remove()
    after.remove()
    after.remove()
    layer(x)
    assert len(seen) == 2


def test_hooks_may_replace_both() -> None:
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda _, args: args[0] + 1)
    with layer.register_forward_hook(lambda _, args, output: output * 10):
        assert layer(mt.ones(1)).tolist() == [20.0]
    assert layer(mt.ones(1)).tolist() == [2.0]
    layer.register_forward_pre_hook(lambda _, args: (args[0] * 2,), prepend=True)
    assert layer(mt.ones(1)).tolist() == [3.0]
    layer.register_forward_hook(lambda *_: None)
    layer.register_forward_hook(lambda _, args, output: output + 0.5)
    layer.register_forward_hook(lambda _, args, output: output * 2, prepend=True)
    assert layer(mt.ones(1)).tolist() == [6.5]
    assert copy.deepcopy(layer)(mt.ones(1)).tolist() == [6.5]
    assert nn.Sequential(layer)(mt.ones(1)).tolist() == [6.5]


def test_hooks_with_keywords() -> None:
    class Scale(nn.Module):
        def forward(self, x: Any, by: float = 1.0) -> Any:
            return x * by

    layer, seen = Scale(), []
    layer.register_forward_pre_hook(
        lambda _, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda _, args, kwargs, output: seen.append(kwargs), with_kwargs=True
    )
    assert layer(2, by=2.0) == 6.0
    assert seen == [{"by": 3.0}]
    layer.register_forward_pre_hook(lambda _, args, kwargs: args, with_kwargs=True)
    with pytest.raises(TypeError, match="returns None or a tuple of arguments and keyword"):
        layer(2, by=2.0)
    for register in (layer.register_forward_hook, layer.register_forward_pre_hook):
        with pytest.raises(TypeError, match="a hook is a function"):
            register(3)  # type: ignore[arg-type]


# --- Names --------------------------------------------------------------------------------------


def test_what_has_a_dotted_name_is_found() -> None:
    outer = nn.Sequential(Net())
    net = outer[0]
    assert outer.get_submodule("") is outer
    assert outer.get_submodule("0.linear") is net.linear
    assert outer.get_parameter("0.linear.weight") is net.linear.weight
    assert outer.get_buffer("0.mean") is net.mean
    for find, name, hint in (
        (outer.get_submodule, "0.liner", "Net has no attribute 'liner'. Did you mean 'linear'"),
        (outer.get_submodule, "0.mean", "Net has no attribute 'mean'"),
        (outer.get_parameter, "0.linear.wieght", "Did you mean 'weight'"),
        (outer.get_parameter, "0.mean", "'mean'"),
        (outer.get_buffer, "0.linear", "'linear'"),
    ):
        with pytest.raises(AttributeError, match=hint):
            find(name)


def test_what_fits_is_loaded_and_the_rest_named() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    found = model.load_state_dict(
        {"0.weight": mt.zeros(2, 2), "1.weight": mt.ones(1)}, strict=False
    )
    assert found.missing_keys == ["0.bias"]
    assert found.unexpected_keys == ["1.weight"]
    assert not model[0].weight.detach().numpy().any()
