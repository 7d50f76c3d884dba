"""Averages of a model's weights over training, which often do better than the last ones."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mt_operators
from mt_nn.errors import InputError, SettingError
from mt_nn.module import Module
from mt_tensor import Tensor, no_grad, tensor

Average = Callable[[Tensor, Tensor, Any], Any]
AverageAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the rule `decay * average + (1 - decay) * current`, for `AveragedModel`.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    _check_decay(decay)
    return lambda average, current, count: decay * average + (1 - decay) * current


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return the rule of `get_ema_avg_fn` for all tensors at once, in place and so faster.

    Raises:
        SettingError: `decay` is not from 0 to 1.
    """
    _check_decay(decay)

    def move(averages: Sequence[Tensor], currents: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(averages, currents, strict=True):
            if average.is_floating_point():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(current)

    return move


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise SettingError(f"decay must be from 0 to 1; got {decay}.")


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
        use_buffers: whether buffers are averaged, too; else they are those of the model.

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
        averages, currents = (list(_tensors(x, self.use_buffers)) for x in (self.module, model))
        if [average.shape for average in averages] != [current.shape for current in currents]:
            raise InputError(
                "AveragedModel follows the model that it was made of; this is another."
            )
        count = int(self.n_averaged.item())
        if count == 0:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(averages, currents, count)
        else:
            rule = self.avg_fn or _mean
            for average, current in zip(averages, currents, strict=True):
                average.copy_(rule(average, current, count))
        if not self.use_buffers:
            for kept, current in zip(_buffers(self.module), _buffers(model), strict=True):
                kept.copy_(current)
        self.n_averaged += 1


def _buffers(module: mt_operators.Module) -> Iterable[Tensor]:
    return (value for _, value in module.named_buffers())


def _tensors(module: mt_operators.Module, use_buffers: bool) -> Iterable[Tensor]:
    for parameter in module.parameters():
        yield parameter.value.detach()
    if use_buffers:
        yield from _buffers(module)
