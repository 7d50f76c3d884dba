"""What networks, optimizers and data refuse raises what torch raises, or a kind of it.

The refusals of layers and functions are compared in test_torch_refusals.py; here are those of all
that surrounds them.
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
"""Torch warns of some of it before it refuses it."""

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
TORCHS = SimpleNamespace(
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


def assigned(module: Any, name: str, value: Any) -> None:
    setattr(module, name, value)


def forgetful(lib: Any) -> None:
    def __init__(self: Any) -> None:
        self.layer = linear(lib)

    type("Forgetful", (lib.nn.Module,), {"__init__": __init__})()


def loaded(make: Callable[[Any, Any], Any], other: Callable[[Any, Any], Any], lib: Any) -> None:
    parameters = weights(lib)
    make(lib, parameters).load_state_dict(other(lib, parameters).state_dict())


def sgd(lib: Any, parameters: Any) -> Any:
    return lib.optim.SGD(parameters, lr=0.1)


def two_groups(lib: Any, parameters: Any) -> Any:
    return sgd(lib, [{"params": each} for each in parameters])


def scheduler(lib: Any, name: str, *settings: Any) -> Any:
    return getattr(lib.optim.lr_scheduler, name)(sgd(lib, weights(lib)), *settings)


def loader(lib: Any, **settings: Any) -> list[Any]:
    dataset = lib.data.TensorDataset(lib.ones(4, 2))
    return list(lib.data.DataLoader(dataset, **settings))


def sequences(lib: Any, *lengths: int) -> Any:
    return lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2, 1), list(lengths))


def clipped(lib: Any) -> None:
    weight = lib.nn.Parameter(lib.ones(2))
    weight.grad = lib.ones(2) * np.inf
    lib.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


CALLS: dict[str, Callable[[Any], Any]] = {
    # --- Modules
    "a state with names missing": lambda lib: linear(lib).load_state_dict({}),
    "a state with another name": lambda lib: linear(lib).load_state_dict(
        {**linear(lib).state_dict(), "more": lib.ones(1)}
    ),
    "a state of another shape": lambda lib: linear(lib).load_state_dict(
        lib.nn.Linear(2, 2).state_dict()
    ),
    "a state that is a list": lambda lib: linear(lib).load_state_dict([1]),
    "a parameter with a dot in its name": lambda lib: linear(lib).register_parameter("a.b", None),
    "a parameter without a name": lambda lib: linear(lib).register_parameter("", None),
    "a parameter that is a number": lambda lib: linear(lib).register_parameter("a", 1.0),
    "a parameter of a taken name": lambda lib: linear(lib).register_parameter("forward", None),
    "a parameter replaced by a number": lambda lib: assigned(linear(lib), "weight", 1.0),
    "a buffer of a taken name": lambda lib: linear(lib).register_buffer("forward", lib.ones(1)),
    "a module that is a number": lambda lib: linear(lib).add_module("a", 1.0),
    "a module of a taken name": lambda lib: linear(lib).add_module("forward", linear(lib)),
    "a module with a dot in its name": lambda lib: linear(lib).add_module("a.b", linear(lib)),
    "an attribute that is not there": lambda lib: linear(lib).wieght,
    "a parameter that is not there": lambda lib: linear(lib).get_parameter("more"),
    "a module that is not there": lambda lib: linear(lib).get_submodule("more"),
    "a buffer that is not there": lambda lib: linear(lib).get_buffer("more"),
    "members before super().__init__": forgetful,
    "no forward": lambda lib: lib.nn.Module()(1),
    "a mode that is a number": lambda lib: linear(lib).train(2),
    "conversion to integers": lambda lib: linear(lib).to(lib.long),
    "a parameter of integers": lambda lib: lib.nn.Parameter(lib.tensor([1])),
    "a member beyond the end": lambda lib: lib.nn.Sequential(linear(lib))[1],
    "a member of a list beyond the end": lambda lib: lib.nn.ModuleList([linear(lib)])[1],
    "a member by a name that is not there": lambda lib: lib.nn.ModuleDict()["a"],
    "a list of numbers": lambda lib: lib.nn.ModuleList([1]),
    "numbers in a row": lambda lib: lib.nn.Sequential(1),
    "a list of tensors": lambda lib: lib.nn.ParameterList()[0],
    "no initialisation of a row": lambda lib: lib.nn.init.xavier_uniform_(lib.ones(2)),
    "no such mode of initialisation": lambda lib: lib.nn.init.kaiming_normal_(
        lib.ones(2, 2), mode="fan"
    ),
    "no such gain": lambda lib: lib.nn.init.calculate_gain("none"),
    "norms that are not finite": clipped,
    # --- Optimizers
    "nothing to optimize": lambda lib: sgd(lib, []),
    "a tensor to optimize": lambda lib: sgd(lib, lib.ones(2)),
    "numbers to optimize": lambda lib: sgd(lib, [1.0]),
    "results to optimize": lambda lib: sgd(lib, [weights(lib)[0] * 2]),
    "parameters in two groups": lambda lib: sgd(lib, [{"params": w} for w in [weights(lib)] * 2]),
    "a negative rate": lambda lib: lib.optim.Adam(weights(lib), lr=-1),
    "a rate of another kind": lambda lib: lib.optim.Adam(weights(lib), lr="a"),
    "a negative decay": lambda lib: lib.optim.AdamW(weights(lib), weight_decay=-1),
    "betas of 1": lambda lib: lib.optim.Adam(weights(lib), betas=(1.0, 0.9)),
    "a negative momentum": lambda lib: lib.optim.SGD(weights(lib), lr=0.1, momentum=-1),
    "nesterov without momentum": lambda lib: lib.optim.SGD(weights(lib), lr=0.1, nesterov=True),
    "a state of other groups": lambda lib: loaded(sgd, two_groups, lib),
    "LBFGS of two groups": lambda lib: lib.optim.LBFGS([{"params": w} for w in weights(lib)]),
    "a schedule of no optimizer": lambda lib: lib.optim.lr_scheduler.StepLR(1, 2),
    "milestones in disorder": lambda lib: scheduler(lib, "SequentialLR", [], [1]),
    "a factor above 1": lambda lib: scheduler(lib, "ReduceLROnPlateau", "min", 1.5),
    "no such mode of a plateau": lambda lib: scheduler(lib, "ReduceLROnPlateau", "least"),
    "a cycle without an end": lambda lib: scheduler(lib, "OneCycleLR", 0.1),
    "restarts of no length": lambda lib: scheduler(lib, "CosineAnnealingWarmRestarts", 0),
    # --- Data
    "batches of nothing": lambda lib: loader(lib, batch_size=0),
    "batches of halves": lambda lib: loader(lib, batch_size=0.5),
    "shuffling and a sampler": lambda lib: loader(lib, shuffle=True, sampler=[0]),
    "a size and a sampler of batches": lambda lib: loader(lib, batch_size=2, batch_sampler=[[0]]),
    "less than no workers": lambda lib: loader(lib, num_workers=-1),
    "a negative timeout": lambda lib: loader(lib, timeout=-1),
    "tensors of other lengths": lambda lib: lib.data.TensorDataset(lib.ones(2), lib.ones(3)),
    "parts that do not add up": lambda lib: lib.data.random_split(range(3), [1, 1]),
    "a data set of nothing": lambda lib: lib.data.ConcatDataset([]),
    "samples that do not fit": lambda lib: lib.data.default_collate([lib.ones(1), lib.ones(2)]),
    "samples of no known kind": lambda lib: lib.data.default_collate([object()]),
    "a number beyond the end": lambda lib: lib.data.ConcatDataset([[1]])[1],
    "lengths in disorder": lambda lib: sequences(lib, 1, 3),
    "a length of nothing": lambda lib: sequences(lib, 3, 0),
    "too few lengths": lambda lib: sequences(lib, 3),
    # --- Distributions
    "a negative deviation": lambda lib: lib.distributions.Normal(0.0, -1.0),
    "a probability of 2": lambda lib: lib.distributions.Bernoulli(2.0),
    "probabilities and logits": lambda lib: lib.distributions.Bernoulli(0.5, 0.5),
    "draws without a derivative": lambda lib: lib.distributions.Bernoulli(0.5).rsample(),
    "a value that is no class": lambda lib: lib.distributions.Categorical(lib.ones(2)).log_prob(
        lib.tensor(2)
    ),
    "a negative concentration": lambda lib: lib.distributions.Gamma(-1.0, 1.0),
    "a matrix that is not positive definite": lambda lib: lib.distributions.MultivariateNormal(
        lib.zeros(2), -lib.eye(2)
    ),
    "a value outside of the support": lambda lib: lib.distributions.Beta(1.0, 1.0).log_prob(
        lib.tensor(2.0)
    ),
    "an entropy without a formula": lambda lib: lib.distributions.Poisson(1.0).entropy(),
    "divergence of different kinds": lambda lib: lib.distributions.kl_divergence(
        lib.distributions.Normal(0.0, 1.0), lib.distributions.Bernoulli(0.5)
    ),
    # --- Files
    "a file that is not there": lambda lib: lib.load("no such file"),
}


OTHERS: dict[str, tuple[type[Exception], str]] = {
    "a rate of another kind": (TypeError, "it compares it without looking"),
    "tensors of other lengths": (AssertionError, "it asserts"),
    "a data set of nothing": (AssertionError, "it asserts"),
}
"""What raises something else in torch: the class there, and why it is not ours."""


@pytest.mark.parametrize("name", CALLS)
def test_what_catches_torchs_error_catches_ours(name: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever it is
        CALLS[name](TORCHS)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        CALLS[name](OURS)
    if name in OTHERS:
        assert theirs.type is OTHERS[name][0]
    assert isinstance(ours.value, theirs.type) != (name in OTHERS), (ours.value, theirs.value)
