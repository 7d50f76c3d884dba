"""Compiled training, and what changes between its steps: bits are those of eager steps.

Each case trains or calls a small network several times, while a setting, a parameter, a state or a
hook changes. It gets a decorator, which is `mt.compile` or does nothing, and returns results.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.optim import lr_scheduler, swa_utils
from mt_nn.utils import parametrizations, parametrize
from mt_tensor.errors import CompileError, CompileWarning

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Case = Callable[[Decorator], list[Any]]
Change = Callable[..., Any]

STEPS = 7
CASES: dict[str, Case] = {}


def network() -> nn.Module:
    mt.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))


def square() -> nn.Module:
    mt.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))


def normalized() -> nn.Module:
    mt.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.3))


def adam(parameters: Any) -> Any:
    return nn.optim.AdamW(parameters, lr=0.1)


def sgd(parameters: Any) -> Any:
    return nn.optim.SGD(parameters, lr=0.1, momentum=0.9)


def unchanged(n: int, model: Any, optimizer: Any) -> None:
    pass


def training(
    change: Change = unchanged,
    make: Callable[[Any], Any] = adam,
    build: Callable[[], nn.Module] = network,
    before: Callable[..., Any] = lambda model, optimizer: None,
    after: Callable[..., Any] = lambda model, optimizer: None,
    zero: Callable[[Any], Any] = lambda optimizer: optimizer.zero_grad(),
) -> Case:
    """Return the case of training while something changes between steps.

    Args:
        change: called before each step, with its number.
        make: creates the optimizer.
        build: creates the network.
        before: called inside, between the backward pass and the step.
        after: called inside after the step.
        zero: called first.
    """

    def calls(compiled: Decorator) -> list[Any]:
        mt.manual_seed(0)
        model = build()
        optimizer, results = make(list(model.parameters())), []

        def step(x: mt.Tensor) -> Any:
            zero(optimizer)
            loss = model(x).square().sum()
            loss.backward()
            more = before(model, optimizer)
            optimizer.step()
            return loss.detach(), more, after(model, optimizer)

        run = compiled(step)
        for n in range(STEPS):
            change(n, model, optimizer)
            results += run(mt.tensor([n, 1.0]))
        return [*results, *(each.detach().clone() for each in model.parameters())]

    return calls


def settings(**values: list[Any]) -> Change:
    """Return a function that sets settings of the first group to one value after the other."""

    def change(n: int, model: Any, optimizer: Any) -> None:
        chosen = {name: each[n % len(each)] for name, each in values.items()}
        optimizer.param_groups[0].update(chosen)

    return change


RATES = settings(lr=[0.1 / (n + 1) for n in range(STEPS)])


def rate(optimizer: Any) -> Any:
    return optimizer.param_groups[0]["lr"]


def count(optimizer: Any) -> Any:
    return next((each["step"] for each in optimizer.state.values()), 0)


def decayed(model: Any, optimizer: Any) -> Any:
    with mt.no_grad():
        return model[0].weight.mul_(1 - 0.1 * rate(optimizer)).sum()


def reloaded(what: Callable[[Any, Any], Any], **options: Any) -> Change:
    """Return a function that saves a state, and loads it later."""
    saved: list[Any] = []

    def change(n: int, model: Any, optimizer: Any) -> None:
        if n == 2:
            saved[:] = [copy.deepcopy(what(model, optimizer).state_dict())]
        elif n == 5:
            what(model, optimizer).load_state_dict(saved[0], **options)

    return change


def at(number: int, change: Callable[[Any, Any], Any]) -> Change:
    return lambda n, m, o: change(m, o) if n == number else None


def views_as_gradients(n: int, model: Any, optimizer: Any) -> None:
    flat, start = mt.ones(99) * n, n % 3
    for each in model.parameters():
        each.grad = flat[start : start + each.numel()].view(each.shape)
        start += each.numel() - n % 2


def groups_of(parameters: Any) -> Any:
    groups = [{"params": parameters[:2]}, {"params": parameters[2:], "lr": 0.3}]
    return nn.optim.SGD(groups, lr=0.1)


class Decayed(nn.optim.SGD):
    """An optimizer of a user."""

    def step(self, closure: Any = None) -> Any:
        result = super().step(closure)
        with mt.no_grad():
            for group in self.param_groups:
                for each in group["params"]:
                    each.mul_(1 - group["lr"] * 0.5)
        return result


class Counting(nn.optim.Optimizer):
    """An optimizer of a user with a counter."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {"lr": 0.1})
        self.count = 0

    @mt.no_grad()
    def step(self, closure: Any = None) -> None:
        self.count += 1
        for group in self.param_groups:
            for each in group["params"]:
                each.sub_(each.grad * (group["lr"] / self.count))


def keep(optimizer: Any) -> None:
    """Let gradients accumulate."""


CASES |= {
    "a rate that changes": training(RATES),
    "a rate that is returned": training(RATES, after=lambda m, o: rate(o)),
    "all settings, returned": training(
        RATES, after=lambda m, o: sum({**o.param_groups[0]}["betas"])
    ),
    "a rate that decays weights": training(RATES, before=decayed),
    "a rate that is read by keys": training(
        RATES, after=lambda m, o: sum(v for k, v in o.param_groups[0].items() if k == "lr")
    ),
    "a step count that is returned": training(after=lambda m, o: count(o)),
    "a step count that is read before": training(before=lambda m, o: m[0].bias.detach() * count(o)),
    "clipped gradients": training(
        RATES, before=lambda m, o: nn.utils.clip_grad_norm_(m.parameters(), 0.1)
    ),
    "rates of several types": training(settings(lr=[1, 1.0, 0, 0.0, np.float64(0.3)]), sgd),
    "betas": training(settings(betas=[(0.9, 0.99), (0.8, 0.9)])),
    "weight decay": training(settings(weight_decay=[0, 0.1, 0.2])),
    "maximize": training(settings(maximize=[False, True])),
    "momentum": training(settings(momentum=[0.9, 0, 0.5]), sgd),
    "nesterov": training(settings(nesterov=[False, True]), sgd),
    "a group that is added": training(
        at(3, lambda m, o: o.add_param_group({"params": [m[2].bias], "lr": 0.5})),
        lambda p: nn.optim.SGD(p[:3], lr=0.1),
    ),
    "a group that is removed": training(at(3, lambda m, o: o.param_groups.pop()), groups_of),
    "groups that change places": training(lambda n, m, o: o.param_groups.reverse(), groups_of),
    "a parameter that is dropped": training(at(4, lambda m, o: o.param_groups[0]["params"].pop())),
    "parameters that change places": training(
        lambda n, m, o: o.param_groups[0]["params"].reverse()
    ),
    "an optimizer that is loaded": training(reloaded(lambda m, o: o)),
    "an optimizer without states": training(at(4, lambda m, o: o.state.clear())),
    "a model that is loaded": training(reloaded(lambda m, o: m)),
    "a model that is assigned": training(reloaded(lambda m, o: m, assign=True)),
    "a layer that is frozen": training(lambda n, m, o: m[0].requires_grad_(n % 2 == 0)),
    "a weight that is unfrozen": training(lambda n, m, o: m[0].weight.requires_grad_(n > 3), sgd),
    "weights that get tied": training(
        at(3, lambda m, o: setattr(m[2], "weight", m[0].weight)), build=square
    ),
    "weights that are tied or not": training(
        lambda n, m, o: setattr(
            m[2], "weight", m[0].weight if n % 2 else nn.Parameter(mt.ones(2, 2) * n)
        ),
        build=square,
    ),
    "a parameter that is replaced": training(
        lambda n, m, o: setattr(m[2], "bias", nn.Parameter(mt.ones(2) * n, requires_grad=n < 4))
    ),
    "a bias that is removed": training(at(3, lambda m, o: setattr(m[2], "bias", None))),
    "a layer that is replaced": training(
        lambda n, m, o: m.__setitem__(1, [nn.Tanh(), nn.ReLU(), nn.Sigmoid()][n % 3])
    ),
    "a layer that is added": training(at(3, lambda m, o: m.append(nn.Tanh()))),
    "gradients that accumulate": training(
        lambda n, m, o: o.zero_grad() if n % 3 == 2 else None, zero=keep
    ),
    "gradients that are zeroed in two ways": training(
        lambda n, m, o: o.zero_grad(set_to_none=n % 2 == 0), zero=keep
    ),
    "gradients that are zeroed in place": training(zero=lambda o: o.zero_grad(set_to_none=False)),
    "gradients that are set": training(
        lambda n, m, o: setattr(m[0].weight, "grad", mt.ones(3, 2) * n), zero=keep
    ),
    "gradients that are views": training(views_as_gradients, zero=keep),
    "a gradient that is its weight": training(
        lambda n, m, o: setattr(
            m[2].bias, "grad", m[2].bias.detach() if n in (3, 5) else mt.ones(2)
        ),
        sgd,
        zero=keep,
    ),
    "an optimizer of a user": training(RATES, lambda p: Decayed(p, lr=0.1)),
    "an optimizer of a user that counts": training(RATES, Counting),
}


# --- Schedulers -----------------------------------------------------------------------------------

SCHEDULERS: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2, 0.5),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [1, 3]),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, 0.1, 3),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o, total_iters=4),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.5),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 5),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda n: 1 / (n + 1)),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda n: 0.9),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 2),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=20),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.5)], [3]
    ),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.5)]
    ),
    "SWALR": lambda o: swa_utils.SWALR(o, 0.05, 3),
}


def scheduled(name: str, is_inside: bool) -> Case:
    """Return the case of a scheduler that is stepped inside of a step or outside."""

    def calls(compiled: Decorator) -> list[Any]:
        model = network()
        optimizer, results = sgd(model.parameters()), []
        scheduler = SCHEDULERS[name](optimizer)
        metric = (1.0,) if name == "ReduceLROnPlateau" else ()

        def step(x: mt.Tensor) -> mt.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            optimizer.step()
            if is_inside:
                scheduler.step(*metric)
            return loss.detach()

        run = compiled(step)
        for n in range(STEPS):
            results += [run(mt.tensor([n, 1.0])), rate(optimizer)]
            if not is_inside:
                scheduler.step(*metric)
        return results

    return calls


for _name in SCHEDULERS:
    CASES[f"{_name} outside"] = scheduled(_name, False)
    CASES[f"{_name} inside"] = scheduled(_name, True)


# --- Modules --------------------------------------------------------------------------------------


def called(
    build: Callable[[], nn.Module],
    change: Callable[[int, Any], Any] = lambda n, m: None,
    given: Callable[[int], mt.Tensor] = lambda n: mt.arange(8.0).view(4, 2) * n,
) -> Case:
    """Return the case of a network that changes between calls, which are differentiated."""

    def calls(compiled: Decorator) -> list[Any]:
        mt.manual_seed(0)
        model = build()
        run, results = compiled(model), []
        for n in range(STEPS):
            change(n, model)
            mt.manual_seed(n)
            for each in model.parameters():
                each.grad = None
            result = run(given(n))
            result.square().sum().backward()
            results += [result, *(each.grad for each in model.parameters())]
            results += [each.clone() for each in model.buffers()]
        return results

    return calls


class Scaled(nn.Module):
    """A layer of a user, with a number and a parameter with an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(2, 2), 1
        self.layer.weight.own = 1

    def forward(self, x: mt.Tensor) -> Any:
        return self.layer(x) * self.scale * self.layer.weight.own


def hooked(register: Callable[[Any, int], Any]) -> Case:
    """Return the case of a hook that is added before every second call, and removed again."""

    def calls(compiled: Decorator) -> list[Any]:
        handles: list[Any] = []

        def change(n: int, model: Any) -> None:
            while handles:
                handles.pop().remove()
            if n % 2:
                handles.append(register(model, n))

        return called(network, change)(compiled)

    return calls


def tanh_of_weight() -> nn.Module:
    model = network()
    parametrize.register_parametrization(model[0], "weight", nn.Tanh())
    return model


def spectral() -> nn.Module:
    model = network()
    parametrizations.spectral_norm(model[0])
    return model


DTYPES = (mt.float32, mt.float64)
BACKENDS = ("numpy", "simple")

CASES |= {
    "training or not": called(normalized, lambda n, m: m.train(n % 2 == 0)),
    "one layer trains or not": called(normalized, lambda n, m: m[1].train(n % 2 == 0)),
    "momentum of averages": called(
        normalized, lambda n, m: setattr(m[1], "momentum", [0.1, 0.5][n % 2])
    ),
    "p of dropout": called(normalized, lambda n, m: setattr(m[2], "p", [0.1, 0.5, 0.0][n % 3])),
    "a buffer that is replaced": called(
        normalized, lambda n, m: setattr(m[1], "running_mean", mt.ones(3) * n)
    ),
    "a dtype": called(
        network,
        lambda n, m: m.to(DTYPES[n % 2]),
        lambda n: mt.arange(8.0).view(4, 2).to(DTYPES[n % 2]),
    ),
    "a backend": called(
        network,
        lambda n, m: m.to(BACKENDS[n % 2]),
        lambda n: mt.tensor([[1.0, n]], backend=BACKENDS[n % 2]),
    ),
    "a number of a layer": called(Scaled, lambda n, m: setattr(m, "scale", n)),
    "an attribute of a parameter": called(Scaled, lambda n, m: setattr(m.layer.weight, "own", n)),
    "a forward hook": hooked(lambda m, n: m[0].register_forward_hook(lambda *a: a[2] * n)),
    "a hook before forward": hooked(
        lambda m, n: m[0].register_forward_pre_hook(lambda _, a: (a[0] * n,))
    ),
    "a backward hook": hooked(
        lambda m, n: m[2].register_full_backward_hook(lambda _, inputs, __: (inputs[0] * n,))
    ),
    "a hook of a weight": hooked(lambda m, n: m[0].weight.register_hook(lambda g: g * n)),
    "weights that get normalized": called(
        network, lambda n, m: parametrizations.weight_norm(m[0]) if n == 3 else None
    ),
    "a spectral norm": called(spectral),
    "a parametrization that is removed": called(
        tanh_of_weight,
        lambda n, m: parametrize.remove_parametrizations(m[0], "weight") if n == 3 else None,
    ),
    "a method of a layer": called(
        network, lambda n, m: setattr(m[0], "forward", lambda x: x @ mt.ones(2, 3) * m[0].bias * n)
    ),
    "a layer in place": called(lambda: nn.Sequential(*network(), nn.ReLU(inplace=True))),
    "a stride": called(
        lambda: nn.Conv1d(2, 2, 2),
        lambda n, m: setattr(m, "stride", (n % 3 + 1,)),
        lambda n: mt.arange(16.0).view(1, 2, 8),
    ),
    "an epsilon": called(lambda: nn.LayerNorm(2), lambda n, m: setattr(m, "eps", 10.0**-n)),
    "rows of an embedding": called(lambda: nn.Embedding(3, 2), given=lambda n: mt.tensor([n % 3])),
}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


@case
def averaged_by_hand(compiled: Decorator) -> list[Any]:
    model = network()
    average, optimizer, results = copy.deepcopy(model), adam(model.parameters()), []

    def step(x: mt.Tensor, kept: float) -> mt.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        with mt.no_grad():
            for a, b in zip(average.parameters(), model.parameters(), strict=True):
                a.mul_(kept).add_(b, alpha=1 - kept)
        return loss.detach()

    run = compiled(step)
    for n in range(STEPS):
        results += [run(mt.tensor([n, 1.0]), 0.9 - n % 2 * 0.1), average(mt.ones(2))]
    return results


@case
def optimizers_in_turn(compiled: Decorator) -> list[Any]:
    model = network()
    a, b = adam(model[0].parameters()), sgd(model[2].parameters())

    def step(x: mt.Tensor, optimizers: list[Any]) -> mt.Tensor:
        for each in optimizers:
            each.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        for each in optimizers:
            each.step()
        return loss.detach()

    run = compiled(step)
    return [run(mt.tensor([n, 1.0]), [[a], [b], [a, b], [b, a]][n % 4]) for n in range(8)]


@case
def a_closure(compiled: Decorator) -> list[Any]:
    model = network()
    optimizer = sgd(model.parameters())

    def step(x: mt.Tensor) -> Any:
        def closure() -> mt.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            return loss

        return optimizer.step(closure).detach()

    run = compiled(step)
    return [run(mt.tensor([n, 1.0])) for n in range(STEPS)]


@case
def a_hook_of_the_optimizer(compiled: Decorator) -> list[Any]:
    count = [0]

    def slower(optimizer: Any, *_: Any) -> None:
        count[0] += 1
        optimizer.param_groups[0]["lr"] = 0.1 / count[0]

    def make(parameters: Any) -> Any:
        count[0], optimizer = 0, sgd(parameters)
        optimizer.register_step_pre_hook(slower)
        return optimizer

    return training(make=make)(compiled)


@case
def parameters_or_tensors(compiled: Decorator) -> list[Any]:
    run = compiled(lambda x: x * (2 if isinstance(x, nn.Parameter) else 3))
    given = (mt.ones(2).requires_grad_(), nn.Parameter(mt.ones(2)))
    return [run(given[n % 2]) for n in range(4)]


@case
def a_state_that_begins_as_none(compiled: Decorator) -> list[Any]:
    mt.manual_seed(0)
    cell, kept, results = nn.GRU(2, 2), {"state": None}, []

    def step(x: mt.Tensor) -> Any:
        output, state = cell(x, kept["state"])
        kept["state"] = state.detach()
        return output.sum()

    run = compiled(step)
    for n in range(STEPS):
        results += [run(mt.ones(2, 1, 2) * n).detach(), kept["state"].clone()]  # type: ignore[attr-defined]
    return results


def plain(value: Any) -> Any:
    """Return a result as a value that can be compared, with the bits of elements."""
    if not isinstance(value, mt.Tensor):
        return repr(value)
    return value.dtype.name, tuple(value.shape), np.array(value.detach()).tobytes()


@functools.cache
def backend_of(name: str) -> Any:
    """Return a backend; `cuda` runs on its simulator."""
    if name == "numpy":
        return name
    package = pytest.importorskip(f"mt_{name}")
    return package.CudaOps(package.Simulator()) if name == "cuda" else name


@pytest.mark.parametrize("backend", ["numpy", "fast", "cuda"])
@pytest.mark.parametrize("name", CASES)
def test_compiled_steps_have_the_bits_of_eager_ones(name: str, backend: str) -> None:
    with mt.use_backend(backend_of(backend)), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        expected = [plain(each) for each in CASES[name](lambda function: function)]
        try:
            found = [plain(each) for each in CASES[name](mt.compile)]
        except CompileError:
            return
    assert found == expected
