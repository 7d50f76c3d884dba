"""Averages of a model's weights over training, which often generalize better than the last ones."""

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
from mt_nn.optim.lr_scheduler.scheduler import LRScheduler, check_optimizer, one_per_group
from mt_nn.utils.settings import check, choice
from mt_tensor import Tensor, no_grad, tensor
from mt_tensor.backends import TensorBackend

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "update_bn"]

Average = Callable[[Tensor, Tensor, Any], Any]
AverageAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the rule `decay * average + (1 - decay) * current`, for `AveragedModel`.

    Args:
        decay: the weight of the average, from 0 to 1.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    check("decay", decay, 0 <= decay <= 1, "from 0 to 1")
    return lambda average, current, count: decay * average + (1 - decay) * current


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return the rule of `get_ema_avg_fn` for lists of tensors; in place, and therefore faster.

    Args:
        decay: the weight of the average, from 0 to 1.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    check("decay", decay, 0 <= decay <= 1, "from 0 to 1")

    def update(averages: Sequence[Tensor], currents: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(averages, currents, strict=True):
            average.lerp_(current, 1 - decay)

    return update


def _mean(average: Tensor, current: Tensor, count: Any) -> Tensor:
    """Return the mean after one more value: the rule of stochastic weight averaging."""
    return average.lerp(current, 1 / (count + 1))


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's parameters.

    By default they are means (Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima");
    with `multi_avg_fn=get_ema_multi_avg_fn(0.999)` they are exponential moving averages.

    Args:
        model: the model; it is copied.
        avg_fn: computes the new value of one average from the average, the current value and the
            number of updates so far.
        multi_avg_fn: the same for lists of averages and current values; updates the averages in
            place.
        use_buffers: whether to average floating-point buffers, too; other buffers are copied from
            the model.

    Attributes:
        module: the copy.
        n_averaged: the number of updates.

    Raises:
        SettingError: both functions are given.
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
        """Call the copy."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: mt_operators.Module) -> None:
        """Update the averages with the values of the model; the first update copies them.

        Raises:
            InputError: the names or shapes of the model's parameters or buffers differ from those
                of the averages.
        """
        averaged, latest = _tensors(self.module), _tensors(model)
        if [(name, x.shape) for name, x, _ in averaged] != [
            (name, x.shape) for name, x, _ in latest
        ]:
            raise InputError(
                "update_parameters() takes a model whose parameters and buffers have the names and "
                "shapes of the model given to AveragedModel; this model differs."
            )
        count = int(self.n_averaged.item())
        averages, currents = [], []
        for (_, average, is_parameter), (_, current, _) in zip(averaged, latest, strict=True):
            if count and (is_parameter or (self.use_buffers and average.is_floating_point())):
                averages.append(average)
                currents.append(current)
            else:
                average.copy_(current)
        if self.multi_avg_fn is not None and averages:
            self.multi_avg_fn(averages, currents, count)
        else:
            rule = self.avg_fn or _mean
            for average, current in zip(averages, currents, strict=True):
                average.copy_(rule(average, current, count))
        self.n_averaged += 1


def _tensors(module: mt_operators.Module) -> list[tuple[str, Tensor, bool]]:
    """Return the name, value and kind (whether a parameter) of all parameters and buffers."""
    parameters = module.named_parameters()
    return [
        *((name, parameter.value.detach(), True) for name, parameter in parameters),
        *((name, value, False) for name, value in module.named_buffers()),
    ]


# --- Learning rates and batch statistics ----------------------------------------------------------


class SWALR(LRScheduler):
    """Anneal learning rates to `swa_lr`, and keep them there while weights are averaged.

    Args:
        optimizer: the optimizer whose learning rates are set.
        swa_lr: the final rate, one value for all groups or one per group.
        anneal_epochs: the number of epochs until rates are `swa_lr`.
        anneal_strategy: the curve: `"cos"` or `"linear"`.
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
        choice("anneal_strategy", anneal_strategy, ("cos", "linear"))
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = integer("anneal_epochs", anneal_epochs, 0)
        rates = one_per_group("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rate of each group, computed from the previous rate.

        Steps are counted from the creation of the scheduler.
        """
        step = max(self._step_count - 1, 0 if self.anneal_epochs else 1)
        before, now = self._fraction(step - 1), self._fraction(step)
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self._rates(), strict=True):
            end = group["swa_lr"]
            start = end if before == 1 else (rate - before * end) / (1 - before)
            rates.append(start + now * (end - start))
        return rates

    def _fraction(self, step: int) -> float:
        """Return the fraction of the way from the initial rate to `swa_lr` at a step."""
        time = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * time)) / 2 if self._anneal_strategy == "cos" else time


@no_grad()
def update_bn(
    loader: Iterable[Any], model: Module, device: str | TensorBackend | None = None
) -> None:
    """Recompute the running statistics of batch normalization, for averaged weights.

    The statistics become means over all batches.

    Args:
        loader: yields batches: a tensor, or a list or tuple whose first member is the model's
            input.
        model: the model, called with each batch in training mode; modes are restored afterwards.
        device: the backend to move batches to; None to leave them.
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
