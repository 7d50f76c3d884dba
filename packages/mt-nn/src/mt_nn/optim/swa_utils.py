"""Averages of a model's weights over training, which often do better than the last ones."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import mt_operators
from mt_nn.core.module import Module
from mt_nn.core.optimizer import Optimizer
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.normalization import BatchNorm
from mt_nn.optim.lr_scheduler.scheduler import (
    LRScheduler,
    check_optimizer,
    one_for_each,
)
from mt_nn.utils.settings import check, check_either
from mt_tensor import Tensor, no_grad, tensor
from mt_tensor.backends import TensorBackend

# fmt: off
__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "update_bn",
]
# fmt: on

Average = Callable[[Tensor, Tensor, Any], Any]
AverageAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the rule `decay * average + (1 - decay) * current`, for `AveragedModel`.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    check("decay", decay, 0 <= decay <= 1, "from 0 to 1")
    return lambda average, current, count: decay * average + (1 - decay) * current


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return the rule of `get_ema_avg_fn` for all tensors at once, in place and so faster.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    check("decay", decay, 0 <= decay <= 1, "from 0 to 1")

    def move(averages: Sequence[Tensor], currents: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(averages, currents, strict=True):
            average.lerp_(current, 1 - decay)

    return move


def _mean(average: Tensor, current: Tensor, count: Any) -> Tensor:
    """Return the mean of one more: the rule of stochastic weight averaging."""
    return average.lerp(current, 1 / (count + 1))


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's.

    By default they are means (Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima");
    with `multi_avg_fn=get_ema_multi_avg_fn(0.999)` exponential moving averages.

    Args:
        model: what is averaged; it is copied.
        avg_fn: how one average follows: it takes the average, the current value and how many were
            averaged, and returns the new average.
        multi_avg_fn: how all averages follow: it takes lists, and changes the averages in place.
        use_buffers: whether buffers are averaged, too; else they are those of the model, as those
            of integers always are.

    Attributes:
        module: the copy.
        n_averaged: how often it was updated.

    Raises:
        SettingError: both rules are given.
    """

    def __init__(
        self,
        model: mt_operators.Module,
        *,
        avg_fn: Average | None = None,
        multi_avg_fn: AverageAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise SettingError("AveragedModel takes avg_fn or multi_avg_fn, not both.")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the copy makes of the inputs."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: mt_operators.Module) -> None:
        """Let the averages follow the model; the first time, they become what it has.

        Raises:
            InputError: its parameters or buffers are others than those of the model that was given.
        """
        own, given = _tensors(self.module), _tensors(model)
        if [(name, x.shape) for name, x, _ in own] != [(name, x.shape) for name, x, _ in given]:
            raise InputError(
                "AveragedModel follows the model that it was made of; this is another."
            )
        count = int(self.n_averaged.item())
        averages, currents = [], []
        for (_, mine, trained), (_, current, _) in zip(own, given, strict=True):
            if count and (trained or (self.use_buffers and mine.is_floating_point())):
                averages.append(mine)
                currents.append(current)
            else:
                mine.copy_(current)
        if self.multi_avg_fn is not None and averages:
            self.multi_avg_fn(averages, currents, count)
        else:
            rule = self.avg_fn or _mean
            for average, current in zip(averages, currents, strict=True):
                average.copy_(rule(average, current, count))
        self.n_averaged += 1


def _tensors(module: mt_operators.Module) -> list[tuple[str, Tensor, bool]]:
    """Return all parameters and buffers, with their names, and whether it is a parameter."""
    parameters = module.named_parameters()
    return [
        *((name, parameter.value.detach(), True) for name, parameter in parameters),
        *((name, value, False) for name, value in module.named_buffers()),
    ]


# --- What goes with averages: a rate to end with, and statistics of batches -----------------------


class SWALR(LRScheduler):
    """Rates go to `swa_lr` and stay there, while weights are averaged.

    Args:
        optimizer: whose rates are set.
        swa_lr: where rates go, one for all groups or one for each.
        anneal_epochs: how many epochs that takes.
        anneal_strategy: whether it follows a cosine, `"cos"`, or a line, `"linear"`.
        last_epoch: see `LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        check_either("anneal_strategy", anneal_strategy, "cos", "linear")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = integer("anneal_epochs", anneal_epochs, 0)
        rates = one_for_each("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rate of each group at this step, from that of the step before.

        The step is counted from when the scheduler was made.
        """
        step = max(self._step_count - 1, 0 if self.anneal_epochs else 1)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self._rates(), strict=True):
            end = group["swa_lr"]
            start = end if before == 1 else (rate - before * end) / (1 - before)
            rates.append(start + now * (end - start))
        return rates

    def _share(self, step: int) -> float:
        """Return how far a step is on the way, from 0 to 1."""
        share = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * share)) / 2 if self._anneal_strategy == "cos" else share


@no_grad()
def update_bn(
    loader: Iterable[Any], model: Module, device: str | TensorBackend | None = None
) -> None:
    """Let batch normalization measure its statistics anew, as averaged weights need it.

    They become the means over all batches.

    Args:
        loader: yields batches: a tensor, or a list or tuple whose first member is what the model
            takes.
        model: is called with each batch, in training mode; its mode stays what it is.
        device: the backend that batches are moved to before; None to leave them.
    """
    norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    modes = [(module, module.training) for module in model.modules()]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    try:
        model.train()
        for batch in loader:
            inputs = batch[0] if isinstance(batch, list | tuple) else batch
            model(inputs if device is None else inputs.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        for module, training in modes:
            module.training = training
