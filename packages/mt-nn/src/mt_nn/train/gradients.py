"""Keeping gradients in bounds before a step, under torch's names."""

from __future__ import annotations

from collections.abc import Iterable

from mt_nn.errors import SettingError
from mt_tensor import Tensor, no_grad, stack, zeros


@no_grad()
def clip_grad_norm_(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Scale all gradients together so that their Euclidean norm is at most `max_norm`.

    Returns:
        The norm that they had, of shape (); 0 without any.

    Raises:
        SettingError: `max_norm` is negative or nan.
    """
    check_bound("max_norm", max_norm)
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not grads:
        return zeros()
    total = stack([grad.norm() for grad in grads]).norm()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for grad in grads:
        grad.mul_(factor)
    return total


@no_grad()
def clip_grad_value_(parameters: Iterable[Tensor], clip_value: float) -> None:
    """Bring every element of the gradients between `-clip_value` and `clip_value`.

    Raises:
        SettingError: `clip_value` is negative or nan.
    """
    check_bound("clip_value", clip_value)
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.clamp_(-clip_value, clip_value)


def check_bound(name: str, bound: float) -> None:
    """Raise SettingError unless a bound is a number from 0 on."""
    if not bound >= 0:
        raise SettingError(f"{name} must be a number from 0 on; got {bound!r}.")
