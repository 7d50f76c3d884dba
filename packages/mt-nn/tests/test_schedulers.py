"""Schedulers, weight averaging and clipping: errors, and behaviour without a torch equivalent."""

import json
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import optim
from mt_nn.optim import lr_scheduler as schedules


def optimizer(groups: int = 2) -> optim.SGD:
    return optim.SGD([{"params": [nn.Parameter(mt.ones(1))]} for _ in range(groups)], lr=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: schedules.StepLR(o, 0), "step_size"),
        (lambda o: schedules.StepLR("sgd", 1), "a scheduler takes an optimizer; 'sgd' was given"),
        (lambda o: schedules.LambdaLR(o, [abs]), "lr_lambda must be one value, or 2"),
        (lambda o: schedules.MultiStepLR(o, [1.5]), "a milestone"),
        (lambda o: schedules.ConstantLR(o, 0.0), "factor must be above 0 and at most 1; got 0.0"),
        (lambda o: schedules.LinearLR(o, 1.5), "start_factor must be above 0"),
        (lambda o: schedules.LinearLR(o, end_factor=2.0), "end_factor must be from 0 to 1"),
        (lambda o: schedules.PolynomialLR(o, 0), "total_iters"),
        (lambda o: schedules.CosineAnnealingLR(o, 0), "T_max"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 0), "T_mult"),
        (lambda o: schedules.OneCycleLR(o, 0.1), "total_steps, or epochs and steps_per_epoch"),
        (lambda o: schedules.OneCycleLR(o, 0.1, 5, anneal_strategy="sin"), "'cos' or 'linear'"),
        (lambda o: schedules.OneCycleLR(o, 0.1, 5, pct_start=2.0), "pct_start must be from 0 to 1"),
        (lambda o: schedules.OneCycleLR(o, [0.1], 5), "max_lr must be one value, or 2"),
        (lambda o: schedules.CyclicLR(o, 0.1, 1.0, mode="square"), "mode must be one of"),
        (lambda o: schedules.ReduceLROnPlateau(o, "least"), "mode must be 'min' or 'max'"),
        (lambda o: schedules.ReduceLROnPlateau(o, factor=1.0), "factor must be below 1"),
        (lambda o: schedules.ExponentialLR(o, 0.9, last_epoch=3), "resumes training"),
        (lambda o: schedules.ChainedScheduler([]), "was given no schedulers"),
        (
            lambda o: schedules.ChainedScheduler([schedules.ReduceLROnPlateau(o)]),
            "without a metric; ReduceLROnPlateau was given",
        ),
        (
            lambda o: schedules.ChainedScheduler(
                [schedules.StepLR(o, 1), schedules.StepLR(optimizer(), 1)]
            ),
            "schedulers of one optimizer",
        ),
        (
            lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 1)], [3]),
            "one scheduler more than milestones; 1 and 1",
        ),
        (
            lambda o: schedules.SequentialLR(
                o, [schedules.ChainedScheduler([schedules.StepLR(o, 1)])], []
            ),
            "takes no combinations",
        ),
        (
            lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 1)], [], last_epoch=3),
            "resume training, load a state",
        ),
        (
            lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 1) for _ in range(3)], [5, 2]),
            "milestones must be in order",
        ),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make(optimizer())


def test_cycling_momentum_needs_momentum() -> None:
    adagrad = optim.Adagrad([nn.Parameter(mt.ones(1))])
    with pytest.raises(nn.SettingError, match="Adagrad has no momentum to cycle"):
        schedules.CyclicLR(adagrad, 0.1, 1.0)


def test_one_cycle_ends() -> None:
    scheduler = schedules.OneCycleLR(optimizer(), 0.1, total_steps=3)
    for _ in range(3):
        scheduler.step()
    with pytest.raises(nn.SettingError, match="step 4 exceeds total_steps=3"):
        scheduler.step()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (schedules.ExponentialLR(optimizer(), 0.9).state_dict(), r"missing: \['step_size'\]"),
        (schedules.StepLR(optimizer(1), 3).state_dict(), "not for 2 groups"),
        ([1], "it is a list, not a dictionary"),
    ],
)
def test_loading_the_state_of_another_scheduler_raises(state: Any, message: str) -> None:
    scheduler = schedules.StepLR(optimizer(), 4)
    with pytest.raises(nn.StateDictError, match=message):
        scheduler.load_state_dict(state)
    assert scheduler.step_size == 4


@pytest.mark.parametrize(
    "make",
    [
        lambda o: schedules.LambdaLR(o, lambda epoch: 0.9**epoch),
        lambda o: schedules.MultiplicativeLR(o, lambda epoch: 0.9),
        lambda o: schedules.StepLR(o, 2),
        lambda o: schedules.MultiStepLR(o, [1, 3, 3, 3, 6, 6], 0.5),
        lambda o: schedules.ConstantLR(o, total_iters=4),
        lambda o: schedules.LinearLR(o, total_iters=4),
        lambda o: schedules.PolynomialLR(o, 6),
        lambda o: schedules.ExponentialLR(o, 0.9),
        lambda o: schedules.CosineAnnealingLR(o, 3),
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 2),
        lambda o: schedules.OneCycleLR(o, 1.0, 8, cycle_momentum=False),
        lambda o: schedules.CyclicLR(o, 0.1, 1.0, 2, 3, cycle_momentum=False),
        lambda o: optim.swa_utils.SWALR(o, 0.5, 4),
        lambda o: schedules.SequentialLR(
            o, [schedules.LinearLR(o, total_iters=2), schedules.MultiStepLR(o, [2, 2])], [3]
        ),
        lambda o: schedules.ChainedScheduler(
            [schedules.MultiStepLR(o, [4, 4]), schedules.ExponentialLR(o, 0.9)]
        ),
    ],
)
@pytest.mark.parametrize("stop", [0, 2, 5])
def test_schedules_can_be_resumed(make: Any, stop: int) -> None:
    """The state is converted to JSON and back, as in a checkpoint."""
    straight, resumed = optimizer(), optimizer()
    schedule, other = make(straight), make(resumed)
    for _ in range(stop):
        schedule.step()
    resumed.load_state_dict(straight.state_dict())
    other.load_state_dict(json.loads(json.dumps(schedule.state_dict())))
    for _ in range(7 - stop):
        schedule.step()
        other.step()
        assert other.get_last_lr() == schedule.get_last_lr()
        assert [group["lr"] for group in resumed.param_groups] == schedule.get_last_lr()


def test_loading_the_state_of_another_chain_raises() -> None:
    mine = optimizer()
    chain = schedules.ChainedScheduler([schedules.StepLR(mine, 1), schedules.StepLR(mine, 2)])
    shorter = schedules.ChainedScheduler([schedules.StepLR(optimizer(), 1)])
    with pytest.raises(nn.StateDictError, match="it has 1 members, the scheduler 2"):
        chain.load_state_dict(shorter.state_dict())


def test_user_schedulers_define_get_lr() -> None:
    class Halving(schedules.LRScheduler):
        """Halve rates at each epoch."""

        def get_lr(self) -> list[float]:
            return [rate * 0.5**self.last_epoch for rate in self.base_lrs]

    mine = optimizer(1)
    scheduler = Halving(mine)
    scheduler.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [mine.param_groups[0]["lr"]] == [0.025]


# --- Clipping, vectors, averages ------------------------------------------------------------------


def test_clipping_with_a_norm_that_is_not_finite() -> None:
    x = nn.Parameter(mt.ones(2))
    x.grad = mt.tensor([float("inf"), 1.0])
    with pytest.raises(nn.InputError, match="norm of order 2 of the gradients is inf"):
        nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
    assert x.grad.tolist() == [float("inf"), 1.0]
    assert nn.utils.clip_grad_norm_(x, 1.0).item() == float("inf")
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
    with pytest.raises(nn.SettingError, match="clip_value must be at least 0"):
        nn.utils.clip_grad_value_([x], -1.0)


@pytest.mark.parametrize("max_norm", [1e-3, 0.5, 4.9, 5.1])
@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e6])
def test_clipped_gradients_have_the_largest_norm(
    size: float, norm_type: float, max_norm: float
) -> None:
    """Gradients are divided by the norm plus 1e-6, as in torch, which avoids a division by 0."""
    grads = [size * np.array([0.5, -1.0]), size * np.array([[2.0], [1.5]])]
    parameters = [nn.Parameter(mt.zeros(*grad.shape, dtype="float64")) for grad in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = mt.tensor(grad)
    norm = np.linalg.norm(np.concatenate([grad.ravel() for grad in grads]), norm_type)
    bound = max_norm * size
    total = nn.utils.clip_grad_norm_(parameters, bound, norm_type)
    assert total.item() == pytest.approx(norm, rel=1e-14)
    for parameter, grad in zip(parameters, grads, strict=True):
        wanted = grad * min(bound / (norm + 1e-6), 1.0)
        np.testing.assert_allclose(parameter.grad.numpy(), wanted, rtol=1e-13)


def test_clipping_accepts_a_generator() -> None:
    model = nn.Linear(2, 2)
    model(mt.ones(1, 2)).sum().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    total = nn.utils.get_total_norm([x.grad for x in model.parameters()])
    assert total.item() == pytest.approx(0.1, rel=1e-4)


def test_vector_to_parameters_checks_the_size() -> None:
    parameters = list(nn.Linear(2, 2).parameters())
    before = nn.utils.parameters_to_vector(parameters).tolist()
    with pytest.raises(nn.InputError, match=r"have 6 elements; a tensor of shape \(5,\)"):
        nn.utils.vector_to_parameters(mt.zeros(5), parameters)
    assert nn.utils.parameters_to_vector(parameters).tolist() == before
    with pytest.raises(nn.InputError, match="no parameters"):
        nn.utils.parameters_to_vector([])


class Counted(nn.Module):
    """A model with buffers of both kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(mt.zeros(2))
        self.register_buffer("seen", mt.tensor(0))
        self.register_buffer("mean", mt.zeros(1))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return x * self.weight


@pytest.mark.parametrize("use_buffers", [False, True])
def test_buffers_follow_the_model_or_are_averaged(use_buffers: bool) -> None:
    model = Counted()
    rule = optim.swa_utils.get_ema_multi_avg_fn(0.75)
    averaged = optim.swa_utils.AveragedModel(model, multi_avg_fn=rule, use_buffers=use_buffers)
    averaged.update_parameters(model)
    model.weight.update(mt.ones(2))
    model.seen, model.mean = mt.tensor(3), mt.ones(1)
    averaged.update_parameters(model)
    assert averaged(mt.ones(2)).tolist() == [0.25, 0.25]
    assert averaged.module.seen.item() == 3
    assert averaged.module.mean.item() == (0.25 if use_buffers else 1.0)
    assert averaged.n_averaged.item() == 2


def test_averaged_model_errors() -> None:
    averaged = optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    with pytest.raises(nn.InputError, match="another was given"):
        averaged.update_parameters(nn.Linear(2, 3))
    with pytest.raises(nn.SettingError, match="avg_fn or multi_avg_fn, not both"):
        optim.swa_utils.AveragedModel(
            nn.Linear(2, 2), avg_fn=lambda a, b, n: a, multi_avg_fn=lambda a, b, n: None
        )
    with pytest.raises(nn.SettingError, match="decay must be from 0 to 1"):
        optim.swa_utils.get_ema_avg_fn(1.5)


@pytest.mark.parametrize("start", [1.0, 1 / 3, 0.1, 0.7])
def test_a_linear_schedule_ends_at_0_and_not_below(start: float) -> None:
    for total in range(1, 40):
        last = optim.Adam([nn.Parameter(mt.zeros(1))], lr=0.003)
        schedule = schedules.LinearLR(last, start, 0.0, total)
        for _ in range(total + 1):
            last.step()
            schedule.step()
            assert last.param_groups[0]["lr"] >= 0.0
        assert last.param_groups[0]["lr"] == pytest.approx(0.0, abs=1e-15)
