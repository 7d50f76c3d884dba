"""nn.summary: shapes, parameters, multiply-adds, its table, and no effect on the model."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.train import LeNet


class Counting(nn.Module):
    """A layer that changes its buffers and draws a random number at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", mt.tensor(0))
        self.register_buffer("seen", mt.zeros(2))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        self.calls = self.calls + 1
        self.seen.add_(1)
        return x + mt.rand(1)


class Shared(nn.Module):
    """A model with a shared, a tied, a frozen and a stateful layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = self.first
        self.tied = nn.Linear(3, 3, bias=False)
        self.tied.weight = self.first.weight
        self.frozen = nn.Linear(3, 2).requires_grad_(False)
        self.count = Counting()

    def forward(self, x: mt.Tensor, more: Any = None) -> dict[str, Any]:
        x = self.tied(self.second(self.first(x)))
        return {"x": x, "rest": [self.frozen(self.count(x)), 1]}


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_summary_of_lenet_lists_shapes_parameters_and_multiply_adds(backend: str) -> None:
    found = nn.summary(LeNet(8).to(backend), (2, 1, 8, 8))
    layers = {layer.name: layer for layer in found.layers}
    assert found.layers[0].kind == "LeNet"
    assert layers["features.2"].output_shapes == [(2, 16, 8, 8)]
    assert layers["features.2"].parameters == 16 * 8 * 9 + 16
    assert layers["features.2"].multiply_adds == 2 * 64 * 16 * 8 * 9
    assert layers["classifier.3"].multiply_adds == 2 * 64 * 10
    assert layers["features"].parameters == layers["features.4"].multiply_adds == 0
    assert found.parameters == sum(p.value.numel() for p in LeNet(8).parameters())
    assert [layer.depth for layer in found.layers[:3]] == [0, 1, 2]


def test_multiply_adds_match_torch() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    settings = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
    model = torch.nn.Sequential(
        torch.nn.Conv2d(4, 6, 3, **settings), torch.nn.Flatten(), torch.nn.Linear(6 * 3 * 4, 7)
    )
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, 4, 8, 9))
    ours = nn.Sequential(nn.Conv2d(4, 6, 3, **settings), nn.Flatten(), nn.Linear(6 * 3 * 4, 7))
    assert 2 * nn.summary(ours, (2, 4, 8, 9)).multiply_adds == counter.get_total_flops()


def test_summary_counts_shared_tied_and_frozen_parameters() -> None:
    found = nn.summary(Shared(), mt.ones(5, 3), mt.ones(1))
    layers = {layer.name: layer for layer in found.layers}
    assert list(layers) == ["", "first", "tied", "frozen", "count"]
    assert (layers["first"].calls, layers["first"].multiply_adds) == (2, 2 * 45)
    assert (layers["tied"].parameters, layers["tied"].multiply_adds) == (0, 45)
    assert (layers["frozen"].parameters, layers["frozen"].trainable) == (8, 0)
    assert (found.parameters, found.trainable) == (20, 12)
    assert layers[""].output_shapes == [(5, 3), (5, 2)]


def test_summary_leaves_model_and_random_state_unchanged() -> None:
    model = nn.Sequential(Shared(), nn.Linear(3, 3).eval())
    model[0].frozen.forward = lambda x: x  # override on the instance
    mt.manual_seed(3)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    rng_state = mt.get_rng_state()
    forwards = [vars(module).get("forward") for module in model.modules()]
    calls, seen = model[0].count.calls, model[0].count.seen
    with pytest.raises(TypeError):  # Linear does not take a dict
        nn.summary(model, (5, 3))
    nn.summary(model[0], (5, 3))
    nn.summary(model)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value, state[name])
    assert modes == [module.training for module in model.modules()]
    assert mt.get_rng_state() == rng_state
    assert forwards == [vars(module).get("forward") for module in model.modules()]
    assert sum(forward is not None for forward in forwards) == 1
    assert model[0].count.calls is calls
    assert model[0].count.seen is seen
    assert not any(vars(mt.get_backend("numpy")).get(name) for name in ("product", "kernel"))
    assert model[0].first.weight.grad is None


def test_summary_without_inputs_counts_only_parameters() -> None:
    found = nn.summary(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    assert (found.parameters, found.multiply_adds) == (9, 0)
    assert [layer.output_shapes for layer in found.layers] == [[], [], []]


def test_str_of_summary_is_a_table() -> None:
    found = nn.summary(nn.Sequential(nn.Linear(1000, 300), nn.ReLU()).half(), (2, 1000))
    assert str(found) == (
        "layer        output shape  parameters  multiply-adds  calls\n"
        "-----------------------------------------------------------\n"
        "Sequential   (2, 300)                                     1\n"
        "  0: Linear  (2, 300)         300,300        600,000      1\n"
        "  1: ReLU    (2, 300)                                     1\n"
        "-----------------------------------------------------------\n"
        "parameters: 300,300, of which 300,300 are trained\n"
        "multiply-adds: 600,000"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((nn.Linear(1, 1), "text"), "takes tensors, or shapes"),
        ((nn.Linear(1, 1), 3), "takes tensors, or shapes"),
        ((nn.Linear(1, 1), (-1, 1)), "a size of an input must be a non-negative integer"),
        ((mt.ones(1),), "takes a module; Tensor was given"),
    ],
)
def test_summary_rejects_invalid_arguments(arguments: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        nn.summary(*arguments)
