"""Methods of modules: conversion, gradients, hooks, lookup and state."""

import copy
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.creation.formats import memory_format
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


def test_dtype_methods_convert_parameters_gradients_and_float_buffers() -> None:
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


def test_to_moves_parameters_and_buffers_to_a_backend() -> None:
    net = Net().to("simple")
    assert {p.value.backend.name for p in net.parameters()} == {"simple"}
    assert {net.mean.backend.name, net.count.backend.name} == {"simple"}
    assert net(mt.ones(1, 3, backend="simple")).shape == (1, 2)
    with pytest.raises(UnknownBackendError):
        net.to("nowhere")


@pytest.mark.parametrize("kind", ["Adam", "SGD"])
def test_to_converts_parameters_to_a_memory_format(kind: str) -> None:
    def trained(layout: memory_format | None) -> nn.Module:
        mt.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 1))
        images = mt.rand(5, 2, 4, 4).to(memory_format=layout)
        model.to(memory_format=layout)
        optimizer = getattr(nn.optim, kind)(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            model(images).square().sum().backward()
            optimizer.step()
        return model

    contiguous, channels_last = trained(None), trained(memory_format.channels_last)
    assert channels_last[0].weight.stride() == (18, 1, 6, 2)
    assert channels_last[3].weight.is_contiguous()
    for name, value in channels_last.state_dict().items():
        np.testing.assert_allclose(value.numpy(), contiguous.state_dict()[name].numpy(), atol=1e-5)
    channels_last.double().to(memory_format=memory_format.contiguous_format)
    assert channels_last[0].weight.is_contiguous()
    with pytest.raises(
        errors.ShapeError, match=r"channels_last_3d needs 5 .* \(3, 2, 3, 3\) has 4"
    ):
        channels_last.to(memory_format=memory_format.channels_last_3d)


def test_zero_grad_and_requires_grad_change_all_parameters() -> None:
    net = Net()
    net(mt.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.linear.weight.grad.tolist() == [[0] * 3] * 2
    net.zero_grad()
    assert net.linear.weight.grad is None
    assert not net.requires_grad_(False)(mt.ones(1, 3)).requires_grad
    assert net.requires_grad_()(mt.ones(1, 3)).requires_grad


# --- Hooks --------------------------------------------------------------------------------------


def test_forward_hooks_get_inputs_and_outputs() -> None:
    layer, calls = nn.Identity(), []
    before = layer.register_forward_pre_hook(lambda module, args: calls.append((module, args)))
    after = layer.register_forward_hook(lambda *args: calls.append(args))
    x = mt.ones(1)
    assert layer(x) is x
    assert [args[0] for args in calls] == [layer, layer]
    assert calls[0][1] == calls[1][1] == (x,)
    assert calls[1][2] is x
    before.remove()
    after.remove()
    after.remove()
    layer(x)
    assert len(calls) == 2


def test_forward_hooks_can_replace_inputs_and_outputs() -> None:
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


def test_hooks_with_kwargs_get_and_replace_keyword_arguments() -> None:
    class Scale(nn.Module):
        def forward(self, x: Any, by: float = 1.0) -> Any:
            return x * by

    layer, calls = Scale(), []
    layer.register_forward_pre_hook(
        lambda _, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda _, args, kwargs, output: calls.append(kwargs), with_kwargs=True
    )
    assert layer(2, by=2.0) == 6.0
    assert calls == [{"by": 3.0}]
    layer.register_forward_pre_hook(lambda _, args, kwargs: args, with_kwargs=True)
    with pytest.raises(TypeError, match="must return None or a tuple of arguments and keyword"):
        layer(2, by=2.0)
    for register in (layer.register_forward_hook, layer.register_forward_pre_hook):
        with pytest.raises(TypeError, match="a hook must be a function"):
            register(3)  # type: ignore[arg-type]


# --- Names and keys -------------------------------------------------------------------------------


def test_get_submodule_parameter_and_buffer_take_dotted_names() -> None:
    outer = nn.Sequential(Net())
    net = outer[0]
    assert outer.get_submodule("") is outer
    assert outer.get_submodule("0.linear") is net.linear
    assert outer.get_parameter("0.linear.weight") is net.linear.weight
    assert outer.get_buffer("0.mean") is net.mean
    for get, name, message in (
        (outer.get_submodule, "0.liner", "Net has no attribute 'liner'. Did you mean 'linear'"),
        (outer.get_submodule, "0.mean", "Net has no attribute 'mean'"),
        (outer.get_parameter, "0.linear.wieght", "Did you mean 'weight'"),
        (outer.get_parameter, "0.mean", "'mean'"),
        (outer.get_buffer, "0.linear", "'linear'"),
    ):
        with pytest.raises(AttributeError, match=message):
            get(name)


def test_load_state_dict_with_strict_false_returns_mismatched_keys() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    result = model.load_state_dict(
        {"0.weight": mt.zeros(2, 2), "1.weight": mt.ones(1)}, strict=False
    )
    assert result.missing_keys == ["0.bias"]
    assert result.unexpected_keys == ["1.weight"]
    assert not model[0].weight.detach().numpy().any()


# --- Backward hooks -------------------------------------------------------------------------------


class Two(nn.Module):
    """A module with a number between its two input tensors, and with two outputs."""

    def forward(self, a: mt.Tensor, k: float, b: mt.Tensor) -> tuple[mt.Tensor, mt.Tensor]:
        return a * b * k, a + b


def test_backward_hooks_get_and_can_replace_gradients() -> None:
    module, calls = Two(), []
    module.register_full_backward_pre_hook(lambda _, grads: tuple(2 * grad for grad in grads))
    module.register_full_backward_hook(lambda *args: calls.append(args))
    module.register_full_backward_hook(lambda _, inputs, outputs: (inputs[0] * 10, None, inputs[2]))
    a = mt.tensor([1.0, 2.0], requires_grad=True)
    b = mt.tensor([[3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    product, total = module(a, 3, b)
    (product.sum() + total.square().sum()).backward()
    ((called, (of_a, of_k, of_b), outputs),) = calls
    assert (called, of_k) == (module, None)
    assert of_a.tolist() == [88.0, 116.0]
    assert [grad.tolist() for grad in outputs] == [[[2, 2], [2, 2]], [[16, 24], [24, 32]]]
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == [880.0, 1160.0]
    assert b.grad.tolist() == of_b.tolist() == [[22.0, 36.0], [30.0, 44.0]]


def test_backward_hook_gets_none_for_inputs_without_gradient() -> None:
    layer, calls = nn.Linear(2, 1), []
    with layer.register_full_backward_hook(lambda *args: calls.append(args)):
        layer(mt.ones(1, 2)).sum().backward()
        with mt.no_grad():
            layer(mt.ones(1, 2))
    layer(mt.ones(1, 2)).sum().backward()
    ((_, inputs, (output,)),) = calls
    assert inputs == (None,)
    assert output.tolist() == [[1.0]]


class Named(nn.Module):
    """A module that returns a dictionary."""

    def forward(self, x: mt.Tensor) -> dict[str, mt.Tensor]:
        return {"square": x * x}


def test_backward_hooks_of_module_that_returns_a_dictionary_warn_and_are_not_called() -> None:
    module, calls = Named(), []
    module.register_full_backward_pre_hook(lambda *args: calls.append(args))
    module.register_full_backward_hook(lambda *args: calls.append(args))
    x = mt.tensor(3.0, requires_grad=True)
    with pytest.warns(UserWarning, match="Named returned a dict") as warned:
        output = module(x)
    assert warned[0].filename == __file__
    output["square"].backward()
    assert x.grad is not None
    assert x.grad.item() == 6.0
    assert calls == []


def test_full_backward_hook_is_not_called_for_gradients_of_inputs_alone() -> None:
    layer, calls = nn.Tanh(), []
    layer.register_full_backward_hook(lambda *args: calls.append(args))
    x = mt.tensor(0.5, requires_grad=True)
    (gradient,) = mt.autograd.grad(layer(x), x, create_graph=True)
    assert len(calls) == 1
    gradient.backward()
    assert len(calls) == 1


def test_backward_hook_with_invalid_result_raises() -> None:
    layer = nn.Linear(2, 1)
    with pytest.raises(TypeError, match="a hook must be a function"):
        layer.register_full_backward_hook(3)  # type: ignore[arg-type]
    layer.register_full_backward_pre_hook(lambda _, grads: (*grads, None))
    with pytest.raises(TypeError, match=r"None or 1 gradient\(s\)"):
        layer(mt.ones(1, 2)).sum().backward()


# --- State ----------------------------------------------------------------------------------------


class Counting(nn.Module):
    """A module with extra state that is not a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.steps = nn.Linear(2, 1), 0

    def get_extra_state(self) -> int:
        return self.steps

    def set_extra_state(self, state: int) -> None:
        self.steps = state


def test_extra_state_is_saved_and_loaded() -> None:
    model, other = nn.Sequential(Counting()), nn.Sequential(Counting())
    model[0].steps = 7
    state = model.state_dict()
    assert state["0._extra_state"] == 7
    other.load_state_dict(state)
    assert other[0].steps == 7
    del state["0._extra_state"]
    with pytest.raises(nn.StateDictError, match="_extra_state"):
        other.load_state_dict(state)
    with pytest.raises(TypeError, match="defines no get_extra_state"):
        nn.Linear(1, 1).get_extra_state()


def test_load_state_dict_with_assign_keeps_parameter_objects() -> None:
    model, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2).double()
    model.weight.requires_grad_(False)
    weight = model.weight
    state = other.state_dict()
    model.load_state_dict(state, assign=True)
    assert model.weight is weight
    assert not model.weight.requires_grad
    assert model.weight.dtype is model.running_mean.dtype is mt.float64
    with mt.no_grad():
        state["weight"].add_(1.0)
    assert model.weight.tolist() == [2.0, 2.0]
    with pytest.raises(nn.StateDictError, match="shape"):
        model.load_state_dict(nn.BatchNorm1d(3).state_dict(), assign=True)


def test_set_submodule_replaces_the_module_of_a_dotted_name() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 3)), nn.ReLU())
    new = nn.Linear(2, 4)
    model.set_submodule("0.0", new, strict=True)
    assert model[0][0] is new
    with pytest.raises(AttributeError, match="other"):
        model.set_submodule("0.other", new, strict=True)
