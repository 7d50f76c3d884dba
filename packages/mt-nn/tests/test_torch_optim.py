"""Every optimizer and every scheduler beside torch's: parameters, states, rates."""

import copy
import itertools
import json
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import optim
from mt_nn.conformance.drawing import draw

torch = pytest.importorskip("torch")

EXACT = {"rtol": 1e-9, "atol": 1e-12}
STEPS = 12


def crossed(**choices: Any) -> list[dict[str, Any]]:
    """Return every combination of choices for settings."""
    return [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]


OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        *crossed(momentum=[0, 0.9], weight_decay=[0, 0.1], maximize=[False, True]),
        *crossed(momentum=[0.9], dampening=[0.3], weight_decay=[0, 0.1]),
        *crossed(momentum=[0.9], nesterov=[True], maximize=[False, True]),
    ],
    "Adam": [
        *crossed(weight_decay=[0, 0.1], amsgrad=[False, True], maximize=[False, True]),
        {"betas": (0.5, 0.9), "eps": 1e-3, "decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "AdamW": crossed(weight_decay=[0.01, 0.3], amsgrad=[False, True], maximize=[False, True]),
    "RMSprop": [
        *crossed(momentum=[0, 0.9], centered=[False, True], weight_decay=[0, 0.1]),
        {"alpha": 0.5, "eps": 0.01, "maximize": True},
    ],
    "Adagrad": [
        *crossed(lr_decay=[0, 0.1], weight_decay=[0, 0.1], initial_accumulator_value=[0, 0.5]),
        {"eps": 0.1, "maximize": True},
    ],
    "Adadelta": crossed(rho=[0.9, 0.5], weight_decay=[0, 0.1], maximize=[False, True]),
    "NAdam": [
        *crossed(weight_decay=[0, 0.1], decoupled_weight_decay=[False, True]),
        {"momentum_decay": 0.1, "betas": (0.5, 0.9), "maximize": True},
    ],
    "Adamax": crossed(weight_decay=[0, 0.1], maximize=[False, True], betas=[(0.9, 0.99)]),
    "RAdam": [
        *crossed(weight_decay=[0, 0.1], decoupled_weight_decay=[False, True]),
        {"betas": (0.5, 0.6), "maximize": True},
    ],
}

PAIRS = [
    pytest.param(name, settings, id=f"{name}-{settings}")
    for name, all_settings in OPTIMIZERS.items()
    for settings in all_settings
]

STARTS = [draw(3, 4, dtype="float64"), draw(5, dtype="float64", seed=1), draw(2, dtype="float64")]


class Side:
    """An optimizer of ours or of torch's with three parameters, of which the last has no gradient.

    The second is in a group of its own, with another rate.
    """

    def __init__(self, name: str, settings: dict[str, Any], ours: bool) -> None:
        self.ours = ours
        if ours:
            self.parameters: list[Any] = [nn.Parameter(mt.tensor(start)) for start in STARTS]
        else:
            self.parameters = [torch.nn.Parameter(torch.tensor(start)) for start in STARTS]
        first, second, idle = self.parameters
        groups = [{"params": [first, idle]}, {"params": [second], "lr": 0.05}]
        self.optimizer = getattr(optim if ours else torch.optim, name)(groups, **settings)

    def values(self) -> list[Any]:
        return [parameter.detach().numpy() for parameter in self.parameters]

    def step(self) -> None:
        for parameter in self.parameters[:2]:
            slope = np.cos(3 * parameter.detach().numpy()) + 0.3 * parameter.detach().numpy()
            parameter.grad = mt.tensor(slope) if self.ours else torch.tensor(slope)
        self.optimizer.step()

    def state(self) -> dict[int, dict[str, Any]]:
        return {
            number: {name: np.asarray(value) for name, value in state.items() if value is not None}
            for number, state in self.optimizer.state_dict()["state"].items()
        }

    def take(self, other: "Side") -> None:
        """Take over parameters and state of the other library's optimizer."""
        with mt.no_grad(), torch.no_grad():
            for mine, theirs in zip(self.parameters, other.values(), strict=True):
                mine.copy_(mt.tensor(theirs) if self.ours else torch.tensor(theirs))
        state = copy.deepcopy(other.optimizer.state_dict())
        for kept in state["state"].values():
            for name, value in kept.items():
                if hasattr(value, "shape"):
                    kept[name] = (mt if self.ours else torch).tensor(value.numpy())
        self.optimizer.load_state_dict(state)


def close(name: str) -> dict[str, float]:
    """Return how near numbers must be; torch keeps a product in float32 for NAdam."""
    return {"rtol": 1e-6, "atol": 1e-8} if name == "NAdam" else EXACT


@pytest.mark.parametrize(("name", "settings"), PAIRS)
def test_steps_and_states_are_torchs(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = Side(name, settings, True), Side(name, settings, False)
    for _ in range(STEPS):
        ours.step()
        theirs.step()
        for mine, other in zip(ours.values(), theirs.values(), strict=True):
            np.testing.assert_allclose(mine, other, **close(name))
    states = theirs.state()
    for number, kept in ours.state().items():
        assert kept.keys() == states[number].keys()
        for key, value in kept.items():
            np.testing.assert_allclose(value, states[number][key], err_msg=key, **close(name))


@pytest.mark.parametrize(("name", "settings"), PAIRS[::2])
def test_states_travel_to_torch_and_back(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = Side(name, settings, True), Side(name, settings, False)
    for _ in range(3):
        ours.step()
    theirs.take(ours)
    for _ in range(3):
        ours.step()
        theirs.step()
    again = Side(name, {**settings, "lr": 0.5}, True)
    again.take(theirs)
    assert [group["lr"] for group in again.optimizer.param_groups] == [
        group["lr"] for group in theirs.optimizer.param_groups
    ]
    for _ in range(3):
        again.step()
        theirs.step()
        ours.step()
    for mine, other, straight in zip(again.values(), theirs.values(), ours.values(), strict=True):
        np.testing.assert_allclose(mine, other, **close(name))
        np.testing.assert_allclose(straight, other, **close(name))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_defaults_are_torchs(name: str) -> None:
    ours = getattr(optim, name)([nn.Parameter(mt.ones(1))]).defaults
    theirs = getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(1))]).defaults
    own = ("foreach", "fused", "capturable", "differentiable")
    assert ours == {key: value for key, value in theirs.items() if key not in own}


# --- Schedulers -----------------------------------------------------------------------------------

SCHEDULERS: dict[str, list[dict[str, Any]]] = {
    "LambdaLR": [
        {"lr_lambda": lambda epoch: 0.9**epoch},
        {"lr_lambda": [lambda epoch: 1 / (1 + epoch), lambda epoch: 0.5]},
    ],
    "MultiplicativeLR": [{"lr_lambda": lambda epoch: 0.9 + 0.01 * epoch}],
    "StepLR": crossed(step_size=[1, 4], gamma=[0.1, 0.9]),
    "MultiStepLR": [
        {"milestones": [2, 5, 5, 9], "gamma": 0.5},
        {"milestones": [0, 3]},
        {"milestones": ()},
    ],
    "ConstantLR": [{}, *crossed(factor=[0.5, 1.0], total_iters=[0, 3])],
    "LinearLR": [{}, *crossed(start_factor=[0.1, 1.0], end_factor=[0.0, 0.7], total_iters=[7])],
    "ExponentialLR": [{"gamma": 0.9}],
    "PolynomialLR": [{}, {"total_iters": 9, "power": 2.0}],
    "CosineAnnealingLR": crossed(T_max=[1, 5, 20], eta_min=[0.0, 0.001]),
    "CosineAnnealingWarmRestarts": crossed(T_0=[1, 4], T_mult=[1, 2], eta_min=[0.0, 0.01]),
    "OneCycleLR": [
        *crossed(
            max_lr=[0.1],
            total_steps=[25],
            three_phase=[False, True],
            anneal_strategy=["cos", "linear"],
        ),
        {"max_lr": [0.1, 0.3], "epochs": 5, "steps_per_epoch": 5, "pct_start": 0.1},
        {"max_lr": 1.0, "total_steps": 30, "cycle_momentum": False, "div_factor": 2.0},
        {"max_lr": 1.0, "total_steps": 30, "base_momentum": 0.5, "max_momentum": [0.6, 0.9]},
    ],
    "CyclicLR": [
        *crossed(
            base_lr=[0.01],
            max_lr=[[0.1, 0.2]],
            step_size_up=[3],
            step_size_down=[None, 5],
            mode=["triangular", "triangular2", "exp_range"],
            gamma=[0.9],
        ),
        {"base_lr": 0.01, "max_lr": 1.0, "step_size_up": 2, "scale_fn": lambda cycle: 1 / cycle},
        {
            "base_lr": [0.0, 0.1],
            "max_lr": 1.0,
            "step_size_up": 2,
            "cycle_momentum": False,
            "scale_fn": lambda step: 0.95**step,
            "scale_mode": "iterations",
        },
    ],
}

SCHEDULES = [
    pytest.param(name, settings, id=f"{name}-{number}")
    for name, all_settings in SCHEDULERS.items()
    for number, settings in enumerate(all_settings)
]


def optimizers(name: str = "SGD", **settings: Any) -> tuple[Any, Any]:
    """Return an optimizer of ours and torch's with two groups of different rates."""
    return tuple(
        getattr(library, name)(
            [{"params": [parameter(1)]}, {"params": [parameter(1)], "lr": 0.3}],
            **{"lr": 0.1, **settings},
        )
        for library, parameter in (
            (optim, lambda n: nn.Parameter(mt.ones(n))),
            (torch.optim, lambda n: torch.nn.Parameter(torch.ones(n))),
        )
    )


def rates(optimizer: Any) -> list[tuple[float, ...]]:
    """Return what schedulers change in each group."""
    return [
        (group["lr"], group.get("momentum", 0), *group.get("betas", ()))
        for group in optimizer.param_groups
    ]


def step(scheduler: Any) -> None:
    scheduler.optimizer.step()
    scheduler.step()


def made(library: Any, name: str, optimizer: Any, settings: dict[str, Any]) -> Any:
    return getattr(library.lr_scheduler, name)(optimizer, **settings)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "settings"), SCHEDULES)
def test_rates_are_torchs(name: str, settings: dict[str, Any], kind: str) -> None:
    momentum = {"momentum": 0.9} if kind == "SGD" else {}
    mine, theirs = optimizers(kind, **momentum)
    ours = made(optim, name, mine, settings)
    other = made(torch.optim, name, theirs, settings)
    for _ in range(22):
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        np.testing.assert_allclose(ours.get_last_lr(), other.get_last_lr(), **EXACT)
        assert ours.last_epoch == other.last_epoch
        step(ours)
        step(other)


@pytest.mark.parametrize(("name", "settings"), SCHEDULES)
def test_schedules_travel_to_torch_and_back(name: str, settings: dict[str, Any]) -> None:
    mine, theirs = optimizers(momentum=0.9)
    ours = made(optim, name, mine, settings)
    for _ in range(5):
        step(ours)
    saved = json.loads(json.dumps(ours.state_dict()))
    again, _ = optimizers(momentum=0.1)
    resumed = made(optim, name, again, settings)
    again.load_state_dict(mine.state_dict())
    resumed.load_state_dict(saved)
    other = made(torch.optim, name, theirs, settings)
    theirs.load_state_dict(mine.state_dict())
    other.load_state_dict(ours.state_dict())
    for _ in range(6):
        for scheduler in (ours, resumed, other):
            step(scheduler)
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        np.testing.assert_allclose(rates(mine), rates(again), **EXACT)
    resumed.load_state_dict(other.state_dict())
    step(resumed)
    step(ours)
    np.testing.assert_allclose(rates(mine), rates(again), **EXACT)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ExponentialLR", {"gamma": 0.5}),
        ("LinearLR", {"total_iters": 9}),
        ("PolynomialLR", {"total_iters": 9}),
        ("CosineAnnealingLR", {"T_max": 9}),
        ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}),
        ("OneCycleLR", {"max_lr": 0.1, "total_steps": 20, "cycle_momentum": False}),
    ],
)
def test_training_goes_on_at_an_epoch_as_in_torch(name: str, settings: dict[str, Any]) -> None:
    mine, theirs = optimizers()
    for library, optimizer in ((optim, mine), (torch.optim, theirs)):
        scheduler = made(library, name, optimizer, settings)
        for _ in range(3):
            step(scheduler)
    ours = made(optim, name, mine, {**settings, "last_epoch": 2})
    other = made(torch.optim, name, theirs, {**settings, "last_epoch": 2})
    for _ in range(4):
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        step(ours)
        step(other)


MEASURES = [1.0, 0.9, 0.95, 0.9, 0.91, 0.92, 0.89995, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *crossed(patience=[0, 2], mode=["min", "max"], cooldown=[0, 2]),
        *crossed(patience=[1], threshold_mode=["rel", "abs"], threshold=[0.2], mode=["min", "max"]),
        {"patience": 0, "factor": 0.5, "min_lr": 0.02},
        {"patience": 0, "min_lr": [0.05, 0.01], "eps": 0.06},
    ],
    ids=str,
)
def test_plateaus_are_torchs(settings: dict[str, Any]) -> None:
    mine, theirs = optimizers()
    ours = made(optim, "ReduceLROnPlateau", mine, settings)
    other = made(torch.optim, "ReduceLROnPlateau", theirs, settings)
    for number, measure in enumerate(MEASURES):
        ours.step(mt.tensor(measure) if number % 2 else measure)
        other.step(measure)
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        assert ours.state_dict().keys() <= other.state_dict().keys()
        if number == 7:
            other.load_state_dict(ours.state_dict())
            ours.load_state_dict(other.state_dict())


def combined(library: Any, optimizer: Any, kind: str) -> Any:
    rules = library.lr_scheduler
    warm = rules.LinearLR(optimizer, 0.1, total_iters=4)
    if kind == "chained":
        return rules.ChainedScheduler([warm, rules.ExponentialLR(optimizer, 0.9)])
    then = {
        "cosine": lambda: rules.CosineAnnealingLR(optimizer, 10),
        "step": lambda: rules.StepLR(optimizer, 2),
        "lambda": lambda: rules.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
        "restarts": lambda: rules.CosineAnnealingWarmRestarts(optimizer, 3),
        "at once": lambda: rules.ConstantLR(optimizer, 0.5),
    }[kind]()
    last = rules.ExponentialLR(optimizer, 0.5)
    milestones = [0 if kind == "at once" else 4, 12]
    return rules.SequentialLR(optimizer, [warm, then, last], milestones)


@pytest.mark.parametrize("kind", ["cosine", "step", "lambda", "restarts", "at once", "chained"])
def test_combinations_are_torchs(kind: str) -> None:
    mine, theirs = optimizers()
    ours, other = combined(optim, mine, kind), combined(torch.optim, theirs, kind)
    for number in range(16):
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        np.testing.assert_allclose(ours.get_last_lr(), other.get_last_lr(), **EXACT)
        step(ours)
        step(other)
        if number == 6:
            other.load_state_dict(ours.state_dict())
            ours.load_state_dict(other.state_dict())


def test_restarts_go_to_any_epoch_as_in_torch() -> None:
    mine, theirs = optimizers()
    settings = {"T_0": 3, "T_mult": 2, "eta_min": 0.01}
    ours = made(optim, "CosineAnnealingWarmRestarts", mine, settings)
    other = made(torch.optim, "CosineAnnealingWarmRestarts", theirs, settings)
    for epoch in (0.5, 1.25, 2.99, 3.0, 8.5, 9.0, 20.75, 1.0):
        ours.step(epoch)
        other.step(epoch)
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
    ours.step()
    other.step()
    np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)


# --- Gradients, vectors and averages --------------------------------------------------------------


def with_gradients() -> tuple[list[Any], list[Any]]:
    ours = [nn.Parameter(mt.tensor(draw(3, 4, seed=seed))) for seed in range(3)]
    theirs = [torch.nn.Parameter(torch.tensor(draw(3, 4, seed=seed))) for seed in range(3)]
    for seed in range(2):  # the last has none
        ours[seed].grad = mt.tensor(draw(3, 4, seed=seed + 7))
        theirs[seed].grad = torch.tensor(draw(3, 4, seed=seed + 7))
    return ours, theirs


def assert_same_gradients(ours: list[Any], theirs: list[Any]) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        if other.grad is None:
            assert mine.grad is None
        else:
            np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.1, 100.0])
def test_clipped_norms_are_torchs(norm_type: float, max_norm: float) -> None:
    ours, theirs = with_gradients()
    total = nn.utils.clip_grad_norm_(ours, max_norm, norm_type)
    other = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    assert total.item() == pytest.approx(other.item(), rel=1e-5)
    assert_same_gradients(ours, theirs)


def test_clipped_values_and_vectors_are_torchs() -> None:
    ours, theirs = with_gradients()
    nn.utils.clip_grad_value_(ours, 0.3)
    torch.nn.utils.clip_grad_value_(theirs, 0.3)
    assert_same_gradients(ours, theirs)
    vector = nn.utils.parameters_to_vector(ours)
    other = torch.nn.utils.parameters_to_vector(theirs)
    np.testing.assert_array_equal(vector.detach().numpy(), other.detach().numpy())
    nn.utils.vector_to_parameters(vector * 2, ours)
    np.testing.assert_array_equal(ours[2].detach().numpy(), 2 * theirs[2].detach().numpy())


@pytest.mark.parametrize("rule", ["mean", "ema", "ema of all"])
def test_averaged_models_are_torchs(rule: str) -> None:
    models = []
    for library, averages, new in (
        (nn, optim.swa_utils, mt.tensor),
        (torch.nn, torch.optim.swa_utils, torch.tensor),
    ):
        rules = {
            "mean": {},
            "ema": {"avg_fn": averages.get_ema_avg_fn(0.9)},
            "ema of all": {"multi_avg_fn": averages.get_ema_multi_avg_fn(0.9)},
        }
        model = library.Linear(3, 2)
        averaged = averages.AveragedModel(model, **rules[rule])
        with mt.no_grad(), torch.no_grad():
            for seed in range(4):
                model.weight.copy_(new(draw(2, 3, seed=seed)))
                model.bias.copy_(new(draw(2, seed=seed)))
                averaged.update_parameters(model)
        models.append(averaged)
    ours, theirs = models
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        np.testing.assert_allclose(np.array(ours.state_dict()[name]), value.numpy(), rtol=1e-5)
