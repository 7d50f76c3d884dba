"""Errors of modules, optimizers, data, distributions and files are caught as torch's are.

Errors of layers and functions are compared with torch in test_torch_invalid_calls.py.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import data

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")
"""Torch warns before it raises some of these errors."""

OURS = SimpleNamespace(
    nn=nn,
    optim=nn.optim,
    data=data,
    distributions=nn.distributions,
    load=nn.load,
    ones=mt.ones,
    tensor=mt.tensor,
    long=mt.long,
)
TORCH = SimpleNamespace(
    nn=torch.nn,
    optim=torch.optim,
    data=torch.utils.data,
    distributions=torch.distributions,
    load=torch.load,
    ones=torch.ones,
    tensor=torch.tensor,
    long=torch.long,
)


def linear(lib: Any) -> Any:
    return lib.nn.Linear(3, 2)


def weights(lib: Any) -> Any:
    return list(linear(lib).parameters())


def assign(module: Any, name: str, value: Any) -> None:
    setattr(module, name, value)


def module_without_super_init(lib: Any) -> None:
    def __init__(self: Any) -> None:
        self.layer = linear(lib)

    type("WithoutSuperInit", (lib.nn.Module,), {"__init__": __init__})()


def load_state_of(
    make: Callable[[Any, Any], Any], other: Callable[[Any, Any], Any], lib: Any
) -> None:
    parameters = weights(lib)
    make(lib, parameters).load_state_dict(other(lib, parameters).state_dict())


def sgd(lib: Any, parameters: Any) -> Any:
    return lib.optim.SGD(parameters, lr=0.1)


def two_groups(lib: Any, parameters: Any) -> Any:
    return sgd(lib, [{"params": parameter} for parameter in parameters])


def scheduler(lib: Any, name: str, *settings: Any) -> Any:
    return getattr(lib.optim.lr_scheduler, name)(sgd(lib, weights(lib)), *settings)


def loader(lib: Any, **settings: Any) -> list[Any]:
    dataset = lib.data.TensorDataset(lib.ones(4, 2))
    return list(lib.data.DataLoader(dataset, **settings))


def sequences(lib: Any, *lengths: int) -> Any:
    return lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2, 1), list(lengths))


def clip_infinite_gradient(lib: Any) -> None:
    weight = lib.nn.Parameter(lib.ones(2))
    weight.grad = lib.ones(2) * np.inf
    lib.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


CALLS: dict[str, Callable[[Any], Any]] = {
    # --- Modules
    "load_state_dict: names missing": lambda lib: linear(lib).load_state_dict({}),
    "load_state_dict: unexpected name": lambda lib: linear(lib).load_state_dict(
        {**linear(lib).state_dict(), "extra": lib.ones(1)}
    ),
    "load_state_dict: other shape": lambda lib: linear(lib).load_state_dict(
        lib.nn.Linear(2, 2).state_dict()
    ),
    "load_state_dict: list": lambda lib: linear(lib).load_state_dict([1]),
    "register_parameter: name with a dot": lambda lib: linear(lib).register_parameter("a.b", None),
    "register_parameter: empty name": lambda lib: linear(lib).register_parameter("", None),
    "register_parameter: number": lambda lib: linear(lib).register_parameter("a", 1.0),
    "register_parameter: name of a method": lambda lib: linear(lib).register_parameter(
        "forward", None
    ),
    "parameter assigned a number": lambda lib: assign(linear(lib), "weight", 1.0),
    "register_buffer: name of a method": lambda lib: linear(lib).register_buffer(
        "forward", lib.ones(1)
    ),
    "add_module: number": lambda lib: linear(lib).add_module("a", 1.0),
    "add_module: name of a method": lambda lib: linear(lib).add_module("forward", linear(lib)),
    "add_module: name with a dot": lambda lib: linear(lib).add_module("a.b", linear(lib)),
    "missing attribute": lambda lib: linear(lib).wieght,
    "get_parameter: missing": lambda lib: linear(lib).get_parameter("extra"),
    "get_submodule: missing": lambda lib: linear(lib).get_submodule("extra"),
    "get_buffer: missing": lambda lib: linear(lib).get_buffer("extra"),
    "submodule assigned before super().__init__()": module_without_super_init,
    "module without forward": lambda lib: lib.nn.Module()(1),
    "train: mode is a number": lambda lib: linear(lib).train(2),
    "to: integer dtype": lambda lib: linear(lib).to(lib.long),
    "Parameter of integers": lambda lib: lib.nn.Parameter(lib.tensor([1])),
    "Sequential: index out of range": lambda lib: lib.nn.Sequential(linear(lib))[1],
    "ModuleList: index out of range": lambda lib: lib.nn.ModuleList([linear(lib)])[1],
    "ModuleDict: missing key": lambda lib: lib.nn.ModuleDict()["a"],
    "ModuleList of numbers": lambda lib: lib.nn.ModuleList([1]),
    "Sequential of numbers": lambda lib: lib.nn.Sequential(1),
    "ParameterList: index out of range": lambda lib: lib.nn.ParameterList()[0],
    "xavier_uniform_: 1-d tensor": lambda lib: lib.nn.init.xavier_uniform_(lib.ones(2)),
    "kaiming_normal_: unknown mode": lambda lib: lib.nn.init.kaiming_normal_(
        lib.ones(2, 2), mode="fan"
    ),
    "calculate_gain: unknown nonlinearity": lambda lib: lib.nn.init.calculate_gain("none"),
    "clip_grad_norm_: non-finite norm": clip_infinite_gradient,
    # --- Optimizers
    "optimizer: no parameters": lambda lib: sgd(lib, []),
    "optimizer: tensor instead of a list": lambda lib: sgd(lib, lib.ones(2)),
    "optimizer: numbers": lambda lib: sgd(lib, [1.0]),
    "optimizer: non-leaf tensor": lambda lib: sgd(lib, [weights(lib)[0] * 2]),
    "optimizer: parameters in two groups": lambda lib: sgd(
        lib, [{"params": w} for w in [weights(lib)] * 2]
    ),
    "Adam: negative lr": lambda lib: lib.optim.Adam(weights(lib), lr=-1),
    "Adam: lr is a str": lambda lib: lib.optim.Adam(weights(lib), lr="a"),
    "AdamW: negative weight_decay": lambda lib: lib.optim.AdamW(weights(lib), weight_decay=-1),
    "Adam: beta of 1": lambda lib: lib.optim.Adam(weights(lib), betas=(1.0, 0.9)),
    "SGD: negative momentum": lambda lib: lib.optim.SGD(weights(lib), lr=0.1, momentum=-1),
    "SGD: nesterov without momentum": lambda lib: lib.optim.SGD(
        weights(lib), lr=0.1, nesterov=True
    ),
    "optimizer: state of two groups": lambda lib: load_state_of(sgd, two_groups, lib),
    "LBFGS: two groups": lambda lib: lib.optim.LBFGS([{"params": w} for w in weights(lib)]),
    "StepLR: number instead of an optimizer": lambda lib: lib.optim.lr_scheduler.StepLR(1, 2),
    "SequentialLR: no schedulers": lambda lib: scheduler(lib, "SequentialLR", [], [1]),
    "ReduceLROnPlateau: factor above 1": lambda lib: scheduler(
        lib, "ReduceLROnPlateau", "min", 1.5
    ),
    "ReduceLROnPlateau: unknown mode": lambda lib: scheduler(lib, "ReduceLROnPlateau", "least"),
    "OneCycleLR: no total_steps": lambda lib: scheduler(lib, "OneCycleLR", 0.1),
    "CosineAnnealingWarmRestarts: T_0 of 0": lambda lib: scheduler(
        lib, "CosineAnnealingWarmRestarts", 0
    ),
    # --- Data
    "DataLoader: batch_size 0": lambda lib: loader(lib, batch_size=0),
    "DataLoader: batch_size 0.5": lambda lib: loader(lib, batch_size=0.5),
    "DataLoader: shuffle and sampler": lambda lib: loader(lib, shuffle=True, sampler=[0]),
    "DataLoader: batch_size and batch_sampler": lambda lib: loader(
        lib, batch_size=2, batch_sampler=[[0]]
    ),
    "DataLoader: negative num_workers": lambda lib: loader(lib, num_workers=-1),
    "DataLoader: negative timeout": lambda lib: loader(lib, timeout=-1),
    "TensorDataset: different lengths": lambda lib: lib.data.TensorDataset(
        lib.ones(2), lib.ones(3)
    ),
    "random_split: lengths do not add up": lambda lib: lib.data.random_split(range(3), [1, 1]),
    "ConcatDataset: no datasets": lambda lib: lib.data.ConcatDataset([]),
    "default_collate: different shapes": lambda lib: lib.data.default_collate(
        [lib.ones(1), lib.ones(2)]
    ),
    "default_collate: unknown type": lambda lib: lib.data.default_collate([object()]),
    "ConcatDataset: index out of range": lambda lib: lib.data.ConcatDataset([[1]])[1],
    "pack_padded_sequence: increasing lengths": lambda lib: sequences(lib, 1, 3),
    "pack_padded_sequence: length 0": lambda lib: sequences(lib, 3, 0),
    "pack_padded_sequence: too few lengths": lambda lib: sequences(lib, 3),
    # --- Distributions
    "Normal: negative scale": lambda lib: lib.distributions.Normal(0.0, -1.0),
    "Bernoulli: probability of 2": lambda lib: lib.distributions.Bernoulli(2.0),
    "Bernoulli: probs and logits": lambda lib: lib.distributions.Bernoulli(0.5, 0.5),
    "Bernoulli: rsample": lambda lib: lib.distributions.Bernoulli(0.5).rsample(),
    "Categorical: class out of range": lambda lib: lib.distributions.Categorical(
        lib.ones(2)
    ).log_prob(lib.tensor(2)),
    "Gamma: negative concentration": lambda lib: lib.distributions.Gamma(-1.0, 1.0),
    "MultivariateNormal: matrix not positive definite": lambda lib: (
        lib.distributions.MultivariateNormal(lib.zeros(2), -lib.eye(2))
    ),
    "Beta: value outside the support": lambda lib: lib.distributions.Beta(1.0, 1.0).log_prob(
        lib.tensor(2.0)
    ),
    "Poisson: entropy": lambda lib: lib.distributions.Poisson(1.0).entropy(),
    "kl_divergence: unsupported pair": lambda lib: lib.distributions.kl_divergence(
        lib.distributions.Normal(0.0, 1.0), lib.distributions.Bernoulli(0.5)
    ),
    # --- Files
    "load: missing file": lambda lib: lib.load("no such file"),
}


DIFFERENT_TYPES: dict[str, tuple[type[Exception], str]] = {
    "Adam: lr is a str": (TypeError, "torch compares lr with 0 before it checks the type"),
    "TensorDataset: different lengths": (AssertionError, "torch uses an assert statement"),
    "ConcatDataset: no datasets": (AssertionError, "torch uses an assert statement"),
}
"""Calls whose error has another type in torch: that type, and the reason."""


@pytest.mark.parametrize("name", CALLS)
def test_except_clause_for_torch_error_catches_ours(name: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - any type
        CALLS[name](TORCH)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        CALLS[name](OURS)
    if name in DIFFERENT_TYPES:
        assert theirs.type is DIFFERENT_TYPES[name][0]
    assert isinstance(ours.value, theirs.type) != (name in DIFFERENT_TYPES), (
        ours.value,
        theirs.value,
    )
