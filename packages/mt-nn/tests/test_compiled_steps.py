"""Compiled training steps: optimizers, schedulers, clipping, hooks, and the trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn.data import DataLoader, TensorDataset
from mt_nn.errors import SettingTypeError
from mt_nn.train import Accuracy, Trainer
from mt_tensor.errors import CompileError, CompileWarning
from mt_tensor.programs.compiling import Compiled

STEPS = 7

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "Adadelta": lambda p: nn.optim.Adadelta(p, lr=0.5),
    "Adafactor": lambda p: nn.optim.Adafactor(p, lr=0.05),
    "Adagrad": lambda p: nn.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
    "Adam": lambda p: nn.optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: nn.optim.AdamW(p, lr=0.05),
    "Adamax": lambda p: nn.optim.Adamax(p, lr=0.05),
    "Muon": lambda p: nn.optim.Muon([x for x in p if x.ndim == 2], lr=0.05),
    "NAdam": lambda p: nn.optim.NAdam(p, lr=0.05),
    "RAdam": lambda p: nn.optim.RAdam(p, lr=0.05),
    "RMSprop": lambda p: nn.optim.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
    "Rprop": lambda p: nn.optim.Rprop(p, lr=0.05),
    "SGD": lambda p: nn.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "groups": lambda p: nn.optim.SGD([{"params": p[:1], "lr": 0.3}, {"params": p[1:]}], lr=0.1),
    "maximize": lambda p: nn.optim.Adam(p, lr=0.01, maximize=True, weight_decay=0.1),
}


def make_model(seed: int = 0) -> nn.Module:
    mt.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 2)
    )


def make_batches() -> list[tuple[mt.Tensor, mt.Tensor]]:
    rng = np.random.default_rng(0)
    return [
        (mt.tensor(rng.random((5, 3), np.float32)), mt.tensor(rng.integers(0, 2, 5)))
        for _ in range(STEPS)
    ]


def train(make: Callable[[Any], Any], is_compiled: bool, **options: Any) -> tuple[Any, ...]:
    """Train for some steps; return losses, the model's state, the optimizer's and the programs."""
    model = make_model()
    optimizer = make(list(model.parameters()))
    schedule = options.get("schedule", lambda _: None)(optimizer)
    clip = options.get("clip")

    def step(inputs: mt.Tensor, labels: mt.Tensor) -> mt.Tensor:
        optimizer.zero_grad(**options.get("zero", {}))
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.detach()

    run = mt.compile(step) if is_compiled else step
    losses = []
    for inputs, labels in make_batches():
        losses.append(run(inputs, labels).item())
        if schedule is not None:
            schedule.step()
    optimizer_state = [
        (name, np.array(value))
        for each in optimizer.state_dict()["state"].values()
        for name, value in each.items()
        if value is not None
    ]
    model_state = [np.array(value) for value in model.state_dict().values()]
    programs = run.programs if isinstance(run, Compiled) else []
    return losses, model_state, optimizer_state, programs


def check_compiled_training(make: Callable[[Any], Any], **options: Any) -> Any:
    """Compare compiled training with eager training; return the programs."""
    losses, model_state, optimizer_state, _ = train(make, False, **options)
    found_losses, found_model_state, found_optimizer_state, programs = train(make, True, **options)
    np.testing.assert_allclose(found_losses, losses, 1e-6)
    for found, expected in zip(found_model_state, model_state, strict=True):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-7)
    assert [name for name, _ in found_optimizer_state] == [name for name, _ in optimizer_state]
    for (_, found), (_, expected) in zip(found_optimizer_state, optimizer_state, strict=True):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-7)
    return programs


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_training_matches_eager_for_every_optimizer(name: str) -> None:
    assert check_compiled_training(OPTIMIZERS[name])


def test_asgd_has_different_programs_before_and_after_t0() -> None:
    assert len(check_compiled_training(lambda p: nn.optim.ASGD(p, lr=0.05, t0=3))) > 1


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: nn.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=STEPS + 1),
        lambda o: nn.optim.lr_scheduler.StepLR(o, 2, 0.5),
    ],
)
@pytest.mark.parametrize("name", ["AdamW", "SGD with momentum"])
def test_scheduled_learning_rates_and_momenta_are_program_inputs(name: str, schedule: Any) -> None:
    programs = check_compiled_training(OPTIMIZERS[name], schedule=schedule, clip=0.5)
    assert len(programs) <= 2


def test_compiled_training_with_zero_grad_in_place_matches_eager() -> None:
    assert check_compiled_training(OPTIMIZERS["Adam"], zero={"set_to_none": False})


def test_compiled_step_with_tensor_learning_rate_raises() -> None:
    with pytest.raises(CompileError, match="reads the elements of a tensor"):
        train(lambda p: nn.optim.SGD(p, lr=mt.tensor(0.1)), True)


def test_compiled_module_follows_change_of_training_mode() -> None:
    model, x = make_model(), mt.ones(4, 3)
    run = mt.compile(model)
    for _ in range(2):
        for training in (True, False):
            model.train(training)
            mt.manual_seed(1)
            found = run(x).tolist()
            mt.manual_seed(1)
            assert found == model(x).tolist()


def test_recurrent_state_kept_between_steps_matches_eager() -> None:
    """The states are tuples, which each step replaces."""
    found = []
    for is_compiled in (False, True):
        mt.manual_seed(0)
        cell, memory = nn.LSTM(3, 4), {"states": (mt.zeros(1, 2, 4), mt.zeros(1, 2, 4))}
        optimizer = nn.optim.SGD(cell.parameters(), lr=0.1)

        def step(
            x: mt.Tensor, cell: Any = cell, memory: Any = memory, optimizer: Any = optimizer
        ) -> Any:
            optimizer.zero_grad()
            output, states = cell(x, memory["states"])
            memory["states"] = tuple(state.detach() for state in states)
            loss = output.square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = mt.compile(step) if is_compiled else step
        found.append([run(mt.full((3, 2, 3), 0.1 * k)).item() for k in range(6)])
        if isinstance(run, Compiled):
            assert run.programs
    assert found[0] == found[1]


def losses_of(
    modules: list[nn.Module], forward: Callable[[mt.Tensor], mt.Tensor], is_compiled: bool
) -> list[float]:
    """Train the modules with AdamW; return the losses."""
    optimizer = nn.optim.AdamW([p for m in modules for p in m.parameters()], lr=0.1)

    def step(x: mt.Tensor) -> mt.Tensor:
        optimizer.zero_grad()
        loss = forward(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = mt.compile(step) if is_compiled else step
    return [run(mt.full((3, 4), 0.1 * k)).item() for k in range(STEPS)]


def test_compiled_training_of_tied_weights_matches_eager() -> None:
    found = []
    for is_compiled in (False, True):
        mt.manual_seed(0)
        first, second = nn.Linear(4, 4), nn.Linear(4, 4)
        second.weight = first.weight
        model = nn.Sequential(first, nn.Tanh(), second)
        found.append(losses_of([model], model, is_compiled))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore::mt_tensor.errors.CompileWarning")
def test_stateful_forward_hook_runs_at_each_compiled_step() -> None:
    found = []
    for is_compiled in (False, True):
        mt.manual_seed(0)
        layer, calls = nn.Linear(4, 4), [0]

        def scale_by_call(
            _: Any, __: Any, output: mt.Tensor, calls: list[int] = calls
        ) -> mt.Tensor:
            calls[0] += 1
            return output * calls[0]

        layer.register_forward_hook(scale_by_call)
        found.append(losses_of([layer], layer, is_compiled))
    assert found[0] == found[1]


def test_compiled_function_follows_replaced_or_reordered_layers() -> None:
    for change in (
        lambda m: (m.__setitem__(0, nn.Tanh()), m.__setitem__(1, nn.ReLU())),
        lambda m: m._modules.update({"0": m._modules.pop("0")}),
    ):
        model = nn.Sequential(nn.ReLU(), nn.Tanh())
        run = mt.compile(lambda x, model=model: model(x - 0.3) - 0.3)
        x = mt.tensor([-1.0, 2.0])
        run(x)
        change(model)  # type: ignore[no-untyped-call]
        assert mt.equal(run(x), model(x - 0.3) - 0.3)


def test_compiled_function_distinguishes_modules_of_one_class() -> None:
    class Scaled(nn.Module):
        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = n

        def forward(self, x: mt.Tensor) -> mt.Tensor:
            return x * self.n

    run = mt.compile(lambda model, x: model(x))
    assert [run(Scaled(n), mt.ones(1)).item() for n in range(6)] == list(range(6))


@pytest.mark.parametrize("layer_type", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_backward_raises_if_recurrent_output_was_modified_in_place(
    layer_type: Any, backend: str
) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        layer, x = layer_type(3, 4), mt.rand(5, 2, 3)
        run = mt.compile(lambda: layer(x)[0])
        for _ in range(3):
            result = run()
            with mt.no_grad():
                result.mul_(3.0)
            with pytest.raises(mt.errors.InPlaceError):
                result.sum().backward()


def make_trainer(is_compiled: bool, **settings: Any) -> Trainer:
    model = make_model()
    optimizer = nn.optim.Adam(model.parameters(), lr=0.02)
    schedule = nn.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=99)
    return Trainer(
        model,
        optimizer,
        F.cross_entropy,
        {"accuracy": Accuracy()},
        scheduler=schedule,
        schedule="step",
        compile=is_compiled,
        **settings,
    )


@pytest.mark.parametrize("settings", [{}, {"clip_norm": 0.5}, {"clip_norm": 0.5, "accumulate": 2}])
def test_trainer_with_compile_matches_eager_without_warning(
    settings: dict[str, Any], recwarn: Any
) -> None:
    rng = np.random.default_rng(0)
    data = TensorDataset(
        mt.tensor(rng.random((22, 3), np.float32)), mt.tensor(rng.integers(0, 2, 22))
    )
    found = []
    for is_compiled in (False, True):
        trainer = make_trainer(is_compiled, **settings)
        trainer.fit(DataLoader(data, batch_size=4, shuffle=True), 3, DataLoader(data, batch_size=7))
        found.append((trainer.history.losses, [dict(row) for row in trainer.history.rows]))
    assert found[0] == found[1]
    assert not [each for each in recwarn if each.category is CompileWarning]


def test_trainer_compile_must_be_bool() -> None:
    with pytest.raises(SettingTypeError, match="compile"):
        make_trainer(1)  # type: ignore[arg-type]
