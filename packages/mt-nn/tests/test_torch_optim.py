"""Optimizers, schedulers, clipping and averaging compared with torch."""

import copy
import inspect
import itertools
import json
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import optim
from mt_nn.conformance.drawing import draw
from mt_operators.testing.ids import sample_id

torch = pytest.importorskip("torch")

EXACT = {"rtol": 1e-9, "atol": 1e-12}
STEPS = 12


def combinations(**choices: Any) -> list[dict[str, Any]]:
    """Return every combination of the given values of settings."""
    return [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]


OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        *combinations(momentum=[0, 0.9], weight_decay=[0, 0.1], maximize=[False, True]),
        *combinations(momentum=[0.9], dampening=[0.3], weight_decay=[0, 0.1]),
        *combinations(momentum=[0.9], nesterov=[True], maximize=[False, True]),
    ],
    "Adam": [
        *combinations(weight_decay=[0, 0.1], amsgrad=[False, True], maximize=[False, True]),
        {"betas": (0.5, 0.9), "eps": 1e-3, "decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "AdamW": combinations(weight_decay=[0.01, 0.3], amsgrad=[False, True], maximize=[False, True]),
    "RMSprop": [
        *combinations(momentum=[0, 0.9], centered=[False, True], weight_decay=[0, 0.1]),
        {"alpha": 0.5, "eps": 0.01, "maximize": True},
    ],
    "Adagrad": [
        *combinations(lr_decay=[0, 0.1], weight_decay=[0, 0.1], initial_accumulator_value=[0, 0.5]),
        {"eps": 0.1, "maximize": True},
    ],
    "Adadelta": combinations(rho=[0.9, 0.5], weight_decay=[0, 0.1], maximize=[False, True]),
    "NAdam": [
        *combinations(weight_decay=[0, 0.1], decoupled_weight_decay=[False, True]),
        {"momentum_decay": 0.1, "betas": (0.5, 0.9), "maximize": True},
    ],
    "Adamax": combinations(weight_decay=[0, 0.1], maximize=[False, True], betas=[(0.9, 0.99)]),
    "RAdam": [
        *combinations(weight_decay=[0, 0.1], decoupled_weight_decay=[False, True]),
        {"betas": (0.5, 0.6), "maximize": True},
    ],
    "Adafactor": [
        *combinations(weight_decay=[0, 0.1], maximize=[False, True]),
        {"lr": 1.0, "beta2_decay": -0.5, "eps": (1e-3, 0.1), "d": 2.0},
    ],
    "Rprop": [
        {},
        {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1), "maximize": True},
    ],
    "ASGD": [
        *combinations(weight_decay=[0, 0.1], t0=[1e6, 5]),
        {"lambd": 0.1, "alpha": 0.5, "t0": 2, "maximize": True},
    ],
}

OPTIMIZER_SETTINGS = [
    pytest.param(name, settings, id=f"{name}-{settings}")
    for name, all_settings in OPTIMIZERS.items()
    for settings in all_settings
]

STARTS = [draw(3, 4, dtype="float64"), draw(5, dtype="float64", seed=1), draw(2, dtype="float64")]


class OptimizerUnderTest:
    """An optimizer of mt_nn or torch with three parameters in two groups.

    The last parameter has no gradient; the second is in a group with another learning rate.
    """

    def __init__(self, name: str, settings: dict[str, Any], ours: bool) -> None:
        self.ours = ours
        if ours:
            self.parameters: list[Any] = [nn.Parameter(mt.tensor(start)) for start in STARTS]
        else:
            self.parameters = [torch.nn.Parameter(torch.tensor(start)) for start in STARTS]
        first, second, without_gradient = self.parameters
        groups = [{"params": [first, without_gradient]}, {"params": [second], "lr": 0.05}]
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

    def copy_from(self, other: "OptimizerUnderTest") -> None:
        """Copy parameters and state of the other library's optimizer."""
        with mt.no_grad(), torch.no_grad():
            for mine, theirs in zip(self.parameters, other.values(), strict=True):
                mine.copy_(mt.tensor(theirs) if self.ours else torch.tensor(theirs))
        state = copy.deepcopy(other.optimizer.state_dict())
        for entry in state["state"].values():
            for name, value in entry.items():
                if hasattr(value, "shape"):
                    entry[name] = (mt if self.ours else torch).tensor(value.numpy())
        self.optimizer.load_state_dict(state)


def tolerance_of(name: str) -> dict[str, float]:
    """Return tolerances: torch keeps the scalar state of NAdam and ASGD in float32."""
    return {"rtol": 1e-6, "atol": 1e-7} if name in ("NAdam", "ASGD") else EXACT


@pytest.mark.parametrize(("name", "settings"), OPTIMIZER_SETTINGS)
def test_optimizer_steps_and_states_match_torch(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = (
        OptimizerUnderTest(name, settings, True),
        OptimizerUnderTest(name, settings, False),
    )
    for _ in range(STEPS):
        ours.step()
        theirs.step()
        for mine, other in zip(ours.values(), theirs.values(), strict=True):
            np.testing.assert_allclose(mine, other, **tolerance_of(name))
    states = theirs.state()
    for number, entry in ours.state().items():
        assert entry.keys() == states[number].keys()
        for key, value in entry.items():
            np.testing.assert_allclose(
                value, states[number][key], err_msg=key, **tolerance_of(name)
            )


@pytest.mark.parametrize(("name", "settings"), OPTIMIZER_SETTINGS[::2])
def test_optimizer_states_are_exchanged_with_torch(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = (
        OptimizerUnderTest(name, settings, True),
        OptimizerUnderTest(name, settings, False),
    )
    for _ in range(3):
        ours.step()
    theirs.copy_from(ours)
    for _ in range(3):
        ours.step()
        theirs.step()
    again = OptimizerUnderTest(name, {**settings, "lr": 0.5}, True)
    again.copy_from(theirs)
    assert [group["lr"] for group in again.optimizer.param_groups] == [
        group["lr"] for group in theirs.optimizer.param_groups
    ]
    for _ in range(3):
        again.step()
        theirs.step()
        ours.step()
    for mine, other, first in zip(again.values(), theirs.values(), ours.values(), strict=True):
        np.testing.assert_allclose(mine, other, **tolerance_of(name))
        np.testing.assert_allclose(first, other, **tolerance_of(name))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_defaults_match_torch(name: str) -> None:
    ours = getattr(optim, name)([nn.Parameter(mt.ones(1))]).defaults
    theirs = getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(1))]).defaults
    assert ours == {"capturable": False, **theirs} if name == "Adagrad" else ours == theirs


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_100_steps_with_a_saved_and_loaded_state_match_torch(name: str, tmp_path: Any) -> None:
    settings = OPTIMIZERS[name][1]
    ours, theirs = (
        OptimizerUnderTest(name, settings, True),
        OptimizerUnderTest(name, settings, False),
    )
    for number in range(1, 101):
        ours.step()
        theirs.step()
        if number == 50:
            nn.save_checkpoint(tmp_path / "ours.safetensors", optimizer=ours.optimizer)
            torch.save(theirs.optimizer.state_dict(), tmp_path / "theirs.pt")
            parameters = [ours.parameters, theirs.parameters]
            ours, theirs = OptimizerUnderTest(name, {}, True), OptimizerUnderTest(name, {}, False)
            for side, values in zip((ours, theirs), parameters, strict=True):
                groups = side.optimizer.param_groups
                side.parameters = values
                groups[0]["params"], groups[1]["params"] = [values[0], values[2]], [values[1]]
            nn.load_checkpoint(tmp_path / "ours.safetensors", optimizer=ours.optimizer)
            theirs.optimizer.load_state_dict(torch.load(tmp_path / "theirs.pt"))
        if number in (10, 50, 51, 100):
            for mine, other in zip(ours.values(), theirs.values(), strict=True):
                np.testing.assert_allclose(mine, other, **tolerance_of(name))


@pytest.mark.parametrize("name", [*OPTIMIZERS, "LBFGS"])
def test_optimizer_signatures_match_torch(name: str) -> None:
    ours, theirs = (
        [(p.name, p.kind, p.default) for p in inspect.signature(cls).parameters.values()]
        for cls in (getattr(optim, name), getattr(torch.optim, name))
    )
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    assert [p for p in ours if p[1] != keyword_only] == [p for p in theirs if p[1] != keyword_only]
    assert {*ours} - {*theirs} <= {("capturable", keyword_only, False)}
    assert {*theirs} <= {*ours}


INVALID_SETTINGS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": -0.1},
        {"momentum": -0.1},
        {"weight_decay": -1},
        {"nesterov": True},
        {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
    ],
    **{
        name: [
            {"lr": -1.0},
            {"eps": -1e-8},
            {"betas": (1.0, 0.9)},
            {"betas": (0.9, 1.0)},
            {"betas": (-0.1, 0.9)},
            {"weight_decay": -0.1},
        ]
        for name in ("Adam", "AdamW", "NAdam", "Adamax", "RAdam")
    },
    "RMSprop": [{"lr": -1.0}, {"eps": -1.0}, {"momentum": -1.0}, {"alpha": -1.0}],
    "Adagrad": [
        {"lr": -1.0},
        {"lr_decay": -1.0},
        {"weight_decay": -1.0},
        {"initial_accumulator_value": -1.0},
        {"eps": -1.0},
    ],
    "Adadelta": [{"lr": -1.0}, {"rho": -0.1}, {"rho": 1.1}, {"eps": -1.0}, {"weight_decay": -1.0}],
    "Rprop": [{"lr": -1.0}, {"etas": (1.0, 1.2)}, {"etas": (0.5, 1.0)}, {"etas": (0.0, 1.2)}],
    "ASGD": [{"lr": -1.0}, {"weight_decay": -0.1}],
    "Adafactor": [
        {"lr": -1.0},
        {"beta2_decay": 0.1},
        {"eps": (-1.0, 1.0)},
        {"eps": (None, -1.0)},
        {"d": 0.5},
        {"weight_decay": -0.1},
    ],
    "LBFGS": [{"lr": -1.0}],
}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(name, settings, id=f"{name}-{settings}")
        for name, all_settings in INVALID_SETTINGS.items()
        for settings in all_settings
    ],
)
def test_invalid_settings_raise_as_in_torch(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any message of torch
        getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(1))], **settings)
    with pytest.raises(nn.SettingError):
        getattr(optim, name)([nn.Parameter(mt.ones(1))], **settings)


# --- LBFGS ----------------------------------------------------------------------------------------

MATRIX, RIGHT = draw(6, 6, dtype="float64"), draw(6, dtype="float64", seed=1)


class LBFGSProblem:
    """A Rosenbrock-like loss of two parameters and an LBFGS optimizer of mt_nn or torch."""

    def __init__(self, ours: bool, settings: dict[str, Any]) -> None:
        self.library: Any = mt if ours else torch
        parameter: Any = nn.Parameter if ours else torch.nn.Parameter
        starts = draw(2, 2, dtype="float64", seed=2), draw(2, dtype="float64", seed=3)
        self.parameters = [parameter(self.library.tensor(start)) for start in starts]
        lbfgs: Any = optim.LBFGS if ours else torch.optim.LBFGS
        self.optimizer = lbfgs(self.parameters, **settings)
        self.calls = 0

    def loss(self) -> Any:
        self.calls += 1
        self.optimizer.zero_grad()
        first, second = self.parameters
        x = self.library.cat([first.reshape(-1), second * second])
        y = self.library.tensor(MATRIX) @ x - self.library.tensor(RIGHT)
        loss = (y**4).sum() + 10 * ((x[1:] - x[:-1] ** 2) ** 2).sum()
        loss.backward()
        return loss

    def step(self) -> tuple[float, int]:
        loss = self.optimizer.step(self.loss)
        return loss.item(), self.calls


LBFGS_SETTINGS = [
    {},
    {"lr": 0.01, "max_iter": 5},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 7},
    {"line_search_fn": "strong_wolfe", "max_eval": 4},
    {"line_search_fn": "strong_wolfe", "lr": 20.0, "tolerance_change": 1e-3},
    {"line_search_fn": "strong_wolfe", "tolerance_grad": 10.0},
]


@pytest.mark.parametrize("settings", LBFGS_SETTINGS, ids=str)
def test_lbfgs_loss_calls_and_parameters_match_torch(settings: dict[str, Any]) -> None:
    ours, theirs = LBFGSProblem(True, settings), LBFGSProblem(False, settings)
    for _ in range(4):
        (loss, calls), (other_loss, other_calls) = ours.step(), theirs.step()
        assert calls == other_calls
        np.testing.assert_allclose(loss, other_loss, rtol=1e-7)
    for mine, other in zip(ours.parameters, theirs.parameters, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("settings", LBFGS_SETTINGS[1:4], ids=str)
def test_lbfgs_states_are_exchanged_with_torch(settings: dict[str, Any]) -> None:
    ours, theirs, again = (
        LBFGSProblem(True, settings),
        LBFGSProblem(False, settings),
        LBFGSProblem(True, settings),
    )
    ours.step()

    def transfer(source: LBFGSProblem, target: LBFGSProblem) -> None:
        state = copy.deepcopy(source.optimizer.state_dict())
        for name, value in state["state"].get(0, {}).items():
            items = value if isinstance(value, list) else [value]
            new = [target.library.tensor(x.numpy()) if hasattr(x, "numpy") else x for x in items]
            state["state"][0][name] = new if isinstance(value, list) else new[0]
        target.optimizer.load_state_dict(state)
        with mt.no_grad(), torch.no_grad():
            for mine, other in zip(target.parameters, source.parameters, strict=True):
                mine.copy_(target.library.tensor(other.detach().numpy()))

    transfer(ours, theirs)
    ours.step()
    theirs.step()
    transfer(theirs, again)
    for fit in (ours, theirs, again):
        fit.step()
    for mine, other, third in zip(*(f.parameters for f in (ours, theirs, again)), strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-6)
        np.testing.assert_allclose(third.detach().numpy(), other.detach().numpy(), rtol=1e-6)


# --- Names of parameters, and tensors as learning rates -------------------------------------------


def test_param_names_in_states_match_torch() -> None:
    states = []
    for library, optimizers, new in ((nn, optim, mt.ones), (torch.nn, torch.optim, torch.ones)):
        model = library.Linear(3, 2)
        first = optimizers.SGD(model.named_parameters(), lr=0.1)
        first.add_param_group({"params": [("extra", library.Parameter(new(2)))], "lr": 0.2})
        unnamed = [{"params": [*model.parameters()]}, {"params": [library.Parameter(new(2))]}]
        second = optimizers.SGD(unnamed, lr=0.3)
        renamed = optimizers.SGD(
            [{"params": [("a", model.weight), ("b", model.bias)]}, {"params": [("c", new(2))]}]
        )
        without_names = second.state_dict()
        second.load_state_dict(first.state_dict())
        renamed.load_state_dict(without_names)
        states += [[o.state_dict()["param_groups"] for o in (first, second, renamed)]]
    ours, theirs = states
    assert ours == theirs
    assert ours[0][0]["param_names"] == ["weight", "bias"]


def test_learning_rate_tensor_is_updated_as_in_torch() -> None:
    results = []
    for library, optimizers, new in ((nn, optim, mt.tensor), (torch.nn, torch.optim, torch.tensor)):
        x, rate = library.Parameter(new([1.0, -2.0])), new(0.1)
        optimizer = optimizers.Adam([x], lr=rate)
        scheduler = optimizers.lr_scheduler.ExponentialLR(optimizer, 0.5)
        x.grad = new([0.3, 0.4])
        for _ in range(3):
            optimizer.step()
            scheduler.step()
        results.append((x.detach().numpy(), rate.item()))
    (mine, rate), (other, other_rate) = results
    np.testing.assert_allclose(mine, other, rtol=1e-6)
    assert rate == pytest.approx(other_rate)
    assert rate == pytest.approx(0.0125)


# --- Schedulers -----------------------------------------------------------------------------------

SCHEDULERS: dict[str, list[dict[str, Any]]] = {
    "LambdaLR": [
        {"lr_lambda": lambda epoch: 0.9**epoch},
        {"lr_lambda": [lambda epoch: 1 / (1 + epoch), lambda epoch: 0.5]},
    ],
    "MultiplicativeLR": [{"lr_lambda": lambda epoch: 0.9 + 0.01 * epoch}],
    "StepLR": combinations(step_size=[1, 4], gamma=[0.1, 0.9]),
    "MultiStepLR": [
        {"milestones": [2, 5, 5, 9], "gamma": 0.5},
        {"milestones": [0, 3]},
        {"milestones": ()},
    ],
    "ConstantLR": [{}, *combinations(factor=[0.5, 1.0], total_iters=[0, 3])],
    "LinearLR": [
        {},
        *combinations(start_factor=[0.1, 1.0], end_factor=[0.0, 0.7], total_iters=[7]),
    ],
    "ExponentialLR": [{"gamma": 0.9}],
    "PolynomialLR": [{}, {"total_iters": 9, "power": 2.0}],
    "SWALR": [
        *combinations(swa_lr=[0.05], anneal_epochs=[0, 1, 7], anneal_strategy=["cos", "linear"]),
        {"swa_lr": [0.5, 0.01]},
    ],
    "CosineAnnealingLR": combinations(T_max=[1, 5, 20], eta_min=[0.0, 0.001]),
    "CosineAnnealingWarmRestarts": combinations(T_0=[1, 4], T_mult=[1, 2], eta_min=[0.0, 0.01]),
    "OneCycleLR": [
        *combinations(
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
        *combinations(
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

SCHEDULER_SETTINGS = [
    pytest.param(name, settings, id=sample_id(name, settings))
    for name, all_settings in SCHEDULERS.items()
    for settings in all_settings
]


def optimizers(name: str = "SGD", **settings: Any) -> tuple[Any, Any]:
    """Return optimizers of mt_nn and torch, each with two groups of different learning rates."""
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
    """Return the settings of each group that schedulers change."""
    return [
        (group["lr"], group.get("momentum", 0), *group.get("betas", ()))
        for group in optimizer.param_groups
    ]


def step(scheduler: Any) -> None:
    scheduler.optimizer.step()
    scheduler.step()


def make_scheduler(library: Any, name: str, optimizer: Any, settings: dict[str, Any]) -> Any:
    module = library.swa_utils if name == "SWALR" else library.lr_scheduler
    return getattr(module, name)(optimizer, **settings)


@pytest.mark.parametrize("name", [*SCHEDULERS, "ReduceLROnPlateau", "SequentialLR"])
def test_scheduler_signatures_match_torch(name: str) -> None:
    ours, theirs = (
        inspect.signature(getattr(library.swa_utils, name, getattr(library.lr_scheduler, name, 0)))
        for library in (optim, torch.optim)
    )
    assert [(p.name, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.kind) for p in theirs.parameters.values()
    ]
    for p in ours.parameters.values():
        assert p.default == pytest.approx(theirs.parameters[p.name].default)


def test_all_schedulers_of_torch_exist() -> None:
    theirs = {
        name
        for name, cls in vars(torch.optim.lr_scheduler).items()
        if inspect.isclass(cls) and hasattr(cls, "get_last_lr") and name[0] != "_"
    }
    assert theirs <= {*dir(optim.lr_scheduler)}


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "settings"), SCHEDULER_SETTINGS)
def test_scheduled_learning_rates_match_torch(
    name: str, settings: dict[str, Any], optimizer: str
) -> None:
    momentum = {"momentum": 0.9} if optimizer == "SGD" else {}
    mine, theirs = optimizers(optimizer, **momentum)
    ours = make_scheduler(optim, name, mine, settings)
    other = make_scheduler(torch.optim, name, theirs, settings)
    for _ in range(22):
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        np.testing.assert_allclose(ours.get_last_lr(), other.get_last_lr(), **EXACT)
        assert ours.last_epoch == other.last_epoch
        step(ours)
        step(other)


@pytest.mark.parametrize(("name", "settings"), SCHEDULER_SETTINGS)
def test_scheduler_states_are_exchanged_with_torch(name: str, settings: dict[str, Any]) -> None:
    mine, theirs = optimizers(momentum=0.9)
    ours = make_scheduler(optim, name, mine, settings)
    for _ in range(5):
        step(ours)
    saved = json.loads(json.dumps(ours.state_dict()))
    again, _ = optimizers(momentum=0.1)
    resumed = make_scheduler(optim, name, again, settings)
    again.load_state_dict(mine.state_dict())
    resumed.load_state_dict(saved)
    other = make_scheduler(torch.optim, name, theirs, settings)
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
def test_scheduler_started_at_last_epoch_matches_torch(name: str, settings: dict[str, Any]) -> None:
    mine, theirs = optimizers()
    for library, optimizer in ((optim, mine), (torch.optim, theirs)):
        scheduler = make_scheduler(library, name, optimizer, settings)
        for _ in range(3):
            step(scheduler)
    ours = make_scheduler(optim, name, mine, {**settings, "last_epoch": 2})
    other = make_scheduler(torch.optim, name, theirs, {**settings, "last_epoch": 2})
    for _ in range(4):
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
        step(ours)
        step(other)


MEASURES = [1.0, 0.9, 0.95, 0.9, 0.91, 0.92, 0.89995, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *combinations(patience=[0, 2], mode=["min", "max"], cooldown=[0, 2]),
        *combinations(
            patience=[1], threshold_mode=["rel", "abs"], threshold=[0.2], mode=["min", "max"]
        ),
        {"patience": 0, "factor": 0.5, "min_lr": 0.02},
        {"patience": 0, "min_lr": [0.05, 0.01], "eps": 0.06},
    ],
    ids=str,
)
def test_reduce_lr_on_plateau_matches_torch(settings: dict[str, Any]) -> None:
    mine, theirs = optimizers()
    ours = make_scheduler(optim, "ReduceLROnPlateau", mine, settings)
    other = make_scheduler(torch.optim, "ReduceLROnPlateau", theirs, settings)
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
    warmup = rules.LinearLR(optimizer, 0.1, total_iters=4)
    if kind == "chained":
        return rules.ChainedScheduler([warmup, rules.ExponentialLR(optimizer, 0.9)])
    middle = {
        "cosine": lambda: rules.CosineAnnealingLR(optimizer, 10),
        "step": lambda: rules.StepLR(optimizer, 2),
        "lambda": lambda: rules.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
        "restarts": lambda: rules.CosineAnnealingWarmRestarts(optimizer, 3),
        "first milestone 0": lambda: rules.ConstantLR(optimizer, 0.5),
    }[kind]()
    last = rules.ExponentialLR(optimizer, 0.5)
    milestones = [0 if kind == "first milestone 0" else 4, 12]
    return rules.SequentialLR(optimizer, [warmup, middle, last], milestones)


@pytest.mark.parametrize(
    "kind", ["cosine", "step", "lambda", "restarts", "first milestone 0", "chained"]
)
def test_sequential_and_chained_schedulers_match_torch(kind: str) -> None:
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


def test_warm_restarts_at_fractional_epochs_match_torch() -> None:
    mine, theirs = optimizers()
    settings = {"T_0": 3, "T_mult": 2, "eta_min": 0.01}
    ours = make_scheduler(optim, "CosineAnnealingWarmRestarts", mine, settings)
    other = make_scheduler(torch.optim, "CosineAnnealingWarmRestarts", theirs, settings)
    for epoch in (0.5, 1.25, 2.99, 3.0, 8.5, 9.0, 20.75, 1.0):
        ours.step(epoch)
        other.step(epoch)
        np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)
    ours.step()
    other.step()
    np.testing.assert_allclose(rates(mine), rates(theirs), **EXACT)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_update_bn_matches_torch(momentum: float | None) -> None:
    images = [draw(4, 3, seed=seed) for seed in range(3)]
    found = []
    for library, averages, new in (
        (nn, optim.swa_utils, mt.tensor),
        (torch.nn, torch.optim.swa_utils, torch.tensor),
    ):
        model = library.Sequential(library.BatchNorm1d(3, momentum=momentum), library.Dropout(0.5))
        model(new(images[0]) + 5.0)
        model.eval()
        averages.update_bn([(new(images[0]), 7), [new(images[1])], new(images[2])], model)
        assert not model.training
        assert model[0].momentum == momentum
        found.append({name: np.asarray(value) for name, value in model.state_dict().items()})
    for name, value in found[1].items():
        np.testing.assert_allclose(found[0][name], value, rtol=1e-5)


# --- Gradients, vectors and averages --------------------------------------------------------------


def with_gradients() -> tuple[list[Any], list[Any]]:
    ours = [nn.Parameter(mt.tensor(draw(3, 4, seed=seed))) for seed in range(3)]
    theirs = [torch.nn.Parameter(torch.tensor(draw(3, 4, seed=seed))) for seed in range(3)]
    for seed in range(2):  # the last parameter has no gradient
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
def test_clip_grad_norm_matches_torch(norm_type: float, max_norm: float) -> None:
    ours, theirs = with_gradients()
    total = nn.utils.clip_grad_norm_(ours, max_norm, norm_type)
    other = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    assert total.item() == pytest.approx(other.item(), rel=1e-5)
    assert_same_gradients(ours, theirs)


def test_clip_grad_value_and_parameter_vectors_match_torch() -> None:
    ours, theirs = with_gradients()
    nn.utils.clip_grad_value_(ours, 0.3)
    torch.nn.utils.clip_grad_value_(theirs, 0.3)
    assert_same_gradients(ours, theirs)
    vector = nn.utils.parameters_to_vector(ours)
    other = torch.nn.utils.parameters_to_vector(theirs)
    np.testing.assert_array_equal(vector.detach().numpy(), other.detach().numpy())
    nn.utils.vector_to_parameters(vector * 2, ours)
    np.testing.assert_array_equal(ours[2].detach().numpy(), 2 * theirs[2].detach().numpy())


@pytest.mark.parametrize("rule", ["mean", "ema", "multi ema"])
def test_averaged_model_matches_torch(rule: str) -> None:
    models = []
    for library, averages, new in (
        (nn, optim.swa_utils, mt.tensor),
        (torch.nn, torch.optim.swa_utils, torch.tensor),
    ):
        rules = {
            "mean": {},
            "ema": {"avg_fn": averages.get_ema_avg_fn(0.9)},
            "multi ema": {"multi_avg_fn": averages.get_ema_multi_avg_fn(0.9)},
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
