"""Schedulers, weight averaging and clipping: errors, resuming, and behavior unlike torch."""

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
        (lambda o: schedules.OneCycleLR(o, 0.1, 5, anneal_strategy="sin"), "one of cos, linear"),
        (lambda o: schedules.OneCycleLR(o, 0.1, 5, pct_start=2.0), "pct_start must be from 0 to 1"),
        (lambda o: schedules.OneCycleLR(o, [0.1], 5), "max_lr must be one value, or 2"),
        (lambda o: schedules.CyclicLR(o, 0.1, 1.0, mode="square"), "mode must be one of"),
        (lambda o: schedules.ReduceLROnPlateau(o, "least"), "mode must be one of min, max"),
        (lambda o: schedules.ReduceLROnPlateau(o, factor=1.0), "factor must be below 1"),
        (lambda o: schedules.ExponentialLR(o, 0.9, last_epoch=3), "resumes training"),
        (lambda o: schedules.ChainedScheduler([]), "takes at least one scheduler"),
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
def test_scheduler_with_invalid_setting_raises_setting_error(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make(optimizer())


def test_cyclic_lr_raises_for_optimizer_without_momentum() -> None:
    adagrad = optim.Adagrad([nn.Parameter(mt.ones(1))])
    with pytest.raises(nn.SettingError, match="Adagrad has no momentum to cycle"):
        schedules.CyclicLR(adagrad, 0.1, 1.0)


def test_one_cycle_lr_raises_after_total_steps() -> None:
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
def test_load_state_dict_of_another_scheduler_raises(state: Any, message: str) -> None:
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
def test_scheduler_resumed_from_state_dict_continues_the_schedule(make: Any, stop: int) -> None:
    uninterrupted, resumed = optimizer(), optimizer()
    schedule, other = make(uninterrupted), make(resumed)
    for _ in range(stop):
        schedule.step()
    resumed.load_state_dict(uninterrupted.state_dict())
    # Through JSON and back, as in a checkpoint.
    other.load_state_dict(json.loads(json.dumps(schedule.state_dict())))
    for _ in range(7 - stop):
        schedule.step()
        other.step()
        assert other.get_last_lr() == schedule.get_last_lr()
        assert [group["lr"] for group in resumed.param_groups] == schedule.get_last_lr()


def test_load_state_dict_of_shorter_chained_scheduler_raises() -> None:
    shared = optimizer()
    chain = schedules.ChainedScheduler([schedules.StepLR(shared, 1), schedules.StepLR(shared, 2)])
    shorter = schedules.ChainedScheduler([schedules.StepLR(optimizer(), 1)])
    with pytest.raises(nn.StateDictError, match="it has 1 members, the scheduler 2"):
        chain.load_state_dict(shorter.state_dict())


def test_user_scheduler_only_defines_get_lr() -> None:
    class Halving(schedules.LRScheduler):
        """Halve the learning rates at each epoch."""

        def get_lr(self) -> list[float]:
            return [rate * 0.5**self.last_epoch for rate in self.base_lrs]

    sgd = optimizer(1)
    scheduler = Halving(sgd)
    scheduler.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [sgd.param_groups[0]["lr"]] == [0.025]


# --- Clipping, vectors, averages ------------------------------------------------------------------


def test_clip_grad_norm_with_non_finite_norm_raises_only_on_request() -> None:
    x = nn.Parameter(mt.ones(2))
    x.grad = mt.tensor([float("inf"), 1.0])
    with pytest.raises(nn.InputError, match="total norm of order 2 is inf"):
        nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
    assert x.grad.tolist() == [float("inf"), 1.0]
    assert nn.utils.clip_grad_norm_(x, 1.0).item() == float("inf")
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
    with pytest.raises(nn.SettingError, match="clip_value must be at least 0"):
        nn.utils.clip_grad_value_([x], -1.0)


@pytest.mark.parametrize("max_norm", [1e-3, 0.5, 4.9, 5.1])
@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e6])
def test_clip_grad_norm_scales_gradients_to_max_norm(
    size: float, norm_type: float, max_norm: float
) -> None:
    """As in torch, 1e-6 is added to the norm to avoid division by zero."""
    grads = [size * np.array([0.5, -1.0]), size * np.array([[2.0], [1.5]])]
    parameters = [nn.Parameter(mt.zeros(*grad.shape, dtype="float64")) for grad in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = mt.tensor(grad)
    norm = np.linalg.norm(np.concatenate([grad.ravel() for grad in grads]), norm_type)
    limit = max_norm * size
    total = nn.utils.clip_grad_norm_(parameters, limit, norm_type)
    assert total.item() == pytest.approx(norm, rel=1e-14)
    for parameter, grad in zip(parameters, grads, strict=True):
        expected = grad * min(limit / (norm + 1e-6), 1.0)
        np.testing.assert_allclose(parameter.grad.numpy(), expected, rtol=1e-13)


def test_clip_grad_norm_accepts_a_generator() -> None:
    model = nn.Linear(2, 2)
    model(mt.ones(1, 2)).sum().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    total = nn.utils.get_total_norm([x.grad for x in model.parameters()])
    assert total.item() == pytest.approx(0.1, rel=1e-4)


def test_vector_to_parameters_of_wrong_size_raises() -> None:
    parameters = list(nn.Linear(2, 2).parameters())
    before = nn.utils.parameters_to_vector(parameters).tolist()
    with pytest.raises(nn.InputError, match=r"takes shape \(6,\) .*; \(5,\) was given"):
        nn.utils.vector_to_parameters(mt.zeros(5), parameters)
    assert nn.utils.parameters_to_vector(parameters).tolist() == before
    with pytest.raises(nn.InputError, match="no parameters"):
        nn.utils.parameters_to_vector([])


class ModelWithBuffers(nn.Module):
    """A model with an integer and a float buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(mt.zeros(2))
        self.register_buffer("seen", mt.tensor(0))
        self.register_buffer("mean", mt.zeros(1))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return x * self.weight


@pytest.mark.parametrize("use_buffers", [False, True])
def test_averaged_model_copies_buffers_or_averages_them(use_buffers: bool) -> None:
    model = ModelWithBuffers()
    update = optim.swa_utils.get_ema_multi_avg_fn(0.75)
    averaged = optim.swa_utils.AveragedModel(model, multi_avg_fn=update, use_buffers=use_buffers)
    averaged.update_parameters(model)
    model.weight.update(mt.ones(2))
    model.seen, model.mean = mt.tensor(3), mt.ones(1)
    averaged.update_parameters(model)
    assert averaged(mt.ones(2)).tolist() == [0.25, 0.25]
    assert averaged.module.seen.item() == 3
    assert averaged.module.mean.item() == (0.25 if use_buffers else 1.0)
    assert averaged.n_averaged.item() == 2


def test_averaged_model_rejects_other_models_and_bad_settings() -> None:
    averaged = optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    with pytest.raises(nn.InputError, match="this model differs"):
        averaged.update_parameters(nn.Linear(2, 3))
    with pytest.raises(nn.SettingError, match="avg_fn or multi_avg_fn, not both"):
        optim.swa_utils.AveragedModel(
            nn.Linear(2, 2), avg_fn=lambda a, b, n: a, multi_avg_fn=lambda a, b, n: None
        )
    with pytest.raises(nn.SettingError, match="decay must be from 0 to 1"):
        optim.swa_utils.get_ema_avg_fn(1.5)


@pytest.mark.parametrize("start", [1.0, 1 / 3, 0.1, 0.7])
def test_linear_lr_ends_at_zero_and_never_below(start: float) -> None:
    for total in range(1, 40):
        adam = optim.Adam([nn.Parameter(mt.zeros(1))], lr=0.003)
        schedule = schedules.LinearLR(adam, start, 0.0, total)
        for _ in range(total + 1):
            adam.step()
            schedule.step()
            assert adam.param_groups[0]["lr"] >= 0.0
        assert adam.param_groups[0]["lr"] == pytest.approx(0.0, abs=1e-15)
