"""Gradients made shorter, so that no batch takes too long a step; parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from mt_nn.errors import InputError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, cat, fused, no_grad, stack, tensor


def get_total_norm(
    tensors: Tensor | Iterable[Any], norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Return the norm of all elements of some tensors, as if they were one vector.

    Args:
        tensors: one or several.
        norm_type: the exponent of the norm; `inf` for the largest element.
        error_if_nonfinite: whether a norm that is infinite or not a number is an error.

    Raises:
        InputError: the norm is not finite, and must be.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return tensor(0.0)
    p = float(norm_type)
    with no_grad():
        total = _total_norm(given[0], given[1:], p)
    if error_if_nonfinite and not total.isfinite().item():
        raise InputError(
            f"the total norm of order {p:g} of the gradients is {total.item()}, so they cannot be "
            "clipped. Pass error_if_nonfinite=False to scale them by it all the same."
        )
    return total


@fused("total_norm")
def _total_norm(first: Tensor, others: list[Tensor], p: float) -> Tensor:
    """Return the norm of some tensors; it is computed where nothing is recorded."""
    return stack([one.norm(p) for one in (first, *others)]).norm(p)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Any], max_norm: float, total_norm: Tensor
) -> None:
    """Scale gradients in place so that a norm that was `total_norm` is at most `max_norm`."""
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp_max(1.0)
        with total_norm.backend.together():
            for grad in _gradients(parameters):
                grad.detach().mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Any],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale gradients in place so that the norm of all of them is at most `max_norm`.

    Args:
        parameters: whose gradients, if they have one (Pascanu et al. 2013).
        max_norm: how long they may be together.
        norm_type: the exponent of the norm; `inf` for the largest element.
        error_if_nonfinite: whether a norm that is infinite or not a number is an error, before
            anything is changed.

    Returns:
        The norm before.

    Raises:
        InputError: the norm is not finite, and must be.
    """
    chosen = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(chosen), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(chosen, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Any], clip_value: float) -> None:
    """Bound each element of gradients in place to between `-clip_value` and `clip_value`.

    Raises:
        SettingError: the bound is negative.
    """
    check("clip_value", clip_value, clip_value >= 0, "at least 0")
    gradients = _gradients(parameters)
    with no_grad(), gradients[0].backend.together() if gradients else nullcontext():
        for grad in gradients:
            grad.detach().clamp_(-clip_value, clip_value)


def _gradients(parameters: Tensor | Iterable[Any]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


# --- All parameters as one vector, and back -------------------------------------------------------


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """Return all elements of some parameters, one after the other; gradients pass through.

    Raises:
        InputError: there are no parameters.
    """
    rows = [parameter.reshape(-1) for parameter in parameters]
    if not rows:
        raise InputError("parameters_to_vector() was given no parameters.")
    return cat(rows)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Store the elements of a vector in parameters, one after the other.

    Raises:
        InputError: it is no vector, or has not as many elements as they; nothing was changed.
    """
    given = list(parameters)
    sizes = [parameter.numel() for parameter in given]
    if vec.shape != (sum(sizes),):
        raise InputError(
            f"the parameters have {sum(sizes)} elements; a tensor of shape {vec.shape} was given."
        )
    with no_grad():
        for parameter, part in zip(given, vec.detach().split(sizes), strict=True):
            parameter.copy_(part.view(*parameter.shape))
