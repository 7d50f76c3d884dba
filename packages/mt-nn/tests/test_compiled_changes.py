"""Compiled steps equal eager steps bit by bit if settings, parameters, state or hooks change.

Each case trains or calls a small network several times, while something changes between the calls.
Each case takes a decorator, which is `mt.compile` or the identity, and returns results.
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


def square_network() -> nn.Module:
    mt.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))


def batch_norm_network() -> nn.Module:
    mt.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.3))


def make_adamw(parameters: Any) -> Any:
    return nn.optim.AdamW(parameters, lr=0.1)


def make_sgd(parameters: Any) -> Any:
    return nn.optim.SGD(parameters, lr=0.1, momentum=0.9)


def change_nothing(n: int, model: Any, optimizer: Any) -> None:
    pass


def train_case(
    change: Change = change_nothing,
    make: Callable[[Any], Any] = make_adamw,
    build: Callable[[], nn.Module] = network,
    before: Callable[..., Any] = lambda model, optimizer: None,
    after: Callable[..., Any] = lambda model, optimizer: None,
    zero: Callable[[Any], Any] = lambda optimizer: optimizer.zero_grad(),
) -> Case:
    """Return a case that trains while something changes between steps.

    Args:
        change: called before each step, with its number.
        make: creates the optimizer.
        build: creates the network.
        before: called in the compiled function before `optimizer.step()`.
        after: called in the compiled function after `optimizer.step()`.
        zero: zeroes gradients at the beginning of the compiled function.
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


def cycled_options(**values: list[Any]) -> Change:
    """Return a function that cycles through values of options of the first parameter group."""

    def change(n: int, model: Any, optimizer: Any) -> None:
        chosen = {name: each[n % len(each)] for name, each in values.items()}
        optimizer.param_groups[0].update(chosen)

    return change


CHANGING_LR = cycled_options(lr=[0.1 / (n + 1) for n in range(STEPS)])


def lr_of(optimizer: Any) -> Any:
    return optimizer.param_groups[0]["lr"]


def step_count_of(optimizer: Any) -> Any:
    return next((each["step"] for each in optimizer.state.values()), 0)


def decay_weight(model: Any, optimizer: Any) -> Any:
    with mt.no_grad():
        return model[0].weight.mul_(1 - 0.1 * lr_of(optimizer)).sum()


def reload_state(select: Callable[[Any, Any], Any], **options: Any) -> Change:
    """Return a function that saves a state dict before step 2, and loads it before step 5."""
    saved: list[Any] = []

    def change(n: int, model: Any, optimizer: Any) -> None:
        if n == 2:
            saved[:] = [copy.deepcopy(select(model, optimizer).state_dict())]
        elif n == 5:
            select(model, optimizer).load_state_dict(saved[0], **options)

    return change


def at_step(number: int, change: Callable[[Any, Any], Any]) -> Change:
    return lambda n, m, o: change(m, o) if n == number else None


def views_as_gradients(n: int, model: Any, optimizer: Any) -> None:
    flat, start = mt.ones(99) * n, n % 3
    for each in model.parameters():
        each.grad = flat[start : start + each.numel()].view(each.shape)
        start += each.numel() - n % 2


def make_sgd_with_groups(parameters: Any) -> Any:
    groups = [{"params": parameters[:2]}, {"params": parameters[2:], "lr": 0.3}]
    return nn.optim.SGD(groups, lr=0.1)


class Decayed(nn.optim.SGD):
    """SGD with a user-defined step that also shrinks the parameters."""

    def step(self, closure: Any = None) -> Any:
        result = super().step(closure)
        with mt.no_grad():
            for group in self.param_groups:
                for each in group["params"]:
                    each.mul_(1 - group["lr"] * 0.5)
        return result


class Counting(nn.optim.Optimizer):
    """A user-defined optimizer with a counter."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {"lr": 0.1})
        self.count = 0

    @mt.no_grad()
    def step(self, closure: Any = None) -> None:
        self.count += 1
        for group in self.param_groups:
            for each in group["params"]:
                each.sub_(each.grad * (group["lr"] / self.count))


def keep_gradients(optimizer: Any) -> None:
    """Let gradients accumulate."""


CASES |= {
    "changing lr": train_case(CHANGING_LR),
    "returned lr": train_case(CHANGING_LR, after=lambda m, o: lr_of(o)),
    "returned betas": train_case(
        CHANGING_LR, after=lambda m, o: sum({**o.param_groups[0]}["betas"])
    ),
    "lr used for weight decay": train_case(CHANGING_LR, before=decay_weight),
    "lr read from items()": train_case(
        CHANGING_LR, after=lambda m, o: sum(v for k, v in o.param_groups[0].items() if k == "lr")
    ),
    "returned step count": train_case(after=lambda m, o: step_count_of(o)),
    "step count read before step": train_case(
        before=lambda m, o: m[0].bias.detach() * step_count_of(o)
    ),
    "clipped gradients": train_case(
        CHANGING_LR, before=lambda m, o: nn.utils.clip_grad_norm_(m.parameters(), 0.1)
    ),
    "lr of several types": train_case(
        cycled_options(lr=[1, 1.0, 0, 0.0, np.float64(0.3)]), make_sgd
    ),
    "betas": train_case(cycled_options(betas=[(0.9, 0.99), (0.8, 0.9)])),
    "weight decay": train_case(cycled_options(weight_decay=[0, 0.1, 0.2])),
    "maximize": train_case(cycled_options(maximize=[False, True])),
    "momentum": train_case(cycled_options(momentum=[0.9, 0, 0.5]), make_sgd),
    "nesterov": train_case(cycled_options(nesterov=[False, True]), make_sgd),
    "added parameter group": train_case(
        at_step(3, lambda m, o: o.add_param_group({"params": [m[2].bias], "lr": 0.5})),
        lambda p: nn.optim.SGD(p[:3], lr=0.1),
    ),
    "removed parameter group": train_case(
        at_step(3, lambda m, o: o.param_groups.pop()), make_sgd_with_groups
    ),
    "reversed parameter groups": train_case(
        lambda n, m, o: o.param_groups.reverse(), make_sgd_with_groups
    ),
    "removed parameter": train_case(at_step(4, lambda m, o: o.param_groups[0]["params"].pop())),
    "reversed parameters": train_case(lambda n, m, o: o.param_groups[0]["params"].reverse()),
    "loaded optimizer state": train_case(reload_state(lambda m, o: o)),
    "cleared optimizer state": train_case(at_step(4, lambda m, o: o.state.clear())),
    "loaded model state": train_case(reload_state(lambda m, o: m)),
    "loaded model state with assign": train_case(reload_state(lambda m, o: m, assign=True)),
    "frozen layer": train_case(lambda n, m, o: m[0].requires_grad_(n % 2 == 0)),
    "unfrozen weight": train_case(lambda n, m, o: m[0].weight.requires_grad_(n > 3), make_sgd),
    "tied weights": train_case(
        at_step(3, lambda m, o: setattr(m[2], "weight", m[0].weight)), build=square_network
    ),
    "alternately tied weights": train_case(
        lambda n, m, o: setattr(
            m[2], "weight", m[0].weight if n % 2 else nn.Parameter(mt.ones(2, 2) * n)
        ),
        build=square_network,
    ),
    "replaced parameter": train_case(
        lambda n, m, o: setattr(m[2], "bias", nn.Parameter(mt.ones(2) * n, requires_grad=n < 4))
    ),
    "removed bias": train_case(at_step(3, lambda m, o: setattr(m[2], "bias", None))),
    "replaced layer": train_case(
        lambda n, m, o: m.__setitem__(1, [nn.Tanh(), nn.ReLU(), nn.Sigmoid()][n % 3])
    ),
    "added layer": train_case(at_step(3, lambda m, o: m.append(nn.Tanh()))),
    "accumulated gradients": train_case(
        lambda n, m, o: o.zero_grad() if n % 3 == 2 else None, zero=keep_gradients
    ),
    "gradients set to None or zeroed": train_case(
        lambda n, m, o: o.zero_grad(set_to_none=n % 2 == 0), zero=keep_gradients
    ),
    "gradients zeroed in place": train_case(zero=lambda o: o.zero_grad(set_to_none=False)),
    "assigned gradients": train_case(
        lambda n, m, o: setattr(m[0].weight, "grad", mt.ones(3, 2) * n), zero=keep_gradients
    ),
    "gradients that are views": train_case(views_as_gradients, zero=keep_gradients),
    "gradient that shares memory with its parameter": train_case(
        lambda n, m, o: setattr(
            m[2].bias, "grad", m[2].bias.detach() if n in (3, 5) else mt.ones(2)
        ),
        make_sgd,
        zero=keep_gradients,
    ),
    "user-defined optimizer": train_case(CHANGING_LR, lambda p: Decayed(p, lr=0.1)),
    "user-defined optimizer with counter": train_case(CHANGING_LR, Counting),
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


def scheduler_case(name: str, is_inside: bool) -> Case:
    """Return a case that steps a scheduler inside or outside of the compiled function."""

    def calls(compiled: Decorator) -> list[Any]:
        model = network()
        optimizer, results = make_sgd(model.parameters()), []
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
            results += [run(mt.tensor([n, 1.0])), lr_of(optimizer)]
            if not is_inside:
                scheduler.step(*metric)
        return results

    return calls


for _name in SCHEDULERS:
    CASES[f"{_name} outside"] = scheduler_case(_name, False)
    CASES[f"{_name} inside"] = scheduler_case(_name, True)


# --- Modules --------------------------------------------------------------------------------------


def call_case(
    build: Callable[[], nn.Module],
    change: Callable[[int, Any], Any] = lambda n, m: None,
    make_input: Callable[[int], mt.Tensor] = lambda n: mt.arange(8.0).view(4, 2) * n,
) -> Case:
    """Return a case that differentiates a network that changes between calls."""

    def calls(compiled: Decorator) -> list[Any]:
        mt.manual_seed(0)
        model = build()
        run, results = compiled(model), []
        for n in range(STEPS):
            change(n, model)
            mt.manual_seed(n)
            for each in model.parameters():
                each.grad = None
            result = run(make_input(n))
            result.square().sum().backward()
            results += [result, *(each.grad for each in model.parameters())]
            results += [each.clone() for each in model.buffers()]
        return results

    return calls


class Scaled(nn.Module):
    """A user-defined layer with an attribute, and a parameter with an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(2, 2), 1
        self.layer.weight.factor = 1

    def forward(self, x: mt.Tensor) -> Any:
        return self.layer(x) * self.scale * self.layer.weight.factor


def hook_case(register: Callable[[Any, int], Any]) -> Case:
    """Return a case that adds a hook before every second call, and removes it again."""

    def calls(compiled: Decorator) -> list[Any]:
        handles: list[Any] = []

        def change(n: int, model: Any) -> None:
            while handles:
                handles.pop().remove()
            if n % 2:
                handles.append(register(model, n))

        return call_case(network, change)(compiled)

    return calls


def parametrized_network() -> nn.Module:
    model = network()
    parametrize.register_parametrization(model[0], "weight", nn.Tanh())
    return model


def spectral_norm_network() -> nn.Module:
    model = network()
    parametrizations.spectral_norm(model[0])
    return model


DTYPES = (mt.float32, mt.float64)
BACKENDS = ("numpy", "simple")

CASES |= {
    "training mode": call_case(batch_norm_network, lambda n, m: m.train(n % 2 == 0)),
    "training mode of one layer": call_case(
        batch_norm_network, lambda n, m: m[1].train(n % 2 == 0)
    ),
    "batch norm momentum": call_case(
        batch_norm_network, lambda n, m: setattr(m[1], "momentum", [0.1, 0.5][n % 2])
    ),
    "dropout p": call_case(
        batch_norm_network, lambda n, m: setattr(m[2], "p", [0.1, 0.5, 0.0][n % 3])
    ),
    "replaced buffer": call_case(
        batch_norm_network, lambda n, m: setattr(m[1], "running_mean", mt.ones(3) * n)
    ),
    "dtype": call_case(
        network,
        lambda n, m: m.to(DTYPES[n % 2]),
        lambda n: mt.arange(8.0).view(4, 2).to(DTYPES[n % 2]),
    ),
    "backend": call_case(
        network,
        lambda n, m: m.to(BACKENDS[n % 2]),
        lambda n: mt.tensor([[1.0, n]], backend=BACKENDS[n % 2]),
    ),
    "attribute of layer": call_case(Scaled, lambda n, m: setattr(m, "scale", n)),
    "attribute of parameter": call_case(Scaled, lambda n, m: setattr(m.layer.weight, "factor", n)),
    "forward hook": hook_case(lambda m, n: m[0].register_forward_hook(lambda *a: a[2] * n)),
    "forward pre-hook": hook_case(
        lambda m, n: m[0].register_forward_pre_hook(lambda _, a: (a[0] * n,))
    ),
    "full backward hook": hook_case(
        lambda m, n: m[2].register_full_backward_hook(lambda _, inputs, __: (inputs[0] * n,))
    ),
    "tensor hook of weight": hook_case(lambda m, n: m[0].weight.register_hook(lambda g: g * n)),
    "added weight norm": call_case(
        network, lambda n, m: parametrizations.weight_norm(m[0]) if n == 3 else None
    ),
    "spectral norm": call_case(spectral_norm_network),
    "removed parametrization": call_case(
        parametrized_network,
        lambda n, m: parametrize.remove_parametrizations(m[0], "weight") if n == 3 else None,
    ),
    "replaced forward method": call_case(
        network, lambda n, m: setattr(m[0], "forward", lambda x: x @ mt.ones(2, 3) * m[0].bias * n)
    ),
    "in-place ReLU": call_case(lambda: nn.Sequential(*network(), nn.ReLU(inplace=True))),
    "stride": call_case(
        lambda: nn.Conv1d(2, 2, 2),
        lambda n, m: setattr(m, "stride", (n % 3 + 1,)),
        lambda n: mt.arange(16.0).view(1, 2, 8),
    ),
    "eps": call_case(lambda: nn.LayerNorm(2), lambda n, m: setattr(m, "eps", 10.0**-n)),
    "embedding indices": call_case(
        lambda: nn.Embedding(3, 2), make_input=lambda n: mt.tensor([n % 3])
    ),
}


def add_case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


@add_case
def weight_averaging(compiled: Decorator) -> list[Any]:
    model = network()
    average, optimizer, results = copy.deepcopy(model), make_adamw(model.parameters()), []

    def step(x: mt.Tensor, decay: float) -> mt.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        with mt.no_grad():
            for a, b in zip(average.parameters(), model.parameters(), strict=True):
                a.mul_(decay).add_(b, alpha=1 - decay)
        return loss.detach()

    run = compiled(step)
    for n in range(STEPS):
        results += [run(mt.tensor([n, 1.0]), 0.9 - n % 2 * 0.1), average(mt.ones(2))]
    return results


@add_case
def alternating_optimizers(compiled: Decorator) -> list[Any]:
    model = network()
    a, b = make_adamw(model[0].parameters()), make_sgd(model[2].parameters())

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


@add_case
def optimizer_closure(compiled: Decorator) -> list[Any]:
    model = network()
    optimizer = make_sgd(model.parameters())

    def step(x: mt.Tensor) -> Any:
        def closure() -> mt.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            return loss

        return optimizer.step(closure).detach()

    run = compiled(step)
    return [run(mt.tensor([n, 1.0])) for n in range(STEPS)]


@add_case
def optimizer_step_hook(compiled: Decorator) -> list[Any]:
    count = [0]

    def decrease_lr(optimizer: Any, *_: Any) -> None:
        count[0] += 1
        optimizer.param_groups[0]["lr"] = 0.1 / count[0]

    def make(parameters: Any) -> Any:
        count[0], optimizer = 0, make_sgd(parameters)
        optimizer.register_step_pre_hook(decrease_lr)
        return optimizer

    return train_case(make=make)(compiled)


@add_case
def parameter_or_tensor_argument(compiled: Decorator) -> list[Any]:
    run = compiled(lambda x: x * (2 if isinstance(x, nn.Parameter) else 3))
    arguments = (mt.ones(2).requires_grad_(), nn.Parameter(mt.ones(2)))
    return [run(arguments[n % 2]) for n in range(4)]


@add_case
def recurrent_state_that_starts_as_none(compiled: Decorator) -> list[Any]:
    mt.manual_seed(0)
    cell, memory, results = nn.GRU(2, 2), {"state": None}, []

    def step(x: mt.Tensor) -> Any:
        output, state = cell(x, memory["state"])
        memory["state"] = state.detach()
        return output.sum()

    run = compiled(step)
    for n in range(STEPS):
        results += [run(mt.ones(2, 1, 2) * n).detach(), memory["state"].clone()]  # type: ignore[attr-defined]
    return results


def comparable(value: Any) -> Any:
    """Return a result as a value that compares dtype, shape and bits."""
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
def test_compiled_steps_equal_eager_steps_while_state_changes(name: str, backend: str) -> None:
    with mt.use_backend(backend_of(backend)), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        expected = [comparable(each) for each in CASES[name](lambda function: function)]
        try:
            found = [comparable(each) for each in CASES[name](mt.compile)]
        except CompileError:
            return
    assert found == expected
