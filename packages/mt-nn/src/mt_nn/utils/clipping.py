"""Gradient clipping, and conversion of parameters to a vector and back."""

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
    """Return the norm of all tensors, as if they were concatenated into one vector.

    Args:
        tensors: a tensor, or an iterable of tensors; the norm of no tensors is 0.
        norm_type: the order of the norm; `inf` for the largest absolute value.
        error_if_nonfinite: whether to raise an error if the norm is infinite or nan.

    Raises:
        InputError: the norm is not finite, and `error_if_nonfinite` is set.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return tensor(0.0)
    p = float(norm_type)
    with no_grad():
        total = _total_norm(given[0], given[1:], p)
    if error_if_nonfinite and not total.isfinite().item():
        raise InputError(
            f"the total norm of order {p:g} is {total.item()}, which is not finite: pass "
            "error_if_nonfinite=False to continue anyway."
        )
    return total


@fused("total_norm")
def _total_norm(first: Tensor, others: list[Tensor], p: float) -> Tensor:
    """Return the norm of all elements; called without recording gradients."""
    return stack([one.norm(p) for one in (first, *others)]).norm(p)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Any], max_norm: float, total_norm: Tensor
) -> None:
    """Scale gradients in place, so that their total norm is at most `max_norm`.

    Args:
        parameters: the parameters; those without a gradient are ignored.
        max_norm: the largest norm.
        total_norm: the norm of the gradients; see `get_total_norm`.
    """
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp_max(1.0)
        with total_norm.backend.batch_calls():
            for grad in _gradients(parameters):
                grad.detach().mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Any],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale gradients in place so that their total norm is at most `max_norm`.

    See Pascanu et al. 2013, "On the difficulty of training recurrent neural networks".

    Args:
        parameters: the parameters; those without a gradient are ignored.
        max_norm: the largest norm.
        norm_type: the order of the norm; `inf` for the largest absolute value.
        error_if_nonfinite: whether to raise an error if the norm is infinite or nan, before
            gradients are changed.

    Returns:
        The norm before scaling.

    Raises:
        InputError: the norm is not finite, and `error_if_nonfinite` is set.
    """
    chosen = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(chosen), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(chosen, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Any], clip_value: float) -> None:
    """Clamp the elements of gradients in place to `[-clip_value, clip_value]`.

    Args:
        parameters: the parameters; those without a gradient are ignored.
        clip_value: the largest absolute value.

    Raises:
        SettingError: `clip_value` is negative.
    """
    check("clip_value", clip_value, clip_value >= 0, "at least 0")
    gradients = _gradients(parameters)
    with no_grad(), gradients[0].backend.batch_calls() if gradients else nullcontext():
        for grad in gradients:
            grad.detach().clamp_(-clip_value, clip_value)


def _gradients(parameters: Tensor | Iterable[Any]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


# --- Parameters as one vector ---------------------------------------------------------------------


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """Concatenate the elements of all parameters into a vector, differentiably.

    Args:
        parameters: the parameters.

    Raises:
        InputError: there are no parameters.
    """
    rows = [parameter.reshape(-1) for parameter in parameters]
    if not rows:
        raise InputError("parameters_to_vector() was given no parameters.")
    return cat(rows)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Copy the elements of a vector to parameters, one after the other.

    Args:
        vec: shape (n,), where n is the total number of elements of the parameters.
        parameters: the parameters.

    Raises:
        InputError: the shape of the vector does not match; nothing was changed.
    """
    given = list(parameters)
    sizes = [parameter.numel() for parameter in given]
    if vec.shape != (sum(sizes),):
        raise InputError(
            f"vector_to_parameters() takes shape {(sum(sizes),)} for these parameters; "
            f"{vec.shape} was given."
        )
    with no_grad():
        for parameter, part in zip(given, vec.detach().split(sizes), strict=True):
            parameter.copy_(part.view(*parameter.shape))
