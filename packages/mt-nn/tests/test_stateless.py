"""`functional_call`: replaced parameters and buffers, gradients, shared parameters, errors."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.utils.stateless import functional_call

X = [[0.5, -1.0], [2.0, 0.3], [0.1, 0.9]]


def network(layers: Any = nn) -> Any:
    return layers.Sequential(layers.Linear(2, 3), layers.BatchNorm1d(3), layers.Linear(3, 1))


def test_functional_call_replaces_parameters_and_buffers_during_the_call() -> None:
    model = network().eval()
    before = {name: x.clone() for name, x in model.state_dict().items()}
    zeros = {name: mt.zeros_like(x) for name, x in model.named_parameters()}
    zeros["2.bias"] = mt.tensor([4.0])
    assert functional_call(model, zeros, mt.tensor(X)).tolist() == [[4.0]] * 3
    shifted = functional_call(model, {"1.running_mean": mt.ones(3)}, (mt.tensor(X),))
    assert shifted.tolist() != model(mt.tensor(X)).tolist()
    for name, x in model.state_dict().items():
        np.testing.assert_array_equal(x, before[name])
    assert all(isinstance(x, nn.Parameter) for x in model.parameters())


def test_parameters_are_restored_after_an_error() -> None:
    model = network()
    with pytest.raises(nn.InputError):
        functional_call(model, {"0.weight": mt.ones(5, 7)}, mt.tensor(X))
    assert model[0].weight.shape == (3, 2)


def test_gradient_through_an_inner_step_matches_torch() -> None:
    torch = pytest.importorskip("torch")

    def outer_gradients(library: Any, layers: Any, call: Any, model: Any) -> list[Any]:
        x = library.tensor(X)
        weights = dict(model.named_parameters())
        inner = call(model, weights, (x,)).square().mean()
        found = library.autograd.grad(inner, list(weights.values()), create_graph=True)
        updated = {n: w - 0.1 * g for (n, w), g in zip(weights.items(), found, strict=True)}
        (call(model, updated, (x,)) - 1).square().mean().backward()
        return [w.grad.tolist() for w in weights.values()]

    theirs, ours = network(torch.nn), network()
    ours.load_state_dict({n: mt.tensor(x.numpy()) for n, x in theirs.state_dict().items()})
    expected = outer_gradients(torch, torch.nn, torch.func.functional_call, theirs)
    for gradient, wanted in zip(
        outer_gradients(mt, nn, functional_call, ours), expected, strict=True
    ):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-6)


def test_shared_parameter_is_replaced_everywhere_unless_untied() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    x, replacement = mt.tensor([[1.0, 2.0]]), {"0.weight": 2 * mt.eye(2)}
    assert functional_call(model, replacement, x).tolist() == [[4.0, 8.0]]
    untied = functional_call(model, [replacement], x, tie_weights=False)
    np.testing.assert_allclose(untied.detach(), model[1](2 * x).detach())


def test_unknown_or_missing_name_raises_input_error() -> None:
    model = network()
    with pytest.raises(nn.InputError, match=r"of Sequential: .*\['0.scale'\]"):
        functional_call(model, {"0.scale": mt.ones(1)}, mt.tensor(X))
    with pytest.raises(nn.InputError, match=r"'2.weight'\]"):
        functional_call(model, dict(model[0].named_parameters(prefix="0")), X, strict=True)
