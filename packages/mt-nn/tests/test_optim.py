"""Optimizers against their published formulas in float64, and their errors."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import optim

START = np.array([1.0, -2.0, 3.0])
STEPS = 5


def gradient(x: Any) -> Any:
    return np.cos(x) + 0.3 * x


def run(make: Any) -> Any:
    """Take steps with the gradients above and return where they lead."""
    x = nn.Parameter(mt.tensor(START))
    optimizer = make([x])
    for _ in range(STEPS):
        x.grad = mt.tensor(gradient(x.detach().numpy()))
        optimizer.step()
        optimizer.zero_grad()
        assert x.grad is None
    return x.detach().numpy()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(momentum: float, decay: float, nesterov: bool) -> None:
    if nesterov and not momentum:
        return  # refused: see below
    x, velocity = START.copy(), None
    for _ in range(STEPS):
        g = gradient(x) + decay * x
        velocity = g if velocity is None else momentum * velocity + g
        x = x - 0.1 * (g + momentum * velocity if nesterov else velocity)
    ours = run(
        lambda p: optim.SGD(p, 0.1, momentum=momentum, weight_decay=decay, nesterov=nesterov)
    )
    np.testing.assert_allclose(ours, x, rtol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam(decay: float) -> None:
    x, mean, square = START.copy(), np.zeros(3), np.zeros(3)
    for t in range(1, STEPS + 1):
        g = gradient(x) + decay * x
        mean = 0.8 * mean + 0.2 * g
        square = 0.99 * square + 0.01 * g * g
        x = x - 0.1 * (mean / (1 - 0.8**t)) / (np.sqrt(square / (1 - 0.99**t)) + 1e-8)
    ours = run(lambda p: optim.Adam(p, 0.1, betas=(0.8, 0.99), weight_decay=decay))
    np.testing.assert_allclose(ours, x, rtol=1e-12)


def test_groups_have_their_own_settings() -> None:
    a, b, c = (nn.Parameter(mt.ones(1)) for _ in range(3))
    optimizer = optim.SGD([{"params": a}, {"params": [b], "lr": 1.0}, {"params": [c]}], lr=0.5)
    a.grad = b.grad = mt.ones(1)
    optimizer.step()
    assert (a.item(), b.item(), c.item()) == (0.5, 0.0, 1.0)


def test_a_bare_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes a list of parameters.*\[tensor\]"):
        optim.SGD(nn.Parameter(mt.ones(2)))


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_an_optimizer_keeps_its_state_when_copied(twin_of: Any) -> None:
    x = nn.Parameter(mt.ones(1))
    optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
    x.grad = mt.ones(1)
    optimizer.step()
    twin = twin_of(optimizer)
    twin.step()
    optimizer.step()
    (copied,) = twin.param_groups[0]["params"]
    assert copied.item() == x.item() == pytest.approx(0.71)


def test_gradients_can_be_zeroed_in_place() -> None:
    x = nn.Parameter(mt.ones(2))
    optimizer = optim.SGD([x])
    (x * 3).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: optim.SGD([]), "SGD was given no parameters"),
        (lambda p: optim.SGD([p, p]), "twice"),
        (lambda p: optim.SGD([p * 1]), "float32 that was computed from others cannot be"),
        (lambda p: optim.SGD([mt.arange(2)]), "int64 that was given cannot be optimized"),
        (lambda p: optim.SGD([{"lr": 1.0}]), "lacks 'params'; it has lr"),
        (lambda p: optim.SGD([3.0]), "3.0 is no tensor"),
        (lambda p: optim.SGD([p], lr=-1), "lr must be at least 0; got -1"),
        (lambda p: optim.SGD([p], nesterov=True), "nesterov needs a momentum"),
        (lambda p: optim.SGD([{"params": [p], "rate": 1}]), "SGD has no setting rate; it has lr"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), "betas must be from 0"),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make(nn.Parameter(mt.ones(1)))


@pytest.mark.parametrize(
    "make", [lambda p: optim.SGD(p, 0.05, momentum=0.9), lambda p: optim.Adam(p, 0.1)]
)
def test_a_line_is_found(make: Any) -> None:
    mt.manual_seed(0)
    model = nn.Linear(1, 1)
    x = mt.linspace(-1, 1, 20).view(-1, 1)
    optimizer = make(model.parameters())
    for _ in range(200):
        loss = nn.functional.mse_loss(model(x), 2 * x + 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert model.weight.item() == pytest.approx(2, abs=0.01)
    assert model.bias.item() == pytest.approx(3, abs=0.01)
